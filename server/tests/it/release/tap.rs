//! A TCP proxy that understands where ZooKeeper's requests begin and what kind they are, so that a test can do
//! something at exactly one point between two requests, lose exactly one, or lose the answers from there on.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(super) const DELETE: i32 = 2;
pub(super) const EXISTS: i32 = 3;
pub(super) const SYNC: i32 = 9;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes on.
    Pass,
    /// The connection breaks before it.
    Lose,
    /// It arrives, but nothing comes back any more; the connection breaks with the next request that does so.
    Mute,
}

/// Asked about each request, with its kind and how many of that kind came before on this connection.
pub(super) type Hook = Arc<dyn Fn(i32, usize) -> BoxFuture<'static, Fate> + Send + Sync>;

/// The proxy; connections break when it is dropped.
pub(super) struct Tap {
    address: SocketAddr,
    cut: watch::Sender<u64>,
}

impl Tap {
    pub(super) async fn start(target: String, hook: Hook) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cut = watch::Sender::new(0);
        let receiver = cut.subscribe();
        tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                let (target, hook, mut cut) = (target.clone(), hook.clone(), receiver.clone());
                cut.mark_unchanged();
                tokio::spawn(async move {
                    let Ok(outbound) = TcpStream::connect(target).await else { return };
                    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
                    let (from_client, to_client) = inbound.into_split();
                    let (from_server, to_server) = outbound.into_split();
                    let (mute, muted) = watch::channel(false);
                    tokio::select! {
                        () = requests(from_client, to_server, hook, mute) => {}
                        () = answers(from_server, to_client, muted) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self { address, cut }
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Breaks every connection there is.
    pub(super) fn cut(&self) {
        self.cut.send_modify(|count| *count += 1);
    }
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, hook: Hook, mute: watch::Sender<bool>) {
    let mut seen = std::collections::BTreeMap::new();
    let mut is_first = true;
    loop {
        let mut length = [0; 4];
        if from.read_exact(&mut length).await.is_err() {
            return;
        }
        let mut body = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap()];
        if from.read_exact(&mut body).await.is_err() {
            return;
        }
        // The first frame asks for a session and has no header.
        if !is_first {
            let kind = i32::from_be_bytes(body[4..8].try_into().unwrap());
            let count = seen.entry(kind).or_insert(0_usize);
            match hook(kind, *count).await {
                Fate::Pass => {}
                Fate::Lose => return,
                Fate::Mute => _ = mute.send_replace(true),
            }
            *count += 1;
        }
        is_first = false;
        if to.write_all(&length).await.is_err() || to.write_all(&body).await.is_err() {
            return;
        }
    }
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, muted: watch::Receiver<bool>) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer).await {
            Ok(count) if count > 0 && *muted.borrow() => {}
            Ok(count) if count > 0 => {
                if to.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}
