//! Spans, minutes and facts, made as things happen: pure, without a clock.
//!
//! A [`Tap`] takes of the model, on its thread and right after each change, what they need; the [`Deriver`] makes rows of
//! it, on the historian's. A replica of the model would cost its CPU twice, and could say no more.
//!
//! A wait is from the creation of the znode, on our clock, to when it holds or leaves; a hold from when it first holds to
//! when the znode is gone. Who was not seen from the beginning has `is_lower_bound`. A contender that went before it was
//! read is counted in its minute and has no span: nothing says which one it was. Of a minute's waiting, what lies before
//! we looked is left out, so all minutes together have what all waits have in the time that we saw.

mod again;
mod charges;
mod coding;
mod ended;
mod event;
mod harm;
mod holder_log;
mod leases;
mod life;
mod lock;
mod minute;
mod sessions;
mod tap;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lockscope_core::change::Departure;
use lockscope_core::diagnosis::{Code, Verdict};
use lockscope_core::keyed_hash::KeyedMap;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

pub(crate) use again::no_less;
pub use charges::CHARGES_MAX;
pub use coding::{TOP_MAX, add as add_histogram, histogram_bytes, histogram_of, top_bytes, top_of};
pub use ended::{SETTLE_MS, SPANS_A_MINUTE_MAX, WAIT_WORTH_MS, WORTH_A_MINUTE_MAX};
pub use event::{Contender, ContenderPlace, Event, Following, HeldSince, Identity, LockKind};
pub use harm::{HARMFUL, Harm, harm_by_name, harm_of};
pub use minute::MINUTE_MS;
pub use tap::{Tap, apply};
pub use words::{is_trouble, severity_of, verdict_name, verdict_of};

use crate::store::rows::{Minute, Rows, SpanEnd};
use charges::Allowance;
use ended::Ended;
use lock::LockState;
use sessions::{Sessions, Step};
use words::{facts_of, findings_again, released, vanished, verdict_said};

/// Contenders that are followed. Overflow policy: further ones are not.
pub const LIVES_MAX: usize = 1_000_000;
/// Facts of a minute that are kept. Overflow policy: further ones are not.
pub const FACTS_A_MINUTE_MAX: u32 = 6_000;
/// Minutes without news that are made up for; after a longer pause the rest is left out.
const MINUTES_AT_ONCE_MAX: i64 = 180;
/// Facts of one millisecond have numbers of their own up to here; the numbers of more reach into the next.
pub const FACTS_A_MS: u64 = 1 << 10;

/// The first instant of a minute.
pub(crate) fn minute_of(at: TimeMs) -> TimeMs {
    TimeMs(at.0.div_euclid(MINUTE_MS).saturating_mul(MINUTE_MS))
}

/// All locks in path order.
fn in_order(locks: &mut KeyedMap<Arc<str>, LockState>) -> Vec<(&Arc<str>, &mut LockState)> {
    let mut all: Vec<(&Arc<str>, &mut LockState)> = locks.iter_mut().collect();
    all.sort_unstable_by_key(|(one, _)| *one);
    all
}

/// Makes rows of what happens to one ensemble.
#[derive(Debug, Default)]
pub struct Deriver {
    /// Found some times for each event, and walked through in order once a minute.
    locks: KeyedMap<Arc<str>, LockState>,
    lives: usize,
    sessions: Sessions,
    allowance: Allowance,
    offset_ms: Option<i64>,
    now: Option<TimeMs>,
    ended: Ended,
    rows: Rows,
    last_fact: u64,
    facts_in_minute: (TimeMs, u32),
    /// Findings by which somebody is hurt, of the locks that have some.
    harmful: BTreeMap<Arc<str>, BTreeSet<Code>>,
    /// Minutes that were begun before, by another process, and go on.
    resumed: BTreeMap<Box<str>, Minute>,
}

impl Deriver {
    /// Begins anew with everything there is, after what may have been missed. Contenders that are known go on.
    pub fn begin(&mut self, now: TimeMs, events: Vec<(TimeMs, Event)>) {
        let known = self.now.unwrap_or(now);
        self.locks.values_mut().for_each(|lock| lock.skip(known, now));
        self.advance(now);
        let there: BTreeSet<Arc<str>> = events
            .iter()
            .filter_map(|(_, event)| if let Event::Whole { lock, .. } = event { Some(Arc::clone(lock)) } else { None })
            .collect();
        let mut gone: Vec<Arc<str>> = self.locks.keys().filter(|lock| !there.contains(*lock)).cloned().collect();
        gone.sort_unstable();
        gone.iter().for_each(|lock| self.vanished(lock));
        self.harmful.clear();
        for (at, event) in events {
            // What was in trouble before is so still, or again: that is told behind each gap.
            if let Event::Whole { lock, verdict, .. } = &event
                && is_trouble(*verdict)
                && self.locks.get(lock).is_some_and(|state| state.verdict == *verdict)
            {
                self.fact(at, verdict_said(lock, *verdict));
            }
            let again = match &event {
                Event::Whole { lock, findings, .. } => findings_again(lock, findings),
                _ => Vec::new(),
            };
            self.take(at, event);
            again.into_iter().for_each(|finding| self.take(at, finding));
        }
    }

    /// How far it is; None where nothing was taken in.
    pub fn now(&self) -> Option<TimeMs> {
        self.now
    }

    /// Takes in one event. Instants do not fall.
    pub fn take(&mut self, now: TimeMs, event: Event) {
        self.advance(now);
        let before = match &event {
            Event::Verdict { lock, .. } | Event::Whole { lock, .. } => self.locks.get(lock).map(|lock| lock.verdict),
            _ => None,
        };
        for said in facts_of(&event, before) {
            self.fact(now, said);
        }
        match event {
            Event::Offset(ms) => self.offset(ms),
            Event::Came { lock, kind, contender, is_found } => self.came(now, &lock, kind, &contender, is_found),
            Event::Whole { lock, kind, verdict, contenders, is_found, findings: _ } => {
                self.whole(now, &lock, kind, verdict, &contenders, is_found);
            }
            Event::Held { lock, node, since } => {
                if let Some(state) = self.locks.get_mut(&lock) {
                    state.held(&node, since, now);
                    self.take_steps(now, &lock);
                }
            }
            Event::Left { lock, node, how, host } => self.left(now, &lock, &node, how, host),
            Event::NoContender { lock, node } => self.no_contender(now, &lock, &node),
            Event::Vanished { lock } => self.vanished(&lock),
            Event::Watchers { lock, count } => {
                if let Some(state) = self.locks.get_mut(&lock) {
                    state.watchers(count, now);
                }
            }
            Event::SessionEnded { session, since } => self.ended.session_ended(session, since),
            Event::Verdict { lock, verdict } => {
                if let Some(state) = self.locks.get_mut(&lock) {
                    state.verdict(verdict);
                }
            }
            Event::Finding { lock, code, raised } => {
                let is_harmful = raised.is_some_and(|(severity, _)| harm_of(code, severity).is_some());
                self.found(lock, code, is_harmful);
            }
            Event::Deadlock { .. } | Event::Link(_) | Event::Root { .. } => {}
        }
    }

    pub fn advance(&mut self, now: TimeMs) {
        let before = *self.now.get_or_insert(now);
        if now <= before {
            return;
        }
        let (mut minute, last) = (minute_of(before), minute_of(now));
        let first = last - MINUTES_AT_ONCE_MAX * MINUTE_MS;
        while minute < last {
            let end = minute + MINUTE_MS;
            let pieces_max = holder_log::pieces_max(self.locks.len());
            for (path, lock) in in_order(&mut self.locks) {
                let row = lock.end_minute(path, minute, end, pieces_max);
                self.rows.minutes.extend(row);
            }
            self.resumed.clear();
            self.sessions.forget(end - holder_log::KEPT_MS);
            minute = end.max(first);
        }
        self.now = Some(now);
        self.ended.settle(now, &mut self.rows.spans);
    }

    /// A znode was deleted by Lockscope itself.
    pub fn forced(&mut self, czxid: Zxid) {
        self.ended.forced(czxid, &mut self.rows.spans);
    }

    /// The rows that are complete, to be written.
    pub fn complete(&mut self) -> Rows {
        // Each is here once: when it settles, or when it is corrected.
        let releases = self.rows.spans.iter().filter(|span| span.how == SpanEnd::Forced);
        let releases: Vec<_> = releases.map(|span| (span.left_at, released(&span.lock))).collect();
        releases.into_iter().for_each(|(at, said)| self.fact(at, said));
        std::mem::take(&mut self.rows)
    }

    /// The minute that is under way, of locks of which something changed: written again when it is over.
    pub fn under_way(&mut self) -> Vec<Minute> {
        let Some(now) = self.now else { return Vec::new() };
        let locks = in_order(&mut self.locks).into_iter();
        locks.filter_map(|(path, lock)| lock.news(path, minute_of(now), now)).collect()
    }

    /// Everything that ended so far, though more may become known of it: at the end of the process.
    pub fn finish(&mut self) -> Rows {
        self.ended.settle_all(&mut self.rows.spans);
        let under_way = self.under_way();
        self.rows.minutes.extend(under_way);
        self.complete()
    }

    fn offset(&mut self, ms: i64) {
        let is_first = self.offset_ms.replace(ms).is_none();
        if is_first {
            self.locks.values_mut().for_each(|lock| lock.follow_offset(ms));
        }
    }

    fn found(&mut self, lock: Arc<str>, code: Code, is_harmful: bool) {
        if is_harmful {
            self.harmful.entry(lock).or_default().insert(code);
        } else if let Some(known) = self.harmful.get_mut(&lock) {
            known.remove(&code);
            if known.is_empty() {
                self.harmful.remove(&lock);
            }
        }
    }

    fn fact(&mut self, now: TimeMs, said: words::Said) {
        let minute = minute_of(now);
        if self.facts_in_minute.0 != minute {
            self.facts_in_minute = (minute, 0);
        }
        self.facts_in_minute.1 = self.facts_in_minute.1.saturating_add(1);
        if self.facts_in_minute.1 > FACTS_A_MINUTE_MAX {
            return;
        }
        let of_now = u64::try_from(now.0).unwrap_or(0).saturating_mul(FACTS_A_MS);
        self.last_fact = of_now.max(self.last_fact.saturating_add(1));
        self.rows.facts.push(said.numbered(self.last_fact, now));
    }

    /// The lock of a path, begun with where it is new.
    fn lock(&mut self, path: &Arc<str>, kind: LockKind, verdict: Verdict, now: TimeMs) -> &mut LockState {
        let resumed = self.resumed.remove(&**path).filter(|minute| minute.at == minute_of(now));
        let state = self.locks.entry(Arc::clone(path)).or_insert_with(|| LockState::new(kind, verdict, now));
        state.set_kind(kind);
        if let Some(minute) = resumed {
            state.resume(&minute, now);
        }
        state
    }

    fn came(&mut self, now: TimeMs, path: &Arc<str>, kind: LockKind, contender: &Contender, is_found: bool) {
        let (offset_ms, is_full) = (self.offset_ms.unwrap_or(0), self.lives >= LIVES_MAX);
        if is_full {
            return;
        }
        if self.locks.get(path).is_some_and(|state| state.is_other(contender)) {
            self.lock(path, kind, Verdict::Unknown, now);
            self.left(now, path, &contender.node, Departure::DuringGap, None);
        }
        let state = self.lock(path, kind, Verdict::Unknown, now);
        let before = state.lives();
        state.came(contender, is_found, offset_ms, now);
        let (after, steps) = (state.lives(), state.take_steps());
        self.lives = (self.lives + after).saturating_sub(before);
        self.follow_steps(now, path, steps);
    }

    fn no_contender(&mut self, now: TimeMs, path: &Arc<str>, node: &str) {
        match self.locks.get_mut(path).and_then(|state| state.forget_unread(node, now)) {
            Some(true) => self.lives = self.lives.saturating_sub(1),
            // Another one had its name before, and went unseen.
            Some(false) => self.left(now, path, node, Departure::DuringGap, None),
            None => {}
        }
    }

    fn left(&mut self, now: TimeMs, path: &Arc<str>, node: &str, how: Departure, host: Option<Box<str>>) {
        if self.locks.get(path).is_some_and(|state| state.is_unheld(node)) {
            self.charge(now, path, node);
        }
        let Some(state) = self.locks.get_mut(path) else { return };
        let before = state.lives();
        let span = state.left(path, node, how, host, now);
        self.lives = self.lives.saturating_sub(before.saturating_sub(state.lives()));
        span.into_iter().for_each(|(span, is_found)| self.ended.note(span, is_found, &state.holds));
        let steps = state.take_steps();
        self.follow_steps(now, path, steps);
    }

    /// Takes in what the sessions at a lock began and ended, and charges the waits that are over.
    fn take_steps(&mut self, now: TimeMs, path: &Arc<str>) {
        let steps = self.locks.get_mut(path).map(LockState::take_steps).unwrap_or_default();
        self.follow_steps(now, path, steps);
    }

    fn follow_steps(&mut self, now: TimeMs, path: &Arc<str>, steps: Vec<Step>) {
        for step in steps {
            if let Step::Charge { node } = &step {
                self.charge(now, path, node);
            }
            self.sessions.take(path, step, now);
        }
    }

    fn charge(&mut self, now: TimeMs, path: &Arc<str>, node: &str) {
        let Some(state) = self.locks.get(path) else { return };
        let Some(wait) = state.wait_of(node, now) else { return };
        let charges = charges::charges_of(&self.locks, &self.sessions, state.log(), wait, &mut self.allowance);
        if let Some(state) = self.locks.get_mut(path) {
            state.set_charges(node, charges);
        }
    }

    fn whole(
        &mut self,
        now: TimeMs,
        path: &Arc<str>,
        kind: LockKind,
        verdict: Verdict,
        contenders: &[(Contender, Option<HeldSince>)],
        is_found: bool,
    ) {
        let state = self.lock(path, kind, verdict, now);
        state.verdict(verdict);
        for node in state.missing_in(contenders) {
            self.left(now, path, &node, Departure::DuringGap, None);
        }
        for (contender, _) in contenders {
            self.came(now, path, kind, contender, is_found);
        }
        // Leases come first, and those who wait for one have to be there when it is held.
        for (contender, since) in contenders {
            if let (Some(since), Some(state)) = (since, self.locks.get_mut(path)) {
                state.held(&contender.node, *since, now);
            }
        }
        self.take_steps(now, path);
    }

    /// A lock is shown no longer. What happened in its minute stays; who was in it is followed where they are next.
    fn vanished(&mut self, path: &Arc<str>) {
        let Some(mut state) = self.locks.remove(path) else { return };
        self.lives = self.lives.saturating_sub(state.lives());
        let Some(now) = self.now else { return };
        if is_trouble(state.verdict) {
            self.fact(now, vanished(path));
        }
        for code in self.harmful.remove(path).unwrap_or_default() {
            let cleared = Event::Finding { lock: Arc::clone(path), code, raised: None };
            facts_of(&cleared, None).into_iter().for_each(|said| self.fact(now, said));
        }
        state.end_steps().for_each(|step| self.sessions.take(path, step, now));
        self.rows.minutes.extend(state.end_minute(path, minute_of(now), now, 0));
        // It may come back within the minute.
        if let Some(minute) =
            self.rows.minutes.last().filter(|minute| *minute.lock == **path && minute.at == minute_of(now))
        {
            self.resumed.insert(path.as_ref().into(), minute.clone());
        }
    }
}
