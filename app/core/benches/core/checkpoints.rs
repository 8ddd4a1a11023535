//! Checkpoints of large models: taken, made into observations, made into a model again.

use criterion::{BatchSize, Criterion};
use lockscope_core::evidence::{Connection, MemberAnswer, Report, Round};
use lockscope_core::lock::PAST_MAX;
use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Checkpoint, Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::{ROOT, facts, name, observatory};

/// A model whose locks each changed hands a few times, and each of whose sessions a member named.
fn experienced(locks: usize, contenders: usize) -> Observatory {
    let mut observatory = observatory(locks, contenders);
    for turn in 0..PAST_MAX {
        for lock in 0..locks {
            let sequence = contenders + turn;
            let now = TimeMs((1_000 * turn + lock / 10) as i64);
            let path = name(lock, sequence);
            let facts = facts((1_000_000 + sequence * locks + lock) as i64);
            observatory.apply(now, Observation::NodeCreated { root: ROOT, path: path.clone() });
            observatory.apply(now, Observation::NodeRead { root: ROOT, path, facts, unreadable: false });
            observatory.apply(now, Observation::NodeDeleted { root: ROOT, path: name(lock, turn) });
        }
    }
    let sessions: Vec<SessionId> = observatory.sessions().into_keys().collect();
    let answers = MemberAnswer::Ok { asked_at: TimeMs(20_000), value: sessions.into_iter().map(connection).collect() };
    let report = Report {
        member: "10.1.0.1:2181".into(),
        number: None,
        by: "four-letter words".into(),
        is_down: false,
        connections: answers,
        sessions: MemberAnswer::NotAsked,
        watches: MemberAnswer::NotAsked,
        health: MemberAnswer::NotAsked,
    };
    observatory.apply(TimeMs(20_000), Observation::Evidence(Box::new(Round { reports: vec![report] })));
    observatory
}

fn connection(session: SessionId) -> Connection {
    Connection {
        session,
        address: format!("10.0.0.{}:4000", session.0 % 250).into(),
        timeout_ms: 30_000,
        established_ms: None,
        answered_ms: None,
        received: Some(7),
        last_operation: Some("PING".into()),
    }
}

fn parts_of(model: &Observatory) -> Vec<Observation> {
    model.checkpoint().iter().flat_map(Checkpoint::observations).collect()
}

/// A checkpoint is taken, on the model's thread; its observations are made, on another; a model is made of them. And the
/// first events while there is one, which copy what they change.
pub(super) fn checkpoints(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("checkpoint");
    group.sample_size(10);
    for (locks, contenders) in [(10_000, 10), (1, 100_000)] {
        let label = format!("{locks} locks of {contenders}");
        let model = experienced(locks, contenders);
        let parts: Vec<Observation> = parts_of(&model);
        group.bench_function(format!("take of {label}"), |bencher| bencher.iter_with_large_drop(|| model.checkpoint()));
        group.bench_function(format!("make of {label}"), |bencher| {
            bencher.iter_with_large_drop(|| parts_of(&model));
        });
        group.bench_function(format!("take in {label}"), |bencher| {
            let take_in = |parts: Vec<Observation>| {
                let mut fresh = Observatory::new(Settings::default(), TimeMs(0));
                parts.into_iter().for_each(|part| drop(fresh.apply(TimeMs(0), part)));
                fresh
            };
            bencher.iter_batched(|| parts.clone(), take_in, BatchSize::PerIteration);
        });
        let path = name(0, contenders + PAST_MAX);
        group.bench_function(format!("an event after one of {label}"), |bencher| {
            let taken = || (model.clone(), model.checkpoint());
            let create = |(mut model, checkpoint): (Observatory, Option<Checkpoint>)| {
                let changes = model.apply(TimeMs(30_000), Observation::NodeCreated { root: ROOT, path: path.clone() });
                (model, checkpoint, changes)
            };
            bencher.iter_batched(taken, create, BatchSize::PerIteration);
        });
    }
    group.finish();
}
