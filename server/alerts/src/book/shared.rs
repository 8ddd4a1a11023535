//! What people said of alerts at any of several servers: silences and acknowledgements. Whether an alert fires each server
//! finds for itself, so its key may be another one elsewhere: an acknowledgement goes by rule, ensemble and lock.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lockscope_runtime::shared_rows::{SENT_MAX, SharedRow};
use lockscope_view::{Acknowledgement, Alert, AlertState, Silence};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Book, SILENCE_MS_MAX, SILENCES_MAX};
use crate::duty::hash_of;

/// Acknowledgements that are remembered. Overflow policy: the oldest goes.
const ACKNOWLEDGEMENTS_MAX: usize = 10_000;
/// For how long they are: whoever looks at an alert for longer says so again.
const ACKNOWLEDGEMENT_MS_MAX: i64 = 7 * 86_400_000;
/// Silences that are taken from others, with our own. Overflow policy: no further one is taken.
const TAKEN_MAX: usize = 10 * SILENCES_MAX;
/// An alert that begins so much later than somebody acknowledged it is the same: servers find it by their own clocks.
const SAME_MS: i64 = 15_000;
/// Bits of a silence's number that say which server gave it; the others are the time. In all less than 2^53, so that it is
/// a number in JavaScript too.
const SERVER_BITS: u32 = 14;
/// What the time in a number counts from: 2025-01-01.
const NUMBER_EPOCH_MS: i64 = 1_735_689_600_000;

/// Which server this is, in numbers that several give.
pub(crate) fn server_number(replica: &str) -> u64 {
    let hash = Sha256::digest(replica.as_bytes());
    hash.iter().take(2).fold(0_u64, |all, byte| (all << 8) | u64::from(*byte)) % (1 << SERVER_BITS)
}

/// A number that no other server gives: the time, and which server this is.
pub(crate) fn unique_number(server: u64, last: u64, now_ms: i64) -> u64 {
    let now = now_ms.saturating_sub(NUMBER_EPOCH_MS).max(1).unsigned_abs();
    (now.max((last >> SERVER_BITS) + 1) << SERVER_BITS) | server
}

/// Somebody looks at an alert, wherever they said so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SharedAcknowledgement {
    rule: String,
    ensemble: String,
    lock: String,
    by: Acknowledgement,
}

impl SharedAcknowledgement {
    pub(super) fn of(alert: &Alert, by: Acknowledgement) -> Self {
        Self { rule: alert.rule.clone(), ensemble: alert.ensemble.clone(), lock: alert.lock.clone(), by }
    }

    fn key(&self) -> String {
        key_of(&self.rule, &self.ensemble, &self.lock)
    }

    /// Whether an alert of the same rule, ensemble and lock is the one that was meant, and not a later one.
    fn means(&self, since_ms: i64) -> bool {
        since_ms <= self.by.at_ms.saturating_add(SAME_MS)
    }
}

/// Which alert is meant, for every server.
fn key_of(rule: &str, ensemble: &str, lock: &str) -> String {
    hash_of([rule, ensemble, lock], &[], 16)
}

/// What other servers are told, and told.
#[derive(Debug, Default)]
pub(super) struct SharedNotes {
    /// Which server this is, in [`SERVER_BITS`].
    server: u64,
    pub(super) unsent_silences: BTreeSet<u64>,
    acknowledgements: BTreeMap<String, SharedAcknowledgement>,
    unsent_acknowledgements: BTreeSet<String>,
}

impl SharedNotes {
    /// A number that no other server gives.
    pub(super) fn next_id(&self, last: u64, now_ms: i64) -> u64 {
        unique_number(self.server, last, now_ms)
    }

    pub(super) fn acknowledged(&mut self, by: SharedAcknowledgement) {
        let key = by.key();
        self.unsent_acknowledgements.insert(key.clone());
        self.keep(key, by);
    }

    fn keep(&mut self, key: String, by: SharedAcknowledgement) {
        self.acknowledgements.insert(key, by);
        if self.acknowledgements.len() > ACKNOWLEDGEMENTS_MAX {
            let oldest = self.acknowledgements.iter().min_by_key(|(_, by)| by.by.at_ms).map(|(key, _)| key.clone());
            oldest.and_then(|key| self.acknowledgements.remove(&key));
        }
    }

    pub(super) fn forget(&mut self, now_ms: i64) {
        let is_kept = |by: &SharedAcknowledgement| now_ms.saturating_sub(by.by.at_ms) < ACKNOWLEDGEMENT_MS_MAX;
        self.acknowledgements.retain(|_, by| is_kept(by));
        self.unsent_acknowledgements.retain(|key| self.acknowledgements.contains_key(key));
    }

    /// Who looks at an alert, as far as another server said so.
    pub(super) fn acknowledgement(
        &self,
        (rule, ensemble, lock): (&str, &str, &str),
        since_ms: i64,
    ) -> Option<&Acknowledgement> {
        let by = self.acknowledgements.get(&key_of(rule, ensemble, lock))?;
        by.means(since_ms).then_some(&by.by)
    }
}

impl Book {
    /// Shares what people say with other servers from now on. `replica`: this server's name among them.
    pub fn share(&mut self, replica: &str) {
        let mut shared = SharedNotes { server: server_number(replica), ..SharedNotes::default() };
        // Numbers of a time without others: there may be the same ones elsewhere.
        let old = self.silences.extract_if(..(1 << SERVER_BITS), |_, _| true).collect::<Vec<_>>();
        for (id, silence) in old {
            self.unsaved_silences.insert(id);
            self.last_silence = shared.next_id(self.last_silence, silence.at_ms);
            self.silences.insert(self.last_silence, Silence { id: self.last_silence, ..silence });
            self.unsaved_silences.insert(self.last_silence);
        }
        // What was said before a restart may not have been sent.
        shared.unsent_silences = self.silences.keys().chain(self.ended_silences.keys()).copied().collect();
        let active = self.alerts.values().map(|kept| &kept.alert).filter(|alert| alert.state != AlertState::Resolved);
        for (alert, by) in active.filter_map(|alert| Some((alert, alert.acked_by.clone()?))) {
            shared.acknowledged(SharedAcknowledgement::of(alert, by));
        }
        self.shared = Some(shared);
    }

    pub fn outgoing_silences(&self) -> Vec<SharedRow> {
        let ids = self.shared.iter().flat_map(|shared| &shared.unsent_silences).take(SENT_MAX);
        let kept = ids.filter_map(|id| self.kept_silence(*id));
        let row = |silence: Silence, is_over| {
            let (stamp, expires_at_ms) = (silence.at_ms, silence.until_at_ms);
            let body = serde_json::to_string(&silence).ok()?;
            Some(SharedRow { key: silence.id.to_string(), body, stamp, is_over, expires_at_ms })
        };
        kept.filter_map(|kept| row(kept.silence, kept.is_ended)).collect()
    }

    pub fn silences_sent(&mut self, rows: &[SharedRow]) {
        for row in rows {
            let Ok(id) = row.key.parse() else { continue };
            let is_ended = self.ended_silences.contains_key(&id);
            if let Some(shared) = self.shared.as_mut().filter(|_| is_ended == row.is_over) {
                shared.unsent_silences.remove(&id);
            }
        }
    }

    pub fn take_silences(&mut self, rows: Vec<SharedRow>, is_whole: bool, now_ms: i64) {
        let Some(shared) = &mut self.shared else { return };
        if is_whole {
            let there: HashSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
            let missing = self.silences.keys().filter(|id| !there.contains(id.to_string().as_str()));
            shared.unsent_silences.extend(missing);
        }
        for row in rows {
            let Ok(id) = row.key.parse::<u64>() else { continue };
            if row.is_over {
                if let Some(silence) = self.silences.remove(&id) {
                    self.ended_silences.insert(id, silence);
                    self.unsaved_silences.insert(id);
                }
            } else if self.ended_silences.contains_key(&id) {
                if is_whole {
                    shared.unsent_silences.insert(id);
                }
            } else if !self.silences.contains_key(&id) && self.silences.len() < TAKEN_MAX {
                let Ok(silence) = serde_json::from_str::<Silence>(&row.body) else { continue };
                let lasts_ms = silence.until_at_ms.saturating_sub(silence.at_ms);
                if silence.id == id && silence.until_at_ms > now_ms && (1..=SILENCE_MS_MAX).contains(&lasts_ms) {
                    self.silences.insert(id, silence);
                    self.unsaved_silences.insert(id);
                }
            }
        }
    }

    pub fn outgoing_acknowledgements(&self) -> Vec<SharedRow> {
        let Some(shared) = &self.shared else { return Vec::new() };
        let row = |key: &String| {
            let by = shared.acknowledgements.get(key)?;
            let body = serde_json::to_string(by).ok()?;
            let expires_at_ms = by.by.at_ms.saturating_add(ACKNOWLEDGEMENT_MS_MAX);
            Some(SharedRow { key: key.clone(), body, stamp: by.by.at_ms, is_over: false, expires_at_ms })
        };
        shared.unsent_acknowledgements.iter().filter_map(row).take(SENT_MAX).collect()
    }

    pub fn acknowledgements_sent(&mut self, rows: &[SharedRow]) {
        let Some(shared) = &mut self.shared else { return };
        for row in rows {
            let is_same = shared.acknowledgements.get(&row.key).is_some_and(|by| by.by.at_ms == row.stamp);
            if is_same {
                shared.unsent_acknowledgements.remove(&row.key);
            }
        }
    }

    pub fn take_acknowledgements(&mut self, rows: Vec<SharedRow>, is_whole: bool) {
        let Some(shared) = &mut self.shared else { return };
        if is_whole {
            let there: HashSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
            let missing = shared.acknowledgements.keys().filter(|key| !there.contains(key.as_str()));
            shared.unsent_acknowledgements.extend(missing.cloned().collect::<Vec<_>>());
        }
        let mut new = BTreeMap::new();
        for row in rows {
            let Ok(by) = serde_json::from_str::<SharedAcknowledgement>(&row.body) else { continue };
            let is_newer = shared.acknowledgements.get(&row.key).is_none_or(|known| known.by.at_ms < by.by.at_ms);
            if is_newer && by.key() == row.key {
                shared.keep(row.key.clone(), by.clone());
                new.insert((by.rule.clone(), by.ensemble.clone(), by.lock.clone()), by);
            }
        }
        if new.is_empty() {
            return;
        }
        for (key, kept) in &mut self.alerts {
            let alert = &mut kept.alert;
            let named = (alert.rule.clone(), alert.ensemble.clone(), alert.lock.clone());
            let Some(by) = new.get(&named).filter(|_| alert.state != AlertState::Resolved) else { continue };
            let is_newer = alert.acked_by.as_ref().is_none_or(|known| known.at_ms < by.by.at_ms);
            if is_newer && by.means(alert.since_at_ms.min(kept.found_at_ms)) {
                alert.acked_by = Some(by.by.clone());
                self.unsaved_alerts.insert(key.clone());
            }
        }
    }
}
