//! The live socket: one connection at a time, opened, read and written by a task of its own. Whatever goes wrong ends the
//! task and is told; when to try again is decided elsewhere.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_view::live::policy::is_signed_out;
use lockscope_view::{ClientFrame, CompactFrame, decode_frame, encode_frame};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::commands::query::client::QueryClient;
use crate::error::RunError;

const OPENING_MAX: Duration = Duration::from_secs(5);
/// Bytes of one message: a board of 500 rows has under a megabyte.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Frames that wait for whoever draws; a server that is read no faster waits too.
const EVENTS_MAX: usize = 64;
/// Frames that wait to be sent: a few for each key.
const OUTBOX_MAX: usize = 256;

/// What happens on a connection. All but the first two end it.
#[derive(Debug)]
pub(super) enum SocketEvent {
    Opened,
    Frame(Box<CompactFrame>),
    /// It broke, or the server closed it.
    Lost,
    /// The server ended our sign-in.
    SignedOut,
    OtherVersion,
    /// It could not be opened.
    Refused(RunError),
}

/// The connection of a terminal; it is closed without a word once this is dropped.
pub(super) struct Socket {
    events: mpsc::Receiver<SocketEvent>,
    outbox: mpsc::Sender<ClientFrame>,
}

impl Socket {
    pub(super) fn connect(client: &Arc<QueryClient>) -> Self {
        let (report, events) = mpsc::channel(EVENTS_MAX);
        let (outbox, to_send) = mpsc::channel(OUTBOX_MAX);
        let client = Arc::clone(client);
        tokio::spawn(async move {
            tokio::select! {
                end = run(&client, &report, to_send) => drop(report.send(end).await),
                () = report.closed() => {}
            }
        });
        Self { events, outbox }
    }

    /// Hands frames over for sending. False where the server takes none: the connection is of no use then.
    #[must_use]
    pub(super) fn send(&self, frames: Vec<ClientFrame>) -> bool {
        frames.into_iter().all(|frame| self.outbox.try_send(frame).is_ok())
    }

    pub(super) async fn next(&mut self) -> SocketEvent {
        self.events.recv().await.unwrap_or(SocketEvent::Lost)
    }
}

async fn run(
    client: &QueryClient,
    report: &mpsc::Sender<SocketEvent>,
    mut to_send: mpsc::Receiver<ClientFrame>,
) -> SocketEvent {
    let opened = match timeout(OPENING_MAX, client.live_socket()).await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => return SocketEvent::Refused(error),
        Err(_) => {
            return SocketEvent::Refused(RunError::Unavailable(format!(
                "--server {} did not answer within {} s; check its load and its network",
                client.base(),
                OPENING_MAX.as_secs()
            )));
        }
    };
    let config =
        WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES_MAX)).max_frame_size(Some(MESSAGE_BYTES_MAX));
    let stream = WebSocketStream::from_raw_socket(opened, Role::Client, Some(config)).await;
    let (mut sink, mut frames) = stream.split();
    if report.send(SocketEvent::Opened).await.is_err() {
        return SocketEvent::Lost;
    }
    let sending = async {
        while let Some(frame) = to_send.recv().await {
            let Some(bytes) = encode_frame(&frame) else { continue };
            if sink.send(Message::Binary(Bytes::from(bytes))).await.is_err() {
                return SocketEvent::Lost;
            }
        }
        std::future::pending().await
    };
    let receiving = async {
        while let Some(message) = frames.next().await {
            match message {
                Ok(Message::Binary(bytes)) => {
                    let Some(frame) = decode_frame(&bytes) else { return SocketEvent::OtherVersion };
                    if report.send(SocketEvent::Frame(Box::new(frame))).await.is_err() {
                        return SocketEvent::Lost;
                    }
                }
                Ok(Message::Close(Some(close))) if is_signed_out(close.code.into()) => return SocketEvent::SignedOut,
                Ok(Message::Text(_)) => return SocketEvent::OtherVersion,
                Ok(Message::Close(_)) | Err(Error::ConnectionClosed) => return SocketEvent::Lost,
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
                Err(_) => return SocketEvent::Lost,
            }
        }
        SocketEvent::Lost
    };
    tokio::select! {
        end = sending => end,
        end = receiving => end,
    }
}
