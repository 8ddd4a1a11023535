//! Work that grows with the number of locks, done some at a time: whoever drives the model may let others look at it in
//! between. Before anything else is taken in, what was begun is done; so the model never depends on where it was left.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::Observatory;
use super::sync::Settling;
use crate::change::Change;
use crate::observation::Observation;
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Pieces done at a time: a lock each, or as much as that.
const PIECES: usize = 64;
/// Locks whose depth is noted as one piece.
const DEPTHS_A_PIECE: usize = 64;

/// What was begun and is not done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Backlog {
    /// When it was begun: all of it is done as of then, however late that is, so that the same observations at the same
    /// instants always make the same model. Nothing where there is no backlog.
    at: TimeMs,
    /// A tree was swapped in.
    pub(super) settling: Option<Box<Settling>>,
    /// Sessions with new evidence from the members.
    pub(super) heard: BTreeSet<SessionId>,
    /// The members' tables of watches are others than before; followed up to this lock.
    pub(super) tables_after: Option<Arc<str>>,
    /// Looks that were due by then.
    pub(super) due_until: Option<TimeMs>,
    /// The slice of depths of this number ends; noted up to this lock.
    pub(super) depth_after: Option<(i64, Arc<str>)>,
}

impl Backlog {
    fn is_empty(&self) -> bool {
        self.settling.is_none()
            && self.heard.is_empty()
            && self.tables_after.is_none()
            && self.due_until.is_none()
            && self.depth_after.is_none()
    }
}

impl Observatory {
    /// Takes in one observation; what changed, in the order it changed. `now` must not run backwards.
    pub fn apply(&mut self, now: TimeMs, observation: Observation) -> Vec<Change> {
        let mut out = self.begin(now, observation);
        while self.has_backlog() {
            out.extend(self.go_on());
        }
        out
    }

    /// Takes in one observation and leaves what takes long to [`Self::go_on`].
    pub fn begin(&mut self, now: TimeMs, observation: Observation) -> Vec<Change> {
        self.begin_one(now, Cow::Owned(observation))
    }

    /// The same with one that goes on to somewhere else: only what is kept of it is copied.
    pub fn begin_with(&mut self, now: TimeMs, observation: &Observation) -> Vec<Change> {
        self.begin_one(now, Cow::Borrowed(observation))
    }

    fn begin_one(&mut self, now: TimeMs, observation: Cow<'_, Observation>) -> Vec<Change> {
        let mut out = Vec::new();
        while self.has_backlog() {
            out.extend(self.go_on());
        }
        let mut begun = Vec::new();
        self.take_in(now, observation, &mut begun);
        self.note(now, &begun, false);
        if self.has_backlog() {
            self.backlog.at = now;
        }
        if out.is_empty() {
            return begun;
        }
        out.append(&mut begun);
        out
    }

    /// Something was begun and is not done.
    pub fn has_backlog(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Does some of what was begun.
    pub fn go_on(&mut self) -> Vec<Change> {
        let (now, mut out) = (self.backlog.at, Vec::new());
        let is_first_look = self.backlog.settling.as_ref().is_some_and(|settling| settling.is_first_look);
        for _ in 0..PIECES {
            if let Some(mut settling) = self.backlog.settling.take() {
                if self.settle(now, &mut settling, &mut out) {
                    self.backlog.settling = Some(settling);
                    continue;
                }
                break;
            }
            if !self.do_piece(now, &mut out) {
                break;
            }
        }
        self.forget_free_alone(now, &mut out);
        self.note(now, &out, is_first_look);
        if !self.has_backlog() {
            self.backlog = Backlog::default();
        }
        out
    }

    /// Does one piece of what is no settling; false when there is none.
    fn do_piece(&mut self, now: TimeMs, out: &mut Vec<Change>) -> bool {
        if let Some(session) = self.backlog.heard.pop_first() {
            self.join(now, session, out);
            return true;
        }
        if let Some(after) = self.backlog.tables_after.take() {
            self.follow_some_tables(now, &after, out);
            return true;
        }
        if let Some(until) = self.backlog.due_until {
            match self.rechecks.first() {
                Some((due, _)) if *due <= until => {
                    if let Some((_, path)) = self.rechecks.pop_first() {
                        self.recheck(now, &path, out);
                    }
                }
                _ => self.backlog.due_until = None,
            }
            return true;
        }
        if let Some((slice, after)) = self.backlog.depth_after.take() {
            self.end_depth_slice(slice, &after, out);
            return true;
        }
        false
    }

    fn end_depth_slice(&mut self, slice: i64, after: &Arc<str>, out: &mut Vec<Change>) {
        let paths = self.index.open_slices_after(after, DEPTHS_A_PIECE);
        self.backlog.depth_after = paths.last().map(|last| (slice, Arc::clone(last)));
        for path in paths {
            let Some(lock) = self.locks.get_mut(&path) else { continue };
            let waiters = lock.waiters_seen();
            // Both, whatever the first says.
            if lock.tally.depth.end_slice(slice, waiters) | lock.tally.hand_offs.end_slice() {
                lock.revision = self.revision + 1;
                out.push(Change::LockTouched { lock: path });
            }
            self.index.note_changed(lock, true);
        }
    }

    /// What changed is counted and recorded.
    fn note(&mut self, now: TimeMs, changes: &[Change], is_first_look: bool) {
        self.revision += u64::from(!changes.is_empty());
        self.record(now, changes, is_first_look);
    }
}
