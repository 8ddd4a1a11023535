//! The client itself: one socket after the other, each state noted as it comes.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_judge::{Capture as Captured, Origin, Revision};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::log::{Held, Log, left};
use super::{Pace, View, digest, now_ms};
use crate::clock::offset_ms;
use crate::disconnects::DisconnectClaim;
use crate::reducer::apply;
use crate::shown::{Stamp, claims, dead_sessions};

/// Pause before it connects again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(50);
/// How long it waits for a socket of a server that may be frozen.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// Silence after which the first protocol's document calls the line dead.
const SILENCE_MAX: Duration = Duration::from_secs(6);
/// The same in later ones, which have a heartbeat each second.
const SILENCE_MAX_2: Duration = Duration::from_secs(3);
/// Frames that were read and not yet applied; reading waits when there are more.
const FRAMES_MAX: usize = 65_536;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(super) struct Client {
    pub(super) address: String,
    pub(super) first_socket: u32,
    pub(super) views: Vec<View>,
    pub(super) pace: Pace,
    pub(super) log: Arc<Mutex<Log>>,
    pub(super) stopped: watch::Receiver<bool>,
}

/// Something read from a socket.
enum Read {
    Frame(String),
    Silence,
}

/// Opens a socket that speaks JSON.
pub async fn open(address: &str) -> Option<Socket> {
    let mut request = format!("ws://{address}/api/v1/live").into_client_request().ok()?;
    request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().ok()?);
    let connected = tokio::time::timeout(CONNECT_MAX, tokio_tungstenite::connect_async(request)).await;
    connected.ok()?.ok().map(|(socket, _)| socket)
}

/// The frame that asks for a view anew.
pub fn subscribe(id: usize, view: &View) -> Message {
    Message::text(json!({"type": "subscribe", "id": id, "view": view.json()}).to_string())
}

impl Client {
    pub(super) async fn run(self) {
        let mut stopped = self.stopped.clone();
        let running = async {
            loop {
                if let Some(socket) = open(&self.address).await {
                    let why = self.follow(socket).await;
                    self.closed(why);
                }
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
        };
        tokio::select! {
            () = running => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }

    /// Reads until the socket ends; gives why.
    async fn follow(&self, mut socket: Socket) -> String {
        for id in 0..self.views.len() {
            let ask = self.ask(id);
            if socket.send(ask).await.is_err() {
                return "could not subscribe".to_owned();
            }
        }
        // Arrivals are noted by one task and frames applied by another: a long frame makes no later one late.
        let (sender, mut frames) = mpsc::channel::<(i64, Read)>(FRAMES_MAX);
        let reading = async move {
            let mut silence_max = SILENCE_MAX;
            let mut awake_since = Instant::now();
            loop {
                let read = match tokio::time::timeout(silence_max, socket.next()).await {
                    Err(_) => Read::Silence,
                    Ok(None) => return "the line ended".to_owned(),
                    Ok(Some(Err(error))) => return error.to_string(),
                    Ok(Some(Ok(Message::Close(frame)))) => {
                        return frame.map_or_else(String::new, |frame| format!("{} {}", frame.code, frame.reason));
                    }
                    Ok(Some(Ok(Message::Text(text)))) => Read::Frame(text.as_str().to_owned()),
                    Ok(Some(Ok(_))) => continue,
                };
                if let Read::Frame(text) = &read
                    && text.contains(r#""hello""#)
                    && !text.contains(r#""protocol":1,"#)
                {
                    silence_max = SILENCE_MAX_2;
                }
                let is_frame = matches!(read, Read::Frame(_));
                if sender.send((now_ms(), read)).await.is_err() {
                    return String::new();
                }
                match self.pace {
                    Pace::Resting(rest) if is_frame => tokio::time::sleep(rest).await,
                    Pace::Sleeping { awake, asleep } if awake_since.elapsed() >= awake => {
                        tokio::time::sleep(asleep).await;
                        awake_since = Instant::now();
                    }
                    Pace::Eager | Pace::Resting(_) | Pace::Sleeping { .. } => {}
                }
            }
        };
        let applying = async {
            while let Some((at_ms, read)) = frames.recv().await {
                match read {
                    Read::Frame(text) => self.take(at_ms, &text),
                    Read::Silence => self.silent(at_ms),
                }
            }
        };
        let (why, ()) = tokio::join!(reading, applying);
        why
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    fn sockets(&self) -> impl Iterator<Item = u32> {
        let first = self.first_socket;
        (0..self.views.len()).map(move |view| first + u32::try_from(view).expect("few views"))
    }

    fn ask(&self, id: usize) -> Message {
        match self.log().held.get(id).and_then(Option::as_ref) {
            None => subscribe(id, &self.views[id]),
            Some(held) => {
                let ask = json!({"type": "resume_after", "id": id, "view": self.views[id].json(), "epoch": held.epoch, "seq": held.seq});
                Message::text(ask.to_string())
            }
        }
    }

    fn closed(&self, why: String) {
        let arrived_at_ms = now_ms();
        let mut log = self.log();
        log.grow_old(self.first_socket, usize::MAX, arrived_at_ms);
        log.captured.extend(self.sockets().map(|socket| Captured::Closed { socket, arrived_at_ms }));
        log.closings.push(why);
        log.darken();
    }

    /// The script sees by itself that nothing comes: what it has is no longer LIVE.
    fn silent(&self, arrived_at_ms: i64) {
        let mut log = self.log();
        log.grow_old(self.first_socket, usize::MAX, arrived_at_ms);
        log.captured.extend(self.sockets().map(|socket| Captured::NotLive { socket, arrived_at_ms, lock: None }));
        log.darken();
    }

    /// The server lives and has nothing new: what a view has is shown as it was, where the server says so.
    fn beat(&self, arrived_at_ms: i64, frame: &Value) {
        let mut log = self.log();
        log.grow_old(self.first_socket, usize::MAX, arrived_at_ms);
        log.captured.extend(self.sockets().map(|socket| Captured::Heartbeat { socket, arrived_at_ms }));
        let (confirmed, server_time_ms) = (frame["views"].as_array(), frame["server_time_ms"].clone());
        let Log { captured, held, .. } = &mut *log;
        for (socket, (view, held)) in self.sockets().zip(held.iter_mut().enumerate()) {
            let Some(held) = held else { continue };
            let is_again = match confirmed {
                None => std::mem::take(&mut held.is_dark),
                Some(confirmed) => {
                    let own = confirmed.iter().find(|own| own["id"] == view && own["seq"] == held.seq);
                    held.known_at_ms =
                        own.and_then(|own| known_at_ms(own, &server_time_ms, arrived_at_ms)).max(held.known_at_ms);
                    held.is_dark &= own.is_none();
                    own.is_some()
                }
            };
            if is_again {
                held.arrived_at_ms = arrived_at_ms;
                captured.extend(held.claims.at(Stamp { socket, arrived_at_ms, known_at_ms: held.known_at_ms }));
            }
        }
    }

    fn take(&self, at_ms: i64, text: &str) {
        let Ok(frame) = serde_json::from_str::<Value>(text) else {
            self.log().broken.push(format!("not JSON: {text}"));
            return;
        };
        self.log().frames += 1;
        match frame["type"].as_str().unwrap_or_default() {
            "snapshot" | "delta" => self.take_state(at_ms, frame),
            "heartbeat" => self.beat(at_ms, &frame),
            "error" => self.log().broken.push(frame["detail"].to_string()),
            _ => {}
        }
    }

    fn take_state(&self, at_ms: i64, mut frame: Value) {
        let view = frame["id"].as_u64().and_then(|id| usize::try_from(id).ok()).unwrap_or(usize::MAX);
        let seq = frame["seq"].as_u64().unwrap_or_default();
        let is_snapshot = frame["type"] == "snapshot";
        let mut log = self.log();
        log.grow_old(self.first_socket, view, at_ms);
        let Some(before) = log.held.get_mut(view).map(Option::take) else { return };
        let next = match (is_snapshot, &before) {
            (true, _) => Some((frame["epoch"].as_str().unwrap_or_default().to_owned(), frame["body"].take())),
            (false, Some(held)) if held.seq + 1 == seq => {
                apply(&held.body, &frame["body"]).map(|body| (held.epoch.clone(), body))
            }
            (false, _) => None,
        };
        let Some((epoch, body)) = next else {
            log.broken.push(format!("a delta to {seq} of view {view} leads nowhere"));
            return;
        };
        let socket = self.first_socket + u32::try_from(view).expect("few views");
        let stamp =
            Stamp { socket, arrived_at_ms: at_ms, known_at_ms: known_at_ms(&frame, &frame["server_time_ms"], at_ms) };
        let mut claims = claims(&body, self.views[view].lock());
        let origin = if is_snapshot { Origin::Snapshot } else { Origin::Deltas };
        let (text, digest) = (self.views[view].text(), digest(&body));
        let revision = Revision { socket, arrived_at_ms: at_ms, view: text, epoch: epoch.clone(), seq, origin, digest };
        let (gone, unclaimed) = left(socket, at_ms, before.as_ref(), &mut claims, &body);
        log.captured.push(Captured::Revision(revision));
        log.captured.extend(unclaimed);
        log.captured.extend(claims.at(stamp));
        if stamp.is_fresh() {
            log.dead.extend(dead_sessions(&body).into_iter().map(|session| DisconnectClaim { at_ms, session }));
        }
        log.held[view] = Some(Held {
            epoch,
            seq,
            body,
            claims,
            gone,
            known_at_ms: stamp.known_at_ms,
            arrived_at_ms: at_ms,
            is_dark: false,
        });
    }
}

/// Up to when a state is known to be true, by our clock: the server's may be set, which its own time tells. What it knows
/// of the future, after it was set back, is known now.
fn known_at_ms(known: &Value, server_time_ms: &Value, arrived_at_ms: i64) -> Option<i64> {
    let known_at_ms = known["known_at_ms"].as_i64()?;
    Some((known_at_ms - offset_ms(server_time_ms.as_i64(), arrived_at_ms)).min(arrived_at_ms))
}
