//! Warnings of lock orders that are silenced: each model is told whenever that changes. Who starts a model tells it what
//! is silenced then.

use std::sync::Arc;

use lockscope_alerts::service::OrderSnoozes;
use tokio::sync::{mpsc, watch};

use super::ensembles::Model;
use lockscope_live::project::snoozes_observation;
use lockscope_runtime::shared_list::SharedList;

/// Tells the models. They take it in as everything else, so that it is recorded.
pub(super) async fn follow(mut snoozes: watch::Receiver<OrderSnoozes>, models: SharedList<Model>) {
    loop {
        let now = Arc::clone(&snoozes.borrow_and_update());
        let models = models.now();
        for (ensemble, model) in models.iter() {
            // One whose engine is gone is shown no more, or takes the process with it.
            let Some(model) = mpsc::WeakSender::upgrade(model) else { continue };
            let _ = model.send(vec![snoozes_observation(&now, ensemble)]).await;
        }
        drop(models);
        if snoozes.changed().await.is_err() {
            return;
        }
    }
}
