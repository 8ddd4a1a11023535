//! Who is at the root of an incident.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::{IncidentRoot, Life, Wait};

/// How far it is followed who waits for whom.
const STEPS_MAX: usize = 16;

/// Who is charged most of the waiting, and the lock that it held: by the charges of waits that are over, and of those that go
/// on by who holds, followed to who waits for nobody. Without any wait, who held when it began.
pub(super) fn root_of(lives: &[&Life], waits: &[Wait<'_>], from: TimeMs, until: TimeMs) -> Option<IncidentRoot> {
    let holds: Vec<&Life> = lives.iter().copied().filter(|life| holds_in(life, from, until)).collect();
    let mut holders = BTreeMap::<&str, Vec<&Life>>::new();
    for hold in &holds {
        holders.entry(&*hold.lock).or_default().push(hold);
    }
    let known: BTreeSet<SessionId> = holds.iter().filter_map(|hold| hold.session).collect();
    let mut charged = BTreeMap::<Option<SessionId>, i64>::new();
    let mut waited_at = BTreeMap::<&str, i64>::new();
    for wait in waits {
        *waited_at.entry(&*wait.life.lock).or_default() += wait.ms();
        if wait.life.roots.is_empty() {
            if let Some(holder) = last_holder(&holders, wait) {
                *charged.entry(follow(&holders, waits, holder).session).or_default() += wait.ms();
            }
            continue;
        }
        // A viewer of some locks is not shown who holds others.
        for charge in wait.life.roots.iter().filter(|charge| known.contains(&charge.session)) {
            *charged.entry(Some(charge.session)).or_default() += charge.ms.min(wait.ms());
        }
    }
    let most = charged.into_iter().max_by_key(|(session, ms)| (*ms, std::cmp::Reverse(*session)));
    let of_session = |session: Option<SessionId>| {
        let waited = |life: &Life| waited_at.get(&*life.lock).copied().unwrap_or(0);
        let its = holds.iter().copied().filter(move |hold| hold.session == session);
        its.max_by_key(|hold| (waited(hold), std::cmp::Reverse(hold.held_at)))
    };
    let (hold, charged_ms) = match most {
        Some((session, ms)) => (of_session(session)?, ms),
        None => (*holds.iter().min_by_key(|hold| (hold.held_at, hold.czxid))?, 0),
    };
    Some(IncidentRoot {
        lock: hold.lock.clone(),
        session: hold.session,
        label: hold.label.clone(),
        host: hold.host.clone(),
        held_at: hold.held_at?,
        charged_ms,
    })
}

fn holds_in(life: &Life, from: TimeMs, until: TimeMs) -> bool {
    // Whoever holds only when it is over is who it was over for.
    let has_begun = |held| held < until || held <= from;
    life.hold().is_some_and(|(held, left)| has_begun(held) && left.is_none_or(|left| left >= from))
}

/// Who held at the end of a wait, of several the one that held longest; or who held last before.
fn last_holder<'a>(holders: &BTreeMap<&str, Vec<&'a Life>>, wait: &Wait<'_>) -> Option<&'a Life> {
    let before = |hold: &&&Life| hold.czxid != wait.life.czxid && hold.held_at.is_some_and(|held| held <= wait.to);
    holders
        .get(&*wait.life.lock)?
        .iter()
        .filter(before)
        .max_by_key(|hold| {
            let holds = hold.left_at.is_none_or(|left| left >= wait.to);
            (holds, if holds { hold.held_at.map(|held| -held.0) } else { hold.held_at.map(|held| held.0) })
        })
        .copied()
}

/// Who a holder waits for in the end.
fn follow<'a>(holders: &BTreeMap<&str, Vec<&'a Life>>, waits: &[Wait<'a>], mut holder: &'a Life) -> &'a Life {
    let mut seen = BTreeSet::new();
    for _ in 0..STEPS_MAX {
        if !seen.insert(holder.session) || holder.session.is_none() {
            break;
        }
        let is_its = |wait: &&Wait<'_>| {
            wait.life.session == holder.session && wait.life.lock != holder.lock && wait.life.held_at.is_none()
        };
        let next = waits.iter().find(is_its).and_then(|wait| last_holder(holders, wait));
        match next {
            Some(next) => holder = next,
            None => break,
        }
    }
    holder
}
