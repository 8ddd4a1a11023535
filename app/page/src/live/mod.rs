//! Live data in the browser: one socket, one model, one version signal that is set once between two paints.

mod age_clock;
mod draw;
mod pace;
mod socket;
mod viewport;

use leptos::prelude::*;

use age_clock::AgeClock;
#[cfg(feature = "hydrate")]
pub(crate) use age_clock::{STEPS_MS, step_at_once};
use draw::Drawing;

use crate::follow::{follow, followed};
use crate::ports::InitialView;
#[cfg(feature = "hydrate")]
use lockscope_view::LabRun;
pub(crate) use lockscope_view::live::Connection;
use lockscope_view::live::LiveModel;
pub(crate) use lockscope_view::live::beside;
use lockscope_view::live::policy::{Dispute, LocalClock, ServerClock};
use lockscope_view::{
    Board, BoardHead, Body, CompactFrame, Epoch, Freshness, Link, LockPage, Query, QueueMap, SessionPage, Sessions,
    Status, View, Waits, is_fresh,
};
pub(crate) use viewport::{FETCH_ROWS, Fetch, Places, Viewport, scroll_to_row, use_fetch, use_places, use_viewport};

/// How often it is looked whether what is shown is still live.
const TICK: std::time::Duration = std::time::Duration::from_millis(250);
/// What else is told by the clock moves on with every so many looks.
const LOOKS_A_MOVE: u32 = 2;

#[derive(Clone, Copy)]
pub(crate) struct Live {
    model: StoredValue<LiveModel>,
    version: RwSignal<u64>,
    now_ms: RwSignal<i64>,
    ages: AgeClock,
    /// The server's clock when it rendered the document.
    first_ms: StoredValue<i64>,
    clocks: StoredValue<Clocks>,
    connection: RwSignal<Connection>,
    freshness: RwSignal<Freshness>,
    paused: RwSignal<bool>,
    /// When the server ended the sign-in of whoever looks, by its clock.
    sign_in_ended_ms: RwSignal<Option<i64>>,
    drawing: StoredValue<Drawing>,
}

#[derive(Debug, Default)]
struct Clocks {
    local: LocalClock,
    server: ServerClock,
    /// The server's clock, as the last frame had it.
    told_ms: i64,
    dispute: Dispute,
    looks: u32,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self {
            model: StoredValue::new(LiveModel::default()),
            version: RwSignal::new(0),
            now_ms: RwSignal::new(0),
            ages: AgeClock::new(),
            first_ms: StoredValue::new(0),
            clocks: StoredValue::new(Clocks::default()),
            connection: RwSignal::new(Connection::Opening),
            freshness: RwSignal::new(Freshness::Fresh),
            paused: RwSignal::new(false),
            sign_in_ended_ms: RwSignal::new(None),
            drawing: StoredValue::new(Drawing::default()),
        }
    }

    /// One that shows nothing live: its clock stands.
    #[cfg(feature = "ssr")]
    pub(crate) fn at(now_ms: i64) -> Self {
        let live = Self::new();
        live.now_ms.set(now_ms);
        live
    }

    pub(crate) fn of_app() -> Self {
        use_context().unwrap_or_else(Self::new)
    }

    /// Starts a view from what the server rendered, if it did, and ends it with the calling component.
    pub(crate) fn open<Q: Query>(self, query: Q, first: Option<InitialView<Q::Answer>>) -> OpenView {
        let first = first.map(|first| {
            self.now_ms.update_untracked(|now_ms| *now_ms = (*now_ms).max(first.server_time_ms));
            self.first_ms.update_value(|first_ms| *first_ms = (*first_ms).max(first.server_time_ms));
            (first.epoch, first.seq, first.known_at_ms, Q::body(first.value))
        });
        let first: Option<(Epoch, u64, i64, Body)> = first;
        let id = self.model.try_update_value(|model| model.open(query.view(), first)).unwrap_or_default();
        self.paused.set(false);
        self.has_all_rows(false);
        self.bump();
        self.flush();
        on_cleanup(move || {
            self.model.try_update_value(|model| model.close(id));
            self.flush();
        });
        OpenView { live: self, id }
    }

    pub(crate) fn connection(self) -> Connection {
        followed(self.connection)
    }

    /// When the sign-in of whoever looks ended, while this page was open. What is shown may be live all the same: as
    /// nobody in particular sees it.
    pub(crate) fn sign_in_ended_ms(self) -> Option<i64> {
        followed(self.sign_in_ended_ms)
    }

    pub(crate) fn freshness(self) -> Freshness {
        followed(self.freshness)
    }

    /// Up to when what is shown is known to be true, on the server's clock.
    pub(crate) fn known_at_ms(self) -> Option<i64> {
        follow(self.version);
        self.model.with_value(LiveModel::known_at_ms)
    }

    /// The server's clock; moves only in the browser, and not while paused.
    pub(crate) fn now_ms(self) -> i64 {
        followed(self.now_ms)
    }

    /// The server's clock for an age: it moves when another second of that is over.
    pub(crate) fn now_of_age_ms(self, since_ms: i64) -> i64 {
        self.ages.now_ms(since_ms).max(self.now_ms.get_untracked())
    }

    /// The clock for ages, without a subscription.
    pub(crate) fn now_of_ages_ms(self) -> i64 {
        self.ages.now_untracked_ms().max(self.now_ms.get_untracked())
    }

    pub(crate) fn is_paused(self) -> bool {
        followed(self.paused)
    }

    pub(crate) fn toggle_pause(self) {
        let paused = !self.paused.get_untracked();
        // What stands still stands as it is known.
        self.draw_what_waits();
        self.model.update_value(|model| model.set_paused(paused));
        self.paused.set(paused);
        self.flush();
    }

    /// Another one whenever what is shown is another, without a subscription.
    pub(crate) fn version_untracked(self) -> u64 {
        self.version.get_untracked()
    }

    /// Reads the board and subscribes the caller to its changes.
    pub(crate) fn board<R>(self, read: impl FnOnce(&Board) -> R) -> Option<R> {
        self.body(|body| if let Body::Board(board) = body { Some(read(board)) } else { None })
    }

    /// Reads what is the matter with any lock, on whatever page.
    pub(crate) fn board_head<R>(self, read: impl FnOnce(&BoardHead) -> R) -> Option<R> {
        follow(self.version);
        self.model.with_value(|model| model.board_head().map(read))
    }

    pub(crate) fn board_untracked(self, read: impl FnOnce(&Board)) {
        self.model.with_value(|model| {
            if let Some(Body::Board(board)) = model.body() {
                read(board);
            }
        });
    }

    /// Reads the lock; None inside when there is none at that path.
    pub(crate) fn lock<R>(self, read: impl FnOnce(Option<&LockPage>) -> R) -> Option<R> {
        self.body(|body| if let Body::Lock(page) = body { Some(read(page.as_deref())) } else { None })
    }

    pub(crate) fn sessions<R>(self, read: impl FnOnce(&Sessions) -> R) -> Option<R> {
        self.body(|body| if let Body::Sessions(sessions) = body { Some(read(sessions)) } else { None })
    }

    /// Reads the session; None inside when nothing is known of it.
    pub(crate) fn session<R>(self, read: impl FnOnce(Option<&SessionPage>) -> R) -> Option<R> {
        self.body(|body| if let Body::Session(page) = body { Some(read(page.as_deref())) } else { None })
    }

    /// Asks for the map of a queue besides, or for none any more.
    pub(crate) fn survey(self, view: Option<View>) {
        self.model.try_update_value(|model| model.survey(view));
        self.flush();
    }

    pub(crate) fn queue_map<R>(self, read: impl FnOnce(&QueueMap) -> R) -> Option<R> {
        follow(self.version);
        self.model.with_value(|model| match model.surveyed() {
            Some(Body::QueueMap(map)) => map.as_deref().map(read),
            _ => None,
        })
    }

    pub(crate) fn status<R>(self, read: impl FnOnce(&Status) -> R) -> Option<R> {
        self.body(|body| if let Body::Status(status) = body { Some(read(status)) } else { None })
    }

    pub(crate) fn waits<R>(self, read: impl FnOnce(&Waits) -> R) -> Option<R> {
        self.body(|body| if let Body::Waits(waits) = body { Some(read(waits)) } else { None })
    }

    /// Reads the run of the lab; None inside when there is none of that name.
    #[cfg(feature = "hydrate")]
    pub(crate) fn lab<R>(self, read: impl FnOnce(Option<&LabRun>) -> R) -> Option<R> {
        self.body(|body| if let Body::Lab(run) = body { Some(read(run.as_deref())) } else { None })
    }

    pub(crate) fn refusal(self) -> Option<String> {
        follow(self.version);
        self.model.with_value(|model| model.refusal().map(str::to_owned))
    }

    /// True when Lockscope itself has no session.
    pub(crate) fn is_link_lost(self) -> bool {
        let is_lost = |status: &Status| status.ensembles.first().is_some_and(|ensemble| ensemble.link == Link::Lost);
        self.status(is_lost).unwrap_or(false)
    }

    /// True while a view is open that has shown nothing yet.
    pub(crate) fn awaits_data(self) -> bool {
        follow(self.version);
        self.model.with_value(LiveModel::awaits_data)
    }

    pub(crate) fn body<R>(self, read: impl FnOnce(&Body) -> Option<R>) -> Option<R> {
        follow(self.version);
        self.model.with_value(|model| model.body().and_then(read))
    }

    /// Opens the socket and lets the clock run. Browser only.
    pub(crate) fn start(self) {
        socket::start(self);
        set_interval(move || self.tick(), TICK);
    }

    fn tick(self) {
        self.look();
        let is_due = self.clocks.try_update_value(|clocks| {
            clocks.looks += 1;
            clocks.looks.is_multiple_of(LOOKS_A_MOVE)
        });
        if !self.paused.get_untracked() {
            let now_ms = self.server_now_ms();
            self.ages.go_on(now_ms);
            if is_due.unwrap_or_default() {
                self.now_ms.set(now_ms);
            }
        }
    }

    /// Looks at the clock: is there still a connection, and is what is shown still live?
    fn look(self) {
        socket::watch(self);
        self.judge();
        let says = |clocks: &mut Clocks, local_ms: i64| {
            let known_at_ms = self.model.with_value(LiveModel::known_at_ms);
            let server_says = known_at_ms.is_none_or(|known_at_ms| is_fresh(known_at_ms, clocks.told_ms));
            clocks.dispute.lasts(server_says, self.freshness.get_untracked() == Freshness::Fresh, local_ms)
        };
        let local_ms = self.local_now_ms();
        if self.clocks.try_update_value(|clocks| says(clocks, local_ms)).unwrap_or_default() {
            // Frames come far too late, or a clock was set: a new connection shows which.
            socket::lose(self);
        }
    }

    /// Whether what is shown may be called live: a question of ages alone. A paused view stands still and says so.
    fn judge(self) {
        let (now_ms, told_ms) = (self.server_now_ms(), self.clocks.with_value(|clocks| clocks.told_ms));
        let known_at_ms = self.model.with_value(LiveModel::known_at_ms);
        let freshness = match known_at_ms {
            Some(known_at_ms) if !self.paused.get_untracked() => Freshness::of(known_at_ms, told_ms, now_ms),
            _ => Freshness::Fresh,
        };
        if self.freshness.get_untracked() != freshness {
            self.freshness.set(freshness);
        }
        if let Connection::Back { at_ms } = self.connection.get_untracked()
            && (self.paused.get_untracked() || known_at_ms.is_some_and(|known_at_ms| known_at_ms >= at_ms))
        {
            self.connection.set(Connection::Open);
        }
    }

    fn server_now_ms(self) -> i64 {
        let local_ms = self.local_now_ms();
        let rendered_ms = self.now_ms.get_untracked();
        // Before the first frame: what the server rendered is at least as old as this document is.
        self.clocks
            .with_value(|clocks| clocks.server.now_ms(local_ms))
            .unwrap_or(rendered_ms.max(self.first_ms.get_value() + local_ms))
    }

    /// Milliseconds on a clock of this browser that neither jumps nor stands still; from about when this document
    /// began.
    fn local_now_ms(self) -> i64 {
        let wall_ms = js_sys::Date::now() as i64;
        let steady_ms = window().performance().map_or(wall_ms, |performance| performance.now() as i64);
        self.clocks.try_update_value(|clocks| clocks.local.now_ms(wall_ms, steady_ms)).unwrap_or(steady_ms)
    }

    fn take(self, frame: CompactFrame) {
        let local_ms = self.local_now_ms();
        let is_answer = matches!(frame, CompactFrame::Snapshot { .. } | CompactFrame::Error { .. });
        let taken = self.model.try_update_value(|model| model.take(frame)).unwrap_or_default();
        if let Some(server_ms) = taken.server_time_ms {
            self.clocks.update_value(|clocks| {
                clocks.server.heard(server_ms, local_ms);
                clocks.told_ms = server_ms;
            });
            if self.connection.get_untracked() != Connection::Open {
                self.come_back(server_ms);
            }
        }
        if taken.changed {
            self.draw_soon(is_answer);
        }
        self.judge();
        self.flush();
    }

    /// The server ended the sign-in: no connection was lost.
    fn end_sign_in(self) {
        self.connection.set(Connection::SignedOut);
        if self.sign_in_ended_ms.get_untracked().is_none() {
            self.sign_in_ended_ms.set(Some(self.server_now_ms()));
        }
    }

    /// A frame came.
    fn come_back(self, server_ms: i64) {
        match self.connection.get_untracked() {
            Connection::Opening => self.connection.set(Connection::Open),
            Connection::Lost | Connection::SignedOut => self.connection.set(Connection::Back { at_ms: server_ms }),
            Connection::Open | Connection::Back { .. } => {}
        }
    }

    fn bump(self) {
        self.version.update(|version| *version += 1);
    }

    fn flush(self) {
        if is_browser() {
            socket::flush(self);
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct OpenView {
    live: Live,
    id: u32,
}

impl OpenView {
    /// Changes what the view looks at; `is_moved`: at other rows, and nothing else.
    pub(crate) fn look_at(self, view: View, is_moved: bool) {
        self.live.asks_for_rows(is_moved);
        self.live.model.update_value(|model| model.look_at(self.id, view));
        self.live.flush();
    }
}
