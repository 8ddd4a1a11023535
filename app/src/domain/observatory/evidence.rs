//! What the members say of sessions, joined with the locks those sessions hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Observatory;
use super::refresh::identify;
use crate::domain::change::Change;
use crate::domain::evidence::Round;
use crate::domain::time::TimeMs;
use crate::domain::znode::SessionId;

impl Observatory {
    /// Takes in a round of answers.
    pub(super) fn heard(&mut self, now: TimeMs, round: Round, out: &mut Vec<Change>) {
        let news = self.book.take_in(now, round, &self.offset);
        self.join(now, news, out);
        out.push(Change::EvidenceChanged);
    }

    /// Answers that grew too old speak of now no longer.
    pub(super) fn outlive_evidence(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        let news = self.book.grow_old(now);
        if !news.is_empty() {
            self.join(now, news, out);
            out.push(Change::EvidenceChanged);
        }
    }

    /// Judges the locks anew that these sessions hold.
    fn join(&mut self, now: TimeMs, sessions: BTreeSet<SessionId>, out: &mut Vec<Change>) {
        let mut paths: BTreeSet<Arc<str>> = BTreeSet::new();
        for session in sessions {
            paths.extend(self.spots(session).filter(|spot| spot.tenure.is_some()).map(|spot| Arc::clone(&spot.lock.path)));
        }
        for path in paths {
            let Some(lock) = self.locks.get_mut(&path) else { continue };
            if identify(lock, &self.book, now) {
                lock.revision = self.revision + 1;
                out.push(Change::LockTouched { lock: Arc::clone(&path) });
                self.plan_look(now, &path);
                self.judge_again(now, &path, out);
            }
        }
    }
}
