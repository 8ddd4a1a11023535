//! What a plan says and what came of a release, as the dialog and the page of a second person show it.

use leptos::prelude::*;

use super::Releasing;
use crate::erase::{erase, view};
use crate::format::{count, middle, plural, visible};
use crate::parts::{Age, Client, ClientCard, Countdown, Tag, hold_least, holder_name};
use lockscope_wire::{Contender, ContenderRole, DeleteRight, Outcome, ReleasePlan, ReleaseResult};

/// Longest name or path in a sentence; the whole is in its title.
const PATH_CHARS: usize = 72;

/// A plan, to be confirmed. All of it is as it was planned: only one line changes, and buttons go on and off, so that
/// nothing moves under a hand.
pub(super) fn plan_form(state: Releasing, plan: &ReleasePlan) -> AnyView {
    let is_holder = plan.holder.role == ContenderRole::Holder;
    let heading = if is_holder { "Release this holder?" } else { "Remove this waiter?" };
    let stop = move || state.is_stopped().then_some("true");
    view! {
        <form
            data-stop=stop
            on:submit=move |event| {
                event.prevent_default();
                state.send("execute");
            }
        >
            <div class="release-head">{state.title(heading)}<Tag of=plan.tag.clone() /></div>
            {subject(&plan.path, &plan.lock)}
            {plan.frees_itself_at_ms.map(|at_ms| waiting_would_do(plan, at_ms))}
            {victim(plan)}
            {consequence(plan)}
            {warnings(plan)}
            {status_line(state, plan)}
            {fields(state, plan)}
            {whole_session(plan)}
        </form>
    }
}

/// What came of a release.
pub(super) fn result_view(state: Releasing, result: &ReleaseResult) -> AnyView {
    let (kind, heading) = heading(result.outcome);
    let is_over = matches!(result.outcome, Outcome::Released | Outcome::AlreadyGone);
    let name = |holder: &Contender| view! { <li><bdi class="mono">{middle(&holder_name(holder), 60)}</bdi></li> };
    let record = result.audit_id.map(|id| {
        view! { "Recorded as " <a href=format!("/audit#r{id}") rel="external">{format!("№ {id}")}</a> "." }
    });
    let holders = (!result.holders.is_empty()).then(|| {
        view! {
            <h3 class="release-part">"Holds now"</h3>
            <ul class="release-next">{result.holders.iter().map(name).collect_view()}</ul>
        }
    });
    view! {
        {state.title(heading)}
        <p class="release-result" data-testid="release-result" data-outcome=result.outcome.name() data-kind=kind>{visible(&result.sentence)}</p>
        {holders}
        <p class="quiet">{record}</p>
        <div class="release-buttons">
            {(!is_over).then(|| state.again_button())}
            {state.close_button("Close")}
        </div>
    }
}

fn path_code(path: &str) -> AnyView {
    let whole = visible(path);
    view! { <code title=whole.clone()><bdi>{middle(&whole, PATH_CHARS)}</bdi></code> }
}

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
    let words = if plan.frees_itself_is_upper_bound { "at the latest in " } else { "in " };
    view! {
        <p class="release-wait" data-testid="release-wait">
            "Waiting would do: its session is dead and the znode goes by itself " <Countdown words=words.to_owned() until_ms=at_ms /> "."
        </p>
    }
}

/// Who is released.
pub(crate) fn victim(plan: &ReleasePlan) -> AnyView {
    let holder = &plan.holder;
    let (does, since_ms, least) = match holder.role {
        ContenderRole::Holder => ("Holds for ", holder.holding_since_ms, hold_least(holder.holding_is_lower_bound)),
        ContenderRole::Waiter => ("Waits for ", holder.waiting_since_ms, None),
    };
    view! {
        <div class="release-victim" data-testid="release-victim">
            <ClientCard of=Client::of(&plan.ensemble, holder_name(holder), holder) button=() />
            <p class="release-since">
                {does} <Age since_ms=since_ms least=least or="–" />
                <span class="quiet">{format!(" · czxid {}, data version {}", plan.czxid, plan.version)}</span>
            </p>
        </div>
    }
}

/// Who gets it, and what moves.
pub(crate) fn consequence(plan: &ReleasePlan) -> AnyView {
    let more = u64::from(plan.waiters_moving);
    let moves = if more == 0 {
        "Nobody else moves.".to_owned()
    } else {
        format!("{} up.", plural(more, "waiter moves", "waiters move"))
    };
    let name = |contender: &Contender| {
        let address =
            contender.client.as_ref().map(|client| format!(", {}", visible(&client.address))).unwrap_or_default();
        let czxid = contender.czxid.map(|czxid| format!(", czxid {czxid}")).unwrap_or_default();
        view! {
            <li>
                <bdi class="mono">{middle(&holder_name(contender), 48)}</bdi>
                <span class="quiet">{format!("{address}{czxid}")}</span>
            </li>
        }
    };
    let next = (plan.next.len() > 1)
        .then(|| view! { <ul class="release-next">{plan.next.iter().map(name).collect_view()}</ul> });
    view! {
        <div class="release-then">
            <h3 class="release-part">"Then"</h3>
            <p>{visible(&plan.next_sentence)}</p>
            {next}
            <p class="quiet">{moves}</p>
        </div>
    }
}

pub(crate) fn warnings(plan: &ReleasePlan) -> Option<AnyView> {
    let line = |text: &String| view! { <li>{visible(text)}</li> };
    let denied = (plan.right != DeleteRight::Granted).then(|| line(&plan.right_sentence));
    let are_there = denied.is_some() || !plan.warnings.is_empty();
    are_there.then(|| {
        view! {
            <h3 class="release-part">"What can't be promised"</h3>
            <ul class="release-warnings" data-testid="release-warnings">{denied}{plan.warnings.iter().map(line).collect_view()}</ul>
        }
    })
}

/// One line that is always there, so that nothing moves when it has something to say.
fn status_line(state: Releasing, plan: &ReleasePlan) -> AnyView {
    let second = if plan.needs_second {
        let address = format!("/release/approve?plan={}", plan.plan_id);
        view! {
            "First a second person has to approve it, at " <a href=address rel="external" target="_blank">"this address"</a> ". The plan"
        }
    } else {
        erase("This plan")
    };
    view! {
        <p class="release-state" role="status" data-testid="release-state">
            <span id="release-word">{move || state.objection()}</span>
            <span class="release-good">{second} " is good for " <Countdown words=String::new() until_ms=plan.expires_at_ms /></span>
        </p>
    }
}

/// A text to be typed.
#[component]
pub(crate) fn Field<L: IntoView + 'static>(
    name: &'static str,
    label: L,
    hint: Option<&'static str>,
    /// Where what is typed goes; nowhere on a page without scripts.
    #[prop(optional)]
    typed: Option<RwSignal<String>>,
    /// Nothing can be typed now.
    #[prop(optional, into)]
    is_disabled: Signal<bool>,
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
    let go =
        if plan.holder.role == ContenderRole::Holder { "Delete its znode now" } else { "Delete this waiter’s znode" };
    let is_off = move || !state.is_ready();
    let revoke = plan.can_revoke.then(|| {
        let title = "Writes __REVOKE__ to its znode, as Curator's revocable mutex asks for. Its owner decides; nothing is deleted.";
        view! {
            <button class="tool" type="button" title=title disabled=is_off on:click=move |_| state.send("revoke")>"Ask it to let go first"</button>
        }
    });
    let is_sent = Signal::derive(move || state.is_sent());
    let label = view! { "Type the lock’s path, " <code><bdi>{visible(&plan.lock)}</bdi></code> };
    view! {
        <Field name="confirm" label=label hint=None typed=state.confirm is_disabled=is_sent />
        <Field name="reason" label="Reason, for the audit log" hint=Some("what you saw, ticket, who was asked") typed=state.reason is_disabled=is_sent />
        <div class="release-buttons">
            {state.close_button("Cancel")}
            {state.again_button()}
            {revoke}
            <button class="tool danger" type="submit" data-testid="release-go" disabled=is_off>{go}</button>
        </div>
    }
}

/// How the whole session would be ended, which is not done here.
fn whole_session(plan: &ReleasePlan) -> Option<AnyView> {
    let runbook = plan.runbook.as_ref()?;
    let falls = match plan.falls_count {
        0 => "It owns no other znode.".to_owned(),
        many => format!("With it {} would go:", plural(many.into(), "more ephemeral", "more ephemerals")),
    };
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
            <p>{falls}</p>
            <ul class="bullets">{paths}{(more > 0).then(|| view! { <li>{format!("and {} more", count(more))}</li> })}</ul>
        </details>
    })
}

fn heading(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Released => ("good", "Released"),
        Outcome::ReleasedOther => ("stop", "Another one was released"),
        Outcome::Asked => ("good", "It was asked to let go"),
        Outcome::AlreadyGone => ("good", "It was gone already"),
        Outcome::ChangedHands => ("stop", "It changed hands: nothing was deleted"),
        Outcome::VersionMoved => ("stop", "It was written to: nothing was deleted"),
        Outcome::PlanExpired => ("stop", "The plan ran out: nothing was deleted"),
        Outcome::Denied => ("stop", "ZooKeeper denies it: nothing was deleted"),
        Outcome::Unknown => ("stop", "Not known whether it was deleted"),
        Outcome::RefusedAudit => ("stop", "It can’t be recorded: nothing was deleted"),
        Outcome::NotLive => ("stop", "The view is not live: nothing was deleted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Live;
    use crate::release::samples::plan;

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
