//! Nobody can spend what is not theirs: each abuse runs beside a client that does nothing wrong, whose figures must
//! hold.

mod addresses;
mod hung_volume;
mod looks;
mod member_answers;
mod sign_ins;
mod views;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::DirEntry;
use std::future::Future;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::served::Served;

/// Set in a process that runs one test alone.
const ALONE: &str = "LOCKSCOPE_TEST_ALONE";
/// How long the good client may wait for an answer, on a machine that runs other tests at the same time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// Runs a test in a process of its own: its memory is nobody else's. `name` is the test's own, as the harness has it.
pub(crate) fn alone<F: Future<Output = ()>>(name: &str, body: impl FnOnce() -> F) {
    if std::env::var_os(ALONE).is_some() {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(body());
        return;
    }
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).join("\n");
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
    said.lines().filter(|line| line.starts_with("figure: ")).for_each(|line| eprintln!("{line}"));
}

/// Memory of this process that is in use, in MiB; `VmHWM` is the most there ever was, `VmRSS` what there is now.
pub(crate) fn memory_mib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_024
}

/// For how long each thread of this process waited for a processor so far.
fn processor_waits() -> BTreeMap<OsString, Duration> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let waited = |thread: DirEntry| {
        let figures = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let ns = figures.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name(), Duration::from_nanos(ns)))
    };
    threads.filter_map(waited).collect()
}

/// The part of what passed since `before` in which no thread of ours lacked a processor: other tests have some of them.
fn without_others(passed: Duration, before: &BTreeMap<OsString, Duration>) -> Duration {
    let since = |(thread, waited): (OsString, Duration)| {
        waited.saturating_sub(before.get(&thread).copied().unwrap_or_default())
    };
    passed.saturating_sub(processor_waits().into_iter().map(since).max().unwrap_or_default())
}

/// Asks one address again and again until `abuse` has ended: each answer is 200 and none is late. Gives the longest
/// wait, without what the machine had no processor for.
pub(crate) async fn good_client(served: &Served, path: &str, abuse: impl Future<Output = ()>) -> Duration {
    let mut abuse = std::pin::pin!(abuse);
    let client = reqwest::Client::new();
    let url = format!("http://{}{path}", served.address);
    let mut longest = Duration::ZERO;
    loop {
        let ask = async {
            let (began, waits) = (Instant::now(), processor_waits());
            let answer = client.get(&url).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 200, "{path}");
            answer.bytes().await.unwrap();
            without_others(began.elapsed(), &waits)
        };
        let mut ask = std::pin::pin!(ask);
        let (waited, is_over) = tokio::select! {
            waited = &mut ask => (waited, false),
            () = &mut abuse => (ask.await, true),
        };
        longest = longest.max(waited);
        assert!(longest < PATIENCE, "{path} took {longest:?}");
        if is_over {
            return longest;
        }
        tokio::time::sleep(crate::harness::STEP).await;
    }
}
