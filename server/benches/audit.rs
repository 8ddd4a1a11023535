//! The audit log: appends a second with everything made durable, alone and many at once, and how long a long log
//! takes to verify, to open and to page through.
//!
//! Prints figures; the disk under the temporary folder decides over the first ones.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use lockscope_audit::{Entry, Journal as _, Log, PageQuery, Records as _, verify_dir};
use lockscope_runtime::clock::Clock;
use lockscope_view::AuditKind;

const ALONE: u64 = 500;
const TASKS: u64 = 64;
const RECORDS: u64 = 100_000;

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

fn act(number: u64) -> Entry {
    Entry {
        ensemble: Some("default".to_owned()),
        lock: Some("/locks/orders".to_owned()),
        path: Some(format!("/locks/orders/lock-{number:010}")),
        reason: Some("stuck since the deploy".to_owned()),
        ..Entry::of_server(AuditKind::ReleaseIntent, "0x1a2b3c of session 0x100000a1b2c0001, version 0".to_owned())
    }
}

async fn append(log: &Arc<Log>, tasks: u64, each: u64) -> f64 {
    let began = Instant::now();
    let task = |_| {
        let log = log.clone();
        tokio::spawn(async move {
            for number in 0..each {
                log.append(act(number)).await.unwrap();
            }
        })
    };
    futures_util::future::join_all((0..tasks).map(task)).await;
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let appended = (tasks * each) as f64;
    appended / began.elapsed().as_secs_f64()
}

async fn run() {
    let place = tempfile::tempdir().unwrap();
    let dir: &Path = place.path();
    let log = Arc::new(Log::open(dir, Clock::system()).await.unwrap());
    println!("appends, one after the other: {:.0} a second", append(&log, 1, ALONE).await);
    println!(
        "appends, {TASKS} at once:       {:.0} a second",
        append(&log, TASKS, (RECORDS - ALONE) / TASKS + 1).await
    );
    let query = PageQuery { before: Some(RECORDS / 2), ..PageQuery::default() };
    let began = Instant::now();
    assert_eq!(log.page(query).await.unwrap().records.len(), 100);
    println!("a page from the middle:       {:.2} ms", began.elapsed().as_secs_f64() * 1_000.0);
    let began = Instant::now();
    let query = PageQuery { actor: Some("nobody".to_owned()), ..PageQuery::default() };
    assert!(log.page(query).await.unwrap().records.is_empty());
    println!("a filter that finds nothing:  {:.0} ms", began.elapsed().as_secs_f64() * 1_000.0);
    drop(log);
    let began = Instant::now();
    let whole = verify_dir(dir, None).unwrap();
    let bytes: u64 = whole.segments.iter().map(|segment| segment.bytes).sum();
    println!(
        "verify {} records, {} MB: {:.0} ms",
        whole.tip.id,
        bytes / 1_000_000,
        began.elapsed().as_secs_f64() * 1_000.0
    );
}
