//! The dialog that releases: it shows a plan, takes the typed path and the reason, and tells what came of the order.
//!
//! Buttons anywhere on the page that carry `data-release` open it. The server draws what is in it (`ui::plain`), so that
//! nothing live can move it; here it is only decided whether what it shows may still be ordered.

mod ask;
#[cfg(test)]
pub(super) mod samples;
mod stage;

use leptos::html::{Dialog, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement};

use super::copy::copy;
use super::current_user::CurrentUser;
use super::html::{Html, follow};
use super::live::{Connection, Live};
use ask::{Answer, ask};
use stage::{Planned, Seen, Stage, compare, is_confirmed};

/// The button that opens the dialog for a znode; nothing for those who may not, and for what has no znode.
pub(crate) fn release_button(node: Option<&str>, path: &str, may: bool) -> Html {
    let Some(node) = node.filter(|_| may) else { return Html::default() };
    let label = format!("Release {node}");
    let attributes = [
        ("class", "tool release-open needs-script"),
        ("type", "button"),
        ("data-release", path),
        ("aria-haspopup", "dialog"),
        ("aria-label", &label),
    ];
    Html::of("button", &attributes, "Release …")
}

#[derive(Clone, Copy)]
struct Releasing {
    live: Live,
    ensemble: StoredValue<String>,
    stage: RwSignal<Stage>,
    /// What was wrong with the last order.
    note: RwSignal<String>,
    /// Rises with everything that is typed.
    typed: RwSignal<u32>,
    /// Tells an answer to an old question from the one that is waited for.
    question: StoredValue<u64>,
    body: NodeRef<Div>,
}

/// The dialog, for the lock page around it.
#[component]
pub(crate) fn ReleaseDialog(ensemble: String) -> impl IntoView {
    let state = Releasing {
        live: Live::of_app(),
        ensemble: StoredValue::new(ensemble),
        stage: RwSignal::new(Stage::Closed),
        note: RwSignal::new(String::new()),
        typed: RwSignal::new(0),
        question: StoredValue::new(0),
        body: NodeRef::new(),
    };
    let dialog = NodeRef::<Dialog>::new();
    let may = CurrentUser::of_app().may_release();
    Effect::new(move |_| {
        if may {
            let listener = window_event_listener(leptos::ev::click, move |event| {
                if let Some(path) = closest(&event, "data-release") {
                    state.plan(path);
                }
            });
            on_cleanup(move || listener.remove());
        }
    });
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (state.stage.with(|stage| *stage != Stage::Closed), dialog.open()) {
            // Fails only for a dialog that is open in another way, which this page never does.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    Effect::new(move |_| state.judge());
    view! {
        <dialog
            class="release"
            data-testid="release"
            aria-labelledby="release-title"
            node_ref=dialog
            on:close=move |_| state.close()
            on:cancel=move |event| state.hold_open(&event)
            on:click=move |event| state.clicked(&event)
            on:input=move |_| state.typed.update(|typed| *typed += 1)
            on:submit=move |event| {
                event.prevent_default();
                state.order("execute");
            }
        >
            <div node_ref=state.body></div>
        </dialog>
    }
}

/// The value of an attribute of the element that was clicked, or of one around it.
fn closest(event: &Event, name: &str) -> Option<String> {
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest(&format!("[{name}]")).ok()??.get_attribute(name)
}

/// What is said before the server drew anything.
fn words(title: &str, text: &str) -> Html {
    let button = |act: &str, text: &str| Html::of("button", &[("class", "tool"), ("type", "button"), ("data-do", act)], text);
    let again = if text.is_empty() { Html::default() } else { button("again", "Look again") };
    Html::all(vec![
        Html::of("h2", &[("class", "release-title"), ("id", "release-title"), ("tabindex", "-1")], title),
        Html::of("p", &[("class", if text.is_empty() { "" } else { "release-stop" }), ("role", "alert"), ("data-testid", "release-refused")], text),
        Html::tag("div", &[("class", "release-buttons")], Html::all(vec![button("close", "Close"), again])),
    ])
}

impl Releasing {
    fn find(self, selector: &str) -> Option<HtmlElement> {
        self.body.get_untracked()?.query_selector(selector).ok()??.dyn_into().ok()
    }

    fn value(self, name: &str) -> String {
        let input = self.find(&format!("[name={name}]")).and_then(|input| input.dyn_into::<HtmlInputElement>().ok());
        input.map(|input| input.value()).unwrap_or_default()
    }

    fn close(self) {
        self.question.update_value(|question| *question += 1);
        self.stage.set(Stage::Closed);
    }

    /// Esc does not take the result of an order that is out.
    fn hold_open(self, event: &Event) {
        if self.stage.with_untracked(|stage| matches!(stage, Stage::Ordered(_))) {
            event.prevent_default();
        }
    }

    fn clicked(self, event: &Event) {
        match closest(event, "data-do").as_deref() {
            Some("close") => self.close(),
            Some("again") => self.plan(self.stage.with_untracked(|stage| stage.path().to_owned())),
            Some("revoke") => self.order("revoke"),
            Some("copy") => {
                if let Some(text) = self.find("pre").and_then(|text| text.text_content()) {
                    copy(text);
                }
            }
            _ => {}
        }
    }

    /// Brings what is drawn in line with what may be done now: one line that says why not, and the button.
    fn judge(self) {
        self.typed.track();
        let (planned, is_out) = match self.stage.get() {
            Stage::Planned(planned) => (planned, false),
            Stage::Ordered(planned) => (planned, true),
            Stage::Closed | Stage::Asked(_) | Stage::Told(_) => return,
        };
        let is_over = self.live.now_ms() >= planned.expires_at_ms;
        let (seen, note) = (self.seen(&planned), self.note.get());
        let objection = match () {
            () if is_out => "The order is out; its outcome comes here …",
            () if !seen.objection().is_empty() => seen.objection(),
            () if is_over => "This plan ran out. Look again to make a new one.",
            () => &note,
        };
        let can = !is_out && !is_over && seen.objection().is_empty();
        if let Some(line) = self.find("#release-word") {
            line.set_text_content(Some(objection));
        }
        let is_ready = can && is_confirmed(&planned, &self.value("confirm"), &self.value("reason"));
        self.switch("[data-when=confirmed]", is_ready);
        self.switch("input", !is_out);
        if let Some(form) = self.find("form") {
            // The attribute's name is one.
            let _ = if objection.is_empty() || is_out { form.remove_attribute("data-stop") } else { form.set_attribute("data-stop", "true") };
        }
    }

    /// Turns all such elements on or off.
    fn switch(self, selector: &str, on: bool) {
        let Some(found) = self.body.get_untracked().and_then(|body| body.query_selector_all(selector).ok()) else { return };
        for at in 0..found.length() {
            if let Some(element) = found.item(at).and_then(|node| node.dyn_into::<Element>().ok()) {
                let _ = if on { element.remove_attribute("disabled") } else { element.set_attribute("disabled", "") };
            }
        }
    }

    fn seen(self, planned: &Planned) -> Seen {
        if self.live.is_paused() {
            return Seen::Paused;
        }
        let seen = self.live.lock(|page| compare(page, planned));
        if self.live.connection() == Connection::Open && self.live.is_fresh() { seen.unwrap_or(Seen::Old) } else { Seen::Old }
    }

    /// Shows something else, from its beginning, with the title in focus: no key does anything there.
    fn show(self, html: &Html) {
        if let Some(body) = self.body.get_untracked() {
            follow(&body, &Html::default());
            follow(&body, html);
        }
        if let Some(title) = self.find("#release-title") {
            // Focus can fail only for what is not in the document.
            let _ = title.focus();
        }
    }

    /// What the drawn plan says of itself; None when it is no plan.
    fn read_plan(self) -> Option<Planned> {
        let form = self.find("form[data-plan]")?;
        let of = |name: &str| form.get_attribute(name).unwrap_or_default();
        Some(Planned {
            plan_id: of("data-plan"),
            path: of("data-path"),
            lock: of("data-lock"),
            czxid: of("data-czxid"),
            session: of("data-session"),
            version: of("data-version"),
            held: of("data-role") == "holder",
            expires_at_ms: of("data-expires").parse().unwrap_or_default(),
        })
    }

    /// Asks for a plan; the old one, and what was typed for it, is over.
    fn plan(self, path: String) {
        self.question.update_value(|question| *question += 1);
        let number = self.question.get_value();
        self.note.set(String::new());
        self.stage.set(Stage::Asked(path.clone()));
        self.show(&words("Looking at it …", ""));
        let ensemble = self.ensemble.get_value();
        leptos::task::spawn_local(async move {
            let answer = ask("/api/v1/release/plan", &[("ensemble", &ensemble), ("path", &path)]).await;
            if self.question.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Answer::Drawn(html) => {
                    self.show(&Html::drawn(html));
                    self.stage.set(self.read_plan().map_or(Stage::Told(path), Stage::Planned));
                }
                Answer::Refused(why) => {
                    self.show(&words("This can’t be released", &why));
                    self.stage.set(Stage::Told(path));
                }
            }
        });
    }

    /// Orders what is planned.
    fn order(self, what: &'static str) {
        let Stage::Planned(planned) = self.stage.get_untracked() else { return };
        let reason = self.value("reason");
        // What was typed is what the server compares.
        let confirm = self.value("confirm");
        if !is_confirmed(&planned, &confirm, &reason) {
            return;
        }
        self.question.update_value(|question| *question += 1);
        let number = self.question.get_value();
        self.stage.set(Stage::Ordered(planned.clone()));
        leptos::task::spawn_local(async move {
            let url = format!("/api/v1/release/{what}");
            let answer = ask(&url, &[("plan_id", &planned.plan_id), ("confirm", &confirm), ("reason", &reason)]).await;
            if self.question.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Answer::Drawn(html) => {
                    self.show(&Html::drawn(html));
                    self.stage.set(Stage::Told(planned.path));
                }
                Answer::Refused(why) => {
                    self.note.set(why);
                    self.stage.set(Stage::Planned(planned));
                }
            }
        });
    }
}
