//! What whoever looks knows: one subscription, its body, and the frames to send. Plain data: the page keeps it outside its reactive
//! graph, and the terminal as it is; the reducer is the one the server uses.

use std::sync::Arc;

use crate::{BoardHead, BoardQuery, Body, ClientFrame, CompactFrame, Epoch, KnownView, View};

/// The subscription that every page but the board has besides: what is the matter with any lock.
const BESIDE: u32 = 0;

/// The subscription to the map of a queue, while a page shows one: never the view that a page is about.
const SURVEY: u32 = u32::MAX;

/// What is asked for besides, where the view on screen does not show what is the matter with any lock.
pub fn beside() -> BoardQuery {
    BoardQuery { limit: 1, ..BoardQuery::default() }
}

/// A state of a view, and up to when that is known to be true, on the server's clock.
type State = (Option<Arc<Body>>, Option<i64>);

/// The view on screen.
#[derive(Debug)]
struct Subscription {
    id: u32,
    view: View,
    at: Option<(Epoch, u64)>,
    newest: State,
    /// What is read, until the newest is drawn.
    drawn: State,
    /// A snapshot was asked for; deltas until then are for what was shown before.
    awaits_snapshot: bool,
}

impl Subscription {
    fn new(id: u32, view: View) -> Self {
        Self { id, view, at: None, newest: (None, None), drawn: (None, None), awaits_snapshot: false }
    }
}

/// What a frame changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AppliedFrame {
    /// The body differs.
    pub changed: bool,
    /// The server's clock, when the frame had it.
    pub server_time_ms: Option<i64>,
}

/// State of the live views of one page.
#[derive(Debug, Default)]
pub struct LiveModel {
    last_id: u32,
    current: Option<Subscription>,
    beside: Option<Subscription>,
    survey: Option<Subscription>,
    outbox: Vec<ClientFrame>,
    connected: bool,
    paused: bool,
    refusal: Option<String>,
}

impl LiveModel {
    /// Starts a view, from what the server rendered if it did. Returns its id.
    pub fn open(&mut self, view: View, first: Option<(Epoch, u64, i64, Body)>) -> u32 {
        if let Some(old) = self.current.take() {
            self.send(ClientFrame::Unsubscribe { id: old.id });
        }
        self.last_id += 1;
        let is_board = matches!(view, View::Board(_));
        let mut current = Subscription::new(self.last_id, view);
        if let Some((epoch, seq, known_at_ms, body)) = first {
            (current.at, current.newest) = (Some((epoch, seq)), (Some(Arc::new(body)), Some(known_at_ms)));
            current.drawn = current.newest.clone();
        }
        self.current = Some(current);
        self.refusal = None;
        self.paused = false;
        self.ask(self.last_id);
        self.look_beside(!is_board);
        self.last_id
    }

    /// Begins or ends the subscription besides.
    fn look_beside(&mut self, is_needed: bool) {
        match (is_needed, self.beside.is_some()) {
            (true, false) => {
                self.beside = Some(Subscription::new(BESIDE, View::Board(beside())));
                self.ask(BESIDE);
            }
            (false, true) => {
                self.beside = None;
                self.send(ClientFrame::Unsubscribe { id: BESIDE });
            }
            _ => {}
        }
    }

    /// Begins, changes or ends the subscription to a map.
    pub fn survey(&mut self, view: Option<View>) {
        if self.survey.as_ref().map(|survey| &survey.view) == view.as_ref() {
            return;
        }
        match view {
            Some(view) => {
                self.survey = Some(Subscription::new(SURVEY, view));
                self.ask(SURVEY);
            }
            None => {
                self.survey = None;
                self.send(ClientFrame::Unsubscribe { id: SURVEY });
            }
        }
    }

    /// The map that was asked for, once it came.
    pub fn surveyed(&self) -> Option<&Body> {
        self.survey.as_ref()?.drawn.0.as_deref()
    }

    /// What is the matter with any lock, as far as it was sent.
    pub fn board_head(&self) -> Option<&BoardHead> {
        let bodies = [&self.current, &self.beside].into_iter().filter_map(|one| one.as_ref()?.drawn.0.as_deref());
        bodies.filter_map(|body| if let Body::Board(board) = body { Some(&board.head) } else { None }).next()
    }

    fn subscription(&mut self, id: u32) -> Option<&mut Subscription> {
        [self.current.as_mut(), self.beside.as_mut(), self.survey.as_mut()]
            .into_iter()
            .flatten()
            .find(|one| one.id == id)
    }

    /// Changes what the open view looks at; what is known stays until the snapshot comes. A paused view is
    /// given that one snapshot.
    pub fn look_at(&mut self, id: u32, view: View) {
        let Some(current) = self.current.as_mut().filter(|current| current.id == id && current.view != view) else {
            return;
        };
        current.view = view.clone();
        current.at = None;
        current.awaits_snapshot = true;
        self.refusal = None;
        self.send(ClientFrame::Subscribe { id, view });
    }

    /// Ends a view, unless another one took its place.
    pub fn close(&mut self, id: u32) {
        if self.current.as_ref().is_some_and(|current| current.id == id) {
            self.current = None;
            self.send(ClientFrame::Unsubscribe { id });
        }
    }

    /// Stops or goes on.
    pub fn set_paused(&mut self, paused: bool) {
        if self.paused == paused {
            return;
        }
        self.paused = paused;
        let Some(current) = &self.current else { return };
        let id = current.id;
        let frame = match (paused, current.awaits_snapshot) {
            (true, _) => ClientFrame::Pause { id },
            (false, false) => ClientFrame::Resume { id },
            (false, true) => ClientFrame::Subscribe { id, view: current.view.clone() },
        };
        self.send(frame);
    }

    /// The socket opened.
    pub fn connected(&mut self) {
        self.connected = true;
        self.outbox.clear();
        self.ask(self.last_id);
        self.ask(BESIDE);
        self.ask(SURVEY);
        // A page without a view of its own.
        if self.current.is_none() {
            self.look_beside(true);
        }
    }

    /// The socket closed.
    pub fn disconnected(&mut self) {
        self.connected = false;
        self.outbox.clear();
    }

    /// The frames to send, once.
    pub fn take_outbox(&mut self) -> Vec<ClientFrame> {
        std::mem::take(&mut self.outbox)
    }

    /// What is on screen.
    pub fn body(&self) -> Option<&Body> {
        self.current.as_ref()?.drawn.0.as_deref()
    }

    /// What will be on screen.
    pub fn newest(&self) -> Option<&Body> {
        self.current.as_ref()?.newest.0.as_deref()
    }

    /// What came is on screen: all of it at once, so that no part of a page is of another state than the others.
    pub fn draw(&mut self) {
        for one in [&mut self.current, &mut self.beside, &mut self.survey].into_iter().flatten() {
            one.drawn = one.newest.clone();
        }
    }

    /// True while a view is open that has shown nothing yet.
    pub fn awaits_data(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.drawn.0.is_none())
    }

    /// Why the server refused the last request, in its words.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Takes one frame in. What it changes is read once it is drawn.
    pub fn take(&mut self, frame: CompactFrame) -> AppliedFrame {
        match frame {
            CompactFrame::Hello { server_time_ms, .. } => {
                AppliedFrame { changed: false, server_time_ms: Some(server_time_ms) }
            }
            CompactFrame::Heartbeat { server_time_ms, views, .. } => {
                views.iter().for_each(|view| self.confirm(view));
                AppliedFrame { changed: false, server_time_ms: Some(server_time_ms) }
            }
            CompactFrame::Snapshot { id, epoch, seq, server_time_ms, known_at_ms, body } => {
                let changed = self.take_snapshot(id, (epoch, seq), *body);
                self.confirm(&KnownView { id, seq, known_at_ms });
                AppliedFrame { changed, server_time_ms: Some(server_time_ms) }
            }
            CompactFrame::Delta { id, server_time_ms, seq, known_at_ms, body } => {
                let changed = self.take_delta(id, seq, body);
                self.confirm(&KnownView { id, seq, known_at_ms });
                AppliedFrame { changed, server_time_ms: Some(server_time_ms) }
            }
            CompactFrame::Resync { id, .. } => {
                if let Some(current) = self.subscription(id) {
                    current.awaits_snapshot = true;
                }
                AppliedFrame::default()
            }
            CompactFrame::Error { detail, .. } => {
                self.refusal = Some(detail);
                AppliedFrame { changed: true, server_time_ms: None }
            }
        }
    }

    /// The state that is shown is known to be true up to a later instant.
    fn confirm(&mut self, known: &KnownView) {
        let shown = self
            .subscription(known.id)
            .filter(|one| !one.awaits_snapshot && one.at.is_some_and(|(_, seq)| seq == known.seq));
        if let Some(shown) = shown {
            shown.newest.1 = Some(known.known_at_ms);
            if shown.newest.0.as_ref().map(Arc::as_ptr) == shown.drawn.0.as_ref().map(Arc::as_ptr) {
                shown.drawn.1 = shown.newest.1;
            }
        }
    }

    /// Up to when what is on screen is known to be true.
    pub fn known_at_ms(&self) -> Option<i64> {
        [&self.current, &self.beside].into_iter().flatten().find_map(|one| one.drawn.1)
    }

    fn take_snapshot(&mut self, id: u32, at: (Epoch, u64), body: Body) -> bool {
        let Some(current) = self.subscription(id) else { return false };
        current.at = Some(at);
        current.awaits_snapshot = false;
        let changed = current.newest.0.as_deref() != Some(&body);
        if changed {
            current.newest.0 = Some(Arc::new(body));
        }
        if self.paused && id != BESIDE {
            self.send(ClientFrame::Pause { id });
        }
        changed
    }

    fn take_delta(&mut self, id: u32, seq: u64, patch: crate::BodyPatch) -> bool {
        let is_paused = self.paused && id != BESIDE;
        let Some(current) = self.subscription(id).filter(|current| !current.awaits_snapshot) else { return false };
        if is_paused {
            // It was on its way when the pause began; what is shown stands still, and is asked for anew afterwards.
            current.awaits_snapshot = true;
            return false;
        }
        let applied = match (&mut current.at, &mut current.newest.0) {
            (Some((_, have)), Some(body)) if *have + 1 == seq => {
                *have = seq;
                Arc::make_mut(body).apply_patch(patch)
            }
            _ => false,
        };
        if !applied {
            current.awaits_snapshot = true;
            let view = current.view.clone();
            self.send(ClientFrame::Subscribe { id, view });
        }
        applied
    }

    /// Asks for a view, going on from what is known.
    fn ask(&mut self, id: u32) {
        let Some(current) = self.subscription(id) else { return };
        let view = current.view.clone();
        let frame = match current.at {
            Some((epoch, seq)) if current.newest.0.is_some() => {
                current.awaits_snapshot = false;
                ClientFrame::ResumeAfter { id, view, epoch, seq }
            }
            _ => {
                current.awaits_snapshot = true;
                ClientFrame::Subscribe { id, view }
            }
        };
        let is_whole = !current.awaits_snapshot;
        let pause = self.paused && is_whole && id != BESIDE;
        self.send(frame);
        if pause {
            self.send(ClientFrame::Pause { id });
        }
    }

    fn send(&mut self, frame: ClientFrame) {
        if self.connected {
            self.outbox.push(frame);
        }
    }
}

#[cfg(test)]
mod tests;
