//! What a tick costs, in CPU time: it comes four times a second, whether or not anything happens.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;

use super::{ROOT, facts, name, observatory};

const TICK_MS: i64 = 250;
const CONTENDERS: usize = 10;
/// Contenders that come, are read, and go between two ticks: a thousand events a second.
const TURNS_A_TICK: usize = 83;

/// What this thread took of a processor until now: other programs run beside it.
fn thread_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or_default())
}

/// A model that lives on.
struct Life {
    observatory: Observatory,
    locks: usize,
    now: i64,
    turns: usize,
}

impl Life {
    fn new(locks: usize) -> Self {
        let mut life = Self { observatory: observatory(locks, CONTENDERS), locks, now: 0, turns: 0 };
        // The first looks at all locks, and the first slice of depths, are no usual ones.
        for _ in 0..40 {
            life.tick();
        }
        life
    }

    fn tick(&mut self) {
        self.now += TICK_MS;
        black_box(self.observatory.apply(TimeMs(self.now), Observation::Tick));
    }

    /// Contenders come and go, each in another lock, and one in two holds there for as long.
    fn turn(&mut self) {
        let lock = self.turns.wrapping_mul(7_919) % self.locks;
        let sequence = CONTENDERS + self.turns / self.locks;
        let path = name(lock, sequence);
        let gone = if self.turns.is_multiple_of(2) { sequence - CONTENDERS } else { sequence };
        let facts = facts((1_000_000 + self.turns) as i64);
        let now = TimeMs(self.now + 1);
        self.observatory.apply(now, Observation::NodeCreated { root: ROOT, path: path.clone() });
        self.observatory.apply(now, Observation::NodeRead { root: ROOT, path, facts, unreadable: false });
        self.observatory.apply(now, Observation::NodeDeleted { root: ROOT, path: name(lock, gone) });
        self.turns += 1;
    }
}

pub(super) fn ticks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tick");
    group.sample_size(10);
    for locks in [100, 10_000, 100_000] {
        let label = format!("among {locks} locks of {CONTENDERS}");
        let mut life = Life::new(locks);
        group.bench_function(format!("idle, {label}"), |bencher| {
            bencher.iter_custom(|ticks| {
                let begin = thread_cpu();
                (0..ticks).for_each(|_| life.tick());
                thread_cpu() - begin
            });
        });
        group.bench_function(format!("at 1,000 events/s, {label}"), |bencher| {
            bencher.iter_custom(|ticks| {
                let tick = |_| {
                    (0..TURNS_A_TICK).for_each(|_| life.turn());
                    let begin = thread_cpu();
                    life.tick();
                    thread_cpu() - begin
                };
                (0..ticks).map(tick).sum()
            });
        });
        // As after a checkpoint, whose locks are shared.
        group.bench_function(format!("the first ten after a checkpoint, {label}"), |bencher| {
            bencher.iter_custom(|times| {
                let ten = |_| {
                    let shared = black_box(life.observatory.checkpoint());
                    let begin = thread_cpu();
                    (0..10).for_each(|_| life.tick());
                    let taken = thread_cpu() - begin;
                    drop(shared);
                    taken
                };
                (0..times).map(ten).sum()
            });
        });
        group.bench_function(format!("three events, {label}"), |bencher| {
            bencher.iter_custom(|turns| {
                let mut taken = Duration::ZERO;
                for turn in 0..turns {
                    let begin = thread_cpu();
                    (0..TURNS_A_TICK).for_each(|_| life.turn());
                    taken += (thread_cpu() - begin) / TURNS_A_TICK as u32;
                    if turn.is_multiple_of(4) {
                        life.tick();
                    }
                }
                taken
            });
        });
    }
    group.finish();
}
