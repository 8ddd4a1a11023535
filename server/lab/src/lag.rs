//! How late our own timers are: when this process can't keep up, every latency that it measures is too long.

use std::sync::Arc;
use std::time::Duration;

use lockscope_view::Spread;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::figures::Latencies;
use lockscope_runtime::clock;

/// How long each sleep is to take.
const STEP: Duration = Duration::from_millis(5);

/// Measures until it is dropped.
#[derive(Debug)]
pub(super) struct LagProbe {
    lags: Arc<Mutex<Latencies>>,
    task: JoinHandle<()>,
}

impl LagProbe {
    pub(super) fn start() -> Self {
        let lags = Arc::new(Mutex::new(Latencies::default()));
        let to = Arc::clone(&lags);
        let task = tokio::spawn(async move {
            loop {
                let begin = clock::instant();
                tokio::time::sleep(STEP).await;
                let late = begin.elapsed().saturating_sub(STEP);
                let late_us = u64::try_from(late.as_micros()).unwrap_or(u64::MAX);
                to.lock().record(late_us);
            }
        });
        Self { lags, task }
    }

    /// What was measured so far, ms.
    pub(super) fn spread(&self) -> Spread {
        self.lags.lock().spread()
    }
}

impl Drop for LagProbe {
    fn drop(&mut self) {
        self.task.abort();
    }
}
