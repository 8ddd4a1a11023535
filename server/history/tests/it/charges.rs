//! To whom waits are charged, against a plain account by the definition: at each instant to who holds, or to who that one
//! waits for in the end.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::change::Departure;
use lockscope_core::diagnosis::Verdict;
use lockscope_core::recipe::Recipe;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_history::blame::{Blame, Ledger};
use lockscope_history::derive::{Contender, ContenderPlace, Deriver, Event, Following, HeldSince, Identity, LockKind};
use lockscope_history::store::rows::{Charge, Charged, Charges, Span};
use lockscope_view::past::BlameBy;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::historian::START;

const LOCKS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A session comes to a lock; its znode was made a little earlier, and is read at once or later.
    Come {
        lock: usize,
        session: i64,
        lag: i64,
        is_read: bool,
    },
    Read,
    Leave(usize),
    Pass(i64),
    /// Nobody looked for a while.
    Gap(i64),
}

fn steps(is_plain: bool) -> impl Strategy<Value = Vec<Step>> {
    // What a holder waited for is known for ten minutes; that it began to wait, only once it is seen.
    let latest_ms = if is_plain { 1_i64 } else { 40 };
    let longest_ms = if is_plain { 9_000_i64 } else { 90_000 };
    let step = prop_oneof![
        5 => (0..LOCKS, 1..6_i64, 0..latest_ms, 0..10_u32)
            .prop_map(move |(lock, session, lag, dice)| Step::Come { lock, session, lag, is_read: is_plain || dice < 7 }),
        2 => Just(Step::Read),
        5 => (0..12_usize).prop_map(Step::Leave),
        5 => prop_oneof![0..300_i64, 0..longest_ms].prop_map(Step::Pass),
        u32::from(!is_plain) => (1..5_000_i64).prop_map(Step::Gap),
    ];
    vec(step, 1..120)
}

/// A contender by the plain account.
#[derive(Clone, Debug)]
struct Plain {
    lock: usize,
    session: i64,
    number: i64,
    created_at: i64,
    is_read: bool,
    held_at: Option<i64>,
    left_at: Option<i64>,
}

impl Plain {
    fn holds(&self, at: i64) -> bool {
        self.held_at.is_some_and(|held| held <= at) && self.left_at.is_none_or(|left| left > at)
    }
    fn waits(&self, at: i64) -> bool {
        let until = self.held_at.or(self.left_at);
        self.created_at <= at && until.is_none_or(|until| until > at)
    }
}

struct Run {
    deriver: Deriver,
    now: i64,
    all: Vec<Plain>,
    /// How many hold a lock at once.
    capacity: usize,
    recipe: Recipe,
}

impl Run {
    fn new(capacity: usize, recipe: Recipe) -> Self {
        let mut deriver = Deriver::default();
        deriver.begin(TimeMs(START), Vec::new());
        let mut run = Self { deriver, now: START, all: Vec::new(), capacity, recipe };
        run.take(Event::Offset(0));
        for lock in 0..LOCKS {
            run.take(Event::Whole {
                lock: path(lock),
                kind: run.kind(),
                verdict: Verdict::Free,
                contenders: Vec::new(),
                is_found: false,
                findings: Vec::new(),
            });
        }
        run.now += 1_000;
        run
    }

    fn kind(&self) -> LockKind {
        LockKind { recipe: self.recipe, following: Following::Queue { counts_as_waiting: true } }
    }

    fn take(&mut self, event: Event) {
        self.deriver.take(TimeMs(self.now), event);
    }

    fn contender(&self, at: usize) -> Contender {
        let Plain { number, session, created_at, is_read, .. } = self.all[at];
        let (czxid, session) = (Zxid(number + 1), Some(SessionId(session)));
        let identity = is_read.then(|| Identity { czxid, session, ctime_ms: created_at, payload: [].into() });
        Contender { node: node(number), place: ContenderPlace::Line, arrived_at: TimeMs(self.now), identity }
    }

    fn tell(&mut self, at: usize) {
        let (lock, contender, kind) = (path(self.all[at].lock), self.contender(at), self.kind());
        self.take(Event::Came { lock, kind, contender, is_found: false });
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Come { lock, session, lag, is_read } => {
                let (number, created_at) = (self.all.len() as i64, self.now - lag);
                self.all.push(Plain { lock, session, number, created_at, is_read, held_at: None, left_at: None });
                self.tell(self.all.len() - 1);
            }
            Step::Read => {
                let unread = self.all.iter().position(|one| !one.is_read && one.left_at.is_none());
                if let Some(at) = unread {
                    self.all[at].is_read = true;
                    self.tell(at);
                }
            }
            Step::Leave(at) => {
                let there: Vec<usize> = (0..self.all.len()).filter(|at| self.all[*at].left_at.is_none()).collect();
                if let Some(at) = there.get(at % there.len().max(1)) {
                    self.all[*at].left_at = Some(self.now);
                    let (lock, node) = (path(self.all[*at].lock), node(self.all[*at].number));
                    self.take(Event::Left { lock, node, how: Departure::Deleted, host: None });
                }
            }
            Step::Pass(ms) => self.now += ms,
            Step::Gap(ms) => {
                self.now += ms;
                let whole = |lock: usize| {
                    let there =
                        (0..self.all.len()).filter(|at| self.all[*at].lock == lock && self.all[*at].left_at.is_none());
                    let since = |at: usize| {
                        let at = self.all[at].held_at?;
                        Some(HeldSince { at: TimeMs(at), is_lower_bound: false })
                    };
                    let contenders = there.map(|at| (self.contender(at), since(at))).collect();
                    let (lock, kind, verdict) = (path(lock), self.kind(), Verdict::Healthy);
                    let findings = Vec::new();
                    (TimeMs(self.now), Event::Whole { lock, kind, verdict, contenders, is_found: true, findings })
                };
                let events = (0..LOCKS).map(whole).collect();
                self.deriver.begin(TimeMs(self.now), events);
            }
        }
        for lock in 0..LOCKS {
            let there = (0..self.all.len()).filter(|at| self.all[*at].lock == lock && self.all[*at].left_at.is_none());
            let first: Vec<usize> = there.take(self.capacity).filter(|at| self.all[*at].held_at.is_none()).collect();
            for at in first {
                self.all[at].held_at = Some(self.now);
                let since = HeldSince { at: TimeMs(self.now), is_lower_bound: false };
                self.take(Event::Held { lock: path(lock), node: node(self.all[at].number), since });
            }
        }
    }

    fn spans(&mut self) -> BTreeMap<i64, Span> {
        self.deriver.finish().spans.into_iter().map(|span| (span.czxid.0 - 1, span)).collect()
    }

    /// By the definition: the shares of a waiter's time, directly and at the root, and the time when nobody held.
    fn account(&self, of: &Plain) -> (BTreeMap<i64, f64>, BTreeMap<i64, f64>, i64) {
        let end = of.held_at.or(of.left_at).unwrap();
        let instants = |one: &Plain| [Some(one.created_at), one.held_at, one.left_at].into_iter().flatten();
        let mut cuts: BTreeSet<i64> = self.all.iter().flat_map(instants).collect();
        cuts.extend([of.created_at, end]);
        let cuts: Vec<i64> = cuts.range(of.created_at..=end).copied().collect();
        let (mut direct, mut root, mut free) = (BTreeMap::new(), BTreeMap::new(), 0);
        for pair in cuts.windows(2) {
            let (at, ms) = (pair[0], pair[1] - pair[0]);
            let holders = self.holders(of.lock, at);
            if holders.is_empty() {
                free += ms;
            }
            for holder in &holders {
                let share = ms as f64 / holders.len() as f64;
                *direct.entry(*holder).or_insert(0.0) += share;
                self.pass(*holder, at, share, &mut Vec::new(), &mut root);
            }
        }
        (direct, root, free)
    }

    fn holders(&self, lock: usize, at: i64) -> Vec<i64> {
        self.all.iter().filter(|one| one.lock == lock && one.holds(at)).map(|one| one.session).collect()
    }

    fn pass(&self, session: i64, at: i64, share: f64, over: &mut Vec<i64>, out: &mut BTreeMap<i64, f64>) {
        over.push(session);
        let waits = self.all.iter().filter(|one| one.session == session && one.waits(at)).map(|one| one.lock);
        let locks: BTreeSet<usize> = waits.collect();
        if locks.is_empty() {
            *out.entry(session).or_insert(0.0) += share;
        }
        for lock in &locks {
            let (share, holders) = (share / locks.len() as f64, self.holders(*lock, at));
            if holders.is_empty() {
                *out.entry(session).or_insert(0.0) += share;
            }
            for holder in &holders {
                let share = share / holders.len() as f64;
                if over.contains(holder) {
                    *out.entry(over[0]).or_insert(0.0) += share;
                } else {
                    self.pass(*holder, at, share, over, out);
                }
            }
        }
        over.pop();
    }
}

fn path(lock: usize) -> std::sync::Arc<str> {
    format!("/locks/{lock}").into()
}

fn node(number: i64) -> Box<str> {
    format!("lock-{number:010}").into()
}

fn agree(charged: &Charged, account: &BTreeMap<i64, f64>) -> Result<(), TestCaseError> {
    let of: BTreeMap<i64, i64> = charged.to.iter().map(|charge| (charge.session.0, charge.ms)).collect();
    for session in of.keys().chain(account.keys()) {
        let (ms, exact) = (of.get(session).copied().unwrap_or(0), account.get(session).copied().unwrap_or(0.0));
        prop_assert!((ms as f64 - exact).abs() < 1.01, "{session}: {ms} is {exact}; {charged:?} is {account:?}");
    }
    prop_assert_eq!(charged.others_ms, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_instant_of_a_wait_is_charged_to_who_held(steps in steps(true), capacity in 1..4_usize) {
        let mut run = Run::new(capacity, Recipe::SequentialMutex);
        steps.into_iter().for_each(|step| run.step(step));
        let spans = run.spans();
        prop_assert_eq!(spans.len(), run.all.iter().filter(|one| one.left_at.is_some()).count());
        for one in run.all.iter().filter(|one| one.left_at.is_some()) {
            let charges = spans[&one.number].charges.clone().unwrap();
            let (direct, root, free) = run.account(one);
            prop_assert_eq!((charges.hand_off_ms, charges.unknown_ms), (free, 0));
            agree(&charges.direct, &direct)?;
            agree(&charges.root, &root)?;
        }
    }

    #[test]
    fn charges_make_the_wait_to_the_millisecond(steps in steps(false), capacity in 1..4_usize) {
        let mut run = Run::new(capacity, Recipe::Semaphore);
        steps.into_iter().for_each(|step| run.step(step));
        let spans = run.spans();
        for span in spans.values() {
            let Charges { direct, root, hand_off_ms, unknown_ms } = span.charges.clone().unwrap();
            prop_assert_eq!(direct.sum_ms() + hand_off_ms + unknown_ms, span.wait_ms, "{:?}", span);
            prop_assert_eq!(root.sum_ms() + hand_off_ms + unknown_ms, span.wait_ms, "{:?}", span);
            let all = direct.to.iter().chain(&root.to).map(|charge| charge.ms);
            prop_assert!(all.chain([direct.others_ms, root.others_ms, hand_off_ms, unknown_ms]).all(|ms| ms >= 0));
        }
        for by in BlameBy::ALL {
            let mut ledger = Ledger::new(by);
            spans.values().for_each(|span| ledger.take(span));
            let Blame { rows, waits_ms, hand_off_ms, unknown_ms, others_ms, .. } = ledger.finish();
            prop_assert_eq!(waits_ms, spans.values().map(|span| span.wait_ms).sum::<i64>());
            let rest_ms = hand_off_ms + unknown_ms;
            prop_assert_eq!(rows.iter().map(|row| row.direct_ms).sum::<i64>() + others_ms.0 + rest_ms, waits_ms, "{:?}", by);
            prop_assert_eq!(rows.iter().map(|row| row.root_ms).sum::<i64>() + others_ms.1 + rest_ms, waits_ms, "{:?}", by);
        }
    }
}

fn come(lock: usize, session: i64) -> Step {
    Step::Come { lock, session, lag: 0, is_read: true }
}

fn charge(session: i64, ms: i64) -> Charge {
    Charge { session: SessionId(session), ms }
}

#[test]
fn a_ledger_names_who_was_waited_for_and_when_it_was_worst() {
    let mut run = Run::new(1, Recipe::SequentialMutex);
    let steps = [come(0, 1), come(0, 2), come(0, 3), Step::Pass(10), Step::Leave(0), Step::Pass(4), Step::Leave(1)];
    steps.into_iter().for_each(|step| run.step(step));
    run.step(Step::Leave(2));
    let spans = run.spans();
    let of = |by: BlameBy| {
        let mut ledger = Ledger::new(by);
        spans.values().for_each(|span| ledger.take(span));
        ledger.finish()
    };
    let by_session = of(BlameBy::Session);
    assert_eq!((by_session.waits_ms, by_session.hand_off_ms), (24, 0));
    let rows: Vec<_> = by_session
        .rows
        .iter()
        .map(|row| (row.key.as_str(), row.direct_ms, row.root_ms, row.victims, row.holds))
        .collect();
    assert_eq!(rows, [("0x1", 20, 20, 2, 1), ("0x2", 4, 4, 1, 1)]);
    assert_eq!(by_session.rows[0].worst.ms, 10);
    let mut whole = Ledger::new(BlameBy::Ensemble).of("prod");
    spans.values().for_each(|span| whole.take(span));
    let rows = whole.finish().rows;
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.key.as_str(), row.direct_ms, row.root_ms, row.victims, row.holds), ("prod", 24, 24, 2, 2));
    let by_lock = of(BlameBy::Lock);
    assert_eq!(by_lock.rows.len(), 1);
    assert_eq!(by_lock.rows[0].holds, row.holds, "whoever was last left at the instant that it would have held");
    assert_eq!((by_lock.rows[0].key.as_str(), by_lock.rows[0].direct_ms, by_lock.rows[0].victims), ("/locks/0", 24, 2));
}

#[test]
fn without_roots_nobody_is_named_who_holds_elsewhere() {
    let mut run = Run::new(1, Recipe::SequentialMutex);
    // 1 holds the second lock, for which 2 waits, who holds the first one, for which 3 waits.
    let steps = [come(1, 1), come(0, 2), come(1, 2), come(0, 3), Step::Pass(10), Step::Leave(1), Step::Leave(2)];
    steps.into_iter().for_each(|step| run.step(step));
    let spans = run.spans();
    let keys = |ledger: Ledger| {
        let mut ledger = ledger;
        spans.values().filter(|span| *span.lock == *path(0)).for_each(|span| ledger.take(span));
        ledger.finish().rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(Ledger::new(BlameBy::Session)), ["0x1", "0x2"]);
    assert_eq!(keys(Ledger::new(BlameBy::Session).without_roots()), ["0x2"]);
}

#[test]
fn several_that_hold_at_once_share_evenly() {
    let mut run = Run::new(3, Recipe::ReadWrite);
    let wait = [come(0, 1), come(0, 2), come(0, 3), come(0, 4), Step::Pass(10), Step::Leave(0)];
    wait.into_iter().for_each(|step| run.step(step));
    run.step(Step::Leave(2));
    let span = &run.spans()[&3];
    let charges = span.charges.clone().unwrap();
    assert_eq!(charges.direct.to, [charge(1, 4), charge(2, 3), charge(3, 3)]);
    assert_eq!((charges.direct.sum_ms(), span.wait_ms), (10, 10));
}

#[test]
fn a_charge_is_passed_on_to_who_waits_for_nobody() {
    let mut run = Run::new(1, Recipe::SequentialMutex);
    // 1 holds a; 2 holds b and waits for a from 10 ms to 40 ms; 3 waits for b for 50 ms.
    let steps = [come(0, 1), come(1, 2), come(1, 3), Step::Pass(10), come(0, 2), Step::Pass(30), Step::Leave(0)];
    steps.into_iter().for_each(|step| run.step(step));
    run.step(Step::Pass(10));
    // 2 leaves b: 3 has it.
    run.step(Step::Leave(0));
    run.step(Step::Leave(0));
    let charges = run.spans()[&2].charges.clone().unwrap();
    assert_eq!(charges.direct.to, [charge(2, 50)]);
    assert_eq!(charges.root.to, [charge(1, 30), charge(2, 20)]);
}

#[test]
fn beyond_what_is_kept_charges_are_one_number() {
    let mut run = Run::new(1, Recipe::SequentialMutex);
    run.step(come(0, 1_000));
    (0..700).for_each(|session| run.step(come(0, session + 1)));
    // The last one waits for 700 others, 5 ms each.
    for _ in 0..701 {
        run.step(Step::Pass(5));
        run.step(Step::Leave(0));
    }
    let span = &run.spans()[&700];
    let charges = span.charges.clone().unwrap();
    assert_eq!((charges.direct.to.len(), charges.direct.sum_ms(), charges.unknown_ms), (8, 3_500, 0));
    assert_eq!((span.wait_ms, charges.hand_off_ms, charges.root.sum_ms()), (3_500, 0, 3_500));
}
