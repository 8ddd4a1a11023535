//! What replicas share in the database of the history: who is signed in, silences, acknowledgements, snoozes of lock orders
//! and the heads of their audit logs. Without a cluster, or a database, each server has its own.

use std::path::PathBuf;
use std::sync::Arc;

use lockscope_access::{Access, Secret};
use lockscope_alerts::service::Alerts;
use lockscope_audit::SharedHeads;
use lockscope_cluster::Cluster;
use lockscope_cluster::shared_rows::Keeper;
use lockscope_postgres::Database;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_rows::Sharer;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::tasks::{TaskTracker, supervised};
use lockscope_view::SharedMemory;
use tokio::sync::watch;

use crate::config::{Config, HistoryPlace};
use crate::error::RunError;

/// Shares until `stop`, where there is something to share with. `log`: where the audit log is kept, if it is.
pub(super) fn start(
    config: &Config,
    cluster: Option<&Cluster>,
    (access, alerts, log): (&Access, &Alerts, Option<PathBuf>),
    clock: &Clock,
    (tasks, stop): (&TaskTracker, &CancellationToken),
) -> Result<Option<Arc<SharedHeads>>, RunError> {
    let place = config.history.as_ref().map(|history| &history.place);
    let (Some(cluster), Some(own), Some(HistoryPlace::Database(target))) = (cluster, &config.cluster, place) else {
        return Ok(None);
    };
    // Connections of its own: whoever reads the past keeps nobody's sign-in waiting.
    let database = Database::new(target.clone())
        .map_err(|error| RunError::Internal(format!("no thread for the database: {error}")))?;
    let (keeper, shared) = Keeper::new(&database, own.shares_as(), clock.clone());
    let exchange = Arc::new(shared.clone());
    let met = config.ensembles.iter().find(|ensemble| ensemble.name == own.ensemble);
    let secret = met.and_then(|ensemble| ensemble.identity.acting.shared_secret()).map(Secret::new);
    access.share(cluster.id().to_owned(), secret, exchange.clone());
    let [silences, acknowledgements, snoozes] = alerts.share(cluster.id(), exchange);
    let keeper = keeper.with(Arc::new(access.clone()) as Arc<dyn Sharer>);
    let heads = log.map(|dir| SharedHeads::new(cluster.id().to_owned(), dir, clock.clone()));
    let keeper = keeper.with(silences).with(acknowledgements).with(snoozes);
    let keeper = heads.iter().fold(keeper, |keeper, heads| keeper.with(heads.clone()));
    if let Some(heads) = heads.clone() {
        let followed = stop.clone().run_until_cancelled_owned(heads.follow());
        tasks.spawn(supervised("head of the audit log", async { _ = followed.await }));
    }
    tasks.spawn(supervised("what replicas share", keeper.run(stop.clone())));
    let told = stop.clone().run_until_cancelled_owned(tell(cluster.clone(), shared.state()));
    tasks.spawn(supervised("state of what replicas share", async { _ = told.await }));
    Ok(heads)
}

async fn tell(cluster: Cluster, mut state: watch::Receiver<SharedMemory>) {
    loop {
        let memory = state.borrow_and_update().clone();
        cluster.note_shared_memory(memory);
        if state.changed().await.is_err() {
            return;
        }
    }
}
