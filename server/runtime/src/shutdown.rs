//! Stopping: the token that tasks wait for, and the signals that ask the process to stop. Knows no task.

use std::io;

pub use tokio_util::sync::{CancellationToken, DropGuard};

/// A token for tasks, and the guard that cancels it when dropped, so that no task outlives its owner.
pub fn token() -> (DropGuard, CancellationToken) {
    let token = CancellationToken::new();
    (token.clone().drop_guard(), token)
}

/// Listens for SIGHUP, which asks to read the configuration again.
#[derive(Debug)]
pub struct HangUp(tokio::signal::unix::Signal);

impl HangUp {
    /// Takes the signal over from its default action, which is to end.
    ///
    /// # Errors
    /// When the system refuses the handler.
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Waits for the next; false when there will be none.
    pub async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

/// Listens for SIGINT and SIGTERM.
#[derive(Debug)]
pub struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// Takes both signals over from their default action.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dropped_guard_cancels_every_clone() {
        let (guard, token) = token();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        drop(guard);
        clone.cancelled().await;
        assert!(token.is_cancelled());
    }
}
