//! A one-connection path to ZooKeeper that can be cut as a dying host cuts it: the session is not closed, the server
//! must time it out. Knows nothing of locks.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A forwarder in this process; dropped, it closes its port and every connection.
#[derive(Debug)]
pub(super) struct CutLine {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl CutLine {
    /// Listens on a free loopback port and forwards to `target`.
    pub(super) async fn open(target: String) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            // One connection at a time is enough for one session; its end waits for the next.
            while let Ok((mut inbound, _)) = listener.accept().await {
                if let Ok(mut outbound) = TcpStream::connect(&target).await {
                    let _ = tokio::io::copy_bidirectional(&mut inbound, &mut outbound).await;
                }
            }
        });
        Ok(Self { address, task })
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for CutLine {
    fn drop(&mut self) {
        self.task.abort();
    }
}
