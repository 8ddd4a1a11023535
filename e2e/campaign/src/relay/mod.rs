//! A TCP relay on loopback between Lockscope and one member, where links are cut, silenced, slowed and delayed, each
//! direction for itself. Owns its port. Of ZooKeeper it knows how a member grants a session, and notes when.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

mod edit;

pub use edit::Edit;

use crate::STEP;
use crate::capture::now_ms;
use edit::Packets;

/// Bytes read at once.
const CHUNK_BYTES: usize = 16 * 1024;
/// Chunks under way each way; the sender waits when there are more, as with a full window.
const CHUNKS_MAX: usize = 4_096;

/// What happens to the bytes of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Open,
    /// They wait, and nobody is notified.
    Silent,
    /// Each arrives so much later.
    Late(Duration),
    /// So many bytes a second.
    Slow(u32),
    /// Each chunk arrives up to so much later and in pieces of a few bytes. Connections are late by themselves, so what
    /// one brings may overtake what another brings; within one, the order is kept.
    Ragged(Duration),
    /// One chunk of [`HALTS_ONE_IN`] stops somewhere in its middle for up to so long: the answers before that point are
    /// older by it than those behind it.
    Halting(Duration),
}

/// The state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Connections are closed, and new ones as well.
    pub is_cut: bool,
    /// The same towards the side that connected; the other side sees silence until it ends.
    pub is_half_cut: bool,
    /// From Lockscope to the member.
    pub requests: Flow,
    /// From the member to Lockscope.
    pub replies: Flow,
}

impl Link {
    pub const OPEN: Self = Self::both(Flow::Open);
    pub const CUT: Self = Self { is_cut: true, ..Self::OPEN };
    pub const HALF_CUT: Self = Self { is_half_cut: true, ..Self::both(Flow::Silent) };

    pub const fn both(flow: Flow) -> Self {
        Self { is_cut: false, is_half_cut: false, requests: flow, replies: flow }
    }
}

/// Pieces of a ragged chunk at most.
const PIECES_MAX: usize = 16;
/// Chunks of a halting link, of which one halts.
const HALTS_ONE_IN: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Requests,
    Replies,
}

impl Direction {
    fn flow(self, link: &Link) -> Flow {
        match self {
            Self::Requests => link.requests,
            Self::Replies => link.replies,
        }
    }
}

/// Where a member's answer to a new connection has the time-out that it grants, 0 when it refuses the session, and the
/// session.
const TIMEOUT: std::ops::Range<usize> = 8..12;
const SESSION: std::ops::Range<usize> = 12..20;

/// A session that a member granted, or granted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub at_ms: i64,
    pub session: i64,
}

/// All of them.
pub type Grants = Arc<Mutex<Vec<Grant>>>;

fn granted(chunk: &[u8]) -> Option<Grant> {
    let is_granted = chunk.get(TIMEOUT)?.iter().any(|byte| *byte != 0);
    let session = i64::from_be_bytes(chunk.get(SESSION)?.try_into().ok()?);
    is_granted.then(|| Grant { at_ms: now_ms(), session })
}

/// A relay in front of one member.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    link: Arc<watch::Sender<Link>>,
}

impl Relay {
    pub async fn start(target: String, grants: Grants) -> Self {
        Self::editing(target, Edit::None, grants).await
    }

    /// One between members that vote. It waits for a member that does not listen yet: a follower tries a connection again that
    /// is refused, and takes one that is closed for the end of its leader.
    pub async fn voting(target: String) -> Self {
        Self::with(target, Edit::None, Grants::default(), Duration::from_secs(5)).await
    }

    /// One that changes packets as well.
    pub async fn editing(target: String, edit: Edit, grants: Grants) -> Self {
        Self::with(target, edit, grants, Duration::ZERO).await
    }

    async fn with(target: String, edit: Edit, grants: Grants, wait: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let link = Arc::new(watch::Sender::new(Link::OPEN));
        let receiver = link.subscribe();
        tokio::spawn(async move {
            let mut connections = 0;
            while let Ok((inbound, _)) = listener.accept().await {
                let refuses = receiver.borrow().is_cut || receiver.borrow().is_half_cut;
                if !refuses {
                    connections += 1;
                    let way = Way { edit, seed: connections, wait, link: receiver.clone() };
                    tokio::spawn(serve(inbound, target.clone(), way, Arc::clone(&grants)));
                }
            }
        });
        Self { address, link }
    }

    pub fn address(&self) -> String {
        self.address.to_string()
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn set(&self, link: Link) {
        self.link.send_replace(link);
    }
}

/// What one connection goes through.
#[derive(Clone, Debug)]
struct Way {
    edit: Edit,
    /// Decides what is random.
    seed: u64,
    /// How long a member is waited for that does not listen.
    wait: Duration,
    link: watch::Receiver<Link>,
}

async fn serve(inbound: TcpStream, target: String, way: Way, grants: Grants) {
    let until = Instant::now() + way.wait;
    let outbound = loop {
        match TcpStream::connect(&target).await {
            Ok(outbound) => break outbound,
            Err(_) if Instant::now() < until => sleep(STEP).await,
            Err(_) => return,
        }
    };
    let Ok(inbound) = inbound.into_std() else { return };
    let Ok(near) = inbound.try_clone() else { return };
    let Ok(inbound) = TcpStream::from_std(inbound) else { return };
    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
    let (in_read, in_write) = inbound.into_split();
    let (out_read, out_write) = outbound.into_split();
    let (mut cut, mut half_cut) = (way.link.clone(), way.link.clone());
    // The end of either direction, or a cut, closes both.
    tokio::select! {
        () = forward(in_read, out_write, way.clone(), Direction::Requests, None) => {}
        () = forward(out_read, in_write, way, Direction::Replies, Some(grants)) => {}
        _ = cut.wait_for(|link| link.is_cut) => {}
        () = close_near(near, &mut half_cut) => {}
    }
}

/// Closes one side when that is to be; ends when it is no more.
async fn close_near(near: std::net::TcpStream, link: &mut watch::Receiver<Link>) {
    if link.wait_for(|link| link.is_half_cut).await.is_ok() {
        let _ = near.shutdown(std::net::Shutdown::Both);
        let _ = link.wait_for(|link| !link.is_half_cut).await;
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    to: OwnedWriteHalf,
    way: Way,
    direction: Direction,
    mut grants: Option<Grants>,
) {
    let (sender, mut chunks) = mpsc::channel(CHUNKS_MAX);
    let reading = async move {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            match from.read(&mut chunk).await {
                Ok(count) if count > 0 => {
                    chunk.truncate(count);
                    if sender.send((Instant::now(), chunk)).await.is_err() {
                        return;
                    }
                }
                _ => return,
            }
        }
    };
    // What was read before the end is still written.
    tokio::join!(reading, async {
        let edit = if direction == Direction::Replies { way.edit } else { Edit::None };
        let (mut packets, mut link) = (Packets::new(edit), way.link.clone());
        let mut writer = Writer { to, link: way.link, direction, rng: StdRng::seed_from_u64(way.seed) };
        while let Some((read_at, chunk)) = chunks.recv().await {
            let chunk = packets.edit(chunk);
            if writer.write(read_at, &chunk).await.is_none() {
                chunks.close();
                return;
            }
            // Only what reached Lockscope was granted.
            if let (Some(grants), Some(grant)) = (grants.take(), granted(&chunk)) {
                grants.lock().unwrap().push(grant);
            }
        }
        // Its end would end the other side.
        let _ = link.wait_for(|link| !link.is_half_cut).await;
    });
}

/// The far end of one direction.
struct Writer {
    to: OwnedWriteHalf,
    link: watch::Receiver<Link>,
    direction: Direction,
    rng: StdRng,
}

impl Writer {
    /// Writes a chunk when the link lets it; None when the connection has ended.
    async fn write(&mut self, read_at: Instant, chunk: &[u8]) -> Option<()> {
        loop {
            let flow = self.direction.flow(&self.link.borrow_and_update());
            let due = match flow {
                Flow::Open => break,
                Flow::Silent => None,
                Flow::Late(delay) => Some(read_at + delay),
                Flow::Ragged(most) => {
                    return self.write_ragged(most, chunk).await;
                }
                Flow::Halting(most) => return self.write_halting(most, chunk).await,
                Flow::Slow(bytes_per_s) => {
                    let bytes = u32::try_from(chunk.len()).expect("a chunk is small");
                    Some(Instant::now() + Duration::from_secs(1) * bytes / bytes_per_s)
                }
            };
            let passing = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = passing => break,
                // What is set holds from then on.
                changed = self.link.changed() => changed.ok()?,
            }
        }
        self.to.write_all(chunk).await.ok()
    }

    /// In one go, or with a halt.
    async fn write_halting(&mut self, most: Duration, chunk: &[u8]) -> Option<()> {
        let halts = self.rng.random_ratio(1, HALTS_ONE_IN);
        let (first, rest) = chunk.split_at(if halts { self.rng.random_range(0..chunk.len()) } else { 0 });
        self.to.write_all(first).await.ok()?;
        if halts {
            sleep(most.mul_f64(self.rng.random())).await;
        }
        self.to.write_all(rest).await.ok()
    }

    /// Late, and piece by piece.
    async fn write_ragged(&mut self, most: Duration, chunk: &[u8]) -> Option<()> {
        sleep(most.mul_f64(self.rng.random())).await;
        let piece = chunk.len().div_ceil(self.rng.random_range(1..=PIECES_MAX)).max(1);
        for piece in chunk.chunks(piece) {
            self.to.write_all(piece).await.ok()?;
            tokio::task::yield_now().await;
        }
        Some(())
    }
}
