//! One session, or one protection GUID, twice in a queue.

use std::collections::{BTreeMap, BTreeSet};

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};
use crate::lock::ContenderRef;
use crate::recipe::{Access, Shape, guid_of};

/// F2; CURATOR-79, CURATOR-264.
pub(super) struct DuplicateSession;

/// Contenders of one session that should not be: a writer may read as well, leases may be many.
fn duplicates<'s, 'a>(context: &'s LintContext<'a>) -> Vec<(String, Vec<&'s ContenderRef<'a>>)> {
    if !matches!(context.lock.recognition.shape, Shape::Line | Shape::LeaderElection) {
        return Vec::new();
    }
    let mut found: Vec<(String, Vec<&ContenderRef<'a>>)> = Vec::new();
    for (session, contenders) in context.by_session() {
        let is_downgrade = contenders
            .iter()
            .any(|contender| context.lock.access(contender) == Access::Write && context.holds(contender))
            && contenders.iter().filter(|contender| context.lock.access(contender) != Access::Read).count() == 1;
        // Readers do not keep each other waiting: a session that reads several times is one that serves threads.
        let reads_only = contenders.iter().all(|contender| context.lock.access(contender) == Access::Read);
        if contenders.len() > 1 && !is_downgrade && !reads_only {
            found.push((format!("session {session}"), contenders));
        }
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
            .map(|(guid, contenders)| (format!("protection GUID {guid}"), contenders)),
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
        let effect = if blocks_itself { " One of them holds, so the other waits for its own session." } else { "" };
        let others = if found.len() > 1 { format!(" {} more do the same.", found.len() - 1) } else { String::new() };
        let text = format!(
            "The {who} stands in the queue {} times: a create whose reply was lost leaves a znode that nobody knows of, unless threads share the session.{effect}{others}",
            contenders.len()
        );
        let paths =
            found.iter().flat_map(|(_, contenders)| contenders.iter().map(|contender| contender.path())).collect();
        Outcome::Warn(LintWarning {
            severity: if blocks_itself { Severity::Critical } else { Severity::Warning },
            text,
            paths,
        })
    }
}
