//! Sample contention: every contender is a real ZooKeeper session of its own that behaves as its recipe's library
//! does. Owns contenders and their pace; must not know the observer.

mod contender;
mod cut;
mod scenes;
mod spawn;

use std::sync::Arc;

use tokio::sync::watch;

pub use spawn::WorkloadError;

/// Contenders of all scenes together. A named maximum: the sample must never become a load test.
pub const CONTENDERS_MAX: usize = 64;

/// Runs all scenes until `stop` turns true (or its sender is dropped), then closes every session.
pub async fn run_workload(connect: &str, stop: watch::Receiver<bool>) -> Result<(), WorkloadError> {
    let connect: Arc<str> = connect.into();
    spawn::prepare(&connect).await?;
    let mut tasks = tokio::task::JoinSet::new();
    for scene in scenes::all() {
        if tasks.len() >= CONTENDERS_MAX {
            tracing::warn!(max = CONTENDERS_MAX, "no more sample contenders");
            break;
        }
        tasks.spawn(spawn::keep_going(scene, Arc::clone(&connect), stop.clone()));
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "a sample contender failed");
        }
    }
    Ok(())
}
