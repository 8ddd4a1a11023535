//! The sessions that Lockscope itself made, so that nobody takes one of their znodes for a client's.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Sessions remembered; the oldest goes first. Far more than are open at a time.
const SESSIONS_MAX: usize = 1_024;

static SESSIONS: Mutex<VecDeque<i64>> = Mutex::new(VecDeque::new());

/// Remembers one of ours.
pub fn note(session: i64) {
    let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if sessions.len() >= SESSIONS_MAX {
        sessions.pop_front();
    }
    sessions.push_back(session);
}

/// Whether a session is, or lately was, one of ours. Ids are unique within an ensemble; that one of ours has the id of
/// a client's in another ensemble is next to impossible and would only refuse a release.
pub fn is_ours(session: i64) -> bool {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner).contains(&session)
}
