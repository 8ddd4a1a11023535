//! Runs a collector and keeps what each member last said to each question.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockscope_core::evidence::{Connection, MemberAnswer, Report, Round};
use lockscope_core::observation::Observation;
use lockscope_core::znode::SessionId;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::DropGuard;
use lockscope_zookeeper::members::{Config, Demand, SharedRounds};
use lockscope_zookeeper::{Credentials, RequestCounts};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::DEADLINE;

/// What was said last, by member.
pub(super) type Said = BTreeMap<String, Report>;

/// A collector and what it told.
pub(super) struct Collected {
    rounds: mpsc::Receiver<Vec<Observation>>,
    pub(super) demand: watch::Sender<Demand>,
    stop: DropGuard,
    task: JoinHandle<()>,
    pub(super) said: Said,
}

impl Collected {
    pub(super) fn start(connect: &str, admin_urls: &[String]) -> Self {
        let config = Config {
            connect: connect.to_owned(),
            admin_urls: admin_urls.to_vec(),
            credentials: Credentials::default(),
            session_timeout: Duration::from_secs(30),
        };
        let (sink, rounds) = mpsc::channel(4);
        let (demand, demanded) = watch::channel(Demand::default());
        let (stop, stopped) = lockscope_runtime::shutdown::token();
        let sink = (sink, Arc::<RequestCounts>::default());
        let task = tokio::spawn(SharedRounds::default().collect(config, Clock::system(), demanded, sink, stopped));
        Self { rounds, demand, stop, task, said: Said::new() }
    }

    /// The next round, also taken into what was said.
    pub(super) async fn round(&mut self) -> Round {
        let batch =
            timeout(DEADLINE, self.rounds.recv()).await.expect("a round in time").expect("the collector goes on");
        let [Observation::Evidence(round)] = batch.as_slice() else { panic!("not one round: {batch:?}") };
        let names: Vec<&str> = round.reports.iter().map(|report| &*report.member).collect();
        assert!(names.is_sorted(), "{names:?}");
        self.said.retain(|name, _| names.contains(&name.as_str()));
        for report in &round.reports {
            let old = self.said.remove(&*report.member);
            self.said.insert(report.member.to_string(), merged(old, report.clone()));
        }
        (**round).clone()
    }

    /// Waits until what was said satisfies `condition`.
    pub(super) async fn until(&mut self, what: &str, condition: impl Fn(&Said) -> bool) {
        let begin = Instant::now();
        while !condition(&self.said) {
            assert!(begin.elapsed() < DEADLINE, "not said in {DEADLINE:?}: {what}; said: {:#?}", self.said);
            self.round().await;
        }
    }

    /// Waits for a round that satisfies `condition`.
    pub(super) async fn until_round(&mut self, what: &str, condition: impl Fn(&Round) -> bool) {
        let begin = Instant::now();
        while !condition(&self.round().await) {
            assert!(begin.elapsed() < DEADLINE, "no such round in {DEADLINE:?}: {what}; said: {:#?}", self.said);
        }
    }

    pub(super) async fn stop(self) {
        drop(self.stop);
        timeout(DEADLINE, self.task).await.expect("the collector stops").expect("the collector does not panic");
    }
}

fn merged(old: Option<Report>, mut new: Report) -> Report {
    fn or<T>(new: &mut MemberAnswer<T>, old: MemberAnswer<T>) {
        if matches!(new, MemberAnswer::NotAsked) {
            *new = old;
        }
    }
    if let Some(old) = old {
        or(&mut new.connections, old.connections);
        or(&mut new.sessions, old.sessions);
        or(&mut new.watches, old.watches);
        or(&mut new.health, old.health);
    }
    new
}

/// The connection of a session to a member.
pub(super) fn connection<'a>(said: &'a Said, member: &str, session: SessionId) -> Option<&'a Connection> {
    said.get(member)?.connections.value()?.1.iter().find(|connection| connection.session == session)
}

/// Why there is no answer.
pub(super) fn trouble<T>(answer: &MemberAnswer<T>) -> Option<(lockscope_core::evidence::Trouble, &str)> {
    match answer {
        MemberAnswer::None { trouble, remedy } => Some((*trouble, remedy)),
        MemberAnswer::Ok { .. } | MemberAnswer::NotAsked => None,
    }
}
