//! The connection to one owner: opened, proved to be a replica's, read, written, and given up when nothing comes any more.
//! What it knows goes into the [`Link`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cluster::{Greeting, PROOF_HEADER, ReplicaSecret};
use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_wire::{SUBPROTOCOL_BIN, decode_frame, encode_frame};
use reqwest::{Client, StatusCode, Upgraded};
use runtime::backoff::Backoff;
use runtime::clock::{self, Clock};
use runtime::shutdown::CancellationToken;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::link::Link;
use crate::words;

/// Where a replica opens its socket.
pub const PATH: &str = "/api/v1/cluster/live";
/// How long a connection may take to open.
const OPENING_MAX: Duration = Duration::from_millis(1_500);
/// How long a frame to an owner may take: they are short.
const SEND_MAX: Duration = Duration::from_secs(1);
/// Between two pings.
const PING_EVERY: Duration = Duration::from_millis(100);
/// An owner that answers no ping for so long counts as gone: what it showed may be called live for 2 s.
pub const SILENCE_MAX: Duration = Duration::from_millis(1_200);
/// Between two looks for views that nobody looks at.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Bytes of one message: a board of 500 rows has under a megabyte.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a refusal that are read.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;
/// Characters of a refusal that are shown.
const REFUSAL_CHARS_MAX: usize = 300;
/// Waits between attempts.
const WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// As whom this replica connects.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Its id.
    pub(crate) id: String,
    pub(crate) secret: ReplicaSecret,
    pub(crate) client: Client,
    pub(crate) clock: Clock,
}

/// Keeps a connection until `stop`.
pub(crate) async fn keep(link: Arc<Link>, identity: Identity, stop: CancellationToken) {
    let Ok(mut backoff) = Backoff::new(WAITS.0, WAITS.1) else { return };
    loop {
        let asked_at = clock::instant();
        let why = match stop.run_until_cancelled(timeout(OPENING_MAX, open(&link, &identity))).await {
            None => return,
            Some(Err(_)) => words::silent(OPENING_MAX.as_millis()),
            Some(Ok(Err(why))) => why,
            Some(Ok(Ok(upgraded))) => {
                link.opened();
                backoff.reset();
                match stop.run_until_cancelled(serve(&link, upgraded, asked_at)).await {
                    None => return,
                    Some(why) => why,
                }
            }
        };
        link.closed(&why);
        let wait = backoff.next(rand::random());
        if stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
            return;
        }
    }
}

async fn open(link: &Link, identity: &Identity) -> Result<Upgraded, String> {
    let owner = &link.owner;
    let greeting = Greeting {
        from: identity.id.clone(),
        to: owner.id.clone(),
        at_ms: identity.clock.now_ms(),
        nonce: rand::random(),
    };
    let key = generate_key();
    let request = identity
        .client
        .get(format!("{}{PATH}", owner.address))
        .header("authorization", identity.secret.greet(&greeting, &owner.address))
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", &key)
        .header("sec-websocket-protocol", SUBPROTOCOL_BIN);
    let answer = request.send().await.map_err(|error| words::unreachable(&root_cause(&error)))?;
    let status = answer.status();
    if status != StatusCode::SWITCHING_PROTOCOLS {
        return Err(words::refused(status.as_u16(), &detail(answer).await));
    }
    let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // First of all: nothing is believed of one who does not have the secret.
    if !identity.secret.is_proof(&greeting, &owner.address, header(PROOF_HEADER)) {
        return Err(words::NO_PROOF.to_owned());
    }
    if header("sec-websocket-accept") != derive_accept_key(key.as_bytes()) {
        return Err(words::OTHER_VERSION.to_owned());
    }
    answer.upgrade().await.map_err(|error| words::unreachable(&root_cause(&error)))
}

/// A refusal's sentence, within bounds.
pub(crate) async fn detail(mut answer: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = answer.chunk().await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > REFUSAL_BYTES_MAX {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let sentence = lockscope_wire::visible(&text);
    problem_detail(&sentence).chars().take(REFUSAL_CHARS_MAX).collect()
}

/// The detail of a problem, where it is one.
fn problem_detail(text: &str) -> String {
    let detail = text.split("\"detail\":\"").nth(1).and_then(|rest| rest.split('"').next());
    detail.unwrap_or(text).to_owned()
}

pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Reads and writes until the connection is of no use any more; why.
async fn serve(link: &Link, upgraded: Upgraded, asked_at: Instant) -> String {
    let config =
        WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES_MAX)).max_frame_size(Some(MESSAGE_BYTES_MAX));
    let mut socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
    let mut pings = Pings::new(asked_at, clock::instant());
    let mut tick = tokio::time::interval(PING_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut swept_at = clock::instant();
    loop {
        let sending: Vec<Message> = tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Binary(bytes))) => {
                    let Some(frame) = decode_frame(&bytes) else { return words::OTHER_VERSION.to_owned() };
                    link.take(frame, pings.answered_at, bytes.len());
                    continue;
                }
                Some(Ok(Message::Pong(carried))) => {
                    pings.answered(&carried, clock::instant());
                    continue;
                }
                Some(Ok(Message::Close(_))) => return words::CLOSED.to_owned(),
                Some(Ok(Message::Text(_))) => return words::OTHER_VERSION.to_owned(),
                Some(Ok(Message::Ping(_) | Message::Frame(_))) => continue,
                Some(Err(Error::Capacity(_))) => return words::too_long(MESSAGE_BYTES_MAX),
                Some(Err(_)) | None => return words::BROKEN.to_owned(),
            },
            _ = tick.tick() => {
                let now = clock::instant();
                let silence = pings.silence(now);
                if silence > SILENCE_MAX {
                    return words::silent(silence.as_millis());
                }
                if now.saturating_duration_since(swept_at) > SWEEP_EVERY {
                    swept_at = now;
                    link.sweep();
                }
                pings.next(now).map(Message::Ping).into_iter().collect()
            }
            () = link.wake.notified() => {
                let frames = link.take_outbox();
                frames.iter().filter_map(encode_frame).map(|bytes| Message::Binary(Bytes::from(bytes))).collect()
            }
        };
        let sent = timeout(SEND_MAX, async {
            for message in sending {
                socket.feed(message).await?;
            }
            socket.flush().await
        });
        match sent.await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return words::BROKEN.to_owned(),
            Err(_) => return words::silent(SEND_MAX.as_millis()),
        }
    }
}

/// When what comes was sent at the earliest: one ping is under way at a time, and everything that comes behind its answer
/// was sent after it. Pure.
struct Pings {
    number: u64,
    asked_at: Option<Instant>,
    /// When the last ping that was answered was sent.
    answered_at: Instant,
    /// When an answer came last.
    heard_at: Instant,
}

impl Pings {
    /// A connection that was asked for at an instant, and is open now.
    fn new(asked_at: Instant, now: Instant) -> Self {
        Self { number: 0, asked_at: None, answered_at: asked_at, heard_at: now }
    }

    fn next(&mut self, now: Instant) -> Option<Bytes> {
        if self.asked_at.is_some() {
            return None;
        }
        self.number += 1;
        self.asked_at = Some(now);
        Some(Bytes::copy_from_slice(&self.number.to_be_bytes()))
    }

    fn answered(&mut self, carried: &[u8], now: Instant) {
        if carried == self.number.to_be_bytes()
            && let Some(asked_at) = self.asked_at.take()
        {
            self.answered_at = asked_at;
            self.heard_at = now;
        }
    }

    fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.asked_at.map_or(self.heard_at, |asked_at| asked_at.max(self.heard_at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_no_younger_than_the_last_ping_that_was_answered() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut pings = Pings::new(at(0), at(30));
        assert_eq!((pings.answered_at, pings.silence(at(40))), (at(0), Duration::from_millis(10)));
        let first = pings.next(at(100)).unwrap();
        assert_eq!(pings.next(at(200)), None, "one at a time");
        pings.answered(b"another", at(210));
        assert_eq!(pings.answered_at, at(0));
        pings.answered(&first, at(220));
        assert_eq!(pings.answered_at, at(100));
        pings.next(at(300));
        pings.answered(&first, at(310));
        assert_eq!(pings.answered_at, at(100), "an old answer says nothing");
        assert_eq!(pings.silence(at(1_600)), Duration::from_millis(1_300));
    }

    #[test]
    fn a_refusal_is_its_sentence() {
        assert_eq!(problem_detail("{\"title\":\"x\",\"detail\":\"no\"}"), "no");
        assert_eq!(problem_detail("no"), "no");
    }
}
