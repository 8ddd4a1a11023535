//! An owner made by hand, on a real socket: it proves what it can prove, and then does what it is told to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use cluster::{PROOF_HEADER, ReplicaSecret};
use feed::ReplicaFrame;
use futures_util::{SinkExt as _, StreamExt as _};
use gateway::OwnerAddress;
use lockscope_wire::{
    AsOf, Board, BoardHead, Body, CompactFrame, Epoch, KnownView, RootState, View, Window, decode_frame, encode_frame,
};
use runtime::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// What it does once it is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// What an owner does.
    Honest,
    /// It accepts, and reads nothing.
    Deaf,
    /// It sends what is no frame.
    Garbage,
    /// It sends a message in fragments that never ends.
    Endless,
    /// It announces a message of 100 MB.
    Huge,
    /// It answers with another view than was asked for.
    OtherKind,
    /// It accepts a connection and says nothing at all.
    Silent,
}

pub(crate) struct Owner {
    pub(crate) address: OwnerAddress,
    /// Locks on its board.
    pub(crate) locks: Arc<AtomicU32>,
    /// Views that are asked of it.
    pub(crate) views: Arc<AtomicU64>,
    accepting: AbortHandle,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Owner {
    /// At a port of its own; `ahead_ms`: by how much its clock is ahead.
    pub(crate) async fn start(id: &str, secret: &str, habit: Habit, ahead_ms: i64) -> Self {
        Self::at("127.0.0.1:0", id, secret, habit, ahead_ms).await
    }

    pub(crate) async fn at(listen: &str, id: &str, secret: &str, habit: Habit, ahead_ms: i64) -> Self {
        let listener = TcpListener::bind(listen).await.unwrap();
        let address = OwnerAddress { id: id.to_owned(), address: format!("http://{}", listener.local_addr().unwrap()) };
        let (locks, views) = (Arc::new(AtomicU32::new(1)), Arc::new(AtomicU64::new(0)));
        let one = Connection {
            own: address.clone(),
            secret: ReplicaSecret::new(secret.as_bytes()).unwrap(),
            habit,
            ahead_ms,
            locks: locks.clone(),
            views: views.clone(),
            epoch: Epoch(rand::random()),
        };
        let accepting = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(one.clone().serve(stream));
            }
        });
        Self { address, locks, views, accepting: accepting.abort_handle() }
    }
}

#[derive(Clone)]
struct Connection {
    own: OwnerAddress,
    secret: ReplicaSecret,
    habit: Habit,
    ahead_ms: i64,
    locks: Arc<AtomicU32>,
    views: Arc<AtomicU64>,
    epoch: Epoch,
}

impl Connection {
    fn now_ms(&self) -> i64 {
        Clock::system().now_ms() + self.ahead_ms
    }

    async fn serve(self, mut stream: TcpStream) {
        if self.habit == Habit::Silent {
            std::future::pending::<()>().await;
        }
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { return };
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap_or_default()
        };
        let us = (&*self.own.id, &*self.own.address);
        let greeting = match self.secret.read(header("authorization"), us, self.now_ms()) {
            Ok(greeting) => greeting,
            Err(error) => {
                let body = format!("{{\"title\":\"Forbidden\",\"detail\":\"{error}\"}}");
                let head = format!("HTTP/1.1 403 Forbidden\r\ncontent-length: {}\r\n\r\n", body.len());
                let _gone = stream.write_all(format!("{head}{body}").as_bytes()).await;
                return;
            }
        };
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: {}\r\n{PROOF_HEADER}: {}\r\n\r\n",
            derive_accept_key(header("sec-websocket-key").as_bytes()),
            self.secret.prove(&greeting, &self.own.address),
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        match self.habit {
            Habit::Huge => {
                // A binary frame of 100 MB, of which some comes.
                let mut frame = vec![0x82, 127];
                frame.extend_from_slice(&100_000_000_u64.to_be_bytes());
                frame.resize(64 * 1024, 7);
                while stream.write_all(&frame).await.is_ok() {}
            }
            Habit::Deaf => std::future::pending::<()>().await,
            _ => self.talk(WebSocketStream::from_raw_socket(stream, Role::Server, None).await).await,
        }
    }

    async fn talk(self, mut socket: WebSocketStream<TcpStream>) {
        let mut asked: Vec<u32> = Vec::new();
        let mut seq = 0;
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        let mut shown = None;
        loop {
            tokio::select! {
                message = socket.next() => match message {
                    Some(Ok(Message::Binary(bytes))) => match decode_frame(&bytes).unwrap() {
                        ReplicaFrame::Subscribe { id, view, .. } => {
                            asked.push(id);
                            self.views.fetch_add(1, Ordering::Relaxed);
                            if self.misbehave(&mut socket).await.is_err() { return }
                            let sent = socket.send(self.snapshot(id, &view, seq)).await;
                            if sent.is_err() { return }
                        }
                        ReplicaFrame::Unsubscribe { id } => asked.retain(|one| *one != id),
                    },
                    Some(Ok(_)) => {}
                    _ => return,
                },
                _ = tick.tick() => {
                    let locks = self.locks.load(Ordering::Relaxed);
                    let is_new = shown.replace(locks) != Some(locks);
                    if is_new && self.habit == Habit::Honest {
                        seq += 1;
                        for id in &asked {
                            if socket.feed(self.snapshot(*id, &View::Board(Default::default()), seq)).await.is_err() { return }
                        }
                    }
                    let server_time_ms = self.now_ms();
                    let views = asked.iter().map(|id| KnownView { id: *id, seq, known_at_ms: server_time_ms });
                    let frame = CompactFrame::Heartbeat { seq, server_time_ms, views: views.collect() };
                    if socket.send(binary(&frame)).await.is_err() { return }
                }
            }
        }
    }

    async fn misbehave(&self, socket: &mut WebSocketStream<TcpStream>) -> Result<(), ()> {
        let sent = match self.habit {
            Habit::Garbage => socket.send(Message::binary(vec![0xff; 1_000])).await,
            Habit::Endless => {
                // The first fragment is a message, and what follows goes on with it.
                let mut kind = Data::Binary;
                loop {
                    let fragment = Frame::message(vec![1; 64 * 1024], OpCode::Data(kind), false);
                    kind = Data::Continue;
                    if socket.send(Message::Frame(fragment)).await.is_err() {
                        return Err(());
                    }
                }
            }
            _ => return Ok(()),
        };
        sent.map_err(|_| ())
    }

    fn snapshot(&self, id: u32, view: &View, seq: u64) -> Message {
        let server_time_ms = self.now_ms();
        let as_of = AsOf { state: RootState::Live, ..AsOf::default() };
        let mut head = BoardHead { as_of, ..BoardHead::default() };
        head.totals.locks = self.locks.load(Ordering::Relaxed);
        let body = match view {
            View::Lock(_) => Body::Lock(None),
            View::Board(_) if self.habit == Habit::OtherKind => Body::Lock(None),
            _ => Body::Board(Board { head, window: Window::default() }),
        };
        binary(&CompactFrame::Snapshot {
            id,
            epoch: self.epoch,
            seq,
            server_time_ms,
            known_at_ms: server_time_ms,
            body: Box::new(body),
        })
    }
}

fn binary(frame: &CompactFrame) -> Message {
    Message::binary(encode_frame(frame).unwrap())
}
