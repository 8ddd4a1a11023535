//! Spans, minutes and facts against a plain account of what happened.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_history::derive::{
    Deriver, Event, SPANS_A_MINUTE_MAX, Tap, WORTH_A_MINUTE_MAX, apply, histogram_of, top_of,
};
use lockscope_history::store::rows::{FactKind, Minute, Rows, Span, SpanEnd};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::historian::START;
use crate::replay::model;

const ROOT: RootId = RootId(0);

/// A model, and what is derived of it.
struct Run {
    model: Observatory,
    tap: Tap,
    deriver: Deriver,
    now: TimeMs,
    rows: Rows,
    /// What it was told.
    told: Vec<(TimeMs, Observation)>,
}

impl Run {
    fn new() -> Self {
        let mut run = Self::over(model(TimeMs(START)), TimeMs(START));
        run.tell(Observation::SyncBegan { root: ROOT, why: "first sync".into() });
        run.tell(Observation::SyncEnded { root: ROOT });
        run.tell(Observation::Link { link: Link::Live, session: None, why: "".into() });
        run
    }

    fn over(model: Observatory, now: TimeMs) -> Self {
        let (mut tap, mut deriver, mut events) = (Tap::default(), Deriver::default(), Vec::new());
        Tap::default().all(&model, now, &mut events);
        deriver.begin(now, std::mem::take(&mut events));
        tap.all(&model, now, &mut events);
        Self { model, tap, deriver, now, rows: Rows::default(), told: Vec::new() }
    }

    fn tell(&mut self, observation: Observation) {
        let mut events: Vec<(TimeMs, Event)> = Vec::new();
        self.told.push((self.now, observation.clone()));
        apply(&mut self.tap, &mut self.model, self.now, observation, &mut events);
        events.into_iter().for_each(|(at, event)| self.deriver.take(at, event));
        self.deriver.advance(self.now);
        self.collect(false);
    }

    fn pass(&mut self, ms: i64) {
        self.now = self.now + ms;
        self.tell(Observation::Tick);
    }

    /// Both clocks are the same. That has to be known, and is believed for five minutes: later a contender that is read
    /// late would tell of another offset.
    fn read_clock(&mut self) {
        self.tell(Observation::ClockRead { sent_at: self.now, told_at: self.now, ctime_ms: self.now.0 });
    }

    fn collect(&mut self, is_last: bool) {
        let Rows { spans, minutes, facts } = if is_last { self.deriver.finish() } else { self.deriver.complete() };
        self.rows.spans.extend(spans);
        self.rows.minutes.extend(minutes);
        self.rows.facts.extend(facts);
    }

    fn created(&mut self, lock: &str, number: i64) {
        self.tell(Observation::NodeCreated { root: ROOT, path: path(lock, number) });
    }

    fn read(&mut self, lock: &str, number: i64, session: i64, ctime_ms: i64) {
        let (path, facts) = (path(lock, number), Box::new(facts(number + 1, session, ctime_ms)));
        self.tell(Observation::NodeRead { root: ROOT, path, facts, unreadable: false });
    }

    fn deleted(&mut self, lock: &str, number: i64) {
        self.tell(Observation::NodeDeleted { root: ROOT, path: path(lock, number) });
    }

    /// Has a contender leave in a minute in which more left than are all kept.
    fn end_in_a_busy_minute(&mut self, lock: &str, number: i64) {
        for other in 1..=2 * i64::from(SPANS_A_MINUTE_MAX) {
            self.created("b", other);
            self.read("b", other, 8, START);
            self.deleted("b", other);
        }
        self.deleted(lock, number);
        self.pass(2_000);
        self.collect(true);
    }
}

fn facts(zxid: i64, session: i64, ctime_ms: i64) -> Facts {
    let (zxid, owner) = (Zxid(zxid), (session != 0).then_some(SessionId(session)));
    let (version, cversion, children, payload, payload_bytes) = (0, 0, 0, Some((*b"me").into()), 2);
    let (czxid, mzxid, pzxid) = (zxid, zxid, zxid);
    Facts { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, owner, payload, payload_bytes }
}

fn path(lock: &str, number: i64) -> Box<str> {
    format!("/locks/{lock}/lock-{number:010}").into()
}

/// What happens next at one of two locks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Come { lock: usize, lag: i64, is_read: bool },
    Read,
    Leave(usize),
    Pass(i64),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..2_usize, 0..40_i64, proptest::bool::weighted(0.8))
            .prop_map(|(lock, lag, is_read)| Step::Come { lock, lag, is_read }),
        2 => Just(Step::Read),
        4 => (0..8_usize).prop_map(Step::Leave),
        4 => prop_oneof![0..300_i64, 0..90_000_i64].prop_map(Step::Pass),
    ];
    vec(step, 1..80)
}

/// A contender by the plain account: it holds once nobody with a smaller number is there.
#[derive(Clone, Debug)]
struct Plain {
    lock: usize,
    number: i64,
    created_at: i64,
    arrived_at: i64,
    is_read: bool,
    held_at: Option<i64>,
    left_at: Option<i64>,
}

impl Plain {
    fn joined_at(&self) -> i64 {
        if self.is_read { self.created_at } else { self.arrived_at }
    }
    fn wait_ms(&self, until: i64) -> i64 {
        self.held_at.or(self.left_at).unwrap_or(until) - self.joined_at()
    }
}

const LOCKS: [&str; 2] = ["a", "b"];

/// Follows the steps with a model and with the plain account.
fn follow(steps: &[Step]) -> (Run, Vec<Plain>) {
    let (mut run, mut all) = (Run::new(), Vec::<Plain>::new());
    run.pass(1_000);
    run.read_clock();
    // What nobody ever read a contender of is no lock.
    let known = (0..LOCKS.len()).map(|lock| Step::Come { lock, lag: 0, is_read: true }).collect::<Vec<_>>();
    for step in known.iter().chain(steps) {
        let now = run.now.0;
        match *step {
            Step::Come { lock, lag, is_read } => {
                let number = all.len() as i64;
                let created_at = now - lag;
                run.created(LOCKS[lock], number);
                all.push(Plain { lock, number, created_at, arrived_at: now, is_read, held_at: None, left_at: None });
                if is_read {
                    run.read(LOCKS[lock], number, number + 1, created_at);
                }
            }
            Step::Read => {
                if let Some(one) = all.iter_mut().find(|one| !one.is_read && one.left_at.is_none()) {
                    one.is_read = true;
                    run.read(LOCKS[one.lock], one.number, one.number + 1, one.created_at);
                }
            }
            Step::Leave(at) => {
                let mut there: Vec<&mut Plain> = all.iter_mut().filter(|one| one.left_at.is_none()).collect();
                let count = there.len();
                if let Some(one) = there.get_mut(at % count.max(1)) {
                    one.left_at = Some(now);
                    run.deleted(LOCKS[one.lock], one.number);
                }
            }
            Step::Pass(ms) => {
                run.pass(ms);
                run.read_clock();
            }
        }
        for lock in 0..LOCKS.len() {
            let first =
                all.iter_mut().filter(|one| one.lock == lock && one.left_at.is_none()).min_by_key(|one| one.number);
            first.into_iter().for_each(|one| _ = one.held_at.get_or_insert(now));
        }
    }
    (run, all)
}

/// The steps as a model is told of them.
pub(crate) fn observed(steps: &[Step]) -> Vec<(TimeMs, Observation)> {
    follow(steps).0.told
}

/// Who left before all events were known is told after a moment.
fn end(mut run: Run) -> (Run, i64) {
    let end = run.now.0;
    run.collect(true);
    (run, end)
}

/// The last row of each minute.
fn minutes(rows: &Rows) -> Vec<&Minute> {
    let last: BTreeMap<_, _> = rows.minutes.iter().map(|minute| ((&minute.lock, minute.at), minute)).collect();
    last.into_values().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spans_and_minutes_agree_with_a_plain_account(steps in steps()) {
        let (run, all) = follow(&steps);
        let (run, now) = end(run);
        let spans: BTreeMap<i64, &Span> = run.rows.spans.iter().map(|span| (span.czxid.0 - 1, span)).collect();
        prop_assert_eq!(spans.len(), run.rows.spans.len(), "each once");
        let ended: Vec<&Plain> = all.iter().filter(|one| one.left_at.is_some() && one.is_read).collect();
        prop_assert_eq!(spans.len(), ended.len());
        for one in ended {
            let span = spans[&one.number];
            let left_at = one.left_at.unwrap();
            let how = if one.held_at.is_some() { SpanEnd::Released } else { SpanEnd::GaveUp };
            prop_assert_eq!(&*span.lock, format!("/locks/{}", LOCKS[one.lock]));
            prop_assert_eq!((span.how, span.is_lower_bound), (how, false));
            prop_assert_eq!(span.held_at.map(|at| at.0), one.held_at);
            prop_assert_eq!((span.joined_at.0, span.left_at.0), (one.created_at, left_at));
            prop_assert_eq!((span.wait_ms, span.label.as_deref()), (one.wait_ms(now), Some("me")));
        }
        let minutes = minutes(&run.rows);
        let sum = |of: fn(&Minute) -> i64| minutes.iter().map(|minute| of(minute)).sum::<i64>();
        prop_assert_eq!(sum(|minute| minute.waiting_ms), all.iter().map(|one| one.wait_ms(now)).sum::<i64>());
        prop_assert_eq!(sum(|minute| i64::from(minute.arrivals)), all.len() as i64);
        let held = all.iter().filter(|one| one.held_at.is_some()).count() as i64;
        prop_assert_eq!(sum(|minute| i64::from(minute.acquired)), held);
        let gave_up = all.iter().filter(|one| one.held_at.is_none() && one.left_at.is_some()).count() as i64;
        prop_assert_eq!(sum(|minute| i64::from(minute.gave_up)), gave_up);
        let holds = all.iter().filter(|one| one.held_at.is_some() && one.left_at.is_some()).count() as i64;
        prop_assert_eq!(sum(|minute| histogram_of(&minute.holds).count() as i64), holds);
    }

    #[test]
    fn nothing_is_double_over_a_restart(before in steps(), after in vec(0..8_usize, 0..20), away in 0..200_000_i64) {
        let (run, all) = follow(&before);
        let (mut run, _) = end(run);
        let first = std::mem::take(&mut run.rows);
        // Another process: it knows the model, and the rows of the minute that was under way.
        let now = run.now + away;
        let minute = TimeMs(now.0 - now.0.rem_euclid(60_000));
        let under_way: Vec<Minute> = first.minutes.iter().filter(|one| one.at == minute).cloned().collect();
        let mut next = Run::over(run.model, now);
        next.deriver = Deriver::default();
        next.deriver.resume(under_way, first.facts.last().map_or(0, |fact| fact.number));
        let mut events = Vec::new();
        next.tap.all(&next.model, now, &mut events);
        next.deriver.begin(now, events);
        let mut left: Vec<&Plain> = all.iter().filter(|one| one.left_at.is_none()).collect();
        for at in after {
            if left.is_empty() {
                break;
            }
            let one = left.remove(at % left.len());
            next.deleted(LOCKS[one.lock], one.number);
            next.pass(100);
        }
        let (next, _) = end(next);
        let spans: Vec<Zxid> = first.spans.iter().chain(&next.rows.spans).map(|span| span.czxid).collect();
        prop_assert_eq!(spans.iter().collect::<BTreeSet<_>>().len(), spans.len());
        // Whoever held before holds since then.
        for span in &next.rows.spans {
            let one = all.iter().find(|one| one.number == span.czxid.0 - 1).unwrap();
            if let Some(held_at) = one.held_at {
                prop_assert_eq!(span.held_at, Some(TimeMs(held_at)));
            }
        }
        let written: BTreeMap<_, _> = first.minutes.iter().chain(&next.rows.minutes).map(|minute| ((&minute.lock, minute.at), minute)).collect();
        prop_assert_eq!(written.values().map(|minute| minute.arrivals).sum::<u32>(), all.len() as u32);
        // One session holds one of these locks once at a time.
        for minute in written.values() {
            let most = next.now.since(minute.at).min(60_000);
            prop_assert!(top_of(&minute.top).iter().all(|(_, ms)| *ms <= most), "{most} ms of {minute:#?}");
        }
        let facts = first.facts.iter().chain(&next.rows.facts).map(|fact| fact.number);
        prop_assert!(facts.is_sorted());
    }
}

#[test]
fn a_session_that_ends_takes_its_locks_with_it() {
    let mut run = Run::new();
    for lock in LOCKS {
        run.created(lock, 1);
        run.read(lock, 1, 7, START);
    }
    run.pass(10_000);
    LOCKS.iter().for_each(|lock| run.deleted(lock, 1));
    run.pass(300);
    assert!(run.rows.spans.is_empty(), "more may become known");
    run.pass(2_000);
    let ends: Vec<SpanEnd> = run.rows.spans.iter().map(|span| span.how).collect();
    assert_eq!(ends, [SpanEnd::SessionEnded; 2]);
}

#[test]
fn what_was_there_before_anybody_looked_is_a_lower_bound() {
    let mut run = Run::new();
    run.created("a", 1);
    run.read("a", 1, 7, START);
    run.tell(Observation::SyncBegan { root: ROOT, why: "reconnected".into() });
    run.pass(1_000);
    run.tell(Observation::SyncEnded { root: ROOT });
    run.pass(2_000);
    let [span] = &*run.rows.spans else { panic!("{:?}", run.rows.spans) };
    assert_eq!((span.how, span.left_at), (SpanEnd::Unknown, TimeMs(START + 1_000)));
}

#[test]
fn a_release_of_our_own_is_told_apart_whenever_it_is_known() {
    for is_late in [false, true] {
        let mut run = Run::new();
        run.created("a", 1);
        run.read("a", 1, 7, START);
        run.pass(5_000);
        run.deleted("a", 1);
        if is_late {
            run.pass(3_000);
        }
        run.deriver.forced(Zxid(2));
        run.pass(3_000);
        let last = run.rows.spans.last().unwrap();
        assert_eq!((last.how, run.rows.spans.len()), (SpanEnd::Forced, 1 + usize::from(is_late)));
        let told: Vec<_> = run.rows.facts.iter().filter(|fact| fact.kind == FactKind::Release).collect();
        let [told] = &told[..] else { panic!("{told:?}") };
        assert_eq!((told.at, told.lock.as_ref()), (last.left_at, Some(&last.lock)));
    }
}

#[test]
fn who_came_while_nobody_watched_is_kept_in_a_busy_minute() {
    let mut run = Run::new();
    run.created("a", 0);
    run.read("a", 0, 7, START);
    // As behind a gap: it holds already, and nobody saw it wait.
    let mut run = Run::over(run.model, run.now);
    run.end_in_a_busy_minute("a", 0);
    let of = |lock: &str| run.rows.spans.iter().filter(|span| *span.lock == *format!("/locks/{lock}")).count();
    assert_eq!((of("a"), of("b")), (1, SPANS_A_MINUTE_MAX as usize));
}

#[test]
fn who_came_in_a_gap_is_kept_by_another_process_that_goes_on_with_the_recording() {
    let mut run = Run::new();
    run.tell(Observation::SyncBegan { root: ROOT, why: "events lost".into() });
    for (path, zxid, session) in [("/locks", 1, 0), ("/locks/a", 2, 0), (&*path("a", 0), 3, 7)] {
        let facts = Box::new(facts(zxid, session, START));
        run.tell(Observation::SyncNode { root: ROOT, path: path.into(), facts, unreadable: false });
    }
    run.tell(Observation::SyncEnded { root: ROOT });
    let mut events = Vec::new();
    run.tap.recall(&run.model, run.now, &mut events);
    run.deriver = Deriver::default();
    run.deriver.recall(run.now, events);
    run.end_in_a_busy_minute("a", 0);
    let of_a: Vec<&Span> = run.rows.spans.iter().filter(|span| &*span.lock == "/locks/a").collect();
    let [span] = of_a[..] else { panic!("{of_a:?}") };
    assert!(span.is_lower_bound, "{span:?}");
}

#[test]
fn who_gives_up_all_the_time_fills_no_disk() {
    let (mut run, gave_up) = (Run::new(), i64::from(WORTH_A_MINUTE_MAX) + 500);
    run.created("a", 0);
    run.read("a", 0, 7, START);
    for number in 1..=gave_up {
        run.created("a", number);
        run.read("a", number, 8, START);
        run.deleted("a", number);
    }
    // Whatever else there is, what Lockscope itself ended is kept.
    run.deleted("a", 0);
    run.deriver.forced(Zxid(1));
    run.pass(2_000);
    run.collect(true);
    let ends = |how| run.rows.spans.iter().filter(|span| span.how == how).count();
    assert_eq!((ends(SpanEnd::GaveUp), ends(SpanEnd::Forced)), (WORTH_A_MINUTE_MAX as usize, 1));
    let counted: u32 = run.rows.minutes.iter().map(|minute| minute.gave_up).max().unwrap();
    assert_eq!(i64::from(counted), gave_up, "the minute has all of them");
}

#[test]
fn trouble_is_a_fact_and_daily_life_is_none() {
    let mut run = Run::new();
    run.tell(Observation::Synced { sent_at: run.now });
    for number in 0..20 {
        run.created("a", number);
        run.read("a", number, number + 1, run.now.0);
        run.pass(50);
        run.deleted("a", number);
        run.pass(50);
    }
    let of_locks = |run: &Run| run.rows.facts.iter().filter(|fact| fact.kind == FactKind::Verdict).count();
    assert_eq!(of_locks(&run), 0, "{:?}", run.rows.facts);
    assert!(run.rows.facts.iter().any(|fact| fact.kind == FactKind::Link && &*fact.code == "live"));
    run.created("a", 20);
    run.read("a", 20, 20, run.now.0);
    run.created("a", 21);
    run.read("a", 21, 21, run.now.0);
    for _ in 0..400 {
        run.pass(1_000);
    }
    assert!(of_locks(&run) > 0, "somebody waits for minutes");
    let worst = run.rows.minutes.iter().filter(|minute| &*minute.worst != "healthy").count();
    assert!(worst > 0);
    let [first, ..] = &*run.rows.minutes else { panic!("no minutes") };
    assert_eq!((first.arrivals, first.acquired), (first.arrivals, first.arrivals - 1));
}
