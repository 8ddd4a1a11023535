//! What a live socket's subscriptions wait for, made beside the socket: its other views and its heartbeats go on meanwhile.
//! One is made at a time, in the order in which they were asked for: a socket holds no more than one that is made.

use std::collections::VecDeque;
use std::pin::Pin;

use lockscope_live::FrameError;
use lockscope_runtime::tasks::AbortOnDropHandle;

type Work<T> = Pin<Box<dyn Future<Output = Result<T, FrameError>> + Send>>;

/// What the subscriptions of one socket wait for, one thing each at most.
pub(super) struct Beside<T> {
    waiting: VecDeque<(u32, Work<T>)>,
    /// A task of its own: a socket that sends for long must not keep a turn that others wait for.
    running: Option<(u32, AbortOnDropHandle<Result<T, FrameError>>)>,
}

impl<T: Send + 'static> Beside<T> {
    pub(super) const fn new() -> Self {
        Self { waiting: VecDeque::new(), running: None }
    }

    /// Has something made for a subscription, instead of what it wanted before.
    pub(super) fn ask(&mut self, id: u32, work: impl Future<Output = Result<T, FrameError>> + Send + 'static) {
        self.forget(id);
        self.waiting.push_back((id, Box::pin(work)));
    }

    pub(super) fn forget(&mut self, id: u32) {
        self.waiting.retain(|(of, _)| *of != id);
        self.running.take_if(|(of, _)| *of == id);
    }

    /// Waits for the next that is made; for ever where none is.
    pub(super) async fn next(&mut self) -> (u32, Result<T, FrameError>) {
        let begin = |(id, work): (u32, Work<T>)| (id, AbortOnDropHandle::new(tokio::spawn(work)));
        self.running = self.running.take().or_else(|| self.waiting.pop_front().map(begin));
        let Some((id, task)) = &mut self.running else { return std::future::pending().await };
        let (id, made) = (*id, task.await);
        self.running = None;
        let failed = || FrameError { id: Some(id), detail: "the server failed at this view; report this".to_owned() };
        (id, made.unwrap_or_else(|_| Err(failed())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::poll;
    use std::pin::pin;
    use std::sync::Arc;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn one_is_made_at_a_time_in_order() {
        let (mut beside, go) = (Beside::new(), Arc::new(Notify::new()));
        for id in 1..=3 {
            let go = go.clone();
            beside.ask(id, async move {
                go.notified().await;
                Ok(id)
            });
        }
        assert!(poll!(pin!(beside.next())).is_pending());
        beside.forget(2);
        for id in [1, 3] {
            go.notify_one();
            assert_eq!(beside.next().await, (id, Ok(id)));
        }
        assert!(poll!(pin!(beside.next())).is_pending(), "the second was forgotten");
    }

    #[tokio::test]
    async fn what_is_replaced_is_ended() {
        let (mut beside, kept) = (Beside::new(), Arc::new(()));
        let held = kept.clone();
        beside.ask(1, async move {
            let _held = held;
            std::future::pending().await
        });
        assert!(poll!(pin!(beside.next())).is_pending());
        beside.ask(1, async { Ok(2) });
        assert_eq!(beside.next().await, (1, Ok(2)));
        while Arc::strong_count(&kept) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
