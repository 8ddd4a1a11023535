//! The sessions that Lockscope itself made, so that nobody takes one of their znodes for a client's.

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use parking_lot::Mutex;

/// Sessions remembered; the oldest goes first. Far more than are open at a time, with ten thousand ensembles too.
const SESSIONS_MAX: usize = 65_536;

static SESSIONS: LazyLock<Mutex<OwnSessions>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct OwnSessions {
    order: VecDeque<i64>,
    /// How often each is in `order`: several ensembles may have made sessions of the same id.
    counts: HashMap<i64, u32>,
}

impl OwnSessions {
    fn note(&mut self, session: i64) {
        if self.order.len() >= SESSIONS_MAX
            && let Some(oldest) = self.order.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&oldest);
            }
        }
        self.order.push_back(session);
        *self.counts.entry(session).or_insert(0) += 1;
    }
}

pub(super) fn note(session: i64) {
    SESSIONS.lock().note(session);
}

/// Whether a session is, or lately was, one of ours. Ids are unique within an ensemble; that one of ours has the id of
/// a client's in another ensemble is next to impossible and would only refuse a release.
pub fn is_ours(session: i64) -> bool {
    SESSIONS.lock().counts.contains_key(&session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut own = OwnSessions::default();
        own.note(1);
        own.note(1);
        (2..=SESSIONS_MAX as i64).for_each(|session| own.note(session));
        assert!(own.counts.contains_key(&1) && own.counts.contains_key(&2));
        own.note(-1);
        assert!(!own.counts.contains_key(&1) && own.order.len() == SESSIONS_MAX);
    }
}
