//! How long it takes to find incidents.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::time::{Duration, Instant};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_history::incident::{IncidentQuery, Present, search};
use lockscope_history::store::Store;
use lockscope_history::store::rows::{Charge, Charged, Charges, Fact, FactKind, Rows, Span, SpanEnd};
use lockscope_history::store::sqlite::SqliteStore;

const START: i64 = 1_790_000_000_000;

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        incidents(24, 20, 1_000);
        incidents(24, 500, 20_000);
    }
}

/// Incidents of a day in which each of some locks is in trouble now and then, and busy all the time.
fn incidents(hours: i64, runs: i64, spans_an_hour: i64) {
    const LOCKS: i64 = 20;
    const HOUR_MS: i64 = 3_600_000;
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(place.path(), "default").unwrap();
    let lock = |number: i64| format!("/locks/{}", number % LOCKS);
    for hour in 0..hours {
        let begin = START + hour * HOUR_MS;
        let span = |number: i64| {
            let left = begin + number * HOUR_MS / spans_an_hour;
            let charged = Charged { to: vec![Charge { session: SessionId(number % 97), ms: 400 }], others_ms: 0 };
            Span {
                czxid: Zxid(hour * spans_an_hour + number),
                lock: lock(number).into(),
                recipe: "sequential_mutex".into(),
                node: format!("lock-{number:010}").into(),
                session: Some(SessionId(number % 100)),
                label: Some("worker".into()),
                host: Some("10.0.0.7".into()),
                joined_at: TimeMs(left - 500),
                held_at: Some(TimeMs(left - 100)),
                left_at: TimeMs(left),
                how: SpanEnd::Released,
                charges: Some(Charges { direct: charged.clone(), root: charged, ..Charges::default() }),
                wait_ms: 400,
                is_lower_bound: false,
            }
        };
        let in_hour = runs / hours.max(1) + 1;
        let fact = |number: i64| {
            let at = begin + number / 2 * HOUR_MS / in_hour + number % 2 * 30_000;
            Fact {
                number: u64::try_from(at * 1_024 + number % 2).unwrap(),
                at: TimeMs(at),
                lock: Some(lock(number / 2).into()),
                kind: FactKind::Verdict,
                code: if number % 2 == 0 { "slow" } else { "healthy" }.into(),
                severity: 1,
                text: "It is held for longer than usual.".into(),
            }
        };
        let (spans, facts) = ((0..spans_an_hour).map(span).collect(), (0..2 * in_hour).map(fact).collect());
        store.write_rows(&Rows { spans, facts, ..Rows::default() }).unwrap();
    }
    let now = TimeMs(START + hours * HOUR_MS);
    let query = IncidentQuery {
        range: TimeMs(START)..now,
        now,
        sees: &|_| true,
        present: &|_| Present::default(),
        give_up_at: Instant::now() + Duration::from_mins(1),
    };
    let begun = Instant::now();
    let found = search(&store, &query).unwrap();
    println!(
        "incidents of a day with {} contenders: {} in {} ms",
        hours * spans_an_hour,
        found.incidents.len(),
        begun.elapsed().as_millis()
    );
}
