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

/// The live views of one terminal.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) model: LiveModel,
    id: u32,
    connection: Connection,
    /// The socket is open, whether or not something came on it.
    is_connected: bool,
    local: LocalClock,
    server: ServerClock,
    dispute: Dispute,
    /// By the local clock.
    local_ms: i64,
    last_frame_at_ms: i64,
    lost_at_ms: Option<i64>,
    /// The server's clock, as the last frame had it.
    told_ms: i64,
    /// Where the clock stands while paused.
    paused_at_ms: Option<i64>,
    fresh: bool,
}

impl Viewer {
    /// Of a view, before anything is connected.
    pub(super) fn new(view: View) -> Self {
        let mut model = LiveModel::default();
        let id = model.open(view, None);
        Self {
            model,
            id,
            connection: Connection::Opening,
            is_connected: false,
            local: LocalClock::default(),
            server: ServerClock::default(),
            dispute: Dispute::default(),
            local_ms: 0,
            last_frame_at_ms: 0,
            lost_at_ms: None,
            told_ms: 0,
            paused_at_ms: None,
            fresh: true,
        }
    }

    /// Another view in place of this one.
    pub(super) fn open(&mut self, view: View) {
        self.id = self.model.open(view, None);
        self.paused_at_ms = None;
    }

    /// The same view from another place, or in another order.
    pub(super) fn look_at(&mut self, view: View) {
        self.model.look_at(self.id, view);
    }

    /// The frames to send.
    pub(super) fn outbox(&mut self) -> Vec<ClientFrame> {
        self.model.take_outbox()
    }

    /// The socket is open.
    pub(super) fn connected(&mut self, moment: Moment) {
        self.at(moment);
        self.last_frame_at_ms = self.local_ms;
        self.is_connected = true;
        self.server.forget();
        self.model.connected();
    }

    /// The socket is closed, or was given up.
    pub(super) fn disconnected(&mut self, moment: Moment, is_signed_out: bool) {
        self.at(moment);
        self.is_connected = false;
        self.model.disconnected();
        if matches!(self.connection, Connection::Open | Connection::Back { .. }) {
            self.lost_at_ms = Some(self.local_ms);
        }
        self.connection = if is_signed_out { Connection::SignedOut } else { Connection::Lost };
    }

    /// A frame came.
    pub(super) fn take(&mut self, frame: CompactFrame, moment: Moment) {
        self.at(moment);
        self.last_frame_at_ms = self.local_ms;
        let taken = self.model.take(frame);
        self.model.draw();
        if let Some(server_ms) = taken.server_time_ms {
            self.server.heard(server_ms, self.local_ms);
            self.told_ms = server_ms;
            match self.connection {
                Connection::Opening => self.connection = Connection::Open,
                Connection::Lost | Connection::SignedOut => self.connection = Connection::Back { at_ms: server_ms },
                Connection::Open | Connection::Back { .. } => {}
            }
        }
        self.judge();
    }

    /// Looks at the clock. True when the connection is to be given up for a new one: nothing came on it for too long, or
    /// what comes is far too late.
    #[must_use]
    pub(super) fn look(&mut self, moment: Moment) -> bool {
        self.at(moment);
        self.judge();
        let known_at_ms = self.model.known_at_ms();
        let server_says = known_at_ms.is_none_or(|known_at_ms| is_fresh(known_at_ms, self.told_ms));
        let is_disputed = self.dispute.lasts(server_says, self.fresh, self.local_ms);
        self.is_connected && (is_disputed || is_silent(self.last_frame_at_ms, self.local_ms))
    }

    /// Pauses or goes on.
    pub(super) fn toggle_pause(&mut self) {
        let now_ms = self.server_now_ms();
        let is_paused = self.paused_at_ms.is_none();
        self.model.set_paused(is_paused);
        self.paused_at_ms = is_paused.then_some(now_ms);
        self.judge();
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

    /// How the link to the data stands.
    pub(super) fn link(&self) -> LinkState {
        let as_of = self.model.body().and_then(as_of);
        let known_at_ms = self.model.known_at_ms();
        let freshness = if self.fresh { Freshness::Fresh } else { Freshness::Stale };
        link_state(self.connection, as_of.as_ref(), self.model.awaits_data(), freshness, known_at_ms)
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
    fn judge(&mut self) {
        let (now_ms, known_at_ms) = (self.server_now_ms(), self.model.known_at_ms());
        let is_paused = self.is_paused();
        self.fresh = is_paused || known_at_ms.is_none_or(|known_at_ms| is_fresh(known_at_ms, now_ms));
        if let Connection::Back { at_ms } = self.connection
            && (is_paused || known_at_ms.is_some_and(|known_at_ms| known_at_ms >= at_ms))
        {
            self.connection = Connection::Open;
            self.lost_at_ms = None;
        }
    }

    fn at(&mut self, moment: Moment) {
        self.local_ms = self.local.now_ms(moment.wall_ms, moment.steady_ms);
    }
}
