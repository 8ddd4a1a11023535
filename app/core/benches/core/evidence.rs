//! Taking in what the members report.

use std::hint::black_box;

use criterion::{BatchSize, Criterion};
use lockscope_core::evidence::{Connection, Expiry, MemberAnswer, Report, Round, SessionTable};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::{name, observatory};

/// What the members said of so many sessions, each with one ephemeral.
fn round(at: i64, sessions: i64) -> Round {
    let asked_at = TimeMs(at);
    let connection = |session: i64| Connection {
        session: SessionId(session),
        address: "10.1.2.3:45678".into(),
        timeout_ms: 10_000,
        established_ms: Some(0),
        answered_ms: Some(at - session % 3_000),
        received: Some(at as u64),
        last_operation: Some("PING".into()),
    };
    let mut table = SessionTable::default();
    for session in 1..=sessions {
        table.expiries.insert(SessionId(session), Expiry::Running(at + 10_000));
        table.ephemerals.insert(SessionId(session), vec![name((session / 10) as usize, (session % 10) as usize)]);
    }
    let report = Report {
        member: "zk1:2181".into(),
        number: None,
        by: "AdminServer".into(),
        is_down: false,
        connections: MemberAnswer::Ok { asked_at, value: (1..=sessions).map(connection).collect() },
        sessions: MemberAnswer::Ok { asked_at, value: table },
        watches: MemberAnswer::NotAsked,
        health: MemberAnswer::NotAsked,
    };
    Round { reports: vec![report] }
}

/// Taking in what the members said; nobody reads or writes the model meanwhile.
pub(super) fn evidence(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("evidence");
    group.sample_size(10);
    for sessions in [1_000, 100_000] {
        let mut observatory = observatory(sessions as usize / 10, 10);
        let mut at = 10_000_000;
        group.bench_function(format!("a round of {sessions} sessions"), |bencher| {
            bencher.iter_batched(
                || {
                    at += 5_000;
                    (TimeMs(at + 100), Box::new(round(at, sessions)))
                },
                |(now, round)| black_box(observatory.apply(now, Observation::Evidence(round))),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}
