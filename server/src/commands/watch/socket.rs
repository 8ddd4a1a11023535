//! The live socket: one connection at a time, opened, read and written by a task of its own. Whatever goes wrong ends the
//! task and is told; when to try again is decided elsewhere.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_view::live::policy::is_signed_out;
use lockscope_view::{ClientFrame, CompactFrame, decode_frame, encode_frame};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::commands::query::client::QueryClient;
use crate::error::RunError;

/// A connection may take so long.
const OPENING_MAX: Duration = Duration::from_secs(5);
/// Bytes of one message: a board of 500 rows has under a megabyte.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Frames that wait for whoever draws; a server that is read no faster waits too.
const EVENTS_MAX: usize = 64;
/// Frames that wait to be sent: a few for each key.
const OUTBOX_MAX: usize = 256;

/// What happens on a connection.
#[derive(Debug)]
pub(super) enum SocketEvent {
    /// It is open.
    Opened,
    /// A frame came.
    Frame(Box<CompactFrame>),
    /// It is closed, or never was open.
    Ended(SocketEnd),
}

/// Why a connection ended.
#[derive(Debug)]
pub(super) enum SocketEnd {
    /// It broke, or the server closed it.
    Lost,
    /// The server ended our sign-in.
    SignedOut,
    /// What came is of another version of the protocol.
    OtherVersion,
    /// It could not be opened.
    Refused(RunError),
}

/// The connection of a terminal.
pub(super) struct Socket {
    client: Arc<QueryClient>,
    events: mpsc::Receiver<(u64, SocketEvent)>,
    report: mpsc::Sender<(u64, SocketEvent)>,
    /// Events of connections that were given up are dropped.
    number: u64,
    task: Option<JoinHandle<()>>,
    outbox: Option<mpsc::Sender<ClientFrame>>,
}

impl Socket {
    /// Of a server; nothing is connected yet.
    pub(super) fn new(client: QueryClient) -> Self {
        let (report, events) = mpsc::channel(EVENTS_MAX);
        Self { client: Arc::new(client), events, report, number: 0, task: None, outbox: None }
    }

    /// The server's address, as it was given.
    pub(super) fn base(&self) -> &str {
        self.client.base()
    }

    /// Begins a connection, in place of another one if there is one.
    pub(super) fn connect(&mut self) {
        self.give_up();
        self.number += 1;
        let (outbox, to_send) = mpsc::channel(OUTBOX_MAX);
        self.outbox = Some(outbox);
        let (client, report, number) = (Arc::clone(&self.client), self.report.clone(), self.number);
        self.task = Some(tokio::spawn(async move {
            let end = run(&client, &report, number, to_send).await;
            // Nobody listens any more only where the program ends.
            let _ = report.send((number, SocketEvent::Ended(end))).await;
        }));
    }

    /// Closes the connection without a word from the server.
    pub(super) fn give_up(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
        self.outbox = None;
        self.number += 1;
    }

    /// Hands frames over for sending. False where the server takes none: the connection is of no use then.
    #[must_use]
    pub(super) fn send(&self, frames: Vec<ClientFrame>) -> bool {
        let Some(outbox) = &self.outbox else { return true };
        frames.into_iter().all(|frame| outbox.try_send(frame).is_ok())
    }

    /// What happens next on the connection.
    pub(super) async fn next(&mut self) -> SocketEvent {
        loop {
            match self.events.recv().await {
                Some((number, event)) if number == self.number => return event,
                Some(_) => {}
                // We hold a sender ourselves.
                None => std::future::pending().await,
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.give_up();
    }
}

async fn run(
    client: &QueryClient,
    report: &mpsc::Sender<(u64, SocketEvent)>,
    number: u64,
    mut to_send: mpsc::Receiver<ClientFrame>,
) -> SocketEnd {
    let opened = match timeout(OPENING_MAX, client.live_socket()).await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => return SocketEnd::Refused(error),
        Err(_) => {
            return SocketEnd::Refused(RunError::Unavailable(format!(
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
    if report.send((number, SocketEvent::Opened)).await.is_err() {
        return SocketEnd::Lost;
    }
    let sending = async {
        while let Some(frame) = to_send.recv().await {
            let Some(bytes) = encode_frame(&frame) else { continue };
            if sink.send(Message::Binary(Bytes::from(bytes))).await.is_err() {
                return SocketEnd::Lost;
            }
        }
        std::future::pending().await
    };
    let receiving = async {
        while let Some(message) = frames.next().await {
            match message {
                Ok(Message::Binary(bytes)) => {
                    let Some(frame) = decode_frame(&bytes) else { return SocketEnd::OtherVersion };
                    if report.send((number, SocketEvent::Frame(Box::new(frame)))).await.is_err() {
                        return SocketEnd::Lost;
                    }
                }
                Ok(Message::Close(Some(close))) if is_signed_out(close.code.into()) => return SocketEnd::SignedOut,
                Ok(Message::Text(_)) => return SocketEnd::OtherVersion,
                Ok(Message::Close(_)) | Err(Error::ConnectionClosed) => return SocketEnd::Lost,
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
                Err(_) => return SocketEnd::Lost,
            }
        }
        SocketEnd::Lost
    };
    tokio::select! {
        end = sending => end,
        end = receiving => end,
    }
}
