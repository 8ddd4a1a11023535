//! A relay that makes of ZooKeeper a server of another kind: one whose recursive watches name the watched znode in place of
//! the changed one, as ClickHouse Keeper's do, or one that does not know how to set a persistent watch.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// The number of what nobody asked for, of the request that sets a persistent watch, and of the error that says that a
/// request is not known.
const EVENT: i32 = -1;
const ADD_WATCH: i32 = 106;
const UNIMPLEMENTED: i32 = -6;
const RECURSIVE: i32 = 1;
/// Bytes of a reply's header, and of what comes before the path in an event.
const HEADER: usize = 16;
const BEFORE_PATH: usize = HEADER + 8;

/// What kind of server it looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its recursive watches are wrong. It answers no four-letter word.
    Lies,
    /// The same, and `srvr` says that it is ClickHouse Keeper.
    ClickHouse,
    /// It answers with an error to whoever asks for a persistent watch.
    Refuses,
    /// It closes the connection of whoever does.
    Closes,
}

/// A relay in front of one server.
pub(crate) struct Keeper {
    address: SocketAddr,
}

impl Keeper {
    pub(crate) async fn start(target: String, kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                tokio::spawn(serve(inbound, target.clone(), kind));
            }
        });
        Self { address }
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }
}

async fn serve(mut inbound: TcpStream, target: String, kind: Kind) {
    let mut first = [0; 4];
    if inbound.read_exact(&mut first).await.is_err() {
        return;
    }
    if first.iter().all(u8::is_ascii_lowercase) {
        if kind == Kind::ClickHouse && &first == b"srvr" {
            let _ = inbound
                .write_all(
                    b"ClickHouse Keeper version: v26.3.9.1-testing-0\nLatency min/avg/max: 0/0/0\nMode: leader\n",
                )
                .await;
        }
        return;
    }
    let Ok(outbound) = TcpStream::connect(target).await else { return };
    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
    let (in_read, in_write) = inbound.into_split();
    let (out_read, out_write) = outbound.into_split();
    let in_write = Arc::new(tokio::sync::Mutex::new(in_write));
    let watched = Arc::new(Mutex::new(BTreeSet::new()));
    let to_client = Arc::clone(&in_write);
    // The end of either direction closes both.
    tokio::select! {
        () = requests(first, in_read, out_write, &to_client, kind, &watched) => {}
        () = replies(out_read, &in_write, kind, &watched) => {}
    }
}

/// Passes requests on; what a client asks for that is not known here goes no further.
async fn requests(
    first: [u8; 4],
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    client: &tokio::sync::Mutex<OwnedWriteHalf>,
    kind: Kind,
    watched: &Mutex<BTreeSet<String>>,
) {
    let (mut length, mut is_open) = (first, false);
    loop {
        let Some(body) = body(&mut from, length).await else { return };
        // The first packet asks for a session and has no header.
        if std::mem::replace(&mut is_open, true) && number(&body, 4) == Some(ADD_WATCH) {
            match kind {
                Kind::Closes => return,
                Kind::Refuses => {
                    let mut reply = body[..4].to_vec();
                    reply.extend(0_i64.to_be_bytes());
                    reply.extend(UNIMPLEMENTED.to_be_bytes());
                    if client.lock().await.write_all(&packet(&reply)).await.is_err() {
                        return;
                    }
                }
                Kind::Lies | Kind::ClickHouse => {
                    let (path, end) = text(&body, 8).expect("a path");
                    if number(&body, end) == Some(RECURSIVE) {
                        watched.lock().unwrap().insert(path);
                    }
                }
            }
            if kind == Kind::Refuses {
                if from.read_exact(&mut length).await.is_err() {
                    return;
                }
                continue;
            }
        }
        if to.write_all(&packet(&body)).await.is_err() || from.read_exact(&mut length).await.is_err() {
            return;
        }
    }
}

/// Passes replies on; an event below a recursive watch gets the path of the watch.
async fn replies(
    mut from: OwnedReadHalf,
    client: &tokio::sync::Mutex<OwnedWriteHalf>,
    kind: Kind,
    watched: &Mutex<BTreeSet<String>>,
) {
    let (mut length, mut is_open) = ([0; 4], false);
    while from.read_exact(&mut length).await.is_ok() {
        let Some(mut body) = body(&mut from, length).await else { return };
        let is_event = std::mem::replace(&mut is_open, true) && number(&body, 0) == Some(EVENT);
        if is_event && matches!(kind, Kind::Lies | Kind::ClickHouse) {
            let (path, _) = text(&body, BEFORE_PATH).expect("a path");
            let of_watch =
                watched.lock().unwrap().iter().find(|watch| lockscope_core::znode::is_under(&path, watch)).cloned();
            if let Some(of_watch) = of_watch {
                body.truncate(BEFORE_PATH);
                body.extend(i32::try_from(of_watch.len()).unwrap().to_be_bytes());
                body.extend(of_watch.as_bytes());
            }
        }
        if client.lock().await.write_all(&packet(&body)).await.is_err() {
            return;
        }
    }
}

async fn body(from: &mut OwnedReadHalf, length: [u8; 4]) -> Option<Vec<u8>> {
    let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).ok()?];
    from.read_exact(&mut body).await.ok()?;
    Some(body)
}

fn packet(body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat()
}

fn number(body: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?))
}

/// A text, and where it ends.
fn text(body: &[u8], at: usize) -> Option<(String, usize)> {
    let end = at + 4 + usize::try_from(number(body, at)?).ok()?;
    Some((String::from_utf8(body.get(at + 4..end)?.to_vec()).ok()?, end))
}
