//! The short form of the campaign: some faults with one seed, judged by ZooKeeper's own transaction log. A test binary
//! of its own, so that it has the machine for itself. `make campaign` has the long form.
#![expect(clippy::print_stderr, reason = "shows the table")]

use std::path::PathBuf;

use futures_util::stream::{self, StreamExt as _};
use lockscope_campaign::fault::{Fault, Form};
use lockscope_campaign::run::run;
use lockscope_campaign::table::{Row, alerts_markdown, markdown};

/// Those that are robust on a machine that does much else, and show each rule.
const FAULTS: [Fault; 9] = [
    Fault::KillMinus9,
    Fault::Cut,
    Fault::Partition,
    Fault::LateLink,
    Fault::StoppedLockscope,
    Fault::DirectoryRecreated,
    Fault::Unreadable,
    Fault::SlowReader,
    Fault::KillAmongAlerts,
];
/// Faults at once: they wait more than they compute.
const AT_ONCE: usize = 2;
const SEED: u64 = 1;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_is_broken_nothing_wrong_is_shown_as_live() {
    let program =
        std::env::var_os("LOCKSCOPE_BIN").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_lockscope")), PathBuf::from);
    let program = &program;
    let mut rows: Vec<Row> = stream::iter(FAULTS)
        .map(|fault| async move {
            let mut row = Row::new(fault);
            row.add(SEED, &run(program, fault, SEED, Form::Tests).await);
            row
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    rows.sort_by_key(|row| FAULTS.iter().position(|fault| fault.name() == row.fault));
    eprintln!("\n{}\n{}", markdown(&rows), alerts_markdown(&rows));
    let details: Vec<String> =
        rows.iter().flat_map(|row| row.details.iter().map(move |detail| format!("{}: {detail}", row.fault))).collect();
    assert!(details.is_empty(), "\n{}\n", details.join("\n"));
}
