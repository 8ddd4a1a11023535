//! A TCP proxy in this process that can cut connections, refuse new ones, go silent without closing
//! anything, or forward late.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// What the proxy does with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Forwards.
    Open,
    /// Closes what is there and what comes.
    Cut,
    /// Closes what is there towards the client, and refuses what comes. The server sees silence until it is open
    /// again.
    HalfCut,
    /// Keeps everything open and forwards nothing; bytes wait in the sockets.
    Silent,
    /// Forwards everything so much later, in each direction, and as much at once as comes.
    Late(Duration),
}

/// A proxy in front of one server.
pub(crate) struct Proxy {
    address: SocketAddr,
    mode: Arc<watch::Sender<Mode>>,
    refused: Arc<watch::Sender<u64>>,
}

impl Proxy {
    pub(crate) async fn start(target: String) -> Self {
        Self::waiting(target, Duration::ZERO).await
    }

    /// One between members that vote. It waits for a member that does not listen yet: a follower tries a connection again that
    /// is refused, and takes one that is closed for the end of its leader.
    pub(crate) async fn voting(target: String) -> Self {
        Self::waiting(target, Duration::from_secs(5)).await
    }

    async fn waiting(target: String, wait: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mode = Arc::new(watch::Sender::new(Mode::Open));
        let receiver = mode.subscribe();
        let refused = Arc::new(watch::Sender::new(0));
        let count = Arc::clone(&refused);
        tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                if matches!(*receiver.borrow(), Mode::Cut | Mode::HalfCut) {
                    count.send_modify(|count| *count += 1);
                } else {
                    tokio::spawn(serve(inbound, (target.clone(), wait), receiver.clone()));
                }
            }
        });
        Self { address, mode, refused }
    }

    /// Waits until so many connections were refused.
    pub(crate) async fn refused(&self, count: u64) {
        self.refused.subscribe().wait_for(|refused| *refused >= count).await.expect("the proxy runs");
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

async fn serve(inbound: TcpStream, (target, wait): (String, Duration), mode: watch::Receiver<Mode>) {
    let until = Instant::now() + wait;
    let outbound = loop {
        match TcpStream::connect(&target).await {
            Ok(outbound) => break outbound,
            Err(_) if Instant::now() < until => tokio::time::sleep(super::STEP).await,
            Err(_) => return,
        }
    };
    let Ok(inbound) = inbound.into_std() else { return };
    let Ok(near) = inbound.try_clone() else { return };
    let Ok(inbound) = TcpStream::from_std(inbound) else { return };
    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
    let (in_read, in_write) = inbound.into_split();
    let (out_read, out_write) = outbound.into_split();
    // Either direction's end drops both.
    tokio::select! {
        () = forward(in_read, out_write, mode.clone()) => {}
        () = forward(out_read, in_write, mode.clone()) => {}
        () = half_cut(near, mode) => {}
    }
}

/// Closes one side when that is to be; ends when all is open again.
async fn half_cut(near: std::net::TcpStream, mut mode: watch::Receiver<Mode>) {
    if mode.wait_for(|mode| *mode == Mode::HalfCut).await.is_ok() {
        let _ = near.shutdown(std::net::Shutdown::Both);
        let _ = mode.wait_for(|mode| *mode != Mode::HalfCut).await;
    }
}

async fn forward(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut mode: watch::Receiver<Mode>,
) {
    let (send, mut due) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    // Gives whether it was cut: then what was read goes nowhere.
    let read = async move {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let now = *mode.borrow_and_update();
            let delay = match now {
                Mode::Cut => return true,
                Mode::Open | Mode::Silent | Mode::HalfCut => Duration::ZERO,
                Mode::Late(delay) => delay,
            };
            tokio::select! {
                // What is set holds from then on.
                biased;
                changed = mode.changed() => if changed.is_err() { return true },
                read = from.read(&mut buffer), if !matches!(now, Mode::Silent | Mode::HalfCut) => match read {
                    Ok(count) if count > 0 => if send.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() { return true },
                    _ => return false,
                },
            }
        }
    };
    let write = async move {
        while let Some((at, bytes)) = due.recv().await {
            tokio::time::sleep_until(at).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::pin!(write);
    tokio::select! {
        was_cut = read => if !was_cut { write.await },
        () = &mut write => {}
    }
}
