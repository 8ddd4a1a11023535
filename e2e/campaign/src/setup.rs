//! What a fault needs of the stage: members, locks and who contends there, and what of Lockscope's surroundings may be broken.

use lockscope_demo::ServerOptions;

use crate::ROOT;
use crate::alarm::Alarming;
use crate::clients::Library;
use crate::relay::Edit;
use crate::servers::options;
use crate::workload::{Contention, Who};

/// What a fault needs.
#[derive(Clone, Debug)]
pub struct Setup {
    pub members: usize,
    /// Whether members reach each other by relays. Nobody may be added then: each has addresses of its own for the others.
    pub has_relays: bool,
    pub session_timeout_ms: u32,
    pub contentions: Vec<Contention>,
    /// Locks that are looked at beside those with contention.
    pub more_locks: Vec<String>,
    /// Whether Lockscope has a place for its record.
    pub keeps_record: bool,
    /// Whether it records what it observes, and moments of the run are looked at afterwards.
    pub keeps_history: bool,
    /// Whether it has rules for alerts, and who is told.
    pub alarming: Alarming,
    /// Whether its clock may be set.
    pub has_clock: bool,
    /// Whether the disk below it may hang.
    pub has_disk: bool,
    /// Whether threads may be refused to it.
    pub has_threads: bool,
    /// Whether it reaches the only server by TLS, whose certificate may run out.
    pub has_certificate: bool,
    /// How the servers are set up.
    pub server: ServerOptions,
    /// What is changed in packets on their way.
    pub edit: Edit,
}

impl Default for Setup {
    fn default() -> Self {
        let lock = |name: &str, who| Contention { path: format!("{ROOT}/{name}"), who };
        let contentions = vec![
            lock("kazoo", Who::Library(Library::Kazoo, 3)),
            lock("curator", Who::Library(Library::Curator, 3)),
            lock("fast", Who::Queue(80)),
            lock("slow", Who::Queue(600)),
        ];
        Self {
            members: 1,
            session_timeout_ms: 10_000,
            contentions,
            more_locks: Vec::new(),
            keeps_record: false,
            keeps_history: true,
            alarming: Alarming::Webhook,
            has_clock: false,
            has_disk: false,
            has_threads: false,
            has_certificate: false,
            has_relays: false,
            server: options(),
            edit: Edit::None,
        }
    }
}
