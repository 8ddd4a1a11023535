//! What the members say of sessions, joined with the locks those sessions hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Observatory;
use super::refresh::identify_noted;
use crate::change::Change;
use crate::evidence::{Disputed, Round};
use crate::recipe::Shape;
use crate::time::TimeMs;
use crate::znode::{SessionId, split_path};

/// Locks whose findings are looked for after a round with tables of watches, the first in path order.
const LOOKS_MAX: usize = 1_024;

impl Observatory {
    /// Takes in a round of answers.
    pub(super) fn heard(&mut self, now: TimeMs, round: Round, out: &mut Vec<Change>) {
        let has_watches = round.reports.iter().any(|report| report.watches.value().is_some());
        if self.evidence.rounds() == 0 {
            self.state.unlisted =
                self.locks.iter().flat_map(|(_, lock)| &lock.holders).filter_map(|hold| hold.owner).collect();
        }
        let (before, news) = (self.evidence.disputed().clone(), self.evidence.take_in(now, round, &self.state.offset));
        self.backlog.heard.extend(news);
        self.hear_unlisted();
        self.follow_tables(now);
        if has_watches {
            self.look_again(now);
        }
        self.look_at_disputed(now, &before);
        out.push(Change::EvidenceChanged);
    }

    /// Answers that grew too old speak of now no longer.
    pub(super) fn outlive_evidence(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        let was_vouched = self.evidence.is_vouched();
        let news = self.evidence.grow_old(now);
        let is_over = was_vouched && !self.evidence.is_vouched();
        if is_over || !news.is_empty() {
            self.backlog.heard.extend(news);
            self.hear_unlisted();
            out.push(Change::EvidenceChanged);
        }
    }

    /// A round says something of holders that are on no list as well, and so does its end.
    fn hear_unlisted(&mut self) {
        self.backlog.heard.append(&mut self.state.unlisted);
    }

    /// Has the findings looked for of every lock that members disagree on otherwise than before: one that only a wrong
    /// member has a znode of may look free to us.
    fn look_at_disputed(&mut self, now: TimeMs, before: &BTreeMap<Box<str>, Disputed>) {
        let after = self.evidence.disputed();
        let changed =
            before.keys().chain(after.keys()).map(|path| &**path).filter(|path| before.get(*path) != after.get(*path));
        let lock_of = |path: &str| {
            let alone = self.locks.get(path).filter(|lock| lock.is_alone());
            Some(Arc::clone(&alone.or_else(|| self.lock_at(split_path(path)?.0))?.path))
        };
        let locks: BTreeSet<Arc<str>> = changed.filter_map(lock_of).collect();
        locks.iter().for_each(|path| self.plan_look(now, path));
    }

    /// Checks the findings that depend on watches; those of locks that change are checked anyway.
    fn look_again(&mut self, now: TimeMs) {
        let contended = self.locks().filter(|lock| {
            lock.contender_count() > 1 || matches!(lock.recognition.shape, Shape::Fixed | Shape::Alone | Shape::Gate)
        });
        let paths: Vec<Arc<str>> = contended.map(|lock| Arc::clone(&lock.path)).take(LOOKS_MAX).collect();
        paths.iter().for_each(|path| self.plan_look(now, path));
    }

    /// Judges the locks anew that a session holds.
    pub(super) fn join(&mut self, now: TimeMs, session: SessionId, out: &mut Vec<Change>) {
        let held = self.spots(session).filter(|spot| spot.hold.is_some());
        let paths: BTreeSet<Arc<str>> = held.map(|spot| Arc::clone(&spot.lock.path)).collect();
        for path in paths {
            let Some(lock) = self.locks.get_mut(&path) else { continue };
            if identify_noted(lock, &self.evidence, &mut self.state.unlisted) {
                lock.revision = self.revision + 1;
                out.push(Change::LockTouched { lock: Arc::clone(&path) });
                self.plan_look(now, &path);
                self.judge_again(now, &path, out);
            }
        }
    }
}
