//! The WebSocket under a live socket: tungstenite's. A long message goes in fragments (RFC 6455, 5.4), so that a socket
//! keeps a buffer of one fragment and not of the longest message that it ever sent (axum's own WebSocket sends whole
//! messages only).

use axum::http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{CloseFrame, Frame};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::Limits;
use lockscope_live::Encoding;

const FRAGMENT_BYTES_MAX: usize = 2 * 1024 - 16;

pub(super) struct SocketStream(WebSocketStream<TokioIo<Upgraded>>);

pub(super) enum Received {
    /// A message, in the encoding of its kind.
    Data(Bytes, Encoding),
    /// The answer to a ping, with what that carried.
    Pong(Bytes),
    TooLong,
    /// The client closed the socket, or the line broke.
    Gone,
}

impl SocketStream {
    /// The WebSocket on a connection whose upgrade was answered; None when the connection broke before.
    pub(super) async fn open(upgrade: OnUpgrade, limits: &Limits, message_bytes_max: usize) -> Option<Self> {
        let io = TokioIo::new(upgrade.await.ok()?);
        let config = WebSocketConfig::default()
            .read_buffer_size(limits.read_buffer_bytes)
            .write_buffer_size(limits.write_buffer_bytes)
            .max_message_size(Some(message_bytes_max))
            .max_frame_size(Some(message_bytes_max));
        Some(Self(WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await))
    }

    pub(super) async fn send(&mut self, mut rest: Bytes, encoding: Encoding) -> Result<(), Error> {
        let mut kind = match encoding {
            Encoding::Json => Data::Text,
            Encoding::Binary => Data::Binary,
        };
        while rest.len() > FRAGMENT_BYTES_MAX {
            let fragment = rest.split_to(FRAGMENT_BYTES_MAX);
            self.0.feed(Message::Frame(Frame::message(fragment, OpCode::Data(kind), false))).await?;
            kind = Data::Continue;
        }
        self.0.send(Message::Frame(Frame::message(rest, OpCode::Data(kind), true))).await
    }

    /// Asks the client for a sign that it has read everything before.
    pub(super) async fn ping(&mut self, carried: Bytes) -> Result<(), Error> {
        self.0.send(Message::Ping(carried)).await
    }

    /// Closes the socket, and reads on until the client answers: closing over unread bytes would take the frame from it.
    pub(super) async fn close(&mut self, code: u16, reason: &str) {
        let frame = CloseFrame { code: code.into(), reason: reason.into() };
        if self.0.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = self.0.next().await {}
        }
    }

    /// What the client sends next. Pings are answered by tungstenite.
    pub(super) async fn receive(&mut self) -> Received {
        loop {
            return match self.0.next().await {
                None | Some(Ok(Message::Close(_))) => Received::Gone,
                Some(Ok(Message::Text(text))) => Received::Data(text.into(), Encoding::Json),
                Some(Ok(Message::Binary(bytes))) => Received::Data(bytes, Encoding::Binary),
                Some(Ok(Message::Pong(carried))) => Received::Pong(carried),
                Some(Ok(Message::Ping(_) | Message::Frame(_))) => continue,
                Some(Err(Error::Capacity(CapacityError::MessageTooLong { .. }))) => Received::TooLong,
                Some(Err(_)) => Received::Gone,
            };
        }
    }
}

/// Answers a request for an upgrade that was found in order.
pub(super) fn switching(request: &HeaderMap, subprotocol: &'static str) -> Response {
    let key = request.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    let headers = [
        (CONNECTION, "upgrade".to_owned()),
        (UPGRADE, "websocket".to_owned()),
        (SEC_WEBSOCKET_ACCEPT, derive_accept_key(key)),
    ];
    // A client that offered none refuses one.
    let chosen = request.contains_key(SEC_WEBSOCKET_PROTOCOL).then_some((SEC_WEBSOCKET_PROTOCOL, subprotocol));
    (StatusCode::SWITCHING_PROTOCOLS, headers, AppendHeaders(chosen)).into_response()
}
