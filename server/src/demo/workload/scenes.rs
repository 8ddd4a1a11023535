//! Who contends for what, and at which pace. Data only.

use std::ops::Range;
use std::sync::Arc;

/// How a library names its znodes and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `lock-0000000001`: the plain recipe.
    Plain,
    /// `x-<session id>-0000000001`: ZooKeeper's own WriteLock.
    WriteLock,
    /// `_c_<uuid>-lock-0000000001`: Apache Curator.
    Curator,
    /// `<32 hex>__lock__0000000001`: kazoo.
    Kazoo,
    /// One fixed znode `lock`; everyone watches it.
    Fixed,
}

/// How a contender leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Releases what it held and comes back.
    Releases,
    /// Its connection is cut while it holds: the lock frees itself when the session times out.
    Dies,
    /// Acquires and releases once, then stays away.
    Once,
}

/// One contender.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) directory: &'static str,
    pub(super) style: Style,
    pub(super) manner: Manner,
    pub(super) label: Arc<str>,
    pub(super) hold_ms: Range<u64>,
    pub(super) pause_ms: Range<u64>,
    pub(super) session_timeout_ms: u64,
}

const SESSION_TIMEOUT_MS: u64 = 8_000;

/// One lock: its directory, style, contenders, hosts, and paces.
struct Lock {
    directory: &'static str,
    style: Style,
    contenders: usize,
    job: &'static str,
    hosts: usize,
    hold_ms: Range<u64>,
    pause_ms: Range<u64>,
}

const LOCKS: [Lock; 6] = [
    Lock { directory: "/order", style: Style::Plain, contenders: 8, job: "worker", hosts: 3, hold_ms: 200..1_500, pause_ms: 50..2_500 },
    Lock {
        directory: "/reports/nightly",
        style: Style::WriteLock,
        contenders: 13,
        job: "report",
        hosts: 4,
        hold_ms: 18_000..22_000,
        pause_ms: 200..2_000,
    },
    Lock { directory: "/exclusive_lock", style: Style::Fixed, contenders: 6, job: "batch", hosts: 2, hold_ms: 800..3_000, pause_ms: 100..1_000 },
    Lock {
        directory: "/payments/curator",
        style: Style::Curator,
        contenders: 5,
        job: "payments",
        hosts: 5,
        hold_ms: 300..2_000,
        pause_ms: 100..4_000,
    },
    Lock { directory: "/inventory/kazoo", style: Style::Kazoo, contenders: 4, job: "stock", hosts: 2, hold_ms: 400..2_500, pause_ms: 100..3_000 },
    Lock { directory: "/ledger", style: Style::Plain, contenders: 3, job: "ledger", hosts: 2, hold_ms: 500..2_000, pause_ms: 500..3_000 },
];

/// Every contender of the sample.
pub(super) fn all() -> Vec<Scene> {
    let mut scenes = Vec::new();
    for lock in LOCKS {
        for number in 1..=lock.contenders {
            scenes.push(Scene {
                directory: lock.directory,
                style: lock.style,
                manner: Manner::Releases,
                label: format!("{}-{number}@app-{}", lock.job, number % lock.hosts + 1).into(),
                hold_ms: lock.hold_ms.clone(),
                pause_ms: lock.pause_ms.clone(),
                session_timeout_ms: SESSION_TIMEOUT_MS,
            });
        }
    }
    let last = |directory, manner, label: &str, hold_ms, pause_ms| Scene {
        directory,
        style: Style::Plain,
        manner,
        label: label.into(),
        hold_ms,
        pause_ms,
        session_timeout_ms: SESSION_TIMEOUT_MS,
    };
    scenes.push(last("/ledger", Manner::Dies, "ledger-flaky@app-9", 3_000..4_000, 45_000..50_000));
    scenes.push(last("/idle", Manner::Once, "setup-1@app-1", 200..300, 0..1));
    scenes
}
