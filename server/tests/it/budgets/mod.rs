//! Nobody can spend what is not theirs: each abuse runs beside a client that does nothing wrong, whose figures must hold.

mod member_answers;

use std::future::Future;
use std::process::Command;

/// Set in a process that runs one test alone.
const ALONE: &str = "LOCKSCOPE_TEST_ALONE";

/// Runs a test in a process of its own: its memory is nobody else's. `name` is the test's own, as the harness has it.
pub(crate) fn alone<F: Future<Output = ()>>(name: &str, body: impl FnOnce() -> F) {
    if std::env::var_os(ALONE).is_some() {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(body());
        return;
    }
    let run = Command::new(std::env::current_exe().unwrap()).args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
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
