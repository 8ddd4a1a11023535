//! Time to lock: how often what would have been told of made-up waits was right, and what is told where little is known.

use lockscope_core::time::TimeMs;
use lockscope_core::time_to_lock::{Admission, HolderAge, Line};
use lockscope_core::znode::Zxid;
use lockscope_history::store::Store as _;
use lockscope_history::store::rows::{Rows, Span, SpanEnd};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::time_to_lock::{
    Calibration, HOLDS_RECENT_MAX, LineKind, LineLife, RANGE_MS, WAITS_JUDGED_MAX, learn, read,
};

use crate::historian::START;

/// Numbers from a seed (PCG's multiplier).
struct Random(u64);

impl Random {
    /// Between 0 and 1, neither included.
    fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1_u64 << 31) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.part().ln()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.part().ln()).sqrt() * (std::f64::consts::TAU * self.part()).cos()
    }
}

/// A load: what comes when, how long it holds, how long it is patient, and whether it only reads.
struct Load {
    name: &'static str,
    kind: LineKind,
    leases: usize,
    gap_ms: fn(&mut Random, f64) -> f64,
    hold_ms: fn(&mut Random, f64) -> f64,
    patience_ms: fn(&mut Random) -> f64,
    reads: fn(&mut Random) -> bool,
}

const FOREVER: fn(&mut Random) -> f64 = |_| f64::INFINITY;
const NEVER: fn(&mut Random) -> bool = |_| false;

/// The second argument is how far the load has come, from 0 to 1.
const LOADS: [Load; 9] = [
    Load {
        name: "steady, exponential holds",
        kind: LineKind::Mutex,
        leases: 1,
        gap_ms: |random, _| random.exponential(1_250.0),
        hold_ms: |random, _| random.exponential(1_000.0),
        patience_ms: FOREVER,
        reads: NEVER,
    },
    Load {
        name: "heavy-tailed (log-normal) holds",
        kind: LineKind::Mutex,
        leases: 1,
        gap_ms: |random, _| random.exponential(2_600.0),
        hold_ms: |random, _| 500.0 * (1.2 * random.normal()).exp(),
        patience_ms: FOREVER,
        reads: NEVER,
    },
    Load {
        name: "bimodal holds (50 ms or 5 s)",
        kind: LineKind::Mutex,
        leases: 1,
        gap_ms: |random, _| random.exponential(2_000.0),
        hold_ms: |random, _| {
            if random.part() < 0.75 { 40.0 + 20.0 * random.part() } else { 4_500.0 + 1_000.0 * random.part() }
        },
        patience_ms: FOREVER,
        reads: NEVER,
    },
    Load {
        name: "bursts of arrivals, with give-ups",
        kind: LineKind::Mutex,
        leases: 1,
        gap_ms: |random, _| if random.part() < 0.05 { 30_000.0 * random.part() } else { 20.0 },
        hold_ms: |random, _| random.exponential(700.0),
        patience_ms: |random| random.exponential(20_000.0),
        reads: NEVER,
    },
    Load {
        name: "holds that grow to six times",
        kind: LineKind::Mutex,
        leases: 1,
        gap_ms: |random, part| random.exponential(800.0 * (1.0 + 5.0 * part)),
        hold_ms: |random, part| random.exponential(600.0 * (1.0 + 5.0 * part)),
        patience_ms: FOREVER,
        reads: NEVER,
    },
    Load {
        name: "holds that jump to ten times and back",
        kind: LineKind::Mutex,
        leases: 1,
        gap_ms: |random, part| random.exponential(if (0.4..0.6).contains(&part) { 6_500.0 } else { 650.0 }),
        hold_ms: |random, part| random.exponential(if (0.4..0.6).contains(&part) { 5_000.0 } else { 500.0 }),
        patience_ms: FOREVER,
        reads: NEVER,
    },
    Load {
        name: "waiters that give up after 8 s",
        kind: LineKind::Mutex,
        leases: 1,
        gap_ms: |random, _| random.exponential(900.0),
        hold_ms: |random, _| random.exponential(1_000.0),
        patience_ms: |_| 8_000.0,
        reads: NEVER,
    },
    Load {
        name: "semaphore of 4",
        kind: LineKind::Semaphore,
        leases: 4,
        gap_ms: |random, _| random.exponential(550.0),
        hold_ms: |random, _| 1_500.0 * (0.7 * random.normal()).exp(),
        patience_ms: FOREVER,
        reads: NEVER,
    },
    Load {
        name: "readers (70 %) and writers",
        kind: LineKind::ReadWrite,
        leases: 1,
        gap_ms: |random, _| random.exponential(1_200.0),
        hold_ms: |random, _| random.exponential(1_000.0),
        patience_ms: FOREVER,
        reads: |random| random.part() < 0.7,
    },
];

/// One that is served in the order in which it came, and leaves the line if that takes too long.
fn play(load: &Load, number: usize, seed: u64) -> Vec<LineLife> {
    let mut random = Random(seed);
    let (mut now, mut lives) = (START as f64, Vec::new());
    // When each lease is free; for readers and writers, when the last writer and the last of all is through.
    let (mut free, mut through) = (vec![0.0_f64; load.leases], 0.0_f64);
    for at in 0..number {
        let part = at as f64 / number as f64;
        now += (load.gap_ms)(&mut random, part);
        let (hold, patience) = ((load.hold_ms)(&mut random, part), (load.patience_ms)(&mut random));
        let reads = (load.reads)(&mut random);
        let first = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
        let begin = now.max(if load.kind == LineKind::ReadWrite && !reads { through } else { *first });
        let whole = |ms: f64| TimeMs(ms.round() as i64);
        let is_served = begin - now <= patience;
        let left = if is_served { begin + hold } else { now + patience };
        lives.push(LineLife {
            czxid: Zxid(at as i64 + 1),
            joined_at: whole(now),
            held_at: is_served.then(|| whole(begin)),
            left_at: Some(whole(left)),
            reads,
            is_uncertain: false,
        });
        if is_served {
            through = through.max(left);
            if !reads {
                *first = left;
            }
        }
    }
    lives
}

/// Contenders of a load.
const CONTENDERS: usize = 1_500;

fn calibration(load: &Load, seeds: std::ops::Range<u64>, number: usize) -> Calibration {
    let mut sum = Calibration::default();
    for seed in seeds {
        let one = learn(load.kind, &play(load, number, 1_000 + 7 * seed), number).calibration;
        sum.right += one.right;
        sum.sooner += one.sooner;
        sum.later += one.later;
        sum.unknown += one.unknown;
        sum.untold += one.untold;
        sum.right_uncorrected += one.right_uncorrected;
    }
    sum
}

/// `TIME_TO_LOCK_SEEDS=8 cargo test --release -p lockscope-history --test it -- time_to_lock::ranges_are_right --nocapture` prints the
/// table of docs/history.md.
#[test]
#[expect(clippy::print_stdout, reason = "it is a table for the documents")]
fn ranges_are_right_in_75_to_85_of_100_waits_whatever_the_load() {
    let seeds = std::env::var("TIME_TO_LOCK_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1);
    println!("| Load | Waits | Right | Sooner | Later | Given up within it | Not told | Right without correction |");
    let mut wrong = Vec::new();
    for load in &LOADS {
        let found = calibration(load, 0..seeds, CONTENDERS);
        let share = |number: u64| 100.0 * number as f64 / found.judged() as f64;
        println!(
            "| {} | {} | {:.1} % | {:.1} % | {:.1} % | {} | {} | {:.1} % |",
            load.name,
            found.judged(),
            share(found.right),
            share(found.sooner),
            share(found.later),
            found.unknown,
            found.untold,
            share(found.right_uncorrected)
        );
        let is_told = found.untold * 7 < found.judged();
        if !(75.0..=85.0).contains(&share(found.right)) || found.judged() < 250 * seeds || !is_told {
            wrong.push((load.name, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn steady() -> &'static Load {
    LOADS.first().unwrap()
}

fn life(number: i64, joined_ms: i64, held_ms: Option<i64>, left_ms: Option<i64>) -> LineLife {
    let at = |ms: i64| TimeMs(START + ms);
    LineLife {
        czxid: Zxid(number),
        joined_at: at(joined_ms),
        held_at: held_ms.map(at),
        left_at: left_ms.map(at),
        reads: false,
        is_uncertain: false,
    }
}

/// One after another, each for a second, each waiting for the one before for half a second.
fn in_turn(number: i64) -> Vec<LineLife> {
    let one = |at: i64| life(at, (at * 1_000 - 500).max(0), Some(at * 1_000), Some(at * 1_000 + 1_000));
    (0..number).map(one).collect()
}

#[test]
fn the_future_is_never_looked_at() {
    let lives = play(steady(), 400, 7);
    let (whole, half) = (learn(LineKind::Mutex, &lives, 400), learn(LineKind::Mutex, &lives[..200], 400));
    // The same lives, and those behind them for other times.
    let mut other = lives.clone();
    for life in &mut other[250..] {
        life.left_at = life.left_at.map(|at| at + 1_000_000);
    }
    let changed = learn(LineKind::Mutex, &other[..200], 400);
    assert_eq!(half, changed);
    assert!(whole.calibration.judged() > half.calibration.judged());
    let mut backwards = lives;
    backwards.reverse();
    assert_eq!(learn(LineKind::Mutex, &backwards, 400), whole, "in whatever order they come");
}

#[test]
fn waits_that_are_given_up_count_only_behind_what_was_told() {
    let mut lives = in_turn(60);
    let before = learn(LineKind::Mutex, &lives, 200).calibration;
    let with = |last: LineLife, lives: &mut Vec<LineLife>| {
        lives.push(last);
        let found = learn(LineKind::Mutex, lives, 200).calibration;
        lives.pop();
        (found.judged() - before.judged(), found.unknown, found.untold - before.untold)
    };
    // Told about half a second behind the last one; given up after 100 ms, and after 100 s.
    assert_eq!(with(life(1_000, 59_500, None, Some(59_600)), &mut lives), (0, 1, 0));
    assert_eq!(with(life(1_000, 59_500, None, Some(159_500)), &mut lives), (1, 0, 0));
    // Nobody saw how it ended.
    let unseen = LineLife { is_uncertain: true, ..life(1_000, 59_500, None, Some(159_500)) };
    assert_eq!(with(unseen, &mut lives), (0, 1, 0));
}

#[test]
fn holds_of_no_time_and_clocks_that_step_do_no_harm() {
    // Twenty at a time, all through within the instant in which the first of them leaves.
    let burst = |at: i64| (0..20).map(move |n| life(at * 100 + n, at * 50, Some(at * 50 + 7), Some(at * 50 + 7)));
    let learned = learn(LineKind::Mutex, &(0..30).flat_map(burst).collect::<Vec<_>>(), 1_000);
    assert_eq!(learned.habits.holds.count(), HOLDS_RECENT_MAX);
    assert_eq!((learned.habits.give_up_rate, learned.leases), (0.0, 1), "nobody gave up");
    // Held before it joined, left before it held, in every order.
    let mixed: Vec<LineLife> = (0..600_i64)
        .map(|n| life(n, n * 37 % 400, (n % 3 > 0).then_some(n * 91 % 500), (n % 7 > 0).then_some(n * 53 % 450)))
        .collect();
    for kind in [LineKind::Mutex, LineKind::Semaphore, LineKind::ReadWrite] {
        let found = learn(kind, &mixed, 500);
        assert!(found.calibration.judged() + found.calibration.untold + found.calibration.unknown <= 500, "{found:?}");
    }
    assert_eq!(learn(LineKind::Mutex, &[], 500).calibration, Calibration::default());
    assert_eq!(learn(LineKind::Mutex, &in_turn(1), 500).calibration, Calibration::default(), "one hold and no wait");
}

#[test]
fn a_holder_of_which_the_age_is_not_known_lets_nothing_be_told() {
    let mut lives = in_turn(80);
    lives.push(life(900, 80_500, Some(85_000), Some(85_100)));
    // It was there when the server started to look, and still is when others wait.
    lives.push(LineLife { is_uncertain: true, ..life(899, 80_000, Some(80_000), None) });
    let found = learn(LineKind::Mutex, &lives, 200).calibration;
    let without = learn(LineKind::Mutex, &in_turn(80), 200).calibration;
    assert_eq!((found.untold, found.judged()), (without.untold + 1, without.judged()));
}

#[test]
fn what_is_read_of_a_store_is_what_was_learned_and_no_older_than_a_day() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(place.path(), "default").unwrap();
    let lives = play(steady(), 700, 3);
    let span = |life: &LineLife, lock: &str| Span {
        czxid: life.czxid,
        lock: lock.into(),
        recipe: "sequential_mutex".into(),
        node: format!("lock-{:010}", life.czxid.0).into(),
        session: None,
        label: None,
        host: None,
        joined_at: life.joined_at,
        held_at: life.held_at,
        left_at: life.left_at.unwrap(),
        how: SpanEnd::Released,
        charges: None,
        wait_ms: life.held_at.unwrap().since(life.joined_at),
        is_lower_bound: false,
    };
    let spans = lives.iter().map(|life| span(life, "/l")).collect();
    store.write_rows(&Rows { spans, ..Rows::default() }).unwrap();
    let now = lives.iter().filter_map(|life| life.left_at).max().unwrap();
    let found = read(&store, "/l", LineKind::Mutex, Vec::new(), now, None).unwrap();
    assert_eq!(found, learn(LineKind::Mutex, &lives, WAITS_JUDGED_MAX));
    assert!(found.calibration.judged() > 300 && found.habits.holds.count() == HOLDS_RECENT_MAX);
    let later = read(&store, "/l", LineKind::Mutex, Vec::new(), now + 2 * RANGE_MS, None).unwrap();
    assert_eq!(later.habits.holds.count(), 0, "of a day before yesterday");
    assert_eq!(read(&store, "/other", LineKind::Mutex, Vec::new(), now, None).unwrap().habits.holds.count(), 0);
    // What came later is not known of a moment in the past.
    let half = lives[350].left_at.unwrap();
    let then = read(&store, "/l", LineKind::Mutex, Vec::new(), half, None).unwrap();
    assert!(then.calibration.judged() < found.calibration.judged());
    // What was learned makes times.
    let line = Line::new(&found.habits, Admission::One, &[HolderAge { age_ms: 0, reads: false }]).unwrap();
    assert!((400..1_200).contains(&line.told(false).middle_ms), "{:?}", line.told(false));
}
