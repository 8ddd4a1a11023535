//! The dialog that releases: it shows a plan, takes the typed path and the reason, and shows the result of the request.
//!
//! Buttons anywhere on the page that carry `data-release` open it. What is compared with the live view, and what is
//! sent, is the plan itself: nothing live moves what is shown, it only decides whether that may still be requested.

mod ask;
mod draft;
mod plan;
mod stage;
#[cfg(test)]
pub(super) mod tests;
mod words;

use leptos::html::{Dialog, H2};
use leptos::prelude::*;
use web_sys::Event;

use super::browser::closest;
use super::current_user::CurrentUser;
use super::erase::{dynamic, effect, erase, view};
use super::exact::Exact;
use super::format::visible;
use super::live::{Connection, Live};
use super::parts::Piece::Attribute;
use super::parts::{Markup, RELEASE_HASH, filled, focus_heading};
use super::split::{SplitLoaderError, split_view, wasm_split};
use ask::ask;
use lockscope_view::{Freshness, ReleasePlan, ReleaseResult};
#[cfg(feature = "ssr")]
pub(crate) use plan::{Field, consequence, details, subject, victim, warnings};
use plan::{plan_form, result_view};
use stage::{Seen, Stage, compare, is_confirmed};

/// The button that opens the dialog for a znode; nothing for those who may not, and for what has no znode.
#[component]
pub(crate) fn ReleaseButton(node: Option<String>, path: String) -> AnyView {
    erase(node.filter(|_| CurrentUser::of_app().may_release()).map(|node| {
        let label = words::release(&node);
        view! {
            <button class="tool release-open needs-script" type="button" data-release=Exact(path) aria-haspopup="dialog" aria-label=label>
                "Release …"
            </button>
        }
    }))
}

/// The same in a row that is made as text, for those who may.
pub(crate) fn release_markup(node: &str, path: &str) -> Markup {
    Markup::fill(
        r#"<button class="tool release-open needs-script" type="button" aria-haspopup="dialog"{}{}>Release …</button>"#,
        &[Attribute("data-release", Some(path)), Attribute("aria-label", Some(&words::release(node)))],
    )
}

#[derive(Clone, Copy)]
struct Releasing {
    live: Live,
    ensemble: StoredValue<String>,
    stage: RwSignal<Stage>,
    /// What was wrong with the last request.
    note: RwSignal<String>,
    /// The lock's path, as it is typed.
    confirm: RwSignal<String>,
    reason: RwSignal<String>,
    /// Distinguishes the answer to an old question from the one that is waited for.
    question: StoredValue<u64>,
    heading: NodeRef<H2>,
}

/// The dialog, for the lock page around it; nothing for those who may not release.
pub(crate) fn release_dialog(ensemble: String) -> AnyView {
    if !CurrentUser::of_app().may_release() {
        return erase(());
    }
    split_view(fetch(), move || draw(ensemble.clone()))
}

/// The dialog is a chunk of its own.
#[wasm_split(release, wasm_split_path = leptos::wasm_split, fallible, preload(fetch))]
pub(crate) fn draw(ensemble: String) -> Result<AnyView, SplitLoaderError> {
    Ok(view! { <ReleaseDialog ensemble=ensemble /> })
}

#[component]
fn ReleaseDialog(ensemble: String) -> AnyView {
    let state = Releasing::new(ensemble);
    // The page's address may ask for the release of a znode: it opens the dialog, and nothing more.
    effect(move || {
        let hash = window().location().hash().unwrap_or_default();
        let wanted = hash.strip_prefix(RELEASE_HASH).and_then(|text| {
            form_urlencoded::parse(format!("path={}", text.replace('+', "%2B")).as_bytes())
                .next()
                .map(|(_, path)| path.into_owned())
        });
        if let Some(path) = wanted {
            // Once: a reload shows the page alone. The address is our own.
            let bare = draft::here();
            let _ = window()
                .history()
                .and_then(|history| history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&bare)));
            state.plan(path);
        }
    });
    let dialog = NodeRef::<Dialog>::new();
    effect(move || {
        let listener = window_event_listener(leptos::ev::click, move |event| {
            if let Some(path) = release_path(&event) {
                state.plan(path);
            }
        });
        on_cleanup(move || listener.remove());
        if let Some((path, reason)) = draft::take() {
            state.plan(path);
            state.reason.set(reason);
        }
    });
    effect(move || {
        if let Some(at_ms) = state.live.sign_in_ended_ms() {
            state.end_sign_in(at_ms);
        }
    });
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match (state.stage.with(|stage| *stage != Stage::Closed), dialog.open()) {
            // Fails only for a dialog that is open in another way, which this page never does.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // What is shown begins with its title in focus: no key does anything there.
    effect(move || {
        if let Some(heading) = state.heading.get() {
            // Focus can fail only for what is not in the document.
            let _ = heading.focus();
        }
    });
    // A request that is on its way changes nothing of the plan that is shown.
    let shown = Memo::new(move |_| {
        state
            .stage
            .with(|stage| if let Stage::Sent(plan) = stage { Stage::Planned(plan.clone()) } else { stage.clone() })
    });
    view! {
        <dialog
            class="release"
            data-testid="release"
            aria-labelledby="release-title"
            node_ref=dialog
            on:close=move |_| state.close()
            on:cancel=move |event| state.hold_open(&event)
        >
            <div>{dynamic(move || shown.with(|stage| state.content(stage)))}</div>
        </dialog>
    }
}

/// The znode whose button was clicked.
fn release_path(event: &Event) -> Option<String> {
    closest(event.target(), "[data-release]")?.get_attribute("data-release")
}

impl Releasing {
    fn new(ensemble: String) -> Self {
        Self {
            live: Live::of_app(),
            ensemble: StoredValue::new(ensemble),
            stage: RwSignal::new(Stage::Closed),
            note: RwSignal::new(String::new()),
            confirm: RwSignal::new(String::new()),
            reason: RwSignal::new(String::new()),
            question: StoredValue::new(0),
            heading: NodeRef::new(),
        }
    }

    fn content(self, stage: &Stage) -> AnyView {
        match stage {
            Stage::Closed => erase(()),
            Stage::Asked(_) => view! { {self.without_plan(words::LOOKING, "", ())} },
            Stage::Refused(_, why) => erase(self.without_plan(words::REFUSED, why, self.again_button())),
            Stage::SignedOut(_, at_ms) => self.signed_out(*at_ms),
            Stage::Planned(plan) | Stage::Sent(plan) => plan_form(self, plan),
            Stage::Done(_, result) => result_view(self, result),
        }
    }

    /// Instead of a plan that nobody here may request any more.
    fn signed_out(self, at_ms: i64) -> AnyView {
        view! {
            {self.title(words::sign_in_ended(at_ms))}
            <p class="release-stop" role="alert" data-testid="release-signed-out">"Nothing was sent. The reason you typed is kept for when you are back."</p>
            <div class="release-buttons">
                {self.close_button(words::CLOSE)}
                <a class="tool" rel="external" href=draft::sign_in_url()>"Sign in and come back"</a>
            </div>
        }
    }

    fn title(self, text: impl Into<String>) -> AnyView {
        let text: String = text.into();
        view! { <h2 class="release-title" id="release-title" tabindex="-1" node_ref=self.heading>{text}</h2> }
    }

    fn close_button(self, text: &'static str) -> AnyView {
        view! { <button class="tool" type="button" on:click=move |_| self.close()>{text}</button> }
    }

    fn again_button(self) -> AnyView {
        view! { <button class="tool" type="button" on:click=move |_| self.again()>"Refresh plan"</button> }
    }

    fn without_plan<V: IntoView + 'static>(self, title: &'static str, text: &str, again: V) -> AnyView {
        let class = filled(text).map(|_| "release-stop");
        view! {
            {self.title(title)}
            <p class=class role="alert" data-testid="release-refused">{visible(text)}</p>
            <div class="release-buttons">{self.close_button(words::CLOSE)}{again}</div>
        }
    }

    /// The sign-in ended: what is shown can't be requested any more, and what was typed is kept. A request that is out
    /// goes on, and its outcome still comes.
    fn end_sign_in(self, at_ms: i64) {
        let path = self.stage.with_untracked(|stage| stage.is_before_request().then(|| stage.path().to_owned()));
        let Some(path) = path else { return };
        self.next_question();
        draft::keep(&path, &self.reason.get_untracked());
        self.stage.set(Stage::SignedOut(path, at_ms));
    }

    fn close(self) {
        self.next_question();
        self.stage.set(Stage::Closed);
        // The button that opened it may be gone with its znode.
        request_animation_frame(focus_heading);
    }

    fn again(self) {
        self.plan(self.stage.with_untracked(|stage| stage.path().to_owned()));
    }

    /// Esc does not take the result of a request that is out.
    fn hold_open(self, event: &Event) {
        if self.stage.with_untracked(|stage| matches!(stage, Stage::Sent(_))) {
            event.prevent_default();
        }
    }

    /// The request is out, and its answer is not here.
    fn is_sent(self) -> bool {
        self.stage.with(|stage| matches!(stage, Stage::Sent(_)))
    }

    /// Why the plan can't be requested now; empty where it can. What was wrong with the last request does not hinder
    /// the next.
    fn hindrance(self) -> &'static str {
        let seen = self
            .stage
            .with(|stage| stage.plan().map(|plan| (self.seen(plan), self.live.now_ms() >= plan.expires_at_ms)));
        match seen {
            Some((Seen::Same | Seen::NotShown, true)) => words::RAN_OUT,
            Some((seen, _)) => words::objection(seen),
            None => "",
        }
    }

    /// The one line that says how the plan stands; empty while it is good.
    fn objection(self) -> String {
        if self.is_sent() {
            return words::IS_OUT.to_owned();
        }
        let hindrance = self.hindrance();
        if hindrance.is_empty() { self.note.get() } else { hindrance.to_owned() }
    }

    fn is_stopped(self) -> bool {
        !self.is_sent() && !self.objection().is_empty()
    }

    fn is_typed(self) -> bool {
        self.stage.with(|stage| match stage {
            Stage::Planned(plan) => is_confirmed(plan, &self.confirm.get(), &self.reason.get()),
            _ => false,
        })
    }

    /// Whether the plan can be requested: nothing hinders it, and what has to be typed is typed.
    fn is_ready(self) -> bool {
        self.is_typed() && self.hindrance().is_empty()
    }

    fn seen(self, plan: &ReleasePlan) -> Seen {
        if self.live.is_paused() {
            return Seen::Paused;
        }
        let seen = self.live.lock(|page| compare(page, plan));
        if self.live.connection() == Connection::Open && self.live.freshness() != Freshness::Stale {
            seen.unwrap_or(Seen::Old)
        } else {
            Seen::Old
        }
    }

    /// Asks for a plan; the old one, and what was typed for it, is over.
    fn plan(self, path: String) {
        let number = self.next_question();
        self.note.set(String::new());
        self.confirm.set(String::new());
        self.reason.set(String::new());
        self.stage.set(Stage::Asked(path.clone()));
        if let Some(at_ms) = untrack(move || self.live.sign_in_ended_ms()) {
            self.end_sign_in(at_ms);
            return;
        }
        let ensemble = self.ensemble.get_value();
        leptos::task::spawn_local(async move {
            let answer = ask("/api/v1/release/plan", &[("ensemble", &ensemble), ("path", &path)]).await;
            if self.question.try_get_value() == Some(number) {
                self.stage.set(answer.map_or_else(|why| Stage::Refused(path, why), Stage::Planned));
            }
        });
    }

    /// Sends the plan that is shown, with what was typed: the server compares it to the letter.
    fn send(self, what: &'static str) {
        if !untrack(move || self.is_ready()) {
            return;
        }
        let Stage::Planned(plan) = self.stage.get_untracked() else { return };
        let (confirm, reason) = (self.confirm.get_untracked(), self.reason.get_untracked());
        let number = self.next_question();
        self.stage.set(Stage::Sent(plan.clone()));
        leptos::task::spawn_local(async move {
            let url = format!("/api/v1/release/{what}");
            let answer: Result<ReleaseResult, _> =
                ask(&url, &[("plan_id", &plan.plan_id), ("confirm", &confirm), ("reason", &reason)]).await;
            if self.question.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Ok(result) => self.stage.set(Stage::Done(plan.path, result)),
                // The plan was this person's, and they are gone.
                Err(why) if untrack(move || self.live.sign_in_ended_ms()).is_some() => {
                    self.stage.set(Stage::Refused(plan.path, why));
                }
                Err(why) => {
                    self.note.set(why);
                    self.stage.set(Stage::Planned(plan));
                }
            }
        });
    }

    fn next_question(self) -> u64 {
        self.question.update_value(|question| *question += 1);
        self.question.get_value()
    }
}
