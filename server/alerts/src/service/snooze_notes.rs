//! What other servers are to be told of snoozes of lock orders. That one was ended is not kept over a restart until it was
//! sent.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lockscope_runtime::shared_rows::{SENT_MAX, SharedRow};
use lockscope_view::OrderSnooze;

use crate::book::unique_number;

/// Snoozes at once. Overflow policy: no further one is made.
pub const ORDER_SNOOZES_MAX: usize = 64;
/// For how long a snooze for good is kept where the others find it: ten years after it was made.
const FOR_GOOD_MS: i64 = 3_650 * 86_400_000;
/// Ended snoozes that are kept until they were sent. Overflow policy: the oldest is forgotten.
const ENDED_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct SnoozeNotes {
    /// Which server this is, for numbers that no other gives; None while there are no others.
    server: Option<u64>,
    unsent: BTreeSet<u64>,
    ended: BTreeMap<u64, OrderSnooze>,
}

impl SnoozeNotes {
    /// There are others from now on. What was said before a restart may not have been sent.
    pub(super) fn share(&mut self, server: u64, there: &[OrderSnooze]) {
        self.server = Some(server);
        self.unsent = there.iter().map(|snooze| snooze.id).collect();
    }

    /// A number larger than all before, which no other server gives.
    pub(super) fn next_id(&self, last: u64, now_ms: i64) -> u64 {
        match self.server {
            Some(server) => unique_number(server, last, now_ms),
            None => last.max(now_ms.unsigned_abs()) + 1,
        }
    }

    pub(super) fn made(&mut self, id: u64) {
        if self.server.is_some() {
            self.unsent.insert(id);
        }
    }

    pub(super) fn ended(&mut self, snooze: OrderSnooze) {
        if self.server.is_some() {
            self.unsent.insert(snooze.id);
            self.ended.insert(snooze.id, snooze);
            if self.ended.len() > ENDED_MAX {
                self.ended.pop_first();
            }
        }
    }

    pub(super) fn outgoing(&self, there: &[OrderSnooze]) -> Vec<SharedRow> {
        let row = |id: &u64| {
            let (snooze, is_over) = match self.ended.get(id) {
                Some(ended) => (ended, true),
                None => (there.iter().find(|one| one.id == *id)?, false),
            };
            let expires_at_ms = snooze.until_at_ms.unwrap_or(snooze.at_ms.saturating_add(FOR_GOOD_MS));
            let body = serde_json::to_string(snooze).ok()?;
            Some(SharedRow { key: id.to_string(), body, stamp: snooze.at_ms, is_over, expires_at_ms })
        };
        self.unsent.iter().filter_map(row).take(SENT_MAX).collect()
    }

    pub(super) fn sent(&mut self, rows: &[SharedRow]) {
        for row in rows {
            let Ok(id) = row.key.parse::<u64>() else { continue };
            if self.ended.contains_key(&id) == row.is_over {
                self.unsent.remove(&id);
            }
        }
    }

    /// What is silenced from now on; None where nothing changes.
    pub(super) fn take(
        &mut self,
        there: &[OrderSnooze],
        rows: &[SharedRow],
        is_whole: bool,
        now_ms: i64,
    ) -> Option<Vec<OrderSnooze>> {
        if is_whole {
            let known: HashSet<u64> = rows.iter().filter_map(|row| row.key.parse().ok()).collect();
            self.unsent.extend(there.iter().map(|snooze| snooze.id).filter(|id| !known.contains(id)));
        }
        let mut next: Vec<OrderSnooze> = there.iter().filter(|one| !is_over(one, now_ms)).cloned().collect();
        for row in rows {
            let Ok(id) = row.key.parse::<u64>() else { continue };
            if row.is_over {
                next.retain(|one| one.id != id);
                self.unsent.remove(&id);
            } else if self.ended.contains_key(&id) {
                self.unsent.insert(id);
            } else if next.len() < ORDER_SNOOZES_MAX && next.iter().all(|one| one.id != id) {
                let read = serde_json::from_str::<OrderSnooze>(&row.body).ok();
                let good = read.filter(|one| one.id == id && !one.classes.is_empty() && !is_over(one, now_ms));
                next.extend(good);
            }
        }
        (next != there).then_some(next)
    }
}

pub(super) fn is_over(snooze: &OrderSnooze, now_ms: i64) -> bool {
    snooze.until_at_ms.is_some_and(|until| until <= now_ms)
}
