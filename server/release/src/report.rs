//! What came of a release, in the order in which people ask: who has lost the lock, who has it now, and how that is known.

use lockscope_view::words::{clock, duration};
use lockscope_view::{Contender, ContenderRole, Outcome, ReleasePlan};

use lockscope_live::project::{Holding, OutcomeText};

/// `labels-hung-1@app-1 no longer holds /shipping/labels. labels-1@app-2 took it 31 ms after the request (10:51:45 UTC).`
pub(super) fn of_people(plan: &ReleasePlan, holding: &Holding, begun_at_ms: i64) -> String {
    let lock = &plan.lock;
    let lost = match plan.holder.role {
        ContenderRole::Holder => format!("{} no longer holds {lock}.", who(&plan.holder)),
        ContenderRole::Waiter => format!("{} no longer waits for {lock}.", who(&plan.holder)),
    };
    if !holding.is_live || !holding.is_gone {
        return format!("{lost} Who holds it now was not seen yet.");
    }
    let took = |holder: &Contender| {
        let since_ms = holder.holding_since_ms.filter(|since_ms| *since_ms >= begun_at_ms)?;
        (!holder.holding_is_lower_bound).then_some((since_ms, since_ms - begun_at_ms))
    };
    match holding.holders.as_slice() {
        [] => format!("{lost} Nobody holds it now."),
        [one] => match took(one) {
            Some((since_ms, later_ms)) => {
                format!("{lost} {} took it {} after the request ({}).", who(one), duration(later_ms), clock(since_ms))
            }
            None => format!("{lost} {} holds it now.", who(one)),
        },
        many => {
            let names: Vec<_> = many.iter().map(who).collect();
            format!("{lost} Now held by {}.", names.join(", "))
        }
    }
}

/// `0x12 deleted; /request now held by 10.1.2.3:4711 (0x1f9) after 52 ms. Proven: nothing else was deleted meanwhile.`
pub(super) fn of_znodes(lock: &str, told: &OutcomeText, holding: &Holding, took_ms: i64) -> String {
    let now = now_held(lock, told, holding);
    let after = if told.outcome == Outcome::Released { format!(" after {took_ms} ms") } else { String::new() };
    format!("{}{now}{after}.", told.sentence)
}

pub(super) fn proof(told: &OutcomeText) -> String {
    let word = if told.is_verified { "Proven" } else { "Known by" };
    format!("{word}: {}.", told.proof)
}

fn now_held(lock: &str, told: &OutcomeText, holding: &Holding) -> String {
    let is_over = matches!(
        told.outcome,
        Outcome::Released | Outcome::ReleasedOther | Outcome::AlreadyGone | Outcome::ChangedHands
    );
    if !is_over {
        return String::new();
    }
    if !holding.is_live || !holding.is_gone {
        return format!("; who holds {lock} now was not seen yet");
    }
    let names: Vec<String> = holding.holders.iter().map(place).collect();
    match names.is_empty() {
        true => format!("; nobody holds {lock} now"),
        false => format!("; {lock} now held by {}", names.join(", ")),
    }
}

/// Who somebody says they are, else their session.
fn who(contender: &Contender) -> String {
    let session = || contender.session_id.map(|session| format!("session {session}"));
    contender
        .label
        .clone()
        .or_else(session)
        .or_else(|| contender.node.clone())
        .unwrap_or_else(|| "its owner".to_owned())
}

/// Where somebody connects from, and which znode it is.
fn place(holder: &Contender) -> String {
    let address = holder.client.as_ref().map(|client| client.address.clone());
    let place = address.unwrap_or_else(|| who(holder));
    holder.czxid.map_or_else(|| place.clone(), |czxid| format!("{place} ({czxid})"))
}

#[cfg(test)]
mod tests {
    use lockscope_view::{Access, DeleteRight, Liveness, Naming, Recipe, SessionId, Zxid};

    use super::*;

    fn contender(label: Option<&str>, session: i64, since_ms: i64) -> Contender {
        Contender {
            path: "/order/lock-0000000001".to_owned(),
            node: Some("lock-0000000001".to_owned()),
            sequence: Some(1),
            position: 0,
            role: ContenderRole::Holder,
            access: Access::Exclusive,
            session_id: Some(SessionId(session)),
            ephemeral: Some(true),
            client: None,
            liveness: Liveness::Unknown,
            runs_out: None,
            only_on: Vec::new(),
            label: label.map(str::to_owned),
            data: None,
            created_at_ms: None,
            waiting_since_ms: None,
            waiting_is_lower_bound: false,
            holding_since_ms: Some(since_ms),
            holding_is_lower_bound: false,
            waits_for: Vec::new(),
            czxid: Some(Zxid(5)),
            version: 0,
        }
    }

    fn plan(holder: Contender) -> ReleasePlan {
        ReleasePlan {
            plan_id: "abc".to_owned(),
            expires_at_ms: 60_000,
            ensemble: "default".to_owned(),
            tag: None,
            path: "/order/lock-0000000001".to_owned(),
            lock: "/order".to_owned(),
            recipe: Recipe::SequentialMutex,
            recipe_label: "Curator InterProcessMutex".to_owned(),
            czxid: Zxid(5),
            session_id: Some(SessionId(7)),
            version: 0,
            naming: Naming::Sequential,
            holder,
            next: Vec::new(),
            next_sentence: String::new(),
            waiters_moving: 0,
            warnings: Vec::new(),
            frees_itself_at_ms: None,
            frees_itself_is_upper_bound: false,
            right: DeleteRight::Granted,
            right_sentence: String::new(),
            can_revoke: false,
            needs_second: false,
            falls: Vec::new(),
            falls_count: 0,
            runbook: None,
        }
    }

    fn holding(holders: Vec<Contender>) -> Holding {
        Holding { holders, is_live: true, is_gone: true }
    }

    #[test]
    fn people_come_first_and_only_a_newer_hold_was_taken() {
        let plan = plan(contender(Some("hung@app-1"), 7, 1_000));
        let told = |holders| of_people(&plan, &holding(holders), 50_000);
        assert_eq!(
            told(vec![contender(Some("next@app-2"), 8, 50_031)]),
            "hung@app-1 no longer holds /order. next@app-2 took it 31 ms after the request (00:00:50 UTC)."
        );
        assert_eq!(
            told(vec![contender(None, 8, 49_000)]),
            "hung@app-1 no longer holds /order. session 0x8 holds it now."
        );
        assert_eq!(told(Vec::new()), "hung@app-1 no longer holds /order. Nobody holds it now.");
        let both = told(vec![contender(Some("a"), 8, 1), contender(Some("b"), 9, 1)]);
        assert_eq!(both, "hung@app-1 no longer holds /order. Now held by a, b.");
    }

    #[test]
    fn what_was_not_seen_is_not_told() {
        let waiter = Contender { role: ContenderRole::Waiter, ..contender(Some("late"), 7, 1_000) };
        let blind = Holding { is_live: false, ..holding(Vec::new()) };
        assert_eq!(
            of_people(&plan(waiter), &blind, 0),
            "late no longer waits for /order. Who holds it now was not seen yet."
        );
    }
}
