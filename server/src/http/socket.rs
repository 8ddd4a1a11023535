//! One live socket: reads client frames, pulls what its subscriptions have to show, one frame at a time. Whatever it is
//! slow at costs itself only.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::wire::{ClientFrame, Epoch, ServerFrame, View};
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;

use super::gate::Told;
use super::{Counts, Http};
use crate::access::{Ending, Known};
use crate::clock;
use crate::feed::{self, Encoding, FeedError, Refusal, Sight, Subscription};

/// Longest client frame.
pub(super) const FRAME_BYTES_MAX: usize = 64 * 1024;
/// Subscriptions of one socket.
const SUBSCRIPTIONS_MAX: usize = 16;
/// How long a close frame may take.
const CLOSE_MS_MAX: u64 = 1_000;
/// A ping goes out with every so many heartbeats.
const HEARTBEATS_A_PING: u32 = 5;
/// Heartbeats without any sign of the client after which it counts as gone.
const SILENT_HEARTBEATS_MAX: u32 = 15;

/// One socket.
pub(super) struct Socket {
    http: Http,
    socket: WebSocket,
    encoding: Encoding,
    /// Who listens, and until when they may.
    known: Known,
    /// What they may see.
    sight: Sight,
    /// Hears when that is told anew.
    told: Told,
    subscriptions: BTreeMap<u32, Viewer>,
    /// Notified by every channel a subscription is in.
    waker: Arc<Notify>,
    /// Whose turn was last: subscriptions take turns.
    last_id: u32,
    heard_at: Instant,
}

struct Viewer {
    subscription: Subscription,
    is_paused: bool,
}

/// Why a socket ends.
enum End {
    /// The client closed it, or the line broke.
    Gone,
    /// We close it.
    Close { code: u16, reason: &'static str },
}

impl Socket {
    pub(super) fn new(http: Http, socket: WebSocket, encoding: Encoding, known: Known, (sight, told): (Sight, Told)) -> Self {
        let heard_at = clock::instant();
        Self { http, socket, encoding, known, sight, told, subscriptions: BTreeMap::new(), waker: Arc::new(Notify::new()), last_id: 0, heard_at }
    }

    /// Runs until the socket ends.
    pub(super) async fn run(mut self) {
        if let Err(End::Close { code, reason }) = self.serve().await {
            if code == close_code::AGAIN {
                Counts::add(&self.http.counts.slow_closed);
            }
            let frame = Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) }));
            let closing = async {
                self.socket.send(frame).await?;
                // Reads on until the client answers: closing over unread bytes would take the frame from it.
                while let Some(Ok(_)) = self.socket.recv().await {}
                Ok::<(), axum::Error>(())
            };
            // The client may be gone, or never read: then it is left without a farewell.
            let _ = tokio::time::timeout(Duration::from_millis(CLOSE_MS_MAX), closing).await;
        }
    }

    async fn serve(&mut self) -> Result<(), End> {
        let hello = self.http.hub.hello(self.encoding);
        self.send(hello).await?;
        let heartbeat_every = Duration::from_millis(self.http.limits.heartbeat_ms);
        let mut heartbeat = tokio::time::interval(heartbeat_every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat.reset();
        let mut beats = 0_u32;
        let draining = self.http.draining.clone();
        let permitted = self.known.ended.clone();
        let mut told = self.told.clone();
        let waker = self.waker.clone();
        let mut is_pending = false;
        loop {
            tokio::select! {
                () = draining.stopped() => return Err(going_away()),
                () = told.anew() => return Err(read_anew()),
                why = permitted.ended() => return Err(not_permitted(why)),
                message = self.socket.recv() => {
                    self.take(message).await?;
                    is_pending = true;
                }
                _ = heartbeat.tick() => {
                    beats = beats.wrapping_add(1);
                    self.beat(beats, heartbeat_every).await?;
                }
                () = waker.notified(), if !is_pending => is_pending = true,
                () = std::future::ready(()), if is_pending => is_pending = self.show_next().await?,
            }
        }
    }

    async fn beat(&mut self, beats: u32, every: Duration) -> Result<(), End> {
        if self.heard_at.elapsed() > every * SILENT_HEARTBEATS_MAX {
            return Err(End::Close { code: close_code::POLICY, reason: "no answer to pings" });
        }
        let frame = self.http.hub.heartbeat(self.encoding);
        self.send(frame).await?;
        if beats.is_multiple_of(HEARTBEATS_A_PING) {
            self.send_message(Message::Ping(Bytes::new())).await?;
        }
        Ok(())
    }

    /// Sends the next frame of the next subscription that has one; false when none has.
    async fn show_next(&mut self) -> Result<bool, End> {
        let after = (Bound::Excluded(self.last_id), Bound::Unbounded);
        let ids: Vec<u32> = self.subscriptions.range(after).chain(self.subscriptions.range(..=self.last_id)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(viewer) = self.subscriptions.get_mut(&id).filter(|viewer| !viewer.is_paused) else { continue };
            let Some(frame) = viewer.subscription.next(id, self.encoding).transpose() else { continue };
            self.last_id = id;
            self.send(frame).await?;
            return Ok(true);
        }
        Ok(false)
    }

    async fn take(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        self.heard_at = clock::instant();
        let (bytes, encoding) = match message {
            None | Some(Ok(Message::Close(_))) => return Err(End::Gone),
            Some(Err(error)) if is_too_long(&error) => return Err(too_long()),
            Some(Err(_)) => return Err(End::Gone),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => return Ok(()),
            Some(Ok(Message::Text(text))) => (Bytes::from(text), Encoding::Json),
            Some(Ok(Message::Binary(bytes))) => (bytes, Encoding::Binary),
        };
        if bytes.len() > FRAME_BYTES_MAX {
            return Err(too_long());
        }
        let done = if encoding == self.encoding {
            feed::parse_client(&bytes, encoding).and_then(|frame| self.obey(frame))
        } else {
            let (kind, spoken) = if encoding == Encoding::Json { ("text", "binary") } else { ("binary", "text") };
            let detail = format!("a {kind} frame came on {}, which takes {spoken} frames", self.encoding.subprotocol());
            Err(Refusal { id: None, detail })
        };
        match done {
            Ok(()) => Ok(()),
            Err(Refusal { id, detail }) => {
                Counts::add(&self.http.counts.refused_frames);
                self.send(feed::encode(&ServerFrame::Error { id, detail }, self.encoding)).await
            }
        }
    }

    fn obey(&mut self, frame: ClientFrame) -> Result<(), Refusal> {
        // Whoever goes to another page or stops the view is there. Resuming is what a browser does by itself.
        if !matches!(frame, ClientFrame::ResumeAfter { .. }) {
            self.http.access.touch(&self.known);
        }
        match frame {
            ClientFrame::Subscribe { id, view } => self.subscribe(id, view, None),
            ClientFrame::ResumeAfter { id, view, epoch, seq } => self.subscribe(id, view, Some((epoch, seq))),
            ClientFrame::Unsubscribe { id } => self.subscriptions.remove(&id).map(drop).ok_or_else(|| no_such(id)),
            ClientFrame::Pause { id } => self.set_paused(id, true),
            ClientFrame::Resume { id } => self.set_paused(id, false),
        }
    }

    fn subscribe(&mut self, id: u32, view: View, after: Option<(Epoch, u64)>) -> Result<(), Refusal> {
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX && !self.subscriptions.contains_key(&id) {
            let detail = format!("{SUBSCRIPTIONS_MAX} subscriptions are open on this socket and no more are taken; end one with `unsubscribe`");
            return Err(Refusal { id: Some(id), detail });
        }
        let joined = self.http.hub.subscribe(view, &self.sight, after, self.waker.clone());
        let subscription = joined.map_err(|error| Refusal { id: Some(id), detail: error.to_string() })?;
        self.subscriptions.insert(id, Viewer { subscription, is_paused: false });
        Ok(())
    }

    fn set_paused(&mut self, id: u32, is_paused: bool) -> Result<(), Refusal> {
        let viewer = self.subscriptions.get_mut(&id).ok_or_else(|| no_such(id))?;
        viewer.is_paused = is_paused;
        Ok(())
    }

    async fn send(&mut self, frame: Result<Bytes, FeedError>) -> Result<(), End> {
        let bytes = frame.map_err(|error| {
            tracing::error!(%error, "a frame could not be made");
            End::Close { code: close_code::ERROR, reason: "the server could not write a frame" }
        })?;
        let message = match self.encoding {
            Encoding::Binary => Message::Binary(bytes),
            Encoding::Json => match Utf8Bytes::try_from(bytes) {
                Ok(text) => Message::Text(text),
                Err(_) => return Err(End::Close { code: close_code::ERROR, reason: "the server wrote text that is none" }),
            },
        };
        Counts::add(&self.http.counts.frames_sent);
        self.send_message(message).await
    }

    async fn send_message(&mut self, message: Message) -> Result<(), End> {
        let within = Duration::from_millis(self.http.limits.send_ms_max);
        tokio::select! {
            sent = tokio::time::timeout(within, self.socket.send(message)) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(End::Gone),
                Err(_) => Err(End::Close { code: close_code::AGAIN, reason: "too slow: a frame could not be sent in time; connect again and resume" }),
            },
            () = self.http.draining.stopped() => Err(going_away()),
            why = self.known.ended.ended() => Err(not_permitted(why)),
        }
    }
}

fn going_away() -> End {
    End::Close { code: close_code::AWAY, reason: "the server is shutting down" }
}

fn read_anew() -> End {
    End::Close { code: close_code::RESTART, reason: "the configuration was read anew; connect again" }
}

fn not_permitted(why: Ending) -> End {
    End::Close { code: close_code::POLICY, reason: why.words() }
}

fn too_long() -> End {
    End::Close { code: close_code::SIZE, reason: "a frame may have at most 65536 bytes; send less" }
}

fn no_such(id: u32) -> Refusal {
    Refusal { id: Some(id), detail: format!("there is no subscription {id} on this socket; start one with `subscribe`") }
}

fn is_too_long(error: &axum::Error) -> bool {
    // The error's type is private to the WebSocket crate; its text is the only thing to tell by.
    std::error::Error::source(error).is_some_and(|source| source.to_string().contains("too long"))
}
