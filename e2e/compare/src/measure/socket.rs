//! A browser's live socket, as far as it is measured: what it has, and how many bytes came.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_view::{Body, ClientFrame, CompactFrame, View, decode_frame, encode_frame};
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::{WebSocketStream, client_async};

/// In what the frames are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Binary,
    Json,
}

impl Encoding {
    pub(super) const ALL: [Self; 2] = [Self::Binary, Self::Json];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Json => "JSON",
        }
    }
}

/// A WebSocket from an address.
pub(super) async fn connect(source: Ipv4Addr, url: &str, protocol: Option<&'static str>) -> WebSocketStream<TcpStream> {
    let mut request = format!("{}/api/v1/live", url.replace("http", "ws")).into_client_request().unwrap();
    if let Some(protocol) = protocol {
        request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(protocol));
    }
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((source, 0).into()).unwrap();
    let address = url.strip_prefix("http://").unwrap().parse().unwrap();
    client_async(request, socket.connect(address).await.unwrap()).await.unwrap().0
}

/// A socket with one subscription.
pub(super) struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// What a binary one shows.
    body: Option<Body>,
    /// Bytes of snapshots and differences since this was last taken.
    pub(super) bytes: usize,
    /// Differences that came, of all who count there.
    pub(super) counted: Option<Arc<AtomicU64>>,
}

impl Socket {
    /// Opens it, and waits for the first snapshot.
    pub(super) async fn open(url: &str, view: View, encoding: Encoding) -> Self {
        Self::open_from(Ipv4Addr::LOCALHOST, url, view, encoding).await
    }

    /// The same from an address of its own, as other browsers have: one address may have so many.
    pub(super) async fn open_from(source: Ipv4Addr, url: &str, view: View, encoding: Encoding) -> Self {
        let (protocol, subscribe) = match encoding {
            Encoding::Binary => {
                let frame = encode_frame(&ClientFrame::Subscribe { id: 1, view }).unwrap();
                ("lockscope.v1.bin", Message::binary(frame))
            }
            Encoding::Json => {
                let view = match view {
                    View::Lock(query) => json!({ "kind": "lock", "path": query.path }),
                    _ => json!({ "kind": "board" }),
                };
                ("lockscope.v1.json", Message::text(json!({ "type": "subscribe", "id": 1, "view": view }).to_string()))
            }
        };
        let mut stream = connect(source, url, Some(protocol)).await;
        stream.send(subscribe).await.unwrap();
        let mut socket = Self { stream, body: None, bytes: 0, counted: None };
        while socket.bytes == 0 {
            socket.next().await;
        }
        socket.bytes = 0;
        socket
    }

    /// Takes one message.
    async fn next(&mut self) {
        match self.stream.next().await.unwrap().unwrap() {
            Message::Binary(bytes) => match decode_frame(&bytes).unwrap() {
                CompactFrame::Snapshot { body, .. } => {
                    self.body = Some(*body);
                    self.bytes += bytes.len();
                }
                CompactFrame::Delta { body, .. } => {
                    self.count();
                    assert!(self.body.as_mut().unwrap().apply_patch(body), "a difference leads nowhere");
                    self.bytes += bytes.len();
                }
                _ => {}
            },
            Message::Text(text) if text.contains(r#""type":"error""#) => panic!("{text}"),
            Message::Text(text) if text.contains(r#""type":"snapshot""#) || text.contains(r#""type":"delta""#) => {
                self.bytes += text.len();
            }
            _ => {}
        }
    }

    fn count(&self) {
        self.counted.iter().for_each(|counted| _ = counted.fetch_add(1, Ordering::Relaxed));
    }

    /// Takes what comes for so long.
    pub(super) async fn take_for(&mut self, span: Duration) {
        let end = Instant::now() + span;
        while timeout_at(end, self.next()).await.is_ok() {}
    }

    /// Takes messages until what it shows is as wanted.
    pub(super) async fn until(&mut self, is_shown: impl Fn(&Body) -> bool) {
        while !self.body.as_ref().is_some_and(&is_shown) {
            self.next().await;
        }
    }
}
