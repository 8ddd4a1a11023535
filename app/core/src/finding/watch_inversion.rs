//! A contender whose client watches one that stands behind it.

use std::collections::BTreeMap;

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::evidence::Watch;
use crate::lock::ContenderRef;
use crate::recipe::{Shape, rule};
use crate::znode::SessionId;

/// Contenders looked at, in order; each costs a look into the members' tables.
const CONTENDERS_LOOK: usize = 128;

/// kazoo before 2.9, issue 649: a client that waits for a later znode, which waits for its own.
pub(super) struct WatchInversion;

impl Lint for WatchInversion {
    fn code(&self) -> Code {
        Code::WatchInversion
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let is_line = matches!(context.lock.recognition.shape, Shape::Line | Shape::LeaderElection);
        if !is_line || context.contenders.len() < 2 || context.evidence.watches_at(context.now).is_none() {
            return Outcome::Ok;
        }
        let Some((watching, behind)) = inverted(context) else { return Outcome::Ok };
        let is_circle = waits_for(context, behind, watching);
        let oddity = Oddity::WatchInversion {
            watching: name(context, watching),
            behind: name(context, behind),
            is_first: context.holds(watching),
            is_circle,
        };
        Outcome::Warn(LintWarning {
            severity: if is_circle { Severity::Critical } else { Severity::Warning },
            oddity,
            paths: vec![watching.path(), behind.path()],
        })
    }
}

/// The first znode that a client watches whose own stands before it, where nothing else explains that watch.
fn inverted<'a>(context: &'a LintContext<'a>) -> Option<(&'a ContenderRef<'a>, &'a ContenderRef<'a>)> {
    let looked: Vec<&ContenderRef<'_>> = context.contenders.iter().take(CONTENDERS_LOOK).collect();
    // Where each session first stands, and how often.
    let mut places: BTreeMap<SessionId, (usize, u32)> = BTreeMap::new();
    for (at, session) in looked.iter().enumerate().filter_map(|(at, one)| Some((at, one.child.owner()?))) {
        places.entry(session).or_insert((at, 0)).1 += 1;
    }
    looked.iter().enumerate().skip(1).find_map(|(at, behind)| {
        let watchers = context.evidence.watchers(context.now, &behind.path(), context.ours);
        let before = watchers.iter().filter_map(|session| places.get(session));
        let alone =
            before.filter(|(place, times)| *place < at && *times == 1).filter_map(|(place, _)| looked.get(*place));
        let mut wrong = alone.filter(|one| !has_left_before(context, one) && waits_wrongly(context, one, behind));
        Some((*wrong.next()?, *behind))
    })
}

/// Its session gave up here before: the watch may be what was left of that.
fn has_left_before(context: &LintContext<'_>, one: &ContenderRef<'_>) -> bool {
    context.lock.tally.attempts.lately.iter().any(|gave_up| gave_up.owner == one.child.owner())
}

/// It does not watch what it should wait for; or it is to hold, and the one that it watches waits for it.
fn waits_wrongly(context: &LintContext<'_>, one: &ContenderRef<'_>, behind: &ContenderRef<'_>) -> bool {
    if !one.child.rule.is_some_and(|id| rule(id).dialect.watches_the_one_before()) {
        return false;
    }
    if context.holds(one) {
        return waits_for(context, behind, one);
    }
    let targets = context.lock.waits_for(context.mirror, one);
    let is_missing = |target| context.lock.confirm(context.evidence, context.now, one, target) == Watch::Missing;
    !targets.is_empty() && targets.iter().all(is_missing)
}

/// Whether a contender's watch on another, which it waits for, is confirmed.
fn waits_for(context: &LintContext<'_>, waiter: &ContenderRef<'_>, other: &ContenderRef<'_>) -> bool {
    let targets = context.lock.waits_for(context.mirror, waiter);
    let is_it = |target: &&crate::lock::WaitTarget<'_>| {
        target.name == other.key.name() && **target.directory == **other.directory
    };
    targets
        .iter()
        .find(is_it)
        .is_some_and(|target| context.lock.confirm(context.evidence, context.now, waiter, target) == Watch::Confirmed)
}

fn name(context: &LintContext<'_>, contender: &ContenderRef<'_>) -> String {
    context.identity(contender).unwrap_or_else(|| match contender.child.owner() {
        Some(session) => format!("session {session}"),
        None => contender.key.name().to_owned(),
    })
}
