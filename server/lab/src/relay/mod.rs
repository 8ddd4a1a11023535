//! A small TCP relay on loopback in front of each client of the lab: the meter of what crosses the wire, and the place
//! where a connection is cut, silenced or loses a reply. Owns its port and the one connection at a time that goes
//! through it; must not know locks or lanes.

mod frames;
mod meter;
mod pump;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lockscope_runtime::tasks::spawn;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub use meter::{Counts, Meter};

/// How long the relay rests when it can't take a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Forwards.
    Open,
    /// Keeps everything open and forwards nothing.
    Muted,
    /// Everything is closed, for good.
    Cut,
}

/// What the relay's task shares with its handle.
#[derive(Debug)]
struct Way {
    members: Arc<[String]>,
    first: usize,
    meter: Arc<Meter>,
    drops_create: AtomicBool,
}

/// A relay for one client, which may come again after it lost its connection. Dropping it cuts it.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    mode: watch::Sender<Mode>,
    way: Arc<Way>,
}

impl Relay {
    /// Listens on a free port of loopback and forwards to `members[first % len]`, or to the next that can be reached.
    ///
    /// # Errors
    /// When no port is to be had.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn open(members: Arc<[String]>, first: usize, meter: Arc<Meter>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let way = Arc::new(Way { members, first, meter, drops_create: AtomicBool::new(false) });
        let mode = watch::Sender::new(Mode::Open);
        spawn("relay", serve(listener, Arc::clone(&way), mode.subscribe()));
        Ok(Self { address, mode, way })
    }

    /// Where the client connects to.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Closes both sides at once, and takes nobody any more.
    pub fn cut(&self) {
        self.mode.send_replace(Mode::Cut);
    }

    /// Nothing passes either way from now on; what is open stays open as far as the other side lets it. No effect once
    /// cut.
    pub fn mute(&self) {
        self.turn(Mode::Muted);
    }

    /// Goes on. A client that connected anew meanwhile is served, and its old connection closed.
    pub fn unmute(&self) {
        self.turn(Mode::Open);
    }

    /// The next reply that says that a znode was created is lost, and both sides are closed. Later connections work.
    pub fn drop_next_create_reply(&self) {
        self.way.drops_create.store(true, Ordering::Release);
    }

    pub fn drops_create_reply(&self) -> bool {
        self.way.drops_create.load(Ordering::Acquire)
    }

    fn turn(&self, to: Mode) {
        self.mode.send_if_modified(|mode| {
            let turns = *mode != Mode::Cut && *mode != to;
            if turns {
                *mode = to;
            }
            turns
        });
    }
}

async fn carry(client: TcpStream, way: Arc<Way>) {
    // The client notices its closed connection, and comes again.
    if let Ok(member) = pump::reach(&way.members, way.first).await {
        pump::pump(client, member, &way.meter, &way.drops_create).await;
    }
}

/// A client has one connection at a time: the newest counts.
async fn serve(listener: TcpListener, way: Arc<Way>, mut mode: watch::Receiver<Mode>) {
    let mut carried: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    let mut newest: Option<TcpStream> = None;
    loop {
        let now = *mode.borrow_and_update();
        match now {
            Mode::Cut => return,
            Mode::Muted => {}
            Mode::Open => {
                if let Some(client) = newest.take() {
                    carried = Some(Box::pin(carry(client, Arc::clone(&way))));
                }
            }
        }
        let carrying = async {
            match (&mut carried, now) {
                (Some(connection), Mode::Open) => connection.await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = mode.changed() => if changed.is_err() { return },
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => newest = Some(client),
                // No more descriptors, or the client is gone already.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            () = carrying => carried = None,
        }
    }
}
