//! Other servers that watch the same, where the configuration names a place to meet them.

use std::net::SocketAddr;

use crate::config::Config;
use crate::error::RunError;
use lockscope_cluster::{Cluster, Settings};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::tasks::{TaskTracker, supervised};

/// The cluster that is configured; None: this server is alone. `listen`: where it is served, for an id of its own.
pub(crate) fn open(config: &Config, listen: SocketAddr, clock: &Clock) -> Result<Option<Cluster>, RunError> {
    let Some(own) = &config.cluster else { return Ok(None) };
    let Some(ensemble) = config.ensembles.iter().find(|ensemble| ensemble.name == own.ensemble) else {
        return Err(RunError::Internal(format!("the cluster's ensemble {} is not configured", own.ensemble)));
    };
    let settings = Settings {
        connect: ensemble.zk.clone(),
        credentials: ensemble.identity.acting.clone(),
        session_timeout: config.session_timeout,
        root: own.root.clone(),
        id: own.id_at(listen),
        address: own.address_at(config, listen),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ensemble: own.ensemble.clone(),
        watched: config.ensembles.iter().map(|ensemble| ensemble.name.clone()).collect(),
    };
    Ok(Some(Cluster::new(settings, clock.clone())))
}

/// Is a replica until `stop`.
pub(super) fn start(cluster: Option<&Cluster>, tasks: &TaskTracker, stop: &CancellationToken) {
    if let Some(cluster) = cluster {
        tasks.spawn(supervised("cluster", cluster.clone().run(stop.clone())));
    }
}
