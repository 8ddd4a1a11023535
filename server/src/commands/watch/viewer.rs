//! What is known, how old it is, and whether it may be called live: the page's own rules (`lockscope_view::live`), for a
//! terminal. Pure: time is an argument.

use lockscope_view::live::policy::{Dispute, LocalClock, ServerClock, is_silent};
use lockscope_view::live::{Connection, LinkState, LiveModel, as_of, link_state};
use lockscope_view::{ClientFrame, CompactFrame, Freshness, View, is_fresh};

use super::words;

/// What this machine's clocks show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Wall clock, ms since the Unix epoch.
    pub(super) wall_ms: i64,
    /// A clock that is never set, ms since some instant.
    pub(super) steady_ms: i64,
}

/// The live view of one terminal.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) model: LiveModel,
    id: u32,
    connection: Connection,
    local: LocalClock,
    server: ServerClock,
    dispute: Dispute,
    local_ms: i64,
    /// When the open socket was last heard, by the local clock; None while none is open.
    last_frame_at_ms: Option<i64>,
    /// By the local clock.
    lost_at_ms: Option<i64>,
    /// The server's clock in the last frame.
    frame_server_ms: i64,
    paused_at_ms: Option<i64>,
}

impl Viewer {
    pub(super) fn new(view: View) -> Self {
        let mut model = LiveModel::default();
        let id = model.open(view, None);
        Self {
            model,
            id,
            connection: Connection::Opening,
            local: LocalClock::default(),
            server: ServerClock::default(),
            dispute: Dispute::default(),
            local_ms: 0,
            last_frame_at_ms: None,
            lost_at_ms: None,
            frame_server_ms: 0,
            paused_at_ms: None,
        }
    }

    pub(super) fn open(&mut self, view: View) {
        self.id = self.model.open(view, None);
        self.paused_at_ms = None;
    }

    /// The same view from another place, or in another order.
    pub(super) fn look_at(&mut self, view: View) {
        self.model.look_at(self.id, view);
    }

    pub(super) fn outbox(&mut self) -> Vec<ClientFrame> {
        self.model.take_outbox()
    }

    pub(super) fn connected(&mut self, moment: Moment) {
        self.set_clock(moment);
        self.last_frame_at_ms = Some(self.local_ms);
        self.server.forget();
        self.model.connected();
    }

    /// The socket is closed, or was given up.
    pub(super) fn disconnected(&mut self, moment: Moment, is_signed_out: bool) {
        self.set_clock(moment);
        self.last_frame_at_ms = None;
        self.model.disconnected();
        if matches!(self.connection, Connection::Open | Connection::Back { .. }) {
            self.lost_at_ms = Some(self.local_ms);
        }
        self.connection = if is_signed_out { Connection::SignedOut } else { Connection::Lost };
    }

    pub(super) fn take(&mut self, frame: CompactFrame, moment: Moment) {
        self.set_clock(moment);
        self.last_frame_at_ms = Some(self.local_ms);
        let applied = self.model.take(frame);
        self.model.draw();
        if let Some(server_ms) = applied.server_time_ms {
            self.server.heard(server_ms, self.local_ms);
            self.frame_server_ms = server_ms;
            match self.connection {
                Connection::Opening => self.connection = Connection::Open,
                Connection::Lost | Connection::SignedOut => self.connection = Connection::Back { at_ms: server_ms },
                Connection::Open | Connection::Back { .. } => {}
            }
        }
        self.end_resync();
    }

    /// Reads the clock. True when the connection is to be given up for a new one: nothing came on it for too long, or
    /// what comes is far too late.
    #[must_use]
    pub(super) fn look(&mut self, moment: Moment) -> bool {
        self.set_clock(moment);
        let known_at_ms = self.model.known_at_ms();
        let server_says = known_at_ms.is_none_or(|known_at_ms| is_fresh(known_at_ms, self.frame_server_ms));
        let is_disputed = self.dispute.lasts(server_says, self.is_fresh(), self.local_ms);
        self.last_frame_at_ms.is_some_and(|at_ms| is_disputed || is_silent(at_ms, self.local_ms))
    }

    pub(super) fn toggle_pause(&mut self) {
        self.paused_at_ms = if self.is_paused() { None } else { Some(self.server_now_ms()) };
        self.model.set_paused(self.is_paused());
        self.end_resync();
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused_at_ms.is_some()
    }

    /// The server's clock; it stands while paused.
    pub(super) fn now_ms(&self) -> i64 {
        self.paused_at_ms.unwrap_or_else(|| self.server_now_ms())
    }

    fn server_now_ms(&self) -> i64 {
        self.server.now_ms(self.local_ms).unwrap_or_default()
    }

    pub(super) fn link(&self) -> LinkState {
        let as_of = self.model.body().and_then(as_of);
        let freshness = if self.is_fresh() { Freshness::Fresh } else { Freshness::Stale };
        link_state(self.connection, as_of.as_ref(), self.model.awaits_data(), freshness, self.model.known_at_ms())
    }

    /// The same as one word and one sentence. Ages in it go on while paused.
    pub(super) fn link_words(&self) -> (String, String) {
        let (now_ms, known_at_ms) = (self.server_now_ms(), self.model.known_at_ms());
        if self.connection == Connection::Lost {
            // From one local clock to the other: by how much the server is ahead of us.
            let lost_at_ms = self.lost_at_ms.and_then(|local_ms| self.server.now_ms(local_ms));
            return words::lost(lost_at_ms, known_at_ms, now_ms);
        }
        words::link(&self.link(), self.is_paused(), known_at_ms, now_ms)
    }

    /// Whether what is shown may be called live: a question of its age alone. A paused view stands still and says so.
    fn is_fresh(&self) -> bool {
        let known_at_ms = self.model.known_at_ms();
        self.is_paused() || known_at_ms.is_none_or(|known_at_ms| is_fresh(known_at_ms, self.server_now_ms()))
    }

    /// After a loss, what is shown is current again once it is known to be true of a later instant.
    fn end_resync(&mut self) {
        let known_at_ms = self.model.known_at_ms();
        if let Connection::Back { at_ms } = self.connection
            && (self.is_paused() || known_at_ms.is_some_and(|known_at_ms| known_at_ms >= at_ms))
        {
            self.connection = Connection::Open;
            self.lost_at_ms = None;
        }
    }

    fn set_clock(&mut self, moment: Moment) {
        self.local_ms = self.local.now_ms(moment.wall_ms, moment.steady_ms);
    }
}
