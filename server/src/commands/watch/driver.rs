//! The program in the terminal and its connection: what comes goes in, what it asks goes out, and a connection that is lost
//! is made again.

use std::sync::Arc;
use std::time::Duration;

use lockscope_runtime::clock::{Clock, monotonic_us};
use lockscope_view::live::policy::backoff_ms;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::app::App;
use super::socket::{Socket, SocketEvent};
use super::viewer::Moment;
use crate::commands::query::client::QueryClient;
use crate::error::RunError;

/// How often the clock is read, and the screen is drawn at most.
const TICK: Duration = Duration::from_millis(100);

/// The program and its connection.
pub(super) struct Driver {
    pub(super) app: App,
    client: Arc<QueryClient>,
    socket: Option<Socket>,
    clock: Clock,
    ticks: Interval,
    /// Connections that failed since something last came.
    attempt: u32,
    /// When to connect again, on the monotonic clock.
    retry_at_ms: Option<i64>,
}

/// What was waited for and is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// On the connection.
    Event,
    Tick,
}

impl Driver {
    pub(super) fn new(app: App, client: QueryClient) -> Self {
        let (client, mut ticks) = (Arc::new(client), interval(TICK));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self { app, client, socket: None, clock: Clock::system(), ticks, attempt: 0, retry_at_ms: None }
    }

    pub(super) fn base(&self) -> &str {
        self.client.base()
    }

    /// Makes the first connection.
    ///
    /// # Errors
    /// Why there is none: a mistyped address is an error at once, and not tried again.
    pub(super) async fn begin(&mut self) -> Result<(), RunError> {
        let socket = self.socket.insert(Socket::connect(&self.client));
        match socket.next().await {
            SocketEvent::Refused(error) => Err(error),
            event => self.handle(event),
        }
    }

    /// Waits for the connection or the clock, and handles it.
    ///
    /// # Errors
    /// A server of another version.
    pub(super) async fn next(&mut self) -> Result<Happening, RunError> {
        let socket = &mut self.socket;
        let event = async {
            match socket {
                Some(socket) => socket.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = event => self.handle(event).map(|()| Happening::Event),
            _ = self.ticks.tick() => {
                self.tick();
                Ok(Happening::Tick)
            }
        }
    }

    fn handle(&mut self, event: SocketEvent) -> Result<(), RunError> {
        let moment = self.moment();
        match event {
            SocketEvent::Opened => self.app.viewer.connected(moment),
            SocketEvent::Frame(frame) => {
                self.attempt = 0;
                self.app.viewer.take(*frame, moment);
            }
            SocketEvent::OtherVersion => {
                return Err(RunError::Unavailable(format!(
                    "--server {} sent an unexpected frame; use the same version of Lockscope on both sides",
                    self.base()
                )));
            }
            SocketEvent::SignedOut | SocketEvent::Refused(RunError::Denied(_)) => self.lose(moment, true),
            SocketEvent::Lost | SocketEvent::Refused(_) => self.lose(moment, false),
        }
        self.flush();
        Ok(())
    }

    fn tick(&mut self) {
        let moment = self.moment();
        if self.app.look(moment) {
            self.lose(moment, false);
        }
        if self.retry_at_ms.is_some_and(|at_ms| moment.steady_ms >= at_ms) {
            self.retry_at_ms = None;
            self.socket = Some(Socket::connect(&self.client));
        }
        self.flush();
    }

    pub(super) fn flush(&mut self) {
        let frames = self.app.viewer.outbox();
        if self.socket.as_ref().is_some_and(|socket| !socket.send(frames)) {
            self.lose(self.moment(), false);
        }
    }

    fn lose(&mut self, moment: Moment, is_signed_out: bool) {
        self.socket = None;
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
