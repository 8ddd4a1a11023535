//! Background tasks: each has a name, and a panic in one is caught and logged, and ends no other.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::task::JoinHandle;
pub use tokio_util::task::TaskTracker;
pub use tokio_util::task::task_tracker::TaskTrackerToken;

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

    #[test]
    fn what_a_panic_said_is_told() {
        assert_eq!(text(&"short"), "short");
        assert_eq!(text(&String::from("long")), "long");
        assert_eq!(text(&7), "a panic without a message");
    }
}
