//! One word for "stop" that every task understands, and the signals that say it. Knows no task.

use std::io;

use tokio::sync::watch;

/// Says stop, once. Dropping it says stop too, so that no task outlives who started it.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Hears stop; cheap to clone.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

/// A pair.
pub fn channel() -> (Stopper, Stop) {
    let (tx, rx) = watch::channel(false);
    (Stopper(tx), Stop(rx))
}

impl Stopper {
    /// Says stop.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether stop was said.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// The same as a bare channel, for modules that know no more of us.
    pub fn receiver(&self) -> watch::Receiver<bool> {
        self.0.clone()
    }

    /// Waits until stop is said.
    pub async fn stopped(&self) {
        // An error means that the stopper is gone, which is a stop as well.
        let _ = self.0.clone().wait_for(|stopped| *stopped).await;
    }
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

    /// Waits for the next of either and gives its name.
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
    async fn stop_reaches_every_clone_also_when_the_stopper_is_dropped() {
        let (stopper, stop) = channel();
        let clone = stop.clone();
        assert!(!clone.is_stopped());
        stopper.stop();
        clone.stopped().await;
        assert!(stop.is_stopped());

        let (stopper, stop) = channel();
        drop(stopper);
        stop.stopped().await;
        assert!(stop.is_stopped());
    }
}
