//! Blocking work whose asker may leave: it is cancelled as soon as nobody waits for its result, and loops deep in a store ask
//! here whether to go on. The token belongs to the thread while it does the job, so no call in between carries it.

use tokio::task::{self, JoinError};

use crate::shutdown::{self, CancellationToken};

tokio::task_local! {
    static CURRENT: CancellationToken;
}

/// The token of the job that this thread does; one that is never cancelled outside of a job.
pub fn current() -> CancellationToken {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// Whether nobody waits any more for what this thread does.
pub fn is_cancelled() -> bool {
    CURRENT.try_with(CancellationToken::is_cancelled).unwrap_or_default()
}

/// Runs a job on a thread for blocking work. Dropping the future cancels the job.
///
/// # Errors
/// When the job panicked.
pub async fn spawn_blocking<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Result<T, JoinError> {
    let (_waiting, token) = shutdown::token();
    task::spawn_blocking(move || CURRENT.sync_scope(token, job)).await
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn a_dropped_job_is_cancelled_and_others_are_not() {
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (end, ended) = mpsc::channel();
        let job = tokio::spawn(spawn_blocking(move || {
            let _ = begin.send(());
            while !is_cancelled() {
                thread::yield_now();
            }
            let _ = end.send(current().is_cancelled());
        }));
        begun.await.unwrap();
        assert!(!spawn_blocking(is_cancelled).await.unwrap());
        job.abort();
        assert!(job.await.is_err());
        assert!(task::spawn_blocking(move || ended.recv().unwrap()).await.unwrap());
        assert!(!is_cancelled() && !current().is_cancelled());
    }
}
