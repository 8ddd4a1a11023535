//! Sample contention: every contender is a real ZooKeeper session of its own that behaves as its recipe's library
//! does. Owns contenders and their pace; must not know the observer.

mod barrier;
mod cut;
mod deadlock;
mod duplicate;
mod hang;
mod mutex;
mod names;
mod opposite;
mod pace;
mod queue;
mod queue_node;
mod read_write;
mod sample_client;
mod scenes;
mod semaphore;
mod spawn;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub use pace::Pace;
pub use spawn::WorkloadError;

/// Contenders of all scenes together. A named maximum: the sample must never become a load test.
pub const CONTENDERS_MAX: usize = 72;

/// Runs all scenes until `stop` is cancelled, then closes every session and takes away what
/// would outlive them.
pub async fn run_workload(connect: &str, pace: Pace, stop: CancellationToken) -> Result<(), WorkloadError> {
    let connect: Arc<str> = connect.into();
    let scenes = scenes::all();
    spawn::prepare(&connect, &scenes).await?;
    let mut tasks = tokio::task::JoinSet::new();
    for scene in scenes.iter().take(CONTENDERS_MAX) {
        tasks.spawn(spawn::keep_going(scene.clone(), Arc::clone(&connect), pace, stop.clone()));
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "a sample contender failed");
        }
    }
    spawn::tidy(&connect, &scenes).await
}
