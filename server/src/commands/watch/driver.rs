//! The program in the terminal and its connection: what comes goes in, what it asks goes out, and a connection that is lost
//! is made again.

use std::time::Duration;

use lockscope_runtime::clock::{Clock, monotonic_us};
use lockscope_view::live::policy::backoff_ms;

use super::app::App;
use super::socket::{Socket, SocketEnd, SocketEvent};
use super::viewer::Moment;
use crate::commands::query::client::QueryClient;
use crate::error::RunError;

/// How often the clock is looked at, and the screen is drawn at most.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Both.
pub(super) struct Driver {
    pub(super) app: App,
    socket: Socket,
    clock: Clock,
    /// Connections that failed since something last came.
    attempt: u32,
    /// When to connect again, on the monotonic clock.
    retry_at_ms: Option<i64>,
}

impl Driver {
    /// Not connected yet.
    pub(super) fn new(app: App, client: QueryClient) -> Self {
        Self { app, socket: Socket::new(client), clock: Clock::system(), attempt: 0, retry_at_ms: None }
    }

    /// The server's address, as it was given.
    pub(super) fn base(&self) -> &str {
        self.socket.base()
    }

    /// Makes the first connection.
    ///
    /// # Errors
    /// Why there is none: whoever mistyped an address is told so, and is not kept waiting.
    pub(super) async fn begin(&mut self) -> Result<(), RunError> {
        self.socket.connect();
        match self.socket.next().await {
            SocketEvent::Ended(SocketEnd::Refused(error)) => Err(error),
            event => self.handle(event),
        }
    }

    /// Takes in what happens next on the connection.
    ///
    /// # Errors
    /// A server of another version.
    pub(super) async fn handle_next(&mut self) -> Result<(), RunError> {
        let event = self.socket.next().await;
        self.handle(event)
    }

    fn handle(&mut self, event: SocketEvent) -> Result<(), RunError> {
        let moment = self.moment();
        match event {
            SocketEvent::Opened => self.app.viewer.connected(moment),
            SocketEvent::Frame(frame) => {
                self.attempt = 0;
                self.app.viewer.take(*frame, moment);
            }
            SocketEvent::Ended(SocketEnd::OtherVersion) => {
                return Err(RunError::Unavailable(format!(
                    "--server {} sent an unexpected frame; use the same version of Lockscope on both sides",
                    self.base()
                )));
            }
            SocketEvent::Ended(end) => {
                let is_signed_out = matches!(end, SocketEnd::SignedOut | SocketEnd::Refused(RunError::Denied(_)));
                self.lose(moment, is_signed_out);
            }
        }
        self.flush();
        Ok(())
    }

    /// Looks at the clock.
    pub(super) fn tick(&mut self) {
        let moment = self.moment();
        if self.app.look(moment) {
            self.lose(moment, false);
        }
        if self.retry_at_ms.is_some_and(|at_ms| moment.steady_ms >= at_ms) {
            self.retry_at_ms = None;
            self.socket.connect();
        }
        self.flush();
    }

    /// Sends what is to be sent.
    pub(super) fn flush(&mut self) {
        let frames = self.app.viewer.outbox();
        if !self.socket.send(frames) {
            let moment = self.moment();
            self.lose(moment, false);
        }
    }

    fn lose(&mut self, moment: Moment, is_signed_out: bool) {
        self.socket.give_up();
        self.app.viewer.disconnected(moment, is_signed_out);
        if self.retry_at_ms.is_none() {
            // Many terminals that lost the same server come back at different times.
            let jitter = f64::from(u32::try_from(monotonic_us().rem_euclid(1_000)).unwrap_or_default()) / 1_000.0;
            self.retry_at_ms = Some(moment.steady_ms.saturating_add(backoff_ms(self.attempt, jitter)));
            self.attempt = self.attempt.saturating_add(1);
        }
    }

    fn moment(&self) -> Moment {
        Moment { wall_ms: self.clock.now_ms(), steady_ms: monotonic_us() / 1_000 }
    }
}
