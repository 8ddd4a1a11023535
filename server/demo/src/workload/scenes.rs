//! Who contends for what, and at which pace. Data only.

use std::ops::Range;
use std::sync::Arc;

use super::names::Style;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Begins, and waits as long as it takes.
    Stays,
    /// Comes second, from the other end, and gives up after a while.
    GivesUp,
}

/// In which order one of two services takes two locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    /// What is in stock first.
    Out,
    /// What is dispatched first.
    Back,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// What a contender does, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Play {
    Lock(Style),
    /// Acquires and releases a lock once, then stays away.
    LockOnce(Style),
    /// Its connection is cut while it holds: the lock frees itself when the session times out.
    LockAndDie(Style),
    /// One fixed znode `lock`; everyone watches it.
    Fixed,
    ReadWrite(Access),
    /// A semaphore with so many permits.
    Permit(usize),
    /// A double barrier of so many members.
    Meet(usize),
    Produce,
    Consume,
    /// One of two that wait for each other.
    Cross(Side),
    /// One of two that take two locks in opposite orders and never meet.
    Opposite(Leg),
    Duplicate,
    /// Takes a lock and never gives it back by itself.
    Hang(Style),
}

/// One contender.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) directory: &'static str,
    pub(super) play: Play,
    pub(super) label: Arc<str>,
    pub(super) hold_ms: Range<u64>,
    pub(super) pause_ms: Range<u64>,
    pub(super) session_timeout_ms: u64,
}

const SESSION_TIMEOUT_MS: u64 = 8_000;
const MEMBERS: usize = 3;
const PERMITS: usize = 3;

/// Contenders of one kind in one directory.
struct Group {
    directory: &'static str,
    play: Play,
    contenders: usize,
    job: &'static str,
    hosts: usize,
    hold_ms: Range<u64>,
    pause_ms: Range<u64>,
}

const fn group(
    directory: &'static str,
    play: Play,
    (contenders, job, hosts): (usize, &'static str, usize),
    hold_ms: Range<u64>,
    pause_ms: Range<u64>,
) -> Group {
    Group { directory, play, contenders, job, hosts, hold_ms, pause_ms }
}

/// Directory, what is done there, by how many of which job on how many hosts, for how long, and the pause between.
const GROUPS: [Group; 25] = [
    group("/order", Play::Lock(Style::Plain), (6, "worker", 3), 200..1_500, 50..2_500),
    group("/reports/nightly", Play::Lock(Style::WriteLock), (10, "report", 4), 18_000..22_000, 200..2_000),
    group("/exclusive_lock", Play::Fixed, (4, "batch", 2), 800..3_000, 100..1_000),
    group("/payments/curator", Play::Lock(Style::Curator), (4, "payments", 4), 300..2_000, 100..4_000),
    group("/inventory/kazoo", Play::Lock(Style::Kazoo), (3, "stock", 2), 400..2_500, 100..3_000),
    group("/ledger", Play::Lock(Style::Plain), (2, "ledger", 2), 500..2_000, 500..3_000),
    group("/ledger", Play::LockAndDie(Style::Plain), (1, "ledger-flaky", 1), 3_000..4_000, 45_000..50_000),
    group("/idle", Play::LockOnce(Style::Plain), (1, "setup", 1), 200..300, 0..1),
    group("/catalog/rw", Play::ReadWrite(Access::Read), (3, "search", 3), 1_500..5_000, 300..3_000),
    group("/catalog/rw", Play::ReadWrite(Access::Write), (2, "import", 1), 1_000..3_000, 3_000..8_000),
    group("/pool/connections", Play::Permit(PERMITS), (6, "api", 3), 4_000..10_000, 500..3_000),
    group("/election/scheduler", Play::Lock(Style::Latch), (4, "scheduler", 4), 20_000..40_000, 500..2_000),
    group("/barrier/batch", Play::Meet(MEMBERS), (MEMBERS, "step", 3), 3_000..6_000, 2_000..12_000),
    group("/queue/mail", Play::Produce, (1, "shop", 1), 0..0, 800..2_000),
    group("/queue/mail", Play::Consume, (2, "mailer", 2), 1_500..3_500, 0..0),
    group("/transfer", Play::Cross(Side::Stays), (1, "transfer-in", 1), 1_000..2_000, 28_000..32_000),
    group("/transfer", Play::Cross(Side::GivesUp), (1, "transfer-out", 1), 1_000..2_000, 28_000..32_000),
    group("/warehouse", Play::Opposite(Leg::Out), (1, "packing", 1), 200..400, 3_000..6_000),
    group("/warehouse", Play::Opposite(Leg::Back), (1, "returns", 1), 200..400, 3_000..6_000),
    group("/billing/invoices", Play::Duplicate, (1, "invoice-retry", 1), 1_000..2_000, 18_000..22_000),
    group("/billing/invoices", Play::Lock(Style::Curator), (2, "invoice", 2), 1_000..3_000, 500..2_000),
    group("/shipping/labels", Play::Lock(Style::Curator), (4, "labels", 2), 150..350, 100..1_500),
    group("/shipping/labels", Play::Hang(Style::Curator), (1, "labels-hung", 1), 0..0, 80_000..100_000),
    group("/shared/mixed", Play::Lock(Style::Kazoo), (2, "nightly-py", 2), 2_000..6_000, 500..2_000),
    group("/shared/mixed", Play::Lock(Style::Curator), (2, "nightly-java", 2), 2_000..6_000, 500..2_000),
];

pub(super) fn all() -> Vec<Scene> {
    let contender = |group: &Group, number: usize| Scene {
        directory: group.directory,
        play: group.play,
        label: format!("{}-{number}@app-{}", group.job, number % group.hosts + 1).into(),
        hold_ms: group.hold_ms.clone(),
        pause_ms: group.pause_ms.clone(),
        session_timeout_ms: SESSION_TIMEOUT_MS,
    };
    GROUPS.iter().flat_map(|group| (1..=group.contenders).map(move |number| contender(group, number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::CONTENDERS_MAX;

    #[test]
    fn nobody_is_left_out() {
        assert!(all().len() <= CONTENDERS_MAX, "{} contenders", all().len());
    }
}
