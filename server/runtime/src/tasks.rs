//! Background tasks: each has a name, and a panic in one is caught and logged, and ends no other.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
pub use tokio_util::task::task_tracker::TaskTrackerToken;
pub use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Pause before a task begins anew: what made it panic may last.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// Spawns a supervised task that ends by itself.
pub fn spawn(name: &'static str, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(supervised(name, task))
}

/// A task that logs its panic, with its name, and then ends.
pub async fn supervised(name: &'static str, task: impl Future<Output = ()> + Send) {
    if let Err(panic) = AssertUnwindSafe(task).catch_unwind().await {
        tracing::error!(
            task = name,
            why = text(&*panic),
            "a task panicked and stopped; restart Lockscope, and report this"
        );
    }
}

/// A task without which the server does not do what it is there for: after a panic, which is logged, it begins anew, until it
/// ends by itself or `stop` is cancelled.
pub async fn restarted<F: Future<Output = ()> + Send>(
    name: &'static str,
    stop: CancellationToken,
    begin: impl FnMut() -> F,
) {
    restarted_after(RESTART_PAUSE, name, stop, begin).await;
}

async fn restarted_after<F: Future<Output = ()> + Send>(
    pause: Duration,
    name: &'static str,
    stop: CancellationToken,
    mut begin: impl FnMut() -> F,
) {
    while let Err(panic) = AssertUnwindSafe(begin()).catch_unwind().await {
        tracing::error!(task = name, why = text(&*panic), "a task panicked and begins anew; report this");
        if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
            return;
        }
    }
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_its_task_alone_and_is_caught() {
        let broken = spawn("broken", async { std::panic::panic_any("broke") });
        let whole = spawn("whole", async {});
        assert!(broken.await.is_ok() && whole.await.is_ok());
    }

    #[tokio::test]
    async fn a_task_begins_anew_after_a_panic_until_it_ends_or_all_does() {
        let (stop, mut times) = (CancellationToken::new(), 0);
        let begin = || {
            times += 1;
            let breaks = times < 3;
            async move {
                if breaks {
                    std::panic::panic_any("broke");
                }
            }
        };
        restarted_after(Duration::ZERO, "broken twice", stop.clone(), begin).await;
        assert_eq!(times, 3);
        stop.cancel();
        restarted("broken", stop, || async { std::panic::panic_any("broke") }).await;
    }

    #[test]
    fn what_a_panic_said_is_told() {
        assert_eq!(text(&"short"), "short");
        assert_eq!(text(&String::from("long")), "long");
        assert_eq!(text(&7), "a panic without a message");
    }
}
