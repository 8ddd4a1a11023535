//! One session, or one protection GUID, twice in a queue.

use std::collections::{BTreeMap, BTreeSet};

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity, has_twice};
use crate::departure::Departure;
use crate::diagnosis::Verdict;
use crate::lock::{ContenderRef, PastHold};
use crate::recipe::{Access, Shape, guid_of};
use crate::sentence::{Duplicate, DuplicateEffect};
use crate::verdict::usual_hold_ms;

/// F2; CURATOR-79, CURATOR-264.
pub(super) struct DuplicateSession;

/// What names with the same GUID have in common, wherever it stands in them; None of a name without one.
fn beginning_of(name: &str) -> Option<&[u8]> {
    let first = name.strip_prefix("_c_").unwrap_or(name).as_bytes().get(..8)?;
    first.iter().all(u8::is_ascii_hexdigit).then_some(first)
}

/// Contenders of one session that should not be: a writer may read as well, leases may be many.
fn duplicates<'s, 'a>(context: &'s LintContext<'a>) -> Vec<(Duplicate, Vec<&'s ContenderRef<'a>>)> {
    if !matches!(context.lock.recognition.shape, Shape::Line | Shape::LeaderElection) {
        return Vec::new();
    }
    let mut found: Vec<(Duplicate, Vec<&ContenderRef<'a>>)> = Vec::new();
    // Mostly nothing is there twice, and nothing has to be sorted by whose it is.
    let owners = context.contenders.iter().filter_map(|contender| contender.child.owner());
    let sessions = if has_twice(owners.collect()) { context.by_session() } else { BTreeMap::new() };
    for (session, contenders) in sessions {
        let is_downgrade = contenders
            .iter()
            .any(|contender| context.lock.access(contender) == Access::Write && context.holds(contender))
            && contenders.iter().filter(|contender| context.lock.access(contender) != Access::Read).count() == 1;
        // Readers do not keep each other waiting: a session that reads several times is one that serves threads.
        let reads_only = contenders.iter().all(|contender| context.lock.access(contender) == Access::Read);
        if contenders.len() > 1 && !is_downgrade && !reads_only {
            found.push((Duplicate::Session(session), contenders));
        }
    }
    let beginnings = context.contenders.iter().filter_map(|contender| beginning_of(contender.key.name()));
    if !has_twice(beginnings.collect()) {
        return found;
    }
    let mut guids: BTreeMap<&str, Vec<&ContenderRef<'a>>> = BTreeMap::new();
    for contender in &context.contenders {
        if let Some(guid) = guid_of(contender.key.name()) {
            guids.entry(guid).or_default().push(contender);
        }
    }
    let known: BTreeSet<&str> =
        found.iter().flat_map(|(_, contenders)| contenders.iter().map(|contender| contender.key.name())).collect();
    let fresh = |contenders: &Vec<&ContenderRef<'a>>| {
        contenders.len() > 1 && !contenders.iter().all(|contender| known.contains(contender.key.name()))
    };
    found.extend(
        guids
            .into_iter()
            .filter(|(_, contenders)| fresh(contenders))
            .map(|(guid, contenders)| (Duplicate::ProtectionGuid(guid.to_owned()), contenders)),
    );
    found
}

/// Threads share the session: it released a znode while another of its own stood in the queue. Of a client that knows of
/// one znode only, the other stands in front of it and is never released. Where one of them holds for too long it may be lost
/// all the same; of what runs out with its session none is.
fn has_threads(context: &LintContext<'_>, who: &Duplicate, contenders: &[&ContenderRef<'_>]) -> bool {
    let Duplicate::Session(session) = who else { return false };
    let Some(arrived_at) = contenders.iter().map(|contender| contender.child.arrived_at).min() else { return false };
    let has_released = |past: &PastHold| {
        past.how == Departure::Deleted && past.hold.owner == Some(*session) && past.until > arrived_at
    };
    let may_be_lost = !matches!(context.assessment.verdict, Verdict::Healthy | Verdict::Expiring)
        && contenders.iter().any(|contender| context.holds(contender));
    !may_be_lost && !is_lost(contenders) && context.lock.tally.past.iter().any(has_released)
}

/// A protection GUID is there twice: its client makes one for each try, and asked a second time since a reply was lost.
fn is_lost(contenders: &[&ContenderRef<'_>]) -> bool {
    has_twice(contenders.iter().filter_map(|contender| guid_of(contender.key.name())).collect())
}

/// It holds for no longer than is usual: if a znode was lost, nobody has waited for it for long. Of threads that share a
/// session, the first that meet have released nothing yet.
fn holds_as_usual(context: &LintContext<'_>) -> bool {
    context.assessment.verdict == Verdict::Healthy && usual_hold_ms(context.lock, context.thresholds).is_some()
}

impl Lint for DuplicateSession {
    fn code(&self) -> Code {
        Code::DuplicateSession
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let mut found = duplicates(context);
        // What threads explain comes last.
        found.sort_by_cached_key(|(who, contenders)| has_threads(context, who, contenders));
        let Some((who, contenders)) = found.first() else { return Outcome::Ok };
        let effect = if has_threads(context, who, contenders) {
            DuplicateEffect::Threads
        } else if contenders.iter().any(|contender| context.holds(contender))
            && contenders.iter().any(|contender| !context.holds(contender))
        {
            DuplicateEffect::BlocksItself
        } else {
            DuplicateEffect::Waits
        };
        let oddity = Oddity::Duplicates { who: who.clone(), times: contenders.len(), effect, more: found.len() - 1 };
        let twice =
            || found.iter().flat_map(|(_, contenders)| contenders.iter().map(|contender| contender.path())).collect();
        let (severity, paths) = match effect {
            DuplicateEffect::BlocksItself if is_lost(contenders) || !holds_as_usual(context) => {
                (Severity::Critical, twice())
            }
            DuplicateEffect::BlocksItself | DuplicateEffect::Waits => (Severity::Warning, twice()),
            // None of them is odd, and they change all the time.
            DuplicateEffect::Threads => (Severity::Info, vec![context.lock.path.to_string()]),
        };
        Outcome::Warn(LintWarning { severity, oddity, paths })
    }
}
