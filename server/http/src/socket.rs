//! One live socket: reads client frames, pulls what its subscriptions have to show, one frame at a time. Whatever it is
//! slow at costs itself only.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::close_code;
use bytes::Bytes;
use lockscope_wire::{ClientFrame, Epoch, KnownView, ServerFrame, View, age_ms};
use tokio::sync::Notify;

use super::caller::PayloadChanges;
use super::flow_control::FlowControl;
use super::socket_stream::{Received, SocketStream};
use super::{Counts, Http};
use access::{Principal, RevocationReason};
use feed::{self, Encoding, FeedError, FrameError, Owner, Subscription, VisibilityScope};
use identity::QuotaOwner;
use runtime::clock;
use runtime::quota::{Full, Permit};

/// Longest client frame.
pub(super) const FRAME_BYTES_MAX: usize = 64 * 1024;
/// Subscriptions of one socket.
const SUBSCRIPTIONS_MAX: usize = 16;
/// How long a close frame may take.
const CLOSE_MS_MAX: u64 = 1_000;
/// A heartbeat comes early when what it reported would otherwise be older than this before the next: some of the time
/// in which a view may be called live is left for the way.
const TOLD_AGE_MS_MAX: i64 = 1_400;
/// No two heartbeats come closer together.
const HEARTBEAT_MS_MIN: i64 = 250;
/// A longer frame may take longer: a line that carries so many bytes a millisecond is quick enough.
const BYTES_A_MS: usize = 16;

/// One socket.
pub(super) struct Socket {
    http: Http,
    socket: SocketStream,
    encoding: Encoding,
    /// Who listens, and until when they may.
    principal: Principal,
    /// What they may see.
    scope: VisibilityScope,
    /// Notified when that changes.
    payloads: PayloadChanges,
    subscriptions: BTreeMap<u32, Viewer>,
    /// Notified by every channel a subscription is in.
    waker: Arc<Notify>,
    /// Whose turn was last: subscriptions take turns.
    last_id: u32,
    /// What is under way to the client.
    flow: FlowControl,
    /// When this socket was opened, on the clock of its frames.
    opened_at_ms: i64,
}

struct Viewer {
    subscription: Subscription,
    is_paused: bool,
    /// Among the views of this caller.
    permit: Option<Permit<QuotaOwner>>,
}

/// Closes a socket that may not be.
pub(super) async fn turn_away(mut socket: SocketStream, why: &str) {
    // The client may be gone, or never read.
    let _ = tokio::time::timeout(Duration::from_millis(CLOSE_MS_MAX), socket.close(close_code::AGAIN, why)).await;
}

/// Why a socket ends.
enum End {
    /// The client closed it, or the line broke.
    Gone,
    /// We close it.
    Close { code: u16, reason: &'static str },
}

impl Socket {
    pub(super) fn new(
        http: Http,
        socket: SocketStream,
        encoding: Encoding,
        principal: Principal,
        (scope, payloads): (VisibilityScope, PayloadChanges),
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
            waker,
            last_id: 0,
            flow: FlowControl::default(),
            opened_at_ms,
        }
    }

    /// Runs until the socket ends.
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
        let views: Vec<KnownView> = shown.filter_map(|(id, viewer)| viewer.subscription.known(*id)).collect();
        let next = self.next_beat(&views);
        if self.flow.is_open(now) {
            let frame = self.http.hub.heartbeat(views, self.encoding);
            self.send(frame).await?;
        }
        Ok(next)
    }

    /// How long after reporting on these views to report on them again.
    fn next_beat(&self, views: &[KnownView]) -> Duration {
        let now_ms = self.http.hub.now_ms();
        let oldest_at_ms = views.iter().map(|view| view.known_at_ms).min().unwrap_or(now_ms);
        let most_ms = i64::try_from(self.http.limits.heartbeat_ms).unwrap_or(i64::MAX);
        let age_ms = age_ms(oldest_at_ms, now_ms);
        // Whoever comes back believes nothing before it was confirmed anew, and waits for that.
        let is_awaited = oldest_at_ms < self.opened_at_ms && age_ms < TOLD_AGE_MS_MAX;
        let wait_ms = if is_awaited { HEARTBEAT_MS_MIN } else { TOLD_AGE_MS_MAX.saturating_sub(age_ms) };
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
            let Some(frame) = viewer.subscription.next(id, self.encoding).transpose() else { continue };
            self.last_id = id;
            self.send(frame).await?;
            return Ok(true);
        }
        Ok(false)
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
            match feed::parse_client(&bytes, encoding) {
                Ok(frame) => self.obey(frame).await,
                Err(refusal) => Err(refusal),
            }
        } else {
            let (kind, spoken) = if encoding == Encoding::Json { ("text", "binary") } else { ("binary", "text") };
            let detail = format!("a {kind} frame came on {}, which takes {spoken} frames", self.encoding.subprotocol());
            Err(FrameError { id: None, detail })
        };
        match done {
            Ok(()) => Ok(()),
            Err(FrameError { id, detail }) => {
                Counts::add(&self.http.counts.refused_frames);
                self.send(feed::encode(&ServerFrame::Error { id, detail }, self.encoding)).await
            }
        }
    }

    async fn obey(&mut self, frame: ClientFrame) -> Result<(), FrameError> {
        // Whoever goes to another page or stops the view is there. Resuming is what a browser does by itself.
        if !matches!(frame, ClientFrame::ResumeAfter { .. }) {
            self.http.access.touch(&self.principal);
        }
        match frame {
            ClientFrame::Subscribe { id, view } => self.subscribe(id, view, None).await,
            ClientFrame::ResumeAfter { id, view, epoch, seq } => self.subscribe(id, view, Some((epoch, seq))).await,
            ClientFrame::Unsubscribe { id } => self.subscriptions.remove(&id).map(drop).ok_or_else(|| no_such(id)),
            ClientFrame::Pause { id } => self.set_paused(id, true),
            ClientFrame::Resume { id } => self.set_paused(id, false),
        }
    }

    async fn subscribe(&mut self, id: u32, view: View, after: Option<(Epoch, u64)>) -> Result<(), FrameError> {
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX && !self.subscriptions.contains_key(&id) {
            let detail = format!(
                "{SUBSCRIPTIONS_MAX} subscriptions are open on this socket and no more are taken; end one with `unsubscribe`"
            );
            return Err(FrameError { id: Some(id), detail });
        }
        let caller = self.principal.actor.quota_owner();
        let refuse = |detail: String| FrameError { id: Some(id), detail };
        let most = self.http.limits.caller_views_max * caller.shares();
        let permit = if self.subscriptions.contains_key(&id) {
            None
        } else {
            Some(self.http.caller_views.take_of(Some(caller.clone()), most))
        };
        let permit = permit.transpose().map_err(|why| {
            refuse(match why {
                Full::Caller => format!("{most} views of yours are open on all your sockets and no more are taken; end one with `unsubscribe`"),
                Full::All => "too many views are open and no more are taken; try again later".to_owned(),
            })
        })?;
        let (hub, scope, waker) = (self.http.hub.clone(), self.scope.clone(), self.waker.clone());
        let owner = Owner::new(&format!("{caller:?}"));
        // The first look at a view takes a while.
        let joined = self.http.work.make(&caller, move || hub.subscribe_for(&owner, view, &scope, after, waker)).await;
        let joined = joined.map_err(|refused| refuse(refused.sentence().to_owned()))?;
        let subscription = joined.map_err(|error| refuse(error.to_string()))?;
        let before = self.subscriptions.remove(&id);
        let permit = permit.or_else(|| before.and_then(|viewer| viewer.permit));
        self.subscriptions.insert(id, Viewer { subscription, is_paused: false, permit });
        Ok(())
    }

    fn set_paused(&mut self, id: u32, is_paused: bool) -> Result<(), FrameError> {
        let viewer = self.subscriptions.get_mut(&id).ok_or_else(|| no_such(id))?;
        viewer.is_paused = is_paused;
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

fn going_away() -> End {
    End::Close { code: close_code::AWAY, reason: "the server is shutting down" }
}

fn read_anew() -> End {
    End::Close { code: close_code::RESTART, reason: "the configuration was read anew; connect again" }
}

fn not_permitted(why: RevocationReason) -> End {
    End::Close { code: close_code::POLICY, reason: why.words() }
}

fn too_slow() -> End {
    End::Close {
        code: close_code::AGAIN,
        reason: "too slow: what was sent was not read in time; connect again and resume",
    }
}

fn too_long() -> End {
    End::Close { code: close_code::SIZE, reason: "a frame may have at most 65536 bytes; send less" }
}

fn no_such(id: u32) -> FrameError {
    FrameError {
        id: Some(id),
        detail: format!("there is no subscription {id} on this socket; start one with `subscribe`"),
    }
}
