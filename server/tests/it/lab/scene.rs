//! A run of the lab under the eyes of a real observer and a real model.

use std::collections::BTreeSet;

use lockscope_core::assessment::AssessedLock;
use lockscope_core::finding::Code;
use lockscope_demo::PrivateZooKeeper;
use lockscope_lab::{Lab, LabRefusal, Limits};
use lockscope_runtime::clock::Clock;
use lockscope_view::{Fault, FaultOrder, LabOrder, LabRun, LabState, Outcome, Strategy, ThrownFault};

use super::place;
use crate::harness::{DEADLINE, Truth, zookeeper};
use crate::release::office::Office;

pub(super) fn order(strategy: Strategy, clients: u32, hold_ms: u32) -> LabOrder {
    LabOrder {
        ensemble: None,
        strategies: vec![strategy],
        clients,
        rounds: 1,
        hold_ms,
        think_ms: 0,
        duration_ms: None,
        in_turn: false,
        seed: Some(1),
    }
}

/// Sessions that a server has, connected or not.
pub(super) async fn sessions(server: &PrivateZooKeeper) -> BTreeSet<String> {
    let dump = server.four_letter("dump").await.unwrap();
    let tracked = dump.split("ephemeral nodes dump").next().unwrap();
    tracked.split_whitespace().filter(|word| word.starts_with("0x")).map(str::to_owned).collect()
}

/// Waits until the sessions are these or fewer, and the lab's root is gone.
pub(super) async fn is_clean(server: &PrivateZooKeeper, truth: &Truth, before: &BTreeSet<String>) {
    assert_eq!(truth.client.check_stat("/lockscope-lab").await.unwrap(), None, "no znode remains");
    // No session remains.
    crate::served::until(async || sessions(server).await.is_subset(before)).await;
}

pub(super) struct Scene {
    server: PrivateZooKeeper,
    truth: Truth,
    pub(super) office: Office,
    pub(super) lab: Lab,
    pub(super) id: String,
    /// The lock.
    pub(super) path: String,
    before: BTreeSet<String>,
}

impl Scene {
    /// A run of one lane that is being counted.
    pub(super) async fn of(strategy: Strategy, clients: u32, hold_ms: u32) -> Self {
        let server = zookeeper().await;
        let truth = Truth::new(&server.address()).await;
        let office = Office::open(&server.address(), "/").await;
        let before = sessions(&server).await;
        let lab = Lab::new(vec![place(&server)], Limits::default(), None, Clock::system());
        let id = lab.start(order(strategy, clients, hold_ms), "anna").unwrap();
        let path = lab.run(&id).unwrap().strategies[0].path.clone();
        let scene = Self { server, truth, office, lab, id, path, before };
        scene.run_until("it is counted", |run| run.strategies[0].state == LabState::Running).await;
        scene
    }

    pub(super) async fn throw(&self, fault: Fault) -> Result<ThrownFault, LabRefusal> {
        self.lab.throw(&self.id, FaultOrder { fault, strategy: None }).await
    }

    /// Waits until the run satisfies a condition.
    pub(super) async fn run_until(&self, what: &str, condition: impl Fn(&LabRun) -> bool) {
        let mut changes = self.lab.changes();
        let waiting = async {
            loop {
                changes.borrow_and_update();
                if condition(&self.lab.run(&self.id).unwrap()) {
                    return;
                }
                changes.changed().await.unwrap();
            }
        };
        let ended = tokio::time::timeout(DEADLINE, waiting).await;
        ended.unwrap_or_else(|_| panic!("never: {what}; {:?}", self.lab.run(&self.id)));
    }

    /// Waits until the board tells something of the lock.
    pub(super) async fn told(&self, what: &str, condition: impl Fn(&AssessedLock) -> bool) {
        let shown = |lock: &AssessedLock| {
            format!("{:?} {:?} {:?}", lock.assessment.verdict, lock.assessment.findings, lock.holders)
        };
        let waiting = async {
            // The office gives up sooner.
            while !self.office.comes(|model| model.lock(&self.path).is_some_and(&condition)).await {}
        };
        if tokio::time::timeout(DEADLINE, waiting).await.is_err() {
            let now = self.office.look(|model| model.lock(&self.path).map(shown));
            panic!("never told: {what}; {now:?}; {:?}", self.lab.run(&self.id));
        }
    }

    pub(super) async fn finds(&self, code: Code) {
        self.told(&format!("{code:?}"), |lock| lock.assessment.findings.iter().any(|finding| finding.code == code))
            .await;
    }

    /// An operator releases a znode.
    pub(super) async fn release(&self, path: &str) {
        let done = self.office.release(path).await;
        assert_eq!(done.result.outcome, Outcome::Released, "{done:?}");
    }

    /// Waits for the end of the run; nothing of it remains.
    pub(super) async fn ends(self) -> LabRun {
        self.run_until("it ends", |run| run.ended_at_ms.is_some()).await;
        let run = self.lab.run(&self.id).unwrap();
        assert_eq!((run.state, run.why.as_str()), (LabState::Finished, ""), "{run:?}");
        assert_eq!(run.strategies[0].watch_events_expected, None, "theory does not tell of faults");
        is_clean(&self.server, &self.truth, &self.before).await;
        LabRun::clone(&run)
    }
}
