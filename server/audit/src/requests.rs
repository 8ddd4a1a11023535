//! Which requests of the log have no outcome, and what came of the latest. Pure.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockscope_view::{AuditKind, AuditRecord};
use serde::Deserialize;

/// Requests that are kept of each sort; those without an outcome beyond it are counted.
const REQUESTS_MAX: usize = 1_000;
/// Requests without an outcome that a sentence names.
const NAMED_MAX: usize = 20;
/// Open requests whose numbers are kept while the log is written; more are counted.
const OPEN_IDS_MAX: usize = 10_000;

/// What a record is for a request.
enum Part {
    Intent,
    Outcome,
    Neither,
}

fn part(kind: AuditKind) -> Part {
    match kind {
        AuditKind::ReleaseIntent | AuditKind::RevokeIntent | AuditKind::LabStarted => Part::Intent,
        AuditKind::ReleaseOutcome | AuditKind::RevokeOutcome | AuditKind::LabEnded => Part::Outcome,
        AuditKind::Started
        | AuditKind::SignedIn
        | AuditKind::SignedOut
        | AuditKind::Refused
        | AuditKind::Approved
        | AuditKind::AlertAcknowledged
        | AuditKind::AlertsSilenced
        | AuditKind::SilenceEnded
        | AuditKind::OrderSnoozed
        | AuditKind::OrderSnoozeEnded
        | AuditKind::HeadsSeen
        | AuditKind::HandedOn => Part::Neither,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedRequest {
    pub intent: AuditRecord,
    pub outcome: AuditRecord,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    open: BTreeMap<u64, AuditRecord>,
    beyond: u64,
    completed: VecDeque<CompletedRequest>,
}

#[derive(Deserialize)]
struct Header {
    kind: AuditKind,
}

impl Requests {
    /// Takes the next line of the log. One that this version does not know is ignored.
    pub(super) fn take(&mut self, line: &[u8]) {
        let Ok(Header { kind }) = serde_json::from_slice(line) else { return };
        let part = part(kind);
        if matches!(part, Part::Neither) {
            return;
        }
        let Ok(record) = serde_json::from_slice::<AuditRecord>(line) else { return };
        match (part, record.intent) {
            (Part::Intent, _) if self.open.len() >= REQUESTS_MAX => self.beyond += 1,
            (Part::Intent, _) => _ = self.open.insert(record.id, record),
            (Part::Outcome, Some(id)) => match self.open.remove(&id) {
                Some(intent) => {
                    if self.completed.len() >= REQUESTS_MAX {
                        self.completed.pop_front();
                    }
                    self.completed.push_back(CompletedRequest { intent, outcome: record });
                }
                None => self.beyond = self.beyond.saturating_sub(1),
            },
            (Part::Outcome, None) | (Part::Neither, _) => {}
        }
    }

    /// How many have no outcome.
    pub fn open_count(&self) -> u64 {
        self.open.len() as u64 + self.beyond
    }

    /// Those, oldest first, at most a thousand.
    pub fn open(&self) -> impl Iterator<Item = &AuditRecord> {
        self.open.values()
    }

    /// Those that completed, oldest first, the last thousand.
    pub fn completed(&self) -> impl Iterator<Item = &CompletedRequest> {
        self.completed.iter()
    }
}

/// Requests without an outcome, in a sentence; None when there are none.
pub fn open_words(requests: &Requests) -> Option<String> {
    let count = requests.open_count();
    let named: Vec<String> = requests.open().take(NAMED_MAX).map(|record| record.id.to_string()).collect();
    let more = count - named.len() as u64;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (requests, have) = if count == 1 { ("request", "has") } else { ("requests", "have") };
    let why = "a server carries them out now, or the next one that starts here will settle them";
    (count > 0)
        .then(|| format!("{count} {requests} {have} no outcome on record (records {}{more}): {why}", named.join(", ")))
}

/// The same, counted while the log is written.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenIds {
    ids: BTreeSet<u64>,
    beyond: u64,
}

impl OpenIds {
    pub(super) fn new(requests: &Requests) -> Self {
        Self { ids: requests.open.keys().copied().collect(), beyond: requests.beyond }
    }

    /// A record was written.
    pub(super) fn take(&mut self, id: u64, kind: AuditKind, intent: Option<u64>) {
        match (part(kind), intent) {
            (Part::Intent, _) if self.ids.len() >= OPEN_IDS_MAX => self.beyond += 1,
            (Part::Intent, _) => _ = self.ids.insert(id),
            (Part::Outcome, Some(intent)) if !self.ids.remove(&intent) => self.beyond = self.beyond.saturating_sub(1),
            (Part::Outcome | Part::Neither, _) => {}
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.ids.len() as u64 + self.beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;
    use crate::chain::{ChainHead, link};

    fn line(id: u64, kind: AuditKind, intent: Option<u64>) -> Vec<u8> {
        let entry = Entry { intent, ..Entry::of_server(kind, String::new()) };
        link(&ChainHead { id: id - 1, ..ChainHead::default() }, entry.into_record(0)).unwrap().0
    }

    #[test]
    fn each_outcome_closes_its_intent() {
        let (mut requests, mut ids) = (Requests::default(), OpenIds::default());
        let mut take = |id, kind, intent| {
            requests.take(&line(id, kind, intent));
            ids.take(id, kind, intent);
        };
        take(1, AuditKind::Started, None);
        take(2, AuditKind::ReleaseIntent, None);
        take(3, AuditKind::RevokeIntent, None);
        take(4, AuditKind::Refused, None);
        take(5, AuditKind::RevokeOutcome, Some(3));
        take(6, AuditKind::LabStarted, None);
        assert_eq!((requests.open_count(), ids.count()), (2, 2));
        assert_eq!(requests.open().map(|record| record.id).collect::<Vec<_>>(), [2, 6]);
        assert_eq!(
            requests.completed().map(|completed| (completed.intent.id, completed.outcome.id)).collect::<Vec<_>>(),
            [(3, 5)]
        );
    }

    #[test]
    fn what_is_kept_has_a_maximum_and_the_count_is_right() {
        let mut requests = Requests::default();
        let many = REQUESTS_MAX as u64 + 5;
        for id in 1..=many {
            requests.take(&line(id, AuditKind::ReleaseIntent, None));
        }
        assert_eq!((requests.open().count(), requests.open_count()), (REQUESTS_MAX, many));
        for id in 1..=many {
            requests.take(&line(many + id, AuditKind::ReleaseOutcome, Some(id)));
        }
        assert_eq!((requests.open_count(), requests.completed().count()), (0, REQUESTS_MAX));
    }
}
