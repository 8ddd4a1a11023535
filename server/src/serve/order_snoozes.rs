//! Warnings of lock orders that are silenced: each model is told, at the start and whenever that changes.

use std::sync::Arc;

use alerts::service::OrderSnoozes;
use lockscope_core::observation::Observation;
use tokio::sync::{mpsc, watch};

use feed::project::snoozes_observation;

/// Where a model takes observations in, by the name of its ensemble.
pub(super) type Target = (String, mpsc::WeakSender<Vec<Observation>>);

/// Tells the models until there is nobody to be told. They take it in as everything else, so that it is recorded.
pub(super) async fn follow(mut snoozes: watch::Receiver<OrderSnoozes>, targets: Vec<Target>) {
    loop {
        let now = Arc::clone(&snoozes.borrow_and_update());
        for (ensemble, target) in &targets {
            let Some(target) = target.upgrade() else { return };
            // An engine that is gone takes the process with it.
            let _ = target.send(vec![snoozes_observation(&now, ensemble)]).await;
        }
        if snoozes.changed().await.is_err() {
            return;
        }
    }
}
