//! One live socket: reads client frames, pulls what its subscriptions have to show, one frame at a time. Whatever it is
//! slow at costs itself only.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::close_code;
use bytes::Bytes;
use lockscope_view::{ClientFrame, Epoch, KnownView, Scope, ServerFrame, View, age_ms};
use tokio::sync::Notify;

use super::caller::PayloadChanges;
use super::flow_control::FlowControl;
use super::socket_beside::Beside;
use super::socket_end::{End, going_away, not_permitted, read_anew, too_long, too_slow};
use super::socket_past::PastView;
use super::socket_stream::{Received, SocketStream};
use super::socket_viewer::{Source, Viewer, no_such};
use super::{Counts, Http, VIEWS_MAX};
use lockscope_access::Principal;
use lockscope_audit::QuotaOwner;
use lockscope_live::{self, ClientMessage, Encoding, FeedError, FrameError, Owner, Subscription, parse_client};
use lockscope_runtime::clock;
use lockscope_runtime::quota::{Full, Permit};

pub(super) const FRAME_BYTES_MAX: usize = 64 * 1024;
pub(super) const CLOSE_MS_MAX: u64 = 1_000;
const SUBSCRIPTIONS_MAX: usize = 16;
/// A heartbeat comes early when what it reported would otherwise be older than this before the next: half of the time
/// in which a view may be called live is left for the way, and for a browser that draws once a second. ZooKeeper is asked
/// each 500 ms, so a heartbeat comes each 500 to 1,000 ms.
const REPORTED_AGE_MS_MAX: i64 = 1_000;
const HEARTBEAT_MS_MIN: i64 = 250;
/// A longer frame may take longer: a line that carries so many bytes a millisecond is quick enough.
const BYTES_A_MS: usize = 16;

pub(super) struct Socket {
    http: Http,
    socket: SocketStream,
    encoding: Encoding,
    /// Who listens, and until when they may.
    principal: Principal,
    scope: Scope,
    payloads: PayloadChanges,
    subscriptions: BTreeMap<u32, Viewer>,
    /// First looks at the present that are on their way.
    joining: Beside<Subscription>,
    /// Moments of the past, likewise.
    past: Beside<Bytes>,
    /// Notified by every channel a subscription is in.
    waker: Arc<Notify>,
    /// Whose turn was last: subscriptions take turns.
    last_id: u32,
    flow: FlowControl,
    /// When this socket was opened, on the clock of its frames.
    opened_at_ms: i64,
}

impl Socket {
    pub(super) fn new(
        http: Http,
        socket: SocketStream,
        encoding: Encoding,
        principal: Principal,
        (scope, payloads): (Scope, PayloadChanges),
    ) -> Self {
        let opened_at_ms = http.hub.now_ms();
        let (subscriptions, waker) = (BTreeMap::new(), Arc::new(Notify::new()));
        Self {
            http,
            socket,
            encoding,
            principal,
            scope,
            payloads,
            subscriptions,
            joining: Beside::new(),
            past: Beside::new(),
            waker,
            last_id: 0,
            flow: FlowControl::default(),
            opened_at_ms,
        }
    }

    pub(super) async fn run(mut self) {
        if let Err(End::Close { code, reason }) = self.serve().await {
            if code == close_code::AGAIN {
                Counts::add(&self.http.counts.slow_closed);
            }
            // The client may be gone, or never read: then it is left without a farewell.
            let closing = self.socket.close(code, reason);
            let _ = tokio::time::timeout(Duration::from_millis(CLOSE_MS_MAX), closing).await;
        }
    }

    async fn serve(&mut self) -> Result<(), End> {
        let hello = self.http.hub.hello(self.encoding);
        self.send(hello).await?;
        let mut heartbeat = Box::pin(tokio::time::sleep(self.next_beat(&[])));
        let draining = self.http.draining.clone();
        let permitted = self.principal.revocation.clone();
        let mut payloads = self.payloads.clone();
        let waker = self.waker.clone();
        let mut is_pending = false;
        loop {
            tokio::select! {
                () = draining.cancelled() => return Err(going_away()),
                () = payloads.next() => return Err(read_anew()),
                why = permitted.revoked() => return Err(not_permitted(why)),
                received = self.socket.receive() => {
                    self.take(received).await?;
                    is_pending = true;
                }
                () = heartbeat.as_mut() => {
                    let next = self.beat().await?;
                    heartbeat.set(tokio::time::sleep(next));
                }
                (id, joined) = self.joining.next() => {
                    self.join(id, joined).await?;
                    is_pending = true;
                }
                (id, made) = self.past.next(), if self.flow.is_open(clock::instant()) => self.show_moment(id, made).await?,
                () = waker.notified(), if !is_pending => is_pending = true,
                () = std::future::ready(()), if is_pending => is_pending = self.show_next().await?,
            }
        }
    }

    /// Sends a heartbeat, unless the client has not read what was sent before. How long to wait for the next.
    async fn beat(&mut self) -> Result<Duration, End> {
        let now = clock::instant();
        if self.flow.waits(now) > Duration::from_millis(self.http.limits.send_ms_max) {
            return Err(too_slow());
        }
        let shown = self.subscriptions.iter().filter(|(_, viewer)| !viewer.is_paused);
        let views: Vec<KnownView> = shown.filter_map(|(id, viewer)| viewer.known(*id)).collect();
        let next = self.next_beat(&views);
        if !self.flow.is_open(now) {
            // Soon again: a whole beat later all would be stale.
            return Ok(Duration::from_millis(HEARTBEAT_MS_MIN.unsigned_abs()));
        }
        let frame = self.http.hub.heartbeat(views, self.encoding);
        self.send(frame).await?;
        Ok(next)
    }

    /// How long after reporting on these views to report on them again.
    fn next_beat(&self, views: &[KnownView]) -> Duration {
        let now_ms = self.http.hub.now_ms();
        let oldest_at_ms = views.iter().map(|view| view.known_at_ms).min().unwrap_or(now_ms);
        let most_ms = i64::try_from(self.http.limits.heartbeat_ms).unwrap_or(i64::MAX);
        let age_ms = age_ms(oldest_at_ms, now_ms);
        // Whoever comes back believes nothing before it was confirmed anew, and waits for that.
        let is_awaited = oldest_at_ms < self.opened_at_ms && age_ms < REPORTED_AGE_MS_MAX;
        let wait_ms = if is_awaited { HEARTBEAT_MS_MIN } else { REPORTED_AGE_MS_MAX.saturating_sub(age_ms) };
        Duration::from_millis(wait_ms.max(HEARTBEAT_MS_MIN).min(most_ms).unsigned_abs())
    }

    /// Sends the next frame of the next subscription that has one; false when none has, or none may go yet.
    async fn show_next(&mut self) -> Result<bool, End> {
        if !self.flow.is_open(clock::instant()) {
            return Ok(false);
        }
        let after = (Bound::Excluded(self.last_id), Bound::Unbounded);
        let ids: Vec<u32> = self
            .subscriptions
            .range(after)
            .chain(self.subscriptions.range(..=self.last_id))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            let Some(viewer) = self.subscriptions.get_mut(&id).filter(|viewer| !viewer.is_paused) else { continue };
            let Some(frame) = viewer.next(id, self.encoding) else { continue };
            self.last_id = id;
            self.send(frame).await?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Sends the snapshot of a moment, or says why there is none: then the subscription ends.
    async fn show_moment(&mut self, id: u32, made: Result<Bytes, FrameError>) -> Result<(), End> {
        let frame = match made {
            Ok(frame) => {
                if let Some(viewer) = self.subscriptions.get_mut(&id) {
                    viewer.source = Source::Past(None);
                }
                Ok(frame)
            }
            Err(refusal) => {
                self.subscriptions.remove(&id);
                self.refused(refusal)
            }
        };
        self.send(frame).await
    }

    /// Shows what was waited for, or says why it can't be: then what was live before stays.
    async fn join(&mut self, id: u32, joined: Result<Subscription, FrameError>) -> Result<(), End> {
        let viewer = self.subscriptions.get_mut(&id);
        match (joined, viewer) {
            (Ok(subscription), Some(viewer)) => viewer.source = Source::Live(subscription),
            (Ok(_), None) => {}
            (Err(refusal), viewer) => {
                if viewer.is_some_and(|viewer| matches!(viewer.source, Source::Past(_))) {
                    self.subscriptions.remove(&id);
                }
                let frame = self.refused(refusal);
                self.send(frame).await?;
            }
        }
        Ok(())
    }

    fn forget(&mut self, id: u32) {
        self.joining.forget(id);
        self.past.forget(id);
    }

    async fn take(&mut self, received: Received) -> Result<(), End> {
        let (bytes, encoding) = match received {
            Received::Data(bytes, encoding) => (bytes, encoding),
            Received::Pong(carried) => {
                self.flow.answered(&carried, clock::instant());
                return Ok(());
            }
            Received::TooLong => return Err(too_long()),
            Received::Gone => return Err(End::Gone),
        };
        if bytes.len() > FRAME_BYTES_MAX {
            return Err(too_long());
        }
        let done = if encoding == self.encoding {
            match parse_client(&bytes, encoding) {
                Ok(message) => self.obey(message),
                Err(refusal) => Err(refusal),
            }
        } else {
            let (kind, spoken) = if encoding == Encoding::Json { ("text", "binary") } else { ("binary", "text") };
            let detail = format!("a {kind} frame came on {}, which takes {spoken} frames", self.encoding.subprotocol());
            Err(FrameError { id: None, detail })
        };
        match done {
            Ok(()) => Ok(()),
            Err(refusal) => {
                let frame = self.refused(refusal);
                self.send(frame).await
            }
        }
    }

    fn refused(&self, FrameError { id, detail }: FrameError) -> Result<Bytes, FeedError> {
        Counts::add(&self.http.counts.refused_frames);
        lockscope_live::encode(&ServerFrame::Error { id, detail }, self.encoding)
    }

    fn obey(&mut self, ClientMessage { frame, at }: ClientMessage) -> Result<(), FrameError> {
        // Whoever goes to another page or stops the view is there. Resuming is what a browser does by itself.
        if !matches!(frame, ClientFrame::ResumeAfter { .. }) {
            self.http.access.touch(&self.principal);
        }
        match (frame, at) {
            // A moment has no later state to go on to.
            (ClientFrame::Subscribe { id, view } | ClientFrame::ResumeAfter { id, view, .. }, Some(at)) => {
                self.subscribe_to_moment(id, view, &at)
            }
            (ClientFrame::Subscribe { id, view }, None) => self.subscribe(id, view, None),
            (ClientFrame::ResumeAfter { id, view, epoch, seq }, None) => self.subscribe(id, view, Some((epoch, seq))),
            (ClientFrame::Unsubscribe { id }, _) => {
                self.forget(id);
                self.subscriptions.remove(&id).map(drop).ok_or_else(|| no_such(id))
            }
            (ClientFrame::Pause { id }, _) => self.set_paused(id, true),
            (ClientFrame::Resume { id }, _) => self.set_paused(id, false),
        }
    }

    /// A place for a subscription; None: it has one.
    fn place(&self, id: u32) -> Result<Option<Permit<QuotaOwner>>, FrameError> {
        if self.subscriptions.contains_key(&id) {
            return Ok(None);
        }
        let refuse = |detail: String| FrameError { id: Some(id), detail };
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX {
            return Err(refuse(format!(
                "{SUBSCRIPTIONS_MAX} subscriptions are open on this socket and no more are taken; end one with `unsubscribe`"
            )));
        }
        let owner = &self.principal.owner;
        let most = self.http.limits.caller_views_max * owner.shares();
        self.http.caller_views.take_of(owner.payers(most, VIEWS_MAX / 2)).map(Some).map_err(|why| {
            refuse(match why {
                Full::Caller(most) => format!("{most} views of yours are open on all your sockets and no more are taken; end one with `unsubscribe`"),
                Full::All => "too many views are open and no more are taken; try again later".to_owned(),
            })
        })
    }

    /// The first look at a view takes a while, and what it waits for may take longer: it is had beside the socket.
    fn subscribe(&mut self, id: u32, view: View, after: Option<(Epoch, u64)>) -> Result<(), FrameError> {
        let refuse = move |detail: String| FrameError { id: Some(id), detail };
        let permit = self.place(id)?;
        let (caller, scope) = (self.principal.owner.clone(), self.scope.clone());
        let (hub, work, waker) = (self.http.hub.clone(), self.http.work.clone(), self.waker.clone());
        // All of a group together have one share of what views take: each has few of them.
        let owner = Owner::new(&format!("{:?}", caller.group()));
        self.forget(id);
        self.joining.ask(id, async move {
            let joined = work.make(&caller, move || hub.subscribe_for(&owner, view, &scope, after, waker)).await;
            let joined = joined.map_err(|refused| refuse(refused.sentence().to_owned()))?;
            joined.map_err(|error| refuse(error.to_string()))
        });
        let nothing = || Viewer { source: Source::Past(None), is_paused: false, permit: None };
        let viewer = self.subscriptions.entry(id).or_insert_with(nothing);
        viewer.permit = permit.or(viewer.permit.take());
        // What is live goes on until then, so that a refusal takes nothing away.
        if std::mem::take(&mut viewer.is_paused) || matches!(viewer.source, Source::Past(_)) {
            viewer.source = Source::Past(None);
        }
        Ok(())
    }

    /// The snapshot follows when it is made.
    fn subscribe_to_moment(&mut self, id: u32, view: View, at: &str) -> Result<(), FrameError> {
        let view = PastView::new(id, view, at)?;
        let permit = self.place(id)?;
        self.ask_for_moment(id, view.clone());
        let permit = permit.or_else(|| self.subscriptions.remove(&id).and_then(|viewer| viewer.permit));
        self.subscriptions.insert(id, Viewer { source: Source::Past(Some(view)), is_paused: false, permit });
        Ok(())
    }

    fn ask_for_moment(&mut self, id: u32, view: PastView) {
        self.forget(id);
        self.past.ask(id, view.frame(self.http.clone(), self.principal.clone(), self.scope.clone()));
    }

    fn set_paused(&mut self, id: u32, is_paused: bool) -> Result<(), FrameError> {
        let viewer = self.subscriptions.get_mut(&id).ok_or_else(|| no_such(id))?;
        viewer.is_paused = is_paused;
        if let Source::Past(Some(view)) = &viewer.source {
            let view = view.clone();
            if is_paused { self.forget(id) } else { self.ask_for_moment(id, view) }
        }
        Ok(())
    }

    async fn send(&mut self, frame: Result<Bytes, FeedError>) -> Result<(), End> {
        let bytes = frame.map_err(|error| {
            tracing::error!(%error, "a frame could not be made");
            End::Close { code: close_code::ERROR, reason: "the server could not write a frame" }
        })?;
        let length = bytes.len();
        Counts::add(&self.http.counts.frames_sent);
        let (socket, flow, encoding) = (&mut self.socket, &mut self.flow, self.encoding);
        let sending = async {
            socket.send(bytes, encoding).await?;
            if !flow.sent(length) {
                return Ok(());
            }
            let ping = flow.ask(clock::instant());
            socket.ping(Bytes::copy_from_slice(&ping)).await
        };
        let for_its_length = u64::try_from(length / BYTES_A_MS).unwrap_or(u64::MAX);
        let within = Duration::from_millis(self.http.limits.send_ms_max.saturating_add(for_its_length));
        tokio::select! {
            sent = tokio::time::timeout(within, sending) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(End::Gone),
                Err(_) => Err(too_slow()),
            },
            () = self.http.draining.cancelled() => Err(going_away()),
            why = self.principal.revocation.revoked() => Err(not_permitted(why)),
        }
    }
}
