//! Hears what is logged on this thread.

use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, set_default};

/// Nobody's. With one subscriber alone, a line that first comes up on another thread, which has none, would be taken
/// for one that nobody wants, also here.
static SPARE: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));

/// Lines that were logged.
#[derive(Clone, Default)]
pub(crate) struct Logs(Arc<Mutex<Vec<u8>>>);

impl Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Logs {
    /// Listens for as long as the guard is kept.
    pub(crate) fn hear(level: tracing::Level) -> (Self, DefaultGuard) {
        LazyLock::force(&SPARE);
        let logs = Self::default();
        let writer = logs.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (logs, set_default(subscriber))
    }

    /// The lines logged while this runs.
    pub(crate) fn of(run: impl FnOnce()) -> Vec<String> {
        let (logs, guard) = Self::hear(tracing::Level::INFO);
        run();
        drop(guard);
        logs.text().lines().map(str::to_owned).collect()
    }

    /// Everything so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}
