//! What it costs to learn in which order locks are taken.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::{ROOT, facts, name, observatory};

/// Sessions that take one lock inside another, or as many znodes one after the other, among 100 locks of ten: the
/// difference is what learning costs.
pub(super) fn orders(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("orders");
    let (locks, mut sequence) = (100, 1_000_000);
    for (label, is_nested) in [("one lock inside another", true), ("one lock after another", false)] {
        let mut observatory = observatory(locks, 0);
        group.throughput(Throughput::Elements(6));
        group.bench_function(label, |bencher| {
            bencher.iter(|| {
                sequence += 2;
                let now = TimeMs(sequence as i64);
                let session = SessionId((sequence % 64) as i64 + 1);
                let paths = [0, 1].map(|at| name((sequence / 64 + at) % 8, sequence + at));
                let come = |path: &str, czxid: usize| {
                    let facts = {
                        let mut facts = facts(czxid as i64);
                        facts.owner = Some(session);
                        facts
                    };
                    [
                        Observation::NodeCreated { root: ROOT, path: path.into() },
                        Observation::NodeRead { root: ROOT, path: path.into(), facts, unreadable: false },
                    ]
                };
                let go = |path: &str| Observation::NodeDeleted { root: ROOT, path: path.into() };
                let [one, other] = &paths;
                let mut apply = |observation| {
                    black_box(observatory.apply(now, observation));
                };
                come(one, sequence).into_iter().for_each(&mut apply);
                if !is_nested {
                    apply(go(one));
                }
                come(other, sequence + 1).into_iter().for_each(&mut apply);
                if is_nested {
                    apply(go(one));
                }
                apply(go(other));
            });
        });
    }
    group.finish();
}
