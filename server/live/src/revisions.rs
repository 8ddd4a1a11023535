//! Waiting for changes of several sources at once, without a task that forwards them: it would wake with every change,
//! whether anybody looks or not.

use futures_util::future::select_all;
use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;

/// Numbers that rise with every change, each of one source.
#[derive(Clone, Debug, Default)]
pub struct Revisions(Vec<watch::Receiver<u64>>);

impl Revisions {
    pub fn of(sources: impl IntoIterator<Item = watch::Receiver<u64>>) -> Self {
        Self(sources.into_iter().collect())
    }

    #[must_use]
    pub fn and(&self, source: watch::Receiver<u64>) -> Self {
        Self(self.0.iter().cloned().chain([source]).collect())
    }

    /// Their sum: it rises with every change.
    pub fn latest(&self) -> u64 {
        self.0.iter().map(|source| *source.borrow()).sum()
    }

    /// Waits for a change that was not seen yet.
    ///
    /// # Errors
    /// When a source is gone.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        select_all(self.0.iter_mut().map(|source| Box::pin(source.changed()))).await.0
    }

    /// Whether a source is gone.
    pub fn is_closed(&self) -> bool {
        self.0.iter().any(|source| source.has_changed().is_err())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_change_of_any_source_is_seen_once() {
        let [(one, first), (two, second)] = [watch::channel(1), watch::channel(10)];
        let mut revisions = Revisions::of([first]).and(second);
        assert!(revisions.changed().now_or_never().is_none());
        one.send_replace(2);
        two.send_replace(20);
        assert_eq!(revisions.latest(), 22);
        assert!((0..2).all(|_| matches!(revisions.changed().now_or_never(), Some(Ok(())))));
        assert!(revisions.changed().now_or_never().is_none() && !revisions.is_closed());
        drop(two);
        assert!(revisions.changed().await.is_err() && revisions.is_closed());
    }
}
