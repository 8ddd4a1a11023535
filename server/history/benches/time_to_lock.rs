//! How long it takes to tell how long somebody waits, and to learn from a day's lives of a lock how often that was right.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::hint::black_box;
use std::time::Instant;

use lockscope_core::time::TimeMs;
use lockscope_core::time_to_lock::{Admission, Habits, HoldTimes, HolderAge, Line};
use lockscope_core::znode::Zxid;
use lockscope_history::time_to_lock::{LIVES_READ_MAX, LineKind, LineLife, WAITS_JUDGED_MAX, learn};

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        told();
        [(0, LineKind::Mutex), (10, LineKind::Mutex), (200, LineKind::Mutex), (200, LineKind::ReadWrite)]
            .into_iter()
            .for_each(|(depth, kind)| learned(depth, kind));
    }
}

/// One wait, behind so many.
fn told() {
    const TIMES: u32 = 2_000;
    let holds = HoldTimes::of((0..512).map(|number| number * 37 % 10_000));
    let habits = Habits { holds, give_up_rate: 1e-6, ..Habits::default() };
    for (name, admission, holders) in [("a lock", Admission::One, 1), ("a semaphore of 16", Admission::Some(16), 16)] {
        let holders = vec![HolderAge { age_ms: 500, reads: false }; holders];
        for ahead in [0_usize, 3, 48, 10_000] {
            let begun = Instant::now();
            for _ in 0..TIMES {
                let mut line = Line::new(black_box(&habits), admission, &holders).unwrap();
                line.pass_many(ahead);
                black_box(line.told(false));
            }
            println!("{name}, {ahead} before: {:.1} µs", begun.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES));
        }
    }
}

/// As many lives as are read, in a line that is so long all the time.
fn learned(depth: i64, kind: LineKind) {
    let life = |number: i64| {
        let held = number * 100;
        LineLife {
            czxid: Zxid(number),
            joined_at: TimeMs(held - depth * 100 - 50),
            held_at: Some(TimeMs(held)),
            left_at: Some(TimeMs(held + 60 + number * 37 % 40)),
            reads: number % 3 > 0,
            is_uncertain: false,
        }
    };
    let lives: Vec<LineLife> = (0..LIVES_READ_MAX as i64).map(life).collect();
    let begun = Instant::now();
    let found = learn(kind, &lives, WAITS_JUDGED_MAX);
    println!(
        "{LIVES_READ_MAX} lives of a {kind:?}, {depth} in line: {} judged in {} ms",
        found.calibration.judged(),
        begun.elapsed().as_millis()
    );
}
