//! What a plan says and what came of a release, as the dialog and the page of a second person show it.

use leptos::prelude::*;

use super::{Releasing, words};
use crate::copy::CopyButton;
use crate::erase::view;
use crate::format::{middle, visible};
use crate::parts::{
    Age, Client, ClientCard, Countdown, Tag, and_more, filled, hold_least, holder_name, shortened_code,
};
use lockscope_view::{Contender, ContenderRole, DeleteRight, Outcome, ReleasePlan, ReleaseResult};

/// Longest name or path in a sentence; the whole is in its title.
const PATH_CHARS: usize = 72;

/// A plan, to be confirmed. All of it is as it was planned: only one line changes, and buttons go on and off, so that
/// nothing moves under a hand.
pub(super) fn plan_form(state: Releasing, plan: &ReleasePlan) -> AnyView {
    let stop = move || state.is_stopped().then_some("true");
    view! {
        <form
            data-stop=stop
            on:submit=move |event| {
                event.prevent_default();
                state.send("execute");
            }
        >
            <div class="release-head">{state.title(words::question(plan.holder.role))}<Tag of=plan.tag.clone() /></div>
            <p class="release-subject">{path_code(&plan.lock)}</p>
            {plan.frees_itself_at_ms.map(|at_ms| waiting_would_do(plan, at_ms))}
            {victim(plan)}
            {consequence(plan)}
            {warnings(plan)}
            {status_line(state, plan)}
            {fields(state, plan)}
            {details(plan)}
            {whole_session(plan)}
        </form>
    }
}

pub(super) fn result_view(state: Releasing, result: &ReleaseResult) -> AnyView {
    let (kind, heading) = words::outcome(result.outcome);
    let is_over = matches!(result.outcome, Outcome::Released | Outcome::AlreadyGone);
    let record = result.audit_id.map(|id| {
        view! { <a href=format!("/audit#r{id}") rel="external">{words::record(id)}</a> }
    });
    // Who holds by now is on the page below: what is here stays as it was.
    let proof = filled(&*result.proof).map(|proof| {
        view! {
            <details class="release-more">
                <summary>"Details"</summary>
                <p>{visible(proof)}</p>
            </details>
        }
    });
    view! {
        {state.title(heading)}
        <p class="release-result" data-testid="release-result" data-outcome=result.outcome.name() data-kind=kind>{visible(&result.sentence)}</p>
        <p class="quiet">{record}</p>
        {proof}
        <div class="release-buttons">
            {(!is_over).then(|| state.again_button())}
            {state.close_button(words::CLOSE)}
        </div>
    }
}

fn path_code(path: &str) -> AnyView {
    shortened_code(path, PATH_CHARS)
}

#[cfg(feature = "ssr")]
pub(crate) fn subject(path: &str, lock: &str) -> AnyView {
    view! {
        <p class="release-subject">
            {path_code(path)}
            {(lock != path).then(|| view! { " of the lock " {path_code(lock)} })}
        </p>
    }
}

/// The first advice where the owner is dead.
fn waiting_would_do(plan: &ReleasePlan, at_ms: i64) -> AnyView {
    view! {
        <p class="release-wait" data-testid="release-wait">
            "Waiting would do: its session is dead and the znode goes by itself " <Countdown words=words::goes_in(plan.frees_itself_is_upper_bound).to_owned() until_ms=at_ms /> "."
        </p>
    }
}

pub(crate) fn victim(plan: &ReleasePlan) -> AnyView {
    let holder = &plan.holder;
    let (since_ms, least) = match holder.role {
        ContenderRole::Holder => (holder.holding_since_ms, hold_least(holder.holding_is_lower_bound)),
        ContenderRole::Waiter => (holder.waiting_since_ms, None),
    };
    view! {
        <div class="release-victim" data-testid="release-victim">
            <ClientCard of=Client { token: None, ..Client::of(&plan.ensemble, holder_name(holder), holder) } button=() />
            <p class="release-since">{words::does_for(holder.role)} <Age since_ms=since_ms least=least or="–" /></p>
        </div>
    }
}

pub(crate) fn consequence(plan: &ReleasePlan) -> AnyView {
    let next = match plan.next.as_slice() {
        [one] if plan.holder.role == ContenderRole::Holder => {
            view! { <p>"Next holder: " <bdi class="mono">{middle(&holder_name(one), 48)}</bdi></p> }
        }
        _ => view! { <p>{visible(&plan.next_sentence)}</p> },
    };
    let more = plan.waiters_moving;
    let moves = (more > 0).then(|| view! { <p class="quiet">{words::move_up(more)}</p> });
    view! { <div class="release-then" data-testid="release-next">{next}{moves}</div> }
}

/// What identifies the znode, and those who come next: to compare with a log, not to decide by.
pub(crate) fn details(plan: &ReleasePlan) -> AnyView {
    let name = |contender: &Contender| {
        view! {
            <li>
                <bdi class="mono">{middle(&holder_name(contender), 48)}</bdi>
                <span class="quiet">{words::after_name(contender)}</span>
            </li>
        }
    };
    view! {
        <details class="release-more">
            <summary>"Details"</summary>
            <p>{path_code(&plan.path)} {words::incarnation(plan)}</p>
            <p>{visible(&plan.next_sentence)}</p>
            <ul class="release-next">{plan.next.iter().map(name).collect_view()}</ul>
        </details>
    }
}

pub(crate) fn warnings(plan: &ReleasePlan) -> Option<AnyView> {
    let line = |text: &String| view! { <li>{visible(text)}</li> };
    let denied = (plan.right != DeleteRight::Granted).then(|| line(&plan.right_sentence));
    let are_there = denied.is_some() || !plan.warnings.is_empty();
    are_there.then(|| {
        view! {
            <h3 class="release-part">"Risks"</h3>
            <ul class="release-warnings" data-testid="release-warnings">{denied}{plan.warnings.iter().map(line).collect_view()}</ul>
        }
    })
}

/// One line that is always there, so that nothing moves when it has something to say.
fn status_line(state: Releasing, plan: &ReleasePlan) -> AnyView {
    let (live, expires_at_ms) = (state.live, plan.expires_at_ms);
    let left = move || words::valid_for(expires_at_ms, live.now_ms());
    let second = plan.needs_second.then(|| {
        let address = format!("/release/approve?plan={}", plan.plan_id);
        view! {
            "First a second person has to approve it, at " <a href=address rel="external" target="_blank">"this address"</a> ". "
        }
    });
    view! {
        <p class="release-state" role="status" data-testid="release-state">
            <span id="release-word">{move || state.objection()}</span>
            <span class="release-good">{second}<span>{left}</span></span>
        </p>
    }
}

#[component]
pub(crate) fn Field<L: IntoView + 'static>(
    name: &'static str,
    label: L,
    hint: Option<&'static str>,
    /// Where what is typed goes; nowhere on a page without scripts.
    #[prop(optional)]
    typed: Option<RwSignal<String>>,
    #[prop(optional, into)] is_disabled: Signal<bool>,
) -> AnyView {
    view! {
        <label class="release-field">
            <span>{label}</span>
            <input
                class="release-input"
                name=name
                type="text"
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                placeholder=hint
                maxlength="1000"
                disabled=move || is_disabled.get()
                prop:value=move || typed.map(|typed| typed.get())
                on:input=move |event| {
                    if let Some(typed) = typed {
                        typed.set(event_target_value(&event));
                    }
                }
            />
        </label>
    }
}

fn fields(state: Releasing, plan: &ReleasePlan) -> AnyView {
    let go = words::go(plan.holder.role);
    let is_off = move || !state.is_ready();
    let revoke = plan.can_revoke.then(|| {
        view! {
            <button class="tool" type="button" title=words::REVOKE disabled=is_off on:click=move |_| state.send("revoke")>"Ask it to let go first"</button>
        }
    });
    let is_sent = Signal::derive(move || state.is_sent());
    let label = view! { "Type the lock’s path, " <code><bdi>{visible(&plan.lock)}</bdi></code> };
    let need = move || if state.is_typed() || state.is_sent() { "" } else { words::NEED };
    view! {
        <div class="release-typed">
            <Field name="confirm" label=label hint=None typed=state.confirm is_disabled=is_sent />
            <CopyButton text=plan.lock.clone() what=words::THE_PATH />
        </div>
        <Field name="reason" label="Reason, for the audit log" hint=Some(words::REASON_HINT) typed=state.reason is_disabled=is_sent />
        <div class="release-buttons">
            {state.close_button(words::CANCEL)}
            {state.again_button()}
            {revoke}
            <span class="release-need quiet" id="release-need">{need}</span>
            <button class="tool danger" type="submit" data-testid="release-go" aria-describedby="release-need" disabled=is_off>{go}</button>
        </div>
    }
}

/// How the whole session would be ended, which is not done here.
fn whole_session(plan: &ReleasePlan) -> Option<AnyView> {
    let runbook = plan.runbook.as_ref()?;
    let more = plan.falls_count.saturating_sub(plan.falls.len() as u32);
    // Line by line: a line's end in a text would be shown as a sign.
    let lines: String = runbook.lines().map(|line| visible(line) + "\n").collect();
    let paths = plan.falls.iter().map(|path| view! { <li>{path_code(path)}</li> }).collect_view();
    Some(view! {
        <details class="release-more">
            <summary>"End the whole session instead"</summary>
            <p>"Lockscope never ends a session of others. An administrator of the ensemble can, like this:"</p>
            <pre class="release-runbook" tabindex="0">{lines.clone()}</pre>
            <button class="tool" type="button" data-copy=lines.clone()>"Copy"</button>
            <p>{words::falls(plan.falls_count)}</p>
            <ul class="bullets">{paths}{(more > 0).then(|| view! { <li>{and_more(more)}</li> })}</ul>
        </details>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Live;
    use crate::release::tests::plan;

    fn drawn(plan: &ReleasePlan) -> String {
        let owner = Owner::new_root(None);
        owner.with(|| {
            provide_context(Live::at(0));
            plan_form(Releasing::new(String::new()), plan).to_html()
        })
    }

    #[test]
    fn what_is_planned_is_drawn_with_all_buttons_off() {
        let html = drawn(&plan());
        assert!(html.contains("/order/lock-0000000001") && html.contains("czxid 0x5, data version 0"));
        let button = html
            .split("data-testid=\"release-go\"")
            .nth(1)
            .and_then(|rest| rest.split('>').next())
            .expect("there is the button");
        assert!(button.contains("disabled"));
    }

    #[test]
    fn hostile_words_stay_words() {
        let mut plan = plan();
        let hostile = "<img src=x onerror=alert(1)>\u{202e}";
        plan.warnings = vec![hostile.to_owned()];
        plan.runbook = Some(hostile.to_owned());
        plan.holder.label = Some(hostile.to_owned());
        plan.next_sentence = hostile.to_owned();
        let html = drawn(&plan);
        assert!(!html.contains("<img") && !html.contains('\u{202e}'), "{html}");
    }
}
