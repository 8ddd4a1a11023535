//! A lock as it is followed: its contenders, and its minute.

use std::collections::BTreeMap;

use lockscope_core::change::Departure;
use lockscope_core::diagnosis::Verdict;
use lockscope_core::recipe::Recipe;
use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::event::{Contender, ContenderPlace, Following, HeldSince, LockKind};
use super::holder_log::{HolderLog, KEPT_MS, PIECES_MAX, WaitRange};
use super::life::{EndOfLife, Life};
use super::minute::MinuteSoFar;
use super::sessions::Step;
use super::words::recipe_name;
use crate::store::rows::{Charges, Minute, Span, SpanEnd};

/// Pieces below which nothing is looked for that may be forgotten.
const PIECES_FEW: usize = 16;

#[derive(Debug)]
pub(super) struct LockState {
    kind: LockKind,
    pub(super) lives: BTreeMap<Box<str>, Life>,
    pub(super) waiting: u32,
    /// How many wait without a znode.
    watchers: u32,
    /// Until when their waiting is added up.
    summed_until: TimeMs,
    pub(super) verdict: Verdict,
    /// All holds that ended, for what is long here.
    pub(super) holds: Histogram,
    minute: MinuteSoFar,
    log: HolderLog,
    /// Pieces it keeps, and how many there are when it is looked for what may be forgotten.
    pieces_max: usize,
    forget_at: usize,
    /// What its contenders' sessions began and ended, to be taken.
    pub(super) steps: Vec<Step>,
}

impl LockState {
    pub(super) fn new(kind: LockKind, verdict: Verdict, now: TimeMs) -> Self {
        Self {
            kind,
            lives: BTreeMap::new(),
            waiting: 0,
            watchers: 0,
            summed_until: now,
            verdict,
            holds: Histogram::default(),
            minute: MinuteSoFar::new(verdict, 0),
            log: HolderLog::new(now),
            pieces_max: PIECES_MAX,
            forget_at: PIECES_FEW,
            steps: Vec::new(),
        }
    }

    pub(super) fn log(&self) -> &HolderLog {
        &self.log
    }

    /// What sessions began and ended since it was asked for last.
    pub(super) fn take_steps(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    /// Whether those who wait wait for each of so many holders: of a semaphore, one release of several is enough.
    pub(super) fn is_waited_for(&self, holders: u32) -> bool {
        self.kind.recipe != Recipe::Semaphore || holders == 1
    }

    pub(super) fn wait_of(&self, node: &str, now: TimeMs) -> Option<WaitRange> {
        self.lives.get(node).map(|life| life.wait(now))
    }

    pub(super) fn set_charges(&mut self, node: &str, charges: Charges) {
        if let Some(life) = self.lives.get_mut(node) {
            life.charges = Some(charges);
        }
    }

    /// Whether a contender is there that has not held yet: if it leaves, its wait is to be charged first.
    pub(super) fn is_unheld(&self, node: &str) -> bool {
        self.lives.get(node).is_some_and(|life| life.held.is_none())
    }

    /// Forgets who held when that is nobody's wait any more.
    fn forget_pieces(&mut self, now: TimeMs) {
        if self.log.len() < self.forget_at && self.log.len() <= self.pieces_max {
            return;
        }
        let waits = self.lives.values().filter(|life| life.held.is_none()).map(|life| life.joined_at);
        let oldest = waits.min().unwrap_or(now).min(now - KEPT_MS);
        self.log.forget(oldest, self.pieces_max);
        self.forget_at = (2 * self.log.len()).max(PIECES_FEW);
    }

    pub(super) fn lives(&self) -> usize {
        self.lives.len()
    }

    pub(super) fn set_kind(&mut self, kind: LockKind) {
        self.kind = kind;
    }

    /// Goes on with a minute that was begun before. Who holds by now may be in it with a part of that.
    pub(super) fn resume(&mut self, minute: &Minute, now: TimeMs) {
        let verdict = self.verdict;
        self.minute = MinuteSoFar::of(minute);
        self.minute.held_until = now;
        self.minute.worst = self.minute.worst.max(verdict);
    }

    /// The minute comes to no less than a row of it.
    pub(super) fn at_least(&mut self, minute: &Minute) {
        self.minute.at_least(minute);
    }

    pub(super) fn begin_minute(&mut self) {
        self.minute = MinuteSoFar::new(self.verdict, self.depth());
    }

    fn sum_up(&mut self, now: TimeMs) {
        let ms = now.since(self.summed_until);
        if ms > 0 {
            // Whoever held as soon as it came did not wait.
            self.minute.depth_max = self.minute.depth_max.max(self.depth());
        }
        self.summed_until = self.summed_until.max(now);
        let waiting = if self.counts_as_waiting() { self.waiting.saturating_add(self.watchers) } else { 0 };
        if ms > 0 && waiting > 0 {
            self.minute.waiting_ms = self.minute.waiting_ms.saturating_add(ms.saturating_mul(i64::from(waiting)));
            self.minute.touch();
        }
    }

    /// Of the time from what was known last up to now nothing is known.
    pub(super) fn skip(&mut self, known: TimeMs, now: TimeMs) {
        self.sum_up(known);
        self.summed_until = self.summed_until.max(now);
        self.log.skip(known, now);
    }

    fn counts_as_waiting(&self) -> bool {
        matches!(self.kind.following, Following::Queue { counts_as_waiting: true })
    }

    fn depth(&self) -> u32 {
        self.waiting.saturating_add(self.watchers)
    }

    /// Whether a contender is another one than was there before by its name: that one went unseen.
    pub(super) fn is_other(&self, contender: &Contender) -> bool {
        let czxid = contender.identity.as_ref().map(|identity| identity.czxid);
        let is_other = |life: &Life| life.czxid().zip(czxid).is_some_and(|(before, now)| before != now);
        self.lives.get(&contender.node).is_some_and(is_other)
    }

    /// A contender came, or was read.
    pub(super) fn came(&mut self, contender: &Contender, is_found: bool, offset_ms: i64, now: TimeMs) {
        self.sum_up(now);
        let node = &*contender.node;
        if !self.lives.contains_key(node) {
            let mut life = Life::new(contender, now, is_found);
            life.is_waiting =
                matches!(self.kind.following, Following::Queue { .. }) && life.place != ContenderPlace::Lease;
            life.before = self.log.totals_at(life.joined_at);
            self.waiting += u32::from(life.is_waiting);
            if life.is_waiting && self.counts_as_waiting() {
                let ms = now.since(life.arrived_at);
                self.minute.waiting_ms = self.minute.waiting_ms.saturating_add(ms);
            }
            self.lives.insert(node.into(), life);
            if !is_found && contender.place != ContenderPlace::Lease {
                self.minute.arrivals = self.minute.arrivals.saturating_add(1);
            }
            self.minute.touch();
            if self.kind.following == Following::Members {
                self.held(node, HeldSince { at: now, is_lower_bound: is_found }, now);
            }
        }
        self.identify(contender, offset_ms);
    }

    fn identify(&mut self, contender: &Contender, offset_ms: i64) {
        let counts = self.counts_as_waiting();
        let (Some(life), Some(identity)) = (self.lives.get_mut(&contender.node), &contender.identity) else { return };
        let is_first = life.identity.is_none();
        let is_late = life.place == ContenderPlace::Lease && is_first && life.held.is_some();
        let earlier_ms = life.identify(&contender.node, identity, offset_ms);
        if earlier_ms != 0 {
            life.before = life.before.min(self.log.totals_at(life.joined_at));
        }
        let (is_held, from, arrived_at) = (life.held.is_some(), life.joined_at, life.arrived_at);
        if is_first {
            let waits = life.is_waiting.then_some(identity.session).flatten();
            let holds = is_held.then_some(identity.session).flatten();
            let node = || contender.node.clone();
            self.steps.extend(waits.map(|session| Step::Waits { session, node: node(), from, arrived_at }));
            self.steps.extend(holds.map(|session| Step::Holds { session }));
            self.steps.extend(is_held.then(|| Step::Charge { node: node() }));
            self.log.identify(&contender.node, identity.session);
        }
        // Of what nobody watched it is not said in which minute they waited.
        if !life.is_found && counts && earlier_ms != 0 {
            self.minute.waiting_ms = self.minute.waiting_ms.saturating_add(earlier_ms);
            self.minute.touch();
        }
        if is_late {
            self.pass_to(&contender.node, identity.session);
        }
    }

    /// The offset of clocks became known: those that were found joined at other instants than was believed.
    pub(super) fn follow_offset(&mut self, offset_ms: i64) {
        for life in self.lives.values_mut().filter(|life| life.is_found && life.held.is_none()) {
            life.follow_offset(offset_ms);
            life.before = life.before.min(self.log.totals_at(life.joined_at));
        }
    }

    pub(super) fn held(&mut self, node: &str, since: HeldSince, now: TimeMs) {
        self.sum_up(now);
        let Some(life) = self.lives.get(node).filter(|life| life.held.is_none()) else { return };
        if life.place == ContenderPlace::Lease {
            self.pass_to(node, life.session());
        }
        let Some(life) = self.lives.get_mut(node) else { return };
        life.held = Some(since);
        let session = life.session();
        if std::mem::take(&mut life.is_waiting) {
            self.waiting = self.waiting.saturating_sub(1);
            self.steps.extend(session.map(|session| Step::WaitEnds { session, node: node.into() }));
        }
        self.steps.extend(session.map(|session| Step::Holds { session }));
        let known = life.identity.as_ref().map(|known| known.session);
        self.steps.extend(known.map(|_| Step::Charge { node: node.into() }));
        self.log_held(node, known, now);
        if !since.is_lower_bound {
            self.minute.acquired = self.minute.acquired.saturating_add(1);
            self.minute.touch();
        }
    }

    /// Who waits from now on waits for this one; in a group nobody does.
    fn log_held(&mut self, node: &str, session: Option<Option<SessionId>>, now: TimeMs) {
        if self.kind.following != Following::Members {
            self.log.begin(node, session, now);
            self.forget_pieces(now);
        }
    }

    /// A contender left. Its span, where it has one.
    pub(super) fn left(
        &mut self,
        lock: &str,
        node: &str,
        how: Departure,
        host: Option<Box<str>>,
        now: TimeMs,
    ) -> Option<(Span, bool)> {
        self.sum_up(now);
        let mut life = self.lives.remove(node)?;
        self.pass_unread(&mut life);
        self.log.end(node, now);
        if life.is_waiting {
            self.waiting = self.waiting.saturating_sub(1);
        }
        self.steps.extend(steps_of_end(node, &life));
        self.forget_pieces(now);
        self.minute.touch();
        // A lease that was only asked for, and a place in a queue that led to one, are told by the lease that was held.
        if life.is_passed || (life.place == ContenderPlace::Lease && life.held.is_none()) {
            return None;
        }
        let how = match (how, life.held) {
            (Departure::DuringGap, _) => SpanEnd::Unknown,
            (Departure::SessionEnded, _) => SpanEnd::SessionEnded,
            (Departure::Deleted, Some(_)) => SpanEnd::Released,
            (Departure::Deleted, None) => SpanEnd::GaveUp,
        };
        self.count_end(&life, how, now);
        let span = life.span(node, lock, recipe_name(self.kind.recipe), now, EndOfLife { how, host });
        span.map(|span| (span, life.is_found))
    }

    /// What is there by this name is no contender: whoever was taken for one before it was read is forgotten. None where
    /// nobody was; false for one that was read.
    pub(super) fn forget_unread(&mut self, node: &str, now: TimeMs) -> Option<bool> {
        if self.lives.get(node)?.identity.is_some() {
            return Some(false);
        }
        self.sum_up(now);
        let life = self.lives.remove(node)?;
        self.log.end(node, now);
        self.waiting = self.waiting.saturating_sub(u32::from(life.is_waiting));
        let minute = super::minute_of(now);
        let has_arrived =
            !life.is_found && life.place != ContenderPlace::Lease && super::minute_of(life.arrived_at) == minute;
        self.minute.arrivals = self.minute.arrivals.saturating_sub(u32::from(has_arrived));
        let has_begun = life.held.is_some_and(|held| !held.is_lower_bound && super::minute_of(held.at) == minute);
        self.minute.acquired = self.minute.acquired.saturating_sub(u32::from(has_begun));
        self.minute.touch();
        Some(true)
    }

    fn count_end(&mut self, life: &Life, how: SpanEnd, now: TimeMs) {
        let Some(held) = life.held else {
            if how != SpanEnd::Unknown {
                self.minute.gave_up = self.minute.gave_up.saturating_add(1);
            }
            return self.minute.waits.note(life.wait_ms(now));
        };
        let from = held.at.max(super::minute_of(now)).max(self.minute.held_until);
        self.minute.note_held(life.session(), now.since(from));
        if held.is_lower_bound {
            return;
        }
        self.minute.waits.note(life.wait_ms(now));
        if how != SpanEnd::Unknown {
            self.minute.holds.note(now.since(held.at));
            self.holds.note(now.since(held.at));
        }
    }

    pub(super) fn watchers(&mut self, count: u32, now: TimeMs) {
        self.sum_up(now);
        self.watchers = count;
        if count > 0 {
            self.minute.touch();
        }
    }

    pub(super) fn verdict(&mut self, verdict: Verdict) {
        self.verdict = verdict;
        self.minute.worst = self.minute.worst.max(verdict);
        if super::words::is_trouble(verdict) {
            self.minute.touch();
        }
    }

    pub(super) fn missing_in(&self, contenders: &[(Contender, Option<HeldSince>)]) -> Vec<Box<str>> {
        let there: std::collections::BTreeSet<&str> = contenders.iter().map(|(one, _)| &*one.node).collect();
        self.lives.keys().filter(|node| !there.contains(&***node)).cloned().collect()
    }

    /// Of a lock that is shown no longer, everybody's end.
    pub(super) fn end_steps(&self) -> impl Iterator<Item = Step> {
        self.lives.iter().flat_map(|(node, life)| steps_of_end(node, life))
    }

    /// The minute as it is by now, where something changed since it was asked for last.
    pub(super) fn news(&mut self, lock: &str, at: TimeMs, now: TimeMs) -> Option<Minute> {
        self.sum_up(now);
        std::mem::take(&mut self.minute.is_news).then(|| self.row(lock, at, now))
    }

    /// Ends the minute, and begins the next. Its row, where something happened in it.
    pub(super) fn end_minute(&mut self, lock: &str, at: TimeMs, end: TimeMs, pieces_max: usize) -> Option<Minute> {
        self.sum_up(end);
        (self.pieces_max, self.forget_at) = (pieces_max, self.log.len());
        self.forget_pieces(end);
        let row = self.minute.is_active.then(|| self.row(lock, at, end));
        self.begin_minute();
        row
    }

    fn row(&self, lock: &str, at: TimeMs, now: TimeMs) -> Minute {
        let from = at.max(self.minute.held_until);
        let held_ms = |life: &Life| life.held.map(|held| (life.session(), now.since(held.at.max(from))));
        self.minute.row(lock, at, self.lives.values().filter_map(held_ms))
    }
}

/// What a session ends when a znode of it goes.
fn steps_of_end(node: &str, life: &Life) -> impl Iterator<Item = Step> + use<> {
    let session = life.session();
    let waits = session.filter(|_| life.is_waiting).map(|session| Step::WaitEnds { session, node: node.into() });
    let holds = session.filter(|_| life.held.is_some()).map(|session| Step::HoldEnds { session });
    waits.into_iter().chain(holds)
}
