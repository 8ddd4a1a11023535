//! Spans, minutes and facts, written: copied into a table of the session, and put from there into their days, where what
//! is there already is replaced.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;

use lockscope_postgres::client::binary_copy::BinaryCopyInWriter;
use lockscope_postgres::client::types::{ToSql, Type};
use lockscope_postgres::client::{Client, Transaction};
use lockscope_postgres::{DatabaseError, Session};
use sha2::{Digest as _, Sha256};

use super::schema::{Daily, day_of};
use crate::store::TRANSACTION_ROWS_MAX;
use crate::store::charges::ChargeColumns;
use crate::store::rows::{Fact, Minute, Rows, Span};

/// What is copied into, once a session.
const ARRIVING: &str = "
CREATE TEMPORARY TABLE IF NOT EXISTS span_arriving (LIKE lockscope.span) ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS minute_arriving (LIKE lockscope.minute) ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS fact_arriving (LIKE lockscope.fact) ON COMMIT DELETE ROWS;
";

const SPAN_TYPES: [Type; 24] = [
    Type::INT4,
    Type::INT4,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::INT8,
    Type::TEXT,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT2,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::BOOL,
    // JSON is sent as the text that it is.
    Type::TEXT,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT8,
];
const SPAN_UPDATES: &str = "(path, recipe, node, session, label, host, joined_at, held_at, how, charged_to, root, wait_ms,
    is_lower_bound, charges, roots, others_ms, root_others_ms, hand_off_ms, unknown_ms) = (excluded.path, excluded.recipe,
    excluded.node, excluded.session, excluded.label, excluded.host, excluded.joined_at, excluded.held_at, excluded.how,
    excluded.charged_to, excluded.root, excluded.wait_ms, excluded.is_lower_bound, excluded.charges, excluded.roots,
    excluded.others_ms, excluded.root_others_ms, excluded.hand_off_ms, excluded.unknown_ms)";

const MINUTE_TYPES: [Type; 14] = [
    Type::INT4,
    Type::INT4,
    Type::INT8,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::BYTEA,
    Type::BYTEA,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::BYTEA,
];
const MINUTE_UPDATES: &str = "(path, arrivals, acquired, gave_up, waits, holds, depth_max, waiting_ms, worst, top) =
    (excluded.path, excluded.arrivals, excluded.acquired, excluded.gave_up, excluded.waits, excluded.holds,
    excluded.depth_max, excluded.waiting_ms, excluded.worst, excluded.top)";

const FACT_TYPES: [Type; 10] = [
    Type::INT4,
    Type::INT4,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::INT2,
    Type::TEXT,
    Type::INT2,
    Type::TEXT,
];
const FACT_UPDATES: &str = "(at, lock, path, kind, code, severity, text) = (excluded.at, excluded.lock, excluded.path,
    excluded.kind, excluded.code, excluded.severity, excluded.text)";

/// The number by which a lock is looked for; its path is compared as well.
pub(super) fn lock_number(path: &str) -> i64 {
    let digest = Sha256::digest(path.as_bytes());
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(first)
}

/// A text as PostgreSQL takes it: it has no zero byte.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// Writes rows, in transactions of [`TRANSACTION_ROWS_MAX`].
pub(super) async fn write(session: &mut Session, ensemble: i32, rows: &Rows) -> Result<(), DatabaseError> {
    make_days(session.client(), rows).await?;
    session.client().batch_execute(ARRIVING).await?;
    // Of rows with the same key the last counts: no statement may write a row twice.
    let key = |path: &str, at: i64, number: i64| (lock_number(path), at, number);
    let spans: BTreeMap<_, &Span> =
        rows.spans.iter().map(|span| (key(&span.lock, span.left_at.0, span.czxid.0), span)).collect();
    let minutes: BTreeMap<_, &Minute> =
        rows.minutes.iter().map(|minute| (key(&minute.lock, minute.at.0, 0), minute)).collect();
    let facts: BTreeMap<_, &Fact> = rows.facts.iter().map(|fact| ((day_of(fact.at.0), fact.number), fact)).collect();
    for some in spans.into_values().collect::<Vec<_>>().chunks(TRANSACTION_ROWS_MAX) {
        let transaction = session.client().transaction().await?;
        let writer = arriving(&transaction, "span", &SPAN_TYPES).await?;
        let mut writer = pin!(writer);
        for span in some {
            write_span(writer.as_mut(), ensemble, span).await?;
        }
        writer.finish().await?;
        put(&transaction, "span", "ensemble, lock, left_at, czxid, day", SPAN_UPDATES).await?;
        transaction.commit().await?;
    }
    for some in minutes.into_values().collect::<Vec<_>>().chunks(TRANSACTION_ROWS_MAX) {
        let transaction = session.client().transaction().await?;
        let writer = arriving(&transaction, "minute", &MINUTE_TYPES).await?;
        let mut writer = pin!(writer);
        for minute in some {
            write_minute(writer.as_mut(), ensemble, minute).await?;
        }
        writer.finish().await?;
        put(&transaction, "minute", "ensemble, lock, at, day", MINUTE_UPDATES).await?;
        transaction.commit().await?;
    }
    for some in facts.into_values().collect::<Vec<_>>().chunks(TRANSACTION_ROWS_MAX) {
        let transaction = session.client().transaction().await?;
        let writer = arriving(&transaction, "fact", &FACT_TYPES).await?;
        let mut writer = pin!(writer);
        for fact in some {
            write_fact(writer.as_mut(), ensemble, fact).await?;
        }
        writer.finish().await?;
        put(&transaction, "fact", "ensemble, number, day", FACT_UPDATES).await?;
        transaction.commit().await?;
    }
    Ok(())
}

async fn make_days(client: &mut Client, rows: &Rows) -> Result<(), DatabaseError> {
    let Rows { spans, minutes, facts } = rows;
    let days: BTreeSet<(Daily, i32)> = (spans.iter().map(|span| (Daily::Span, day_of(span.left_at.0))))
        .chain(minutes.iter().map(|minute| (Daily::Minute, day_of(minute.at.0))))
        .chain(facts.iter().map(|fact| (Daily::Fact, day_of(fact.at.0))))
        .collect();
    for (table, day) in days {
        table.make(client, day).await?;
    }
    Ok(())
}

async fn arriving(
    transaction: &Transaction<'_>,
    table: &str,
    types: &[Type],
) -> Result<BinaryCopyInWriter, DatabaseError> {
    let sink = transaction.copy_in(&format!("COPY pg_temp.{table}_arriving FROM STDIN BINARY")).await?;
    Ok(BinaryCopyInWriter::new(sink, types))
}

async fn put(transaction: &Transaction<'_>, table: &str, key: &str, updates: &str) -> Result<(), DatabaseError> {
    let sql = format!(
        "INSERT INTO lockscope.{table} SELECT * FROM pg_temp.{table}_arriving ON CONFLICT ({key}) DO UPDATE SET {updates}"
    );
    transaction.batch_execute(&sql).await?;
    Ok(())
}

type Writer<'a> = std::pin::Pin<&'a mut BinaryCopyInWriter>;

async fn write_span(writer: Writer<'_>, ensemble: i32, span: &Span) -> Result<(), DatabaseError> {
    let Span { czxid, lock, recipe, node, session, label, host, .. } = span;
    let Span { joined_at, held_at, left_at, how, charges, wait_ms, is_lower_bound, .. } = span;
    let charges = ChargeColumns::of(charges.as_ref());
    let [path, recipe, node] = [lock, recipe, node].map(|one| text(one));
    let [label, host] = [label, host].map(|one| one.as_deref().map(text));
    let values: [&(dyn ToSql + Sync); 24] = [
        &day_of(left_at.0),
        &ensemble,
        &czxid.0,
        &lock_number(lock),
        &path,
        &recipe,
        &node,
        &session.map(|session| session.0),
        &label,
        &host,
        &joined_at.0,
        &held_at.map(|at| at.0),
        &left_at.0,
        &(*how as i16),
        &charges.charged_to,
        &charges.root,
        wait_ms,
        is_lower_bound,
        &charges.direct,
        &charges.roots,
        &charges.others_ms,
        &charges.root_others_ms,
        &charges.hand_off_ms,
        &charges.unknown_ms,
    ];
    writer.write(&values).await?;
    Ok(())
}

async fn write_minute(writer: Writer<'_>, ensemble: i32, minute: &Minute) -> Result<(), DatabaseError> {
    let Minute { lock, at, arrivals, acquired, gave_up, waits, holds, depth_max, waiting_ms, worst, top } = minute;
    let [arrivals, acquired, gave_up, depth_max] = [arrivals, acquired, gave_up, depth_max].map(|one| i64::from(*one));
    let values: [&(dyn ToSql + Sync); 14] = [
        &day_of(at.0),
        &ensemble,
        &lock_number(lock),
        &text(lock),
        &at.0,
        &arrivals,
        &acquired,
        &gave_up,
        &&waits[..],
        &&holds[..],
        &depth_max,
        waiting_ms,
        &text(worst),
        &&top[..],
    ];
    writer.write(&values).await?;
    Ok(())
}

async fn write_fact(writer: Writer<'_>, ensemble: i32, fact: &Fact) -> Result<(), DatabaseError> {
    let Fact { number, at, lock, kind, code, severity, text: sentence } = fact;
    let values: [&(dyn ToSql + Sync); 10] = [
        &day_of(at.0),
        &ensemble,
        &i64::try_from(*number).unwrap_or(i64::MAX),
        &at.0,
        &lock.as_deref().map(lock_number),
        &lock.as_deref().map(text),
        &(*kind as i16),
        &text(code),
        &i16::from(*severity),
        &text(sentence),
    ];
    writer.write(&values).await?;
    Ok(())
}
