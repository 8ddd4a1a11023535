//! What the dialog that releases shows: a plan, or what came of it. All of it is from the plan, drawn once: the page around
//! it only fills one line and turns buttons on and off, so that nothing moves under a hand.

use super::{Plain, document};
use crate::format::{count, middle, plural, visible};
use crate::html::Html;
use crate::parts::{Person, dossier, holder_name, tag};
use lockscope_wire::{Contender, DeleteRight, Outcome, ReleasePlan, ReleaseResult, Role};

/// Longest name or path in a sentence; the whole is in its title.
const PATH_CHARS: usize = 72;

/// A plan, to be confirmed. The dialog reads what it is about from the form's attributes.
pub fn release_plan(plan: &ReleasePlan, now_ms: i64) -> String {
    let is_holder = plan.holder.role == Role::Holder;
    let heading = if is_holder { "Release this holder?" } else { "Remove this waiter?" };
    let dead = plan.frees_itself_at_ms.map(|at_ms| waiting_would_do(plan, at_ms, now_ms)).unwrap_or_default();
    let inner = vec![
        Html::tag("div", &[("class", "release-head")], Html::all(vec![title(heading), tag(plan.tag.as_ref())])),
        subject(&plan.path, &plan.lock),
        dead,
        victim(plan, now_ms),
        consequence(plan),
        warnings(plan),
        state(plan, now_ms),
        fields(plan),
        whole_session(plan),
    ];
    let (czxid, session, version) =
        (plan.czxid.to_string(), plan.session_id.map(|session| session.to_string()).unwrap_or_default(), plan.version.to_string());
    let expires = plan.expires_at_ms.to_string();
    let attributes = [
        ("data-plan", &*plan.plan_id),
        ("data-path", &*plan.path),
        ("data-lock", &*plan.lock),
        ("data-czxid", &*czxid),
        ("data-session", &*session),
        ("data-version", &*version),
        ("data-role", plan.holder.role.name()),
        ("data-expires", &*expires),
    ];
    Html::tag("form", &attributes, Html::all(inner)).into_string()
}

/// The page on which a second person approves a plan. `approved_by`: who has done so; empty for nobody. `error`: why it
/// did not work; empty for nothing.
pub fn approve_page(plain: &Plain<'_>, plan: &ReleasePlan, approved_by: &str, error: &str, now_ms: i64) -> String {
    let error = if error.is_empty() { Html::default() } else { Html::of("p", &[("class", "release-stop"), ("role", "alert")], error) };
    let form = if approved_by.is_empty() {
        let number = Html::tag("input", &[("type", "hidden"), ("name", "plan_id"), ("value", &plan.plan_id)], Html::default());
        let go = Html::of("button", &[("class", "tool danger"), ("type", "submit"), ("data-testid", "approve")], "Approve it");
        let form = [("method", "post"), ("action", "/release/approve")];
        Html::tag(
            "form",
            &form,
            Html::all(vec![number, input("reason", Html::text("Remark, for the record"), "what you checked"), buttons(vec![go])]),
        )
    } else {
        let text = format!("Approved by {}. Who planned it can order it now, until the plan runs out.", visible(approved_by));
        Html::of("p", &[("class", "release-result"), ("data-kind", "good"), ("data-testid", "approved")], &text)
    };
    let inner = vec![
        Html::of("h1", &[("class", "page-title")], "Approve this release?"),
        subject(&plan.path, &plan.lock),
        victim(plan, now_ms),
        consequence(plan),
        warnings(plan),
        error,
        form,
    ];
    document(plain, "Approve", "", Html::tag("div", &[("class", "approve")], Html::all(inner)))
}

/// What came of an order.
pub fn release_result(result: &ReleaseResult) -> String {
    let (kind, heading) = heading(result.outcome);
    let record = result.audit_id.map(|id| {
        let href = format!("/audit#r{id}");
        Html::all(vec![Html::text("Recorded as "), Html::of("a", &[("href", &href), ("rel", "external")], &format!("№ {id}")), Html::text(".")])
    });
    let sentence = [("class", "release-result"), ("data-testid", "release-result"), ("data-outcome", result.outcome.name()), ("data-kind", kind)];
    let name = |holder: &Contender| Html::tag("li", &[], Html::of("bdi", &[("class", "mono")], &middle(&visible(&holder_name(holder)), 60)));
    let holders = if result.holders.is_empty() {
        Html::default()
    } else {
        let list = Html::tag("ul", &[("class", "release-next")], Html::all(result.holders.iter().map(name).collect()));
        Html::all(vec![Html::of("h3", &[("class", "release-part")], "Holds now"), list])
    };
    let anew = if matches!(result.outcome, Outcome::Released | Outcome::AlreadyGone) { Html::default() } else { button("again", "Look again") };
    let inner = vec![
        title(heading),
        Html::of("p", &sentence, &result.sentence),
        holders,
        Html::tag("p", &[("class", "quiet")], record.unwrap_or_default()),
        buttons(vec![anew, button("close", "Close")]),
    ];
    Html::all(inner).into_string()
}

fn title(text: &str) -> Html {
    Html::of("h2", &[("class", "release-title"), ("id", "release-title"), ("tabindex", "-1")], text)
}

fn path_code(path: &str) -> Html {
    Html::tag("code", &[("title", &visible(path))], Html::of("bdi", &[], &middle(&visible(path), PATH_CHARS)))
}

fn subject(path: &str, lock: &str) -> Html {
    let of = if lock == path { Html::default() } else { Html::all(vec![Html::text(" of the lock "), path_code(lock)]) };
    Html::tag("p", &[("class", "release-subject")], Html::all(vec![path_code(path), of]))
}

/// The first advice where the owner is dead.
fn waiting_would_do(plan: &ReleasePlan, at_ms: i64, now_ms: i64) -> Html {
    let words = if plan.frees_itself_is_upper_bound { "at the latest in " } else { "in " };
    let inner = vec![
        Html::text("Waiting would do: its session is dead and the znode goes by itself "),
        Html::countdown(words, at_ms, now_ms),
        Html::text("."),
    ];
    Html::tag("p", &[("class", "release-wait"), ("data-testid", "release-wait")], Html::all(inner))
}

/// Who is released.
fn victim(plan: &ReleasePlan, now_ms: i64) -> Html {
    let holder = &plan.holder;
    let since = match holder.role {
        Role::Holder => vec![Html::text("Holds for "), Html::age(holder.holding_since_ms, holder.holding_is_lower_bound, now_ms).or_dash()],
        Role::Waiter => vec![Html::text("Waits for "), Html::age(holder.waiting_since_ms, false, now_ms).or_dash()],
    };
    let identity = format!(" · czxid {}, data version {}", plan.czxid, plan.version);
    let since = Html::all(vec![Html::all(since), Html::of("span", &[("class", "quiet")], &identity)]);
    let card = dossier(&Person::of(&plan.ensemble, holder_name(holder), holder), now_ms);
    Html::tag(
        "div",
        &[("class", "release-victim"), ("data-testid", "release-victim")],
        Html::all(vec![card, Html::tag("p", &[("class", "release-since")], since)]),
    )
}

/// Who gets it, and what moves.
fn consequence(plan: &ReleasePlan) -> Html {
    let more = u64::from(plan.waiters_moving);
    let moves = if more == 0 { "Nobody else moves.".to_owned() } else { format!("{} up.", plural(more, "waiter moves", "waiters move")) };
    let name = |contender: &Contender| {
        let address = contender.client.as_ref().map(|client| format!(", {}", client.address)).unwrap_or_default();
        let czxid = contender.czxid.map(|czxid| format!(", czxid {czxid}")).unwrap_or_default();
        let rest = format!("{address}{czxid}");
        Html::tag(
            "li",
            &[],
            Html::all(vec![
                Html::of("bdi", &[("class", "mono")], &middle(&visible(&holder_name(contender)), 48)),
                Html::of("span", &[("class", "quiet")], &rest),
            ]),
        )
    };
    let next = if plan.next.len() < 2 {
        Html::default()
    } else {
        Html::tag("ul", &[("class", "release-next")], Html::all(plan.next.iter().map(name).collect()))
    };
    let inner = vec![Html::of("p", &[], &plan.next_sentence), next, Html::of("p", &[("class", "quiet")], &moves)];
    Html::tag("div", &[("class", "release-then")], Html::all(vec![Html::of("h3", &[("class", "release-part")], "Then"), Html::all(inner)]))
}

fn warnings(plan: &ReleasePlan) -> Html {
    if plan.warnings.is_empty() && plan.right == DeleteRight::Granted {
        return Html::default();
    }
    let line = |text: &String| Html::of("li", &[], text);
    let mut lines: Vec<Html> = plan.warnings.iter().map(line).collect();
    if plan.right != DeleteRight::Granted {
        lines.insert(0, line(&plan.right_sentence));
    }
    let list = Html::tag("ul", &[("class", "release-warnings"), ("data-testid", "release-warnings")], Html::all(lines));
    Html::all(vec![Html::of("h3", &[("class", "release-part")], "What can't be promised"), list])
}

/// One line that is always there, so that nothing moves when it has something to say.
fn state(plan: &ReleasePlan, now_ms: i64) -> Html {
    let address = format!("/release/approve?plan={}", plan.plan_id);
    let second = if plan.needs_second {
        let link = Html::of("a", &[("href", &address), ("rel", "external"), ("target", "_blank")], "this address");
        Html::all(vec![Html::text("First a second person has to approve it, at "), link, Html::text(". The plan")])
    } else {
        Html::text("This plan")
    };
    let good = Html::all(vec![second, Html::text(" is good for "), Html::countdown("", plan.expires_at_ms, now_ms)]);
    let inner = vec![Html::tag("span", &[("id", "release-word")], Html::default()), Html::tag("span", &[("class", "release-good")], good)];
    Html::tag("p", &[("class", "release-state"), ("role", "status"), ("data-testid", "release-state")], Html::all(inner))
}

fn input(name: &'static str, label: Html, hint: &str) -> Html {
    let attributes = [
        ("class", "release-input"),
        ("name", name),
        ("type", "text"),
        ("autocomplete", "off"),
        ("autocapitalize", "off"),
        ("spellcheck", "false"),
        ("placeholder", hint),
        ("maxlength", "1000"),
    ];
    let parts = vec![Html::tag("span", &[], label), Html::tag("input", &attributes, Html::default())];
    Html::tag("label", &[("class", "release-field")], Html::all(parts))
}

fn fields(plan: &ReleasePlan) -> Html {
    let go = if plan.holder.role == Role::Holder { "Delete its znode now" } else { "Delete this waiter’s znode" };
    let go = Html::of(
        "button",
        &[("class", "tool danger"), ("type", "submit"), ("data-when", "confirmed"), ("data-testid", "release-go"), ("disabled", "disabled")],
        go,
    );
    let revoke = if plan.can_revoke {
        let title = "Writes __REVOKE__ to its znode, as Curator's revocable mutex asks for. Its owner decides; nothing is deleted.";
        let attributes =
            [("class", "tool"), ("type", "button"), ("data-when", "confirmed"), ("data-do", "revoke"), ("title", title), ("disabled", "disabled")];
        Html::of("button", &attributes, "Ask it to let go first")
    } else {
        Html::default()
    };
    Html::all(vec![
        input("confirm", Html::all(vec![Html::text("Type the lock’s path, "), Html::tag("code", &[], Html::of("bdi", &[], &plan.lock))]), ""),
        input("reason", Html::text("Reason, for the record"), "what you saw, ticket, who was asked"),
        buttons(vec![button("close", "Cancel"), button("again", "Look again"), revoke, go]),
    ])
}

fn buttons(inner: Vec<Html>) -> Html {
    Html::tag("div", &[("class", "release-buttons")], Html::all(inner))
}

fn button(act: &str, text: &str) -> Html {
    Html::of("button", &[("class", "tool"), ("type", "button"), ("data-do", act)], text)
}

/// How the whole session would be ended, which is not done here.
fn whole_session(plan: &ReleasePlan) -> Html {
    let Some(runbook) = &plan.runbook else { return Html::default() };
    let falls = match plan.falls_count {
        0 => "It owns no other znode.".to_owned(),
        many => format!("With it {} would go:", plural(many.into(), "more ephemeral", "more ephemerals")),
    };
    let path = |path: &String| Html::tag("li", &[], path_code(path));
    let more = plan.falls_count.saturating_sub(plan.falls.len() as u32);
    let mut list: Vec<Html> = plan.falls.iter().map(path).collect();
    if more > 0 {
        list.push(Html::of("li", &[], &format!("and {} more", count(more))));
    }
    // Line by line: a line's end in a text would be shown as a sign.
    let lines = runbook.lines().flat_map(|line| [Html::text(line), Html::trusted("\n")]).collect();
    let copy = button("copy", "Copy");
    let inner = vec![
        Html::of("summary", &[], "End the whole session instead"),
        Html::of("p", &[], "Lockscope never ends a session of others. An administrator of the ensemble can, like this:"),
        Html::tag("pre", &[("class", "release-runbook"), ("tabindex", "0")], Html::all(lines)),
        copy,
        Html::of("p", &[], &falls),
        Html::tag("ul", &[("class", "bullets")], Html::all(list)),
    ];
    Html::tag("details", &[("class", "release-more")], Html::all(inner))
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
    use crate::release::samples::plan;

    #[test]
    fn what_is_planned_is_drawn_once_with_all_buttons_off() {
        let html = release_plan(&plan(), 0);
        assert!(html.starts_with(
            "<form data-plan=\"abc\" data-path=\"/order/lock-0000000001\" data-lock=\"/order\" data-czxid=\"0x5\" data-session=\"0x7\""
        ));
        let button = html.split("data-testid=\"release-go\"").nth(1).and_then(|rest| rest.split('>').next()).expect("there is the button");
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
        let html = release_plan(&plan, 0);
        assert!(!html.contains("<img") && !html.contains('\u{202e}'), "{html}");
    }
}
