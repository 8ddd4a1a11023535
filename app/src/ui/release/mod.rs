//! The dialog that releases: it shows a plan, takes the typed path and the reason, and tells what came of the order.
//!
//! Buttons anywhere on the page that carry `data-release` open it. While it is open its content stays what the plan says;
//! the live view below only decides whether it may still be ordered.

mod ask;
mod draw;
#[cfg(test)]
mod samples;
mod stage;

use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement};

use super::html::{Html, Living};
use super::live::Live;
use super::visitor::Visitor;
use draw::{Typed, content};
use stage::{Seen, Stage, compare};

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
    typed: RwSignal<Typed>,
    /// Tells an answer to an old question from the one that is waited for.
    question: StoredValue<u64>,
}

/// The dialog, for the lock page around it.
#[component]
pub(crate) fn ReleaseDialog(ensemble: String) -> impl IntoView {
    let live = Live::of_app();
    let state = Releasing {
        live,
        ensemble: StoredValue::new(ensemble),
        stage: RwSignal::new(Stage::Closed),
        typed: RwSignal::new(Typed::default()),
        question: StoredValue::new(0),
    };
    let dialog = NodeRef::<Dialog>::new();
    let may = Visitor::of_app().may_release();
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
    let is_open = Memo::new(move |_| state.stage.with(|stage| *stage != Stage::Closed));
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (is_open.get(), dialog.open()) {
            // Fails only for a dialog that is open in another way, which this page never does.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // What the screen reader begins with, and where no key does anything.
    let heading = Memo::new(move |_| state.stage.with(|stage| std::mem::discriminant(stage)));
    Effect::new(move |_| {
        heading.track();
        request_animation_frame(move || {
            let title = dialog.get_untracked().and_then(|dialog| dialog.query_selector("#release-title").ok().flatten());
            if let Some(title) = title.and_then(|title| title.dyn_into::<HtmlElement>().ok()) {
                // Focus can fail only for what is not in the document.
                let _ = title.focus();
            }
        });
    });
    let html = Signal::derive(move || state.content());
    view! {
        <dialog
            class="release"
            data-testid="release"
            aria-labelledby="release-title"
            node_ref=dialog
            on:close=move |_| state.close()
            on:cancel=move |event| state.hold_open(&event)
            on:click=move |event| state.clicked(&event)
            on:input=move |event| state.input(&event)
        >
            <form on:submit=move |event| {
                event.prevent_default();
                state.order("execute");
            }>
                <Living class="living" html=html />
            </form>
        </dialog>
    }
}

/// The value of an attribute of the element that was clicked, or of one around it.
fn closest(event: &Event, name: &str) -> Option<String> {
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest(&format!("[{name}]")).ok()??.get_attribute(name)
}

impl Releasing {
    fn content(self) -> Html {
        self.stage.with(|stage| {
            let seen = if matches!(stage, Stage::Planned { .. }) { self.seen(stage) } else { Seen::Same };
            let now_ms = if matches!(stage, Stage::Planned { .. }) { self.live.now_ms() } else { self.live.now_ms_untracked() };
            self.typed.with(|typed| content(stage, seen, typed, now_ms))
        })
    }

    fn seen(self, stage: &Stage) -> Seen {
        if self.live.is_paused() {
            return Seen::Paused;
        }
        let seen = stage.plan().and_then(|plan| self.live.lock(|page| compare(page, plan)));
        if self.live.connection() == super::live::Connection::Open { seen.unwrap_or(Seen::Old) } else { Seen::Old }
    }

    fn close(self) {
        self.question.update_value(|question| *question += 1);
        self.stage.set(Stage::Closed);
        self.typed.set(Typed::default());
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
            Some("copy") => self.copy(),
            _ => {}
        }
    }

    fn input(self, event: &Event) {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) else { return };
        self.typed.update(|typed| match input.name().as_str() {
            "confirm" => typed.confirm = input.value(),
            "reason" => typed.reason = input.value(),
            _ => {}
        });
    }

    fn copy(self) {
        if let Some(text) = self.stage.with_untracked(|stage| stage.plan().and_then(|plan| plan.runbook.clone())) {
            // A browser that refuses leaves the text on screen, where it can be selected.
            let _ = window().navigator().clipboard().write_text(&text);
        }
    }
}

impl Releasing {
    fn next_question(self) -> u64 {
        self.question.update_value(|question| *question += 1);
        self.question.get_value()
    }

    /// Asks for a plan; the old one, and what was typed for it, is over.
    fn plan(self, path: String) {
        let number = self.next_question();
        self.typed.set(Typed::default());
        self.stage.set(Stage::Planning(path.clone()));
        let ensemble = self.ensemble.get_value();
        leptos::task::spawn_local(async move {
            let answer = ask::ask("/api/v1/release/plan", &[("ensemble", &ensemble), ("path", &path)]).await;
            if self.question.try_get_value() == Some(number) {
                self.stage.set(match answer {
                    Ok(plan) => Stage::Planned { plan: Box::new(plan), note: String::new() },
                    Err(failure) => Stage::Refused { path, why: failure.why, signed_out: failure.signed_out },
                });
            }
        });
    }

    /// Orders what is planned.
    fn order(self, what: &'static str) {
        let Stage::Planned { plan, .. } = self.stage.get_untracked() else { return };
        let Typed { confirm, reason } = self.typed.get_untracked();
        if what == "execute" && !stage::is_confirmed(&plan, &confirm, &reason) {
            return;
        }
        let number = self.next_question();
        self.stage.set(Stage::Ordered(plan.clone()));
        leptos::task::spawn_local(async move {
            let url = format!("/api/v1/release/{what}");
            let answer = ask::ask(&url, &[("plan_id", &plan.plan_id), ("confirm", &confirm), ("reason", &reason)]).await;
            if self.question.try_get_value() == Some(number) {
                self.stage.set(match answer {
                    Ok(result) => Stage::Done { plan, result: Box::new(result) },
                    Err(failure) if failure.signed_out => Stage::Refused { path: plan.path.clone(), why: failure.why, signed_out: true },
                    Err(failure) => Stage::Planned { plan, note: failure.why },
                });
            }
        });
    }
}
