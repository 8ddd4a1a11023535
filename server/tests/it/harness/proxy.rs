//! A TCP proxy in this process that can cut connections, refuse new ones, or go silent without closing anything.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the proxy does with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Forwards.
    Open,
    /// Closes what is there and what comes.
    Cut,
    /// Keeps everything open and forwards nothing; bytes wait in the sockets.
    Silent,
}

/// A proxy in front of one server.
pub(crate) struct Proxy {
    address: SocketAddr,
    mode: Arc<watch::Sender<Mode>>,
}

impl Proxy {
    pub(crate) async fn start(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mode = Arc::new(watch::Sender::new(Mode::Open));
        let receiver = mode.subscribe();
        tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                if *receiver.borrow() != Mode::Cut {
                    tokio::spawn(serve(inbound, target.clone(), receiver.clone()));
                }
            }
        });
        Self { address, mode }
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

async fn forward(mut from: impl AsyncReadExt + Unpin, mut to: impl AsyncWriteExt + Unpin, mut mode: watch::Receiver<Mode>) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let now = *mode.borrow_and_update();
        if now == Mode::Cut {
            return;
        }
        tokio::select! {
            // What is set holds from then on.
            biased;
            changed = mode.changed() => if changed.is_err() { return },
            read = from.read(&mut buffer), if now == Mode::Open => match read {
                Ok(count) if count > 0 => if to.write_all(&buffer[..count]).await.is_err() { return },
                _ => return,
            },
        }
    }
}
