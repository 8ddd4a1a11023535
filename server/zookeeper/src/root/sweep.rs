//! The periodic sweep over all directories of a root. No event reports children that we may not read, but the Stat
//! counters of their directory show them: each directory's are compared with the events seen, twice a second unless
//! there are more directories than can be compared in that time.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::Observation;
use lockscope_core::znode::Facts;

use super::super::directory_watch::{DirectoryNews, WatchChange};
use super::super::outbox::Outbox;
use super::super::reads::Purpose;
use super::super::request::{CHECKS_A_REQUEST, Epoch, ListPurpose, NodeReply, REQUEST_BYTES_MAX, Request};
use super::super::stat_counters::{Check, Comparison, Missed, Version};
use super::super::watch::{Input, State};
use super::RootWatch;
use super::hints::Verdict;

/// Directories compared in each tick: ten thousand a second. More of them take a longer round.
const CHECKED_A_TICK: usize = 2_500;
const CHECKED_AFTER_SYNC: usize = 20_000;
/// Ticks from one round to the next.
const ROUND_TICKS: u32 = 2;
/// Directories that wait to be compared beside the round. Overflow policy: further ones wait for the round.
const CHECKS_MAX: usize = 16_384;
/// Unreadable znodes read again in turn: they may have become readable, which no event reports. And ticks between
/// turns.
const UNREADABLE_A_TURN: usize = 100;
const SILENT_TICKS: u32 = 4;

#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// Compared beside the round, each once.
    checks: VecDeque<Arc<str>>,
    waiting: HashSet<Arc<str>>,
    running: bool,
    asked_all: bool,
    /// Ticks since the round began.
    ticks: u32,
    /// Directories that may still be asked for in this tick.
    allowance: usize,
    /// Requests under way.
    flying: usize,
    /// Compared with the next tick.
    later: Vec<Arc<str>>,
}

impl Sweep {
    pub(super) fn begin(&mut self, allowance: usize) {
        (self.running, self.asked_all, self.ticks, self.allowance) = (true, false, 0, allowance);
    }

    /// Asks for a comparison beside the round.
    pub(super) fn want(&mut self, directory: &Arc<str>) {
        if self.checks.len() < CHECKS_MAX && self.waiting.insert(Arc::clone(directory)) {
            self.checks.push_back(Arc::clone(directory));
        }
    }

    /// Every directory was asked for and every answer is here.
    pub(super) fn is_over(&self) -> bool {
        self.asked_all && self.flying == 0 && self.checks.is_empty()
    }

    fn next(&mut self) -> Option<Arc<str>> {
        let directory = self.checks.pop_front()?;
        self.waiting.remove(&directory);
        Some(directory)
    }

    /// The same with the next tick.
    fn later(&mut self, directory: Arc<str>) {
        if self.later.len() < CHECKS_MAX {
            self.later.push(directory);
        }
    }
}

impl RootWatch {
    /// What child watches have to do for this root since this was asked last.
    pub(in super::super) fn take_watch_changes(&mut self) -> Vec<WatchChange> {
        self.hints.take_changes()
    }

    /// Something here may not be read, or might not at some time.
    pub(in super::super) fn is_guarded(&self) -> bool {
        self.guarded
    }

    /// No child watch of this root works any more.
    pub(in super::super) fn hints_lost(&mut self, out: &mut Outbox) {
        self.hints.lose();
        self.say_exposed(out);
    }

    /// Takes the news of the child watch of a directory. Events that arrived before must have been handled.
    pub(in super::super) fn hinted(&mut self, directory: &Arc<str>, news: DirectoryNews, out: &mut Outbox) {
        if news.is_set {
            self.hints.set(directory);
        }
        if self.is_unfollowed() && news.changes > 0 {
            self.hurry();
        }
        let is_ahead = self.hints.heard(directory, news.changes);
        if self.is_swept() && (is_ahead || news.is_set) {
            self.sweep.want(directory);
        }
        if is_ahead && self.guarded {
            self.say_incomplete(directory, true, out);
        }
    }

    /// Something may not be read here: from now on a directory is complete only as long as its child watch works.
    pub(super) fn guard(&mut self, out: &mut Outbox) {
        if !std::mem::replace(&mut self.guarded, true) && self.is_swept() {
            self.say_exposed(out);
        }
    }

    /// Whether children may come to a directory unseen, and are expected to.
    pub(super) fn is_exposed(&self, directory: &str) -> bool {
        self.guarded && !self.hints.is_set(directory) && !self.ledger.unreadable.has(directory)
    }

    fn say_exposed(&mut self, out: &mut Outbox) {
        if self.guarded {
            for directory in self.ledger.directories() {
                if self.is_exposed(&directory) {
                    self.say_incomplete(&directory, true, out);
                }
            }
        }
    }

    /// A round begins at once: everything was read.
    pub(super) fn begin_sweep(&mut self, out: &mut Outbox) {
        self.sweep = Sweep::default();
        self.hints.begin_anew(|path| self.ledger.has(path));
        if self.guarded {
            // Whatever came unseen while everything was read: the first comparison shows it.
            let read = |directory: &Arc<str>| !self.ledger.unreadable.has(directory);
            let directories: Vec<Arc<str>> = self.ledger.directories().into_iter().filter(read).collect();
            directories.iter().for_each(|directory| self.say_incomplete(directory, true, out));
        }
        self.ledger.begin_round();
        self.sweep.begin(CHECKED_AFTER_SYNC);
    }

    pub(super) fn tick_sweep(&mut self) {
        for directory in std::mem::take(&mut self.sweep.later) {
            self.sweep.want(&directory);
        }
        self.sweep.ticks = self.sweep.ticks.saturating_add(1);
        self.sweep.allowance = CHECKED_A_TICK;
        let is_done = self.sweep.is_over() && !self.follows_up();
        self.sweep.running &= !is_done;
        if !self.sweep.running && self.sweep.ticks >= ROUND_TICKS {
            self.ledger.begin_round();
            self.sweep.begin(CHECKED_A_TICK);
        }
        if self.ticks.is_multiple_of(SILENT_TICKS) {
            for path in self.ledger.unreadable.sample(UNREADABLE_A_TURN) {
                self.reads.want(&path, Purpose::Found);
            }
        }
    }

    /// What a comparison showed is being listed or read.
    fn follows_up(&self) -> bool {
        self.reads.found_left() > 0 || self.other_lists_left > 0
    }

    pub(super) fn next_checks(&mut self) -> Option<Request> {
        let mut checks: Vec<Check> = Vec::new();
        let mut bytes = 0;
        while checks.len() < CHECKS_A_REQUEST && bytes < REQUEST_BYTES_MAX {
            let Some(directory) = self.sweep.next() else { break };
            bytes += directory.len();
            checks.extend(self.ledger.check_of(&directory));
        }
        let count = self.sweep.allowance.min(CHECKS_A_REQUEST);
        if checks.is_empty() && self.sweep.running && !self.sweep.asked_all && count > 0 {
            checks = self.ledger.next_checks(count, REQUEST_BYTES_MAX);
            self.sweep.allowance -= checks.len();
            self.sweep.asked_all = self.ledger.is_round_over();
        }
        self.sweep.flying += usize::from(!checks.is_empty());
        (!checks.is_empty()).then_some(Request::Check(checks))
    }

    pub(super) fn checked(&mut self, epoch: Epoch, checks: Vec<(Arc<str>, Version, NodeReply)>, out: &mut Outbox) {
        self.sweep.flying = self.sweep.flying.saturating_sub(1);
        for (directory, stamp, reply) in checks {
            if epoch != self.epoch {
                return;
            }
            if directory == self.path
                && let NodeReply::Facts { facts, .. } = &reply
            {
                self.trust.note(facts);
            }
            if self.is_comparing {
                self.compare_after_gap(directory, stamp, reply, out);
                continue;
            }
            match reply {
                NodeReply::Facts { facts, .. } => self.compare(directory, facts, stamp, out),
                // Its event shows that; or it is unreadable itself, and its own directory's counters do.
                NodeReply::Missing => {}
                NodeReply::Denied => {
                    self.ledger.choose_way(&directory, true, 0);
                    self.sweep.want(&directory);
                }
                // It was readable once: reading it again shows what it is now.
                NodeReply::StatDenied => {
                    self.ledger.uncount(&directory);
                    self.reads.want(&directory, Purpose::Found);
                }
                NodeReply::Failed => return self.input(Input::ReadFailed, out),
            }
        }
    }

    fn compare(&mut self, directory: Arc<str>, facts: Box<Facts>, stamp: Version, out: &mut Outbox) {
        if self.is_of_other_history(&directory, &facts, true, out) {
            return;
        }
        let (children, creates_ever) = (facts.children, facts.creates_ever());
        let quiet = self.ledger.check_of(&directory).is_some_and(|now| now.stamp == stamp);
        let compared = self.ledger.check(&directory, &facts, stamp);
        if compared == Comparison::Nothing {
            return;
        }
        if self.ledger.is_news(&directory, &facts) {
            out.push(Observation::Counted { root: self.id, path: (&*directory).into(), facts });
        }
        if self.ledger.unreadable.has(&directory) {
            // Its children may not be listed, and it is reported as one that may not be read.
            return;
        }
        if self.guarded || creates_ever > 0 {
            self.hints.want(&directory);
        }
        match compared {
            Comparison::Nothing => {}
            Comparison::Complete if self.follows_up() => {}
            Comparison::Complete => match self.hints.compared(&directory, quiet, self.ticks) {
                Verdict::Agreed => self.say_incomplete(&directory, self.is_exposed(&directory), out),
                Verdict::Again => self.sweep.want(&directory),
                Verdict::Later => self.sweep.later(directory),
                Verdict::List => self.list(directory, ListPurpose::Recheck(Missed::default()), children),
            },
            Comparison::Doubtful => self.sweep.want(&directory),
            Comparison::Obscure => self.list(directory, ListPurpose::Recheck(Missed::default()), children),
            Comparison::Missed(unseen) => {
                self.hints.shown(&directory, unseen.creates.saturating_add(unseen.deletes));
                if unseen != Missed::default() {
                    self.say_incomplete(&directory, true, out);
                }
                self.list(directory, ListPurpose::Recheck(unseen), children);
            }
        }
    }

    /// Reports whether a directory may have children that were not reported, when that changed.
    pub(super) fn say_incomplete(&mut self, directory: &str, incomplete: bool, out: &mut Outbox) {
        if self.ledger.say(directory, incomplete).is_some() {
            let missing = MissingSet::NONE.with(Missing::Unswept, incomplete);
            out.push(Observation::Incomplete { root: self.id, path: directory.into(), missing });
        }
    }

    /// Whether comparisons make sense: the root has events.
    pub(super) fn is_swept(&self) -> bool {
        self.state == State::Live
    }
}
