//! How late this machine runs what is due: measured by a thread that does nothing else. What is late here is late in
//! the program under test and in the capture as well, so the judge is given it as tolerance.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Pause between two ticks.
const TICK: Duration = Duration::from_millis(10);

/// Measures from its start until it is asked.
#[derive(Debug)]
pub struct Ticker {
    worst_ms: Arc<AtomicI64>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub fn start() -> Self {
        let (worst_ms, is_over) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicBool::new(false)));
        let (worst, over) = (Arc::clone(&worst_ms), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let begin = Instant::now();
                std::thread::sleep(TICK);
                let late = begin.elapsed().saturating_sub(TICK);
                worst.fetch_max(i64::try_from(late.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
            }
        });
        Self { worst_ms, is_over, thread: Some(thread) }
    }

    /// The longest delay so far.
    pub fn worst_ms(&self) -> i64 {
        self.worst_ms.load(Ordering::Relaxed)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
