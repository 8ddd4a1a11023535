//! A replica that watches only the ensembles that it owns: they are started and ended as the assignment has it, and the
//! gateway is told who watches the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{CLOSE_MAX, EnsembleRunner, MakeEnsemble, Observer};
use crate::config::{Config, Watch};
use crate::error::RunError;
use cluster::Cluster;
use feed::Projection;
use gateway::{Directory, Foreign, Gateway, GatewaySettings, OwnerAddress};
use lockscope_wire::Cluster as ClusterView;
use runtime::clock::Clock;
use runtime::shutdown::CancellationToken;
use runtime::tasks::{TaskTracker, supervised};

/// What owning takes.
pub(super) struct Owning<O: Observer> {
    config: Config,
    cluster: Cluster,
    make: MakeEnsemble<O>,
    settings: GatewaySettings,
}

impl<O: Observer> Owning<O> {
    /// None where every ensemble is watched.
    pub(super) fn of(config: &Config, cluster: Option<&Cluster>, make: Option<MakeEnsemble<O>>) -> Option<Self> {
        let own = config.cluster.as_ref().filter(|own| own.watch == Watch::Owned)?;
        let (cluster, make, secret) = (cluster?.clone(), make?, own.secret.clone()?);
        let settings = GatewaySettings { id: cluster.id().to_owned(), secret };
        Some(Self { config: config.clone(), cluster, make, settings })
    }

    /// Starts it. What is shown from now on is of this replica and of others.
    pub(super) fn start(
        self,
        local: Arc<dyn Projection>,
        runner: &EnsembleRunner,
        (tasks, stop): (&TaskTracker, &CancellationToken),
        clock: &Clock,
    ) -> Result<Arc<dyn Projection>, RunError> {
        let shown = runner.lists().shown.clone();
        let gateway = Gateway::new(self.settings.clone(), local, shown, clock.clone())
            .map_err(|error| RunError::Internal(error.to_string()))?;
        tasks.spawn(supervised("gateway", gateway.clone().run(stop.clone())));
        let follow = stop.clone().run_until_cancelled_owned(self.follow(runner.clone(), gateway.clone()));
        tasks.spawn(supervised("ensembles of this replica", async { _ = follow.await }));
        Ok(gateway)
    }

    /// Starts and ends ensembles as they are given to this replica, and away.
    async fn follow(self, runner: EnsembleRunner, gateway: Arc<Gateway>) {
        let mut revisions = self.cluster.revisions();
        let mut running: BTreeSet<String> = BTreeSet::new();
        let mut is_first = true;
        loop {
            revisions.mark_unchanged();
            let view = self.cluster.view();
            // Who is no member keeps what it has: its own znode is gone, not its eyes.
            if view.state.is_member() && !view.replicas.is_empty() {
                let owned = owned(&view, self.cluster.id());
                let ended: Vec<String> = running.difference(&owned).cloned().collect();
                let started: Vec<&String> = owned.difference(&running).collect();
                self.begin(&runner, &started).await;
                gateway.set_directory(self.directory(&view, &owned));
                if !ended.is_empty() {
                    tracing::info!("other replicas watch these from now on: {}", ended.join(", "));
                    runner.end(&ended, CLOSE_MAX).await;
                }
                // Also what was kept of a process before, which may have owned others.
                if is_first || !ended.is_empty() {
                    runner.leave_alerts_elsewhere(|name| owned.contains(name));
                }
                (running, is_first) = (owned, false);
            }
            if revisions.changed().await.is_err() {
                return;
            }
        }
    }

    async fn begin(&self, runner: &EnsembleRunner, names: &[&String]) {
        if names.is_empty() {
            return;
        }
        let meant = self.config.ensembles.iter().filter(|one| names.contains(&&one.name));
        let made = meant.map(|one| (self.make)(&self.config, one));
        let made: Vec<_> = made.filter_map(|made| made.inspect_err(|error| tracing::error!("{error}")).ok()).collect();
        let told: Vec<&str> = made.iter().map(|one| &*one.info.name).collect();
        tracing::info!("this replica watches these from now on: {}", told.join(", "));
        if let Err(error) = runner.start(&self.config, made).await {
            tracing::error!("not every ensemble could be started: {error}; restart this replica");
        }
    }

    fn directory(&self, view: &ClusterView, owned: &BTreeSet<String>) -> Directory {
        let addresses: BTreeMap<&str, &str> =
            view.replicas.iter().map(|replica| (&*replica.id, &*replica.address)).collect();
        let owners: BTreeMap<&str, &[String]> =
            view.assignments.iter().map(|unit| (&*unit.ensemble, &*unit.owners)).collect();
        let owner = |id: &String| {
            let address = addresses.get(id.as_str())?.trim_end_matches('/').to_owned();
            (id != self.cluster.id()).then(|| OwnerAddress { id: id.clone(), address })
        };
        let foreign = self.config.ensembles.iter().filter(|ensemble| !owned.contains(&ensemble.name));
        let foreign = foreign.map(|ensemble| Foreign {
            name: ensemble.name.clone(),
            color: ensemble.color,
            connect: ensemble.zk.clone(),
            labels: ensemble.labels.clone().into_iter().collect(),
            owners: owners.get(&*ensemble.name).into_iter().flat_map(|ids| ids.iter().filter_map(owner)).collect(),
        });
        Directory { foreign: foreign.collect(), why: String::new() }
    }
}

fn owned(view: &ClusterView, id: &str) -> BTreeSet<String> {
    let ours = view.assignments.iter().filter(|unit| unit.owners.iter().any(|owner| owner == id));
    ours.map(|unit| unit.ensemble.clone()).collect()
}
