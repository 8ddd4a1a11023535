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
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mode = Arc::new(watch::Sender::new(Mode::Open));
        let receiver = mode.subscribe();
        let refused = Arc::new(watch::Sender::new(0));
        let count = Arc::clone(&refused);
        tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                if *receiver.borrow() == Mode::Cut {
                    count.send_modify(|count| *count += 1);
                } else {
                    tokio::spawn(serve(inbound, target.clone(), receiver.clone()));
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

async fn serve(inbound: TcpStream, target: String, mode: watch::Receiver<Mode>) {
    let Ok(outbound) = TcpStream::connect(target).await else { return };
    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
    let (in_read, in_write) = inbound.into_split();
    let (out_read, out_write) = outbound.into_split();
    // Either direction's end drops both.
    tokio::select! {
        () = forward(in_read, out_write, mode.clone()) => {}
        () = forward(out_read, in_write, mode) => {}
    }
}

async fn forward(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut mode: watch::Receiver<Mode>,
) {
    let (send, mut due) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let read = async move {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let now = *mode.borrow_and_update();
            let delay = match now {
                Mode::Cut => return,
                Mode::Open | Mode::Silent => Duration::ZERO,
                Mode::Late(delay) => delay,
            };
            tokio::select! {
                // What is set holds from then on.
                biased;
                changed = mode.changed() => if changed.is_err() { return },
                read = from.read(&mut buffer), if now != Mode::Silent => match read {
                    Ok(count) if count > 0 => if send.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() { return },
                    _ => return,
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
    tokio::select! {
        () = read => {}
        () = write => {}
    }
}
