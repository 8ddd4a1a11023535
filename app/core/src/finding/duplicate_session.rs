//! One session, or one protection GUID, twice in a queue.

use std::collections::{BTreeMap, BTreeSet};

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};
use crate::lock::ContenderRef;
use crate::recipe::{Access, Shape, guid_of};

/// F2; CURATOR-79, CURATOR-264.
pub(super) struct DuplicateSession;

/// Contenders of one session that should not be: a writer may read as well, leases may be many.
fn duplicates<'s, 'a>(survey: &'s LintContext<'a>) -> Vec<(String, Vec<&'s ContenderRef<'a>>)> {
    if !matches!(survey.lock.recognition.shape, Shape::Line | Shape::LeaderElection) {
        return Vec::new();
    }
    let mut found: Vec<(String, Vec<&ContenderRef<'a>>)> = Vec::new();
    for (session, seats) in survey.by_session() {
        let is_downgrade = seats.iter().any(|seat| survey.lock.access(seat) == Access::Write && survey.holds(seat))
            && seats.iter().filter(|seat| survey.lock.access(seat) != Access::Read).count() == 1;
        // Readers do not keep each other waiting: a session that reads several times is one that serves threads.
        let reads_only = seats.iter().all(|seat| survey.lock.access(seat) == Access::Read);
        if seats.len() > 1 && !is_downgrade && !reads_only {
            found.push((format!("session {session}"), seats));
        }
    }
    let mut guids: BTreeMap<&str, Vec<&ContenderRef<'a>>> = BTreeMap::new();
    for seat in &survey.seats {
        if let Some(guid) = guid_of(seat.key.name()) {
            guids.entry(guid).or_default().push(seat);
        }
    }
    let known: BTreeSet<&str> = found.iter().flat_map(|(_, seats)| seats.iter().map(|seat| seat.key.name())).collect();
    let fresh = |seats: &Vec<&ContenderRef<'a>>| seats.len() > 1 && !seats.iter().all(|seat| known.contains(seat.key.name()));
    found.extend(guids.into_iter().filter(|(_, seats)| fresh(seats)).map(|(guid, seats)| (format!("protection GUID {guid}"), seats)));
    found
}

impl Lint for DuplicateSession {
    fn code(&self) -> Code {
        Code::DuplicateSession
    }

    fn look(&self, survey: &LintContext<'_>) -> Outcome {
        let found = duplicates(survey);
        let Some((who, seats)) = found.first() else { return Outcome::Ok };
        let blocks_itself = seats.iter().any(|seat| survey.holds(seat)) && seats.iter().any(|seat| !survey.holds(seat));
        let effect = if blocks_itself { " One of them holds, so the other waits for its own session." } else { "" };
        let others = if found.len() > 1 { format!(" {} more do the same.", found.len() - 1) } else { String::new() };
        let text = format!(
            "The {who} stands in the queue {} times: a create whose reply was lost leaves a znode that nobody knows of, unless threads share the session.{effect}{others}",
            seats.len()
        );
        let paths = found.iter().flat_map(|(_, seats)| seats.iter().map(|seat| seat.path())).collect();
        Outcome::Warn(LintWarning { severity: if blocks_itself { Severity::Critical } else { Severity::Warning }, text, paths })
    }
}
