//! Ensembles that have the same members, such as many chroots of one ZooKeeper, ask them once: one collector, and each
//! ensemble is handed what it answers, with the paths as its clients name them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use lockscope_core::evidence::{MemberAnswer, Report, Round};
use lockscope_core::observation::Observation;
use lockscope_core::znode::SessionId;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};

use super::super::connect_string::split_chroot;
use super::super::own_sessions;
use super::super::request_counts::RequestCounts;
use super::chroot::{chroot_of, strip};
use super::collector::{Demand, collect};
use super::config::Config;
use super::epochs::{self, MemberEpochs};
use super::roster::MemberAddress;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;

/// Rounds that wait for one ensemble. Overflow policy: the newest is dropped; what the model knows grows older.
const WAITING_MAX: usize = 4;
const ROUNDS_MAX: usize = 4;

#[derive(Clone, Debug, Default)]
pub struct SharedRounds(Arc<Mutex<Vec<Weak<Group>>>>);

/// Ensembles with the same members.
#[derive(Debug)]
struct Group {
    config: Config,
    listeners: Mutex<Vec<mpsc::Sender<Arc<Vec<Report>>>>>,
    epochs: watch::Receiver<MemberEpochs>,
    stop: CancellationToken,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl SharedRounds {
    /// Asks all members about every five seconds until `stop`, together with whoever else has the same. `counts`: whose
    /// own session is not left out of what is handed on.
    pub async fn collect(
        self,
        config: Config,
        clock: Clock,
        demand: watch::Receiver<Demand>,
        (sink, counts): (mpsc::Sender<Vec<Observation>>, Arc<RequestCounts>),
        stop: CancellationToken,
    ) {
        let chroot = chroot_of(&config.connect).to_owned();
        let (group, mut rounds) = self.join(config, clock, demand);
        // They are the same for as long as we count.
        let _ = counts.epochs.set(group.epochs.clone());
        loop {
            let reports = tokio::select! {
                () = stop.cancelled() => break,
                reports = rounds.recv() => reports,
            };
            let Some(reports) = reports else { break };
            let reports = reports.iter().map(|report| of_chroot(report, &chroot, counts.session_id())).collect();
            if sink.send(vec![Observation::Evidence(Box::new(Round { reports }))]).await.is_err() {
                break;
            }
        }
        drop(group);
    }

    fn join(
        &self,
        config: Config,
        clock: Clock,
        demand: watch::Receiver<Demand>,
    ) -> (Arc<Group>, mpsc::Receiver<Arc<Vec<Report>>>) {
        let config = shared(config);
        let (listener, rounds) = mpsc::channel(WAITING_MAX);
        let mut groups = self.0.lock();
        groups.retain(|group| group.strong_count() > 0);
        let known = groups.iter().filter_map(Weak::upgrade).find(|group| group.config == config);
        let group = known.unwrap_or_else(|| {
            let (roster, members) = watch::channel(Vec::new());
            let (told, epochs) = watch::channel(MemberEpochs::new());
            let group = Arc::new(Group { config, listeners: Mutex::default(), epochs, stop: CancellationToken::new() });
            groups.push(Arc::downgrade(&group));
            let config = group.config.clone();
            tokio::spawn(run(Arc::downgrade(&group), (config, roster), clock, demand, group.stop.clone()));
            // A task of its own: no heavier question delays it.
            tokio::spawn(epochs::ask_all(members, told));
            group
        });
        group.listeners.lock().push(listener);
        (group, rounds)
    }
}

/// The same members by the same way: where the chroot is, and in which order they are written, makes no difference. An
/// AdminServer stays with its member: on one host only the order tells whose it is.
fn shared(config: Config) -> Config {
    let servers: Vec<&str> = split_chroot(&config.connect).0.split(',').collect();
    let urls = config.admin_urls.iter().cloned();
    let admin_urls = if config.admin_urls.len() == servers.len() {
        servers.iter().zip(urls).collect::<BTreeMap<_, _>>().into_values().collect()
    } else {
        urls.collect()
    };
    let connect = servers.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(",");
    Config { connect, admin_urls, ..config }
}

/// Asks, and hands on what came, until the last ensemble is gone.
async fn run(
    group: Weak<Group>,
    (config, roster): (Config, watch::Sender<Vec<MemberAddress>>),
    clock: Clock,
    demand: watch::Receiver<Demand>,
    stop: CancellationToken,
) {
    let (sink, mut rounds) = mpsc::channel(ROUNDS_MAX);
    let hand_on = async {
        while let Some(reports) = rounds.recv().await {
            let Some(group) = group.upgrade() else { return };
            let reports = Arc::new(reports);
            group.listeners.lock().retain(|listener| {
                !matches!(listener.try_send(Arc::clone(&reports)), Err(mpsc::error::TrySendError::Closed(_)))
            });
        }
    };
    tokio::join!(collect(config, clock, demand, (sink, roster), stop), hand_on);
}

/// A report as an ensemble with this chroot sees it: without the sessions with which Lockscope itself watches other
/// chroots of the same servers. With a thousand of these everybody would have two thousand sessions otherwise.
fn of_chroot(report: &Report, chroot: &str, own: i64) -> Report {
    let mut report = report.clone();
    if chroot.is_empty() {
        return report;
    }
    strip(&mut report, chroot);
    let is_foreign = |session: SessionId| session.0 != own && own_sessions::is_ours(session.0);
    if let MemberAnswer::Ok { value, .. } = &mut report.connections {
        value.retain(|connection| !is_foreign(connection.session));
    }
    if let MemberAnswer::Ok { value, .. } = &mut report.sessions {
        value.expiries.retain(|session, _| !is_foreign(*session));
        value.timeouts_ms.retain(|session, _| !is_foreign(*session));
        value.ephemerals.retain(|session, _| !is_foreign(*session));
        value.local.retain(|session| !is_foreign(*session));
    }
    report
}
