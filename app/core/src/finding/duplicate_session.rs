//! One session, or one protection GUID, twice in a queue.

use std::collections::{BTreeMap, BTreeSet};

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity, has_twice};
use crate::lock::ContenderRef;
use crate::recipe::{Access, Shape, guid_of};
use crate::sentence::Duplicate;

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

impl Lint for DuplicateSession {
    fn code(&self) -> Code {
        Code::DuplicateSession
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let found = duplicates(context);
        let Some((who, contenders)) = found.first() else { return Outcome::Ok };
        let blocks_itself = contenders.iter().any(|contender| context.holds(contender))
            && contenders.iter().any(|contender| !context.holds(contender));
        let oddity =
            Oddity::Duplicates { who: who.clone(), times: contenders.len(), blocks_itself, more: found.len() - 1 };
        let paths =
            found.iter().flat_map(|(_, contenders)| contenders.iter().map(|contender| contender.path())).collect();
        Outcome::Warn(LintWarning {
            severity: if blocks_itself { Severity::Critical } else { Severity::Warning },
            oddity,
            paths,
        })
    }
}
