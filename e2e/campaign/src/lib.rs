//! The campaign: the real program is broken in every way we know of, between real ZooKeeper servers, real clients and a
//! client that keeps every frame; then ZooKeeper's own transaction log says what was true. Knows of Lockscope what its
//! documents say. `docs/campaign.md` has the rules and the table.
#![expect(missing_docs, reason = "names say it; nothing outside this repository uses this crate")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a tool of tests: it fails by panicking, and a run is a task of its own"
)]

pub mod alarm;
pub mod capture;
pub mod certificate;
pub mod clients;
pub mod clock;
mod deposed;
pub mod disconnects;
pub mod disk;
pub mod fault;
pub mod lockscope;
pub mod mutants;
pub mod past;
pub mod reducer;
pub mod relay;
pub mod releases;
pub mod run;
pub mod scene;
pub mod second;
pub mod servers;
pub mod setup;
pub mod shown;
pub mod table;
pub mod threads;
pub mod ticker;
pub mod workload;

use std::time::Duration;

/// What Lockscope watches.
pub const ROOT: &str = "/campaign";
/// How long anything may take before a run fails: nobody waits for so long but where something is broken.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// Pause before something is asked again.
pub const STEP: Duration = Duration::from_millis(10);
