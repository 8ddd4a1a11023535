//! One connection through a relay: bytes both ways, its frames counted, and where one of them is to be lost. Owns the
//! two sockets; must not know when a fault is wanted.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::frames::{Frames, Malformed};
use super::meter::{Meter, is_create};

/// Bytes that wait in us each way.
const BUFFER_BYTES: usize = 16 * 1024;

/// Creates without a reply that are remembered; of more the oldest are forgotten.
const CREATES_MAX: usize = 256;

/// How long a member has to take a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// The number of a watch event.
const EVENT: i32 = -1;

/// Requests to create that wait for their replies, oldest first.
#[derive(Debug, Default)]
struct Creates(Mutex<VecDeque<i32>>);

impl Creates {
    fn asked(&self, xid: i32) {
        let mut waiting = self.0.lock();
        if waiting.len() == CREATES_MAX {
            waiting.pop_front();
        }
        waiting.push_back(xid);
    }

    /// Whether this answers one of them. Replies come in the order of their requests.
    fn answered(&self, xid: i32) -> bool {
        let mut waiting = self.0.lock();
        let found = waiting.front() == Some(&xid);
        if found {
            waiting.pop_front();
        }
        found
    }
}

/// Connects to the first member, or to the next that can be reached.
pub(super) async fn reach(members: &[String], first: usize) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for at in 0..members.len() {
        let Some(member) = members.get((first + at) % members.len()) else { continue };
        match tokio::time::timeout(CONNECT_WITHIN, TcpStream::connect(member.as_str())).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::Error::from(io::ErrorKind::TimedOut),
        }
    }
    Err(last)
}

/// Forwards until either side ends, then both are closed.
pub(super) async fn pump(client: TcpStream, member: TcpStream, meter: &Meter, drops_create: &AtomicBool) {
    let _ = (client.set_nodelay(true), member.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_member, to_member) = member.into_split();
    let creates = Creates::default();
    tokio::select! {
        _ = requests(from_client, to_member, meter, &creates) => {}
        _ = replies(from_member, to_client, meter, &creates, drops_create) => {}
    }
}

fn malformed(_: Malformed) -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, meter: &Meter, creates: &Creates) -> io::Result<()> {
    let mut frames = Frames::of_requests();
    let mut buffer = vec![0; BUFFER_BYTES];
    // The first frame asks for a session and has no number.
    let mut is_open = false;
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        meter.bytes_out(count);
        let found = frames.read(&buffer[..count], |head| {
            let opcode = head.opcode().filter(|_| is_open);
            is_open = true;
            meter.request(opcode);
            if let Some(xid) = head.xid().filter(|_| opcode.is_some_and(is_create)) {
                creates.asked(xid);
            }
        });
        found.map_err(malformed)?;
        to.write_all(&buffer[..count]).await?;
    }
}

async fn replies(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    meter: &Meter,
    creates: &Creates,
    drops_create: &AtomicBool,
) -> io::Result<()> {
    let mut frames = Frames::of_replies();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut is_open = false;
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        // Where the reply begins that is to be lost.
        let mut lost = None;
        let found = frames.read(&buffer[..count], |head| {
            if lost.is_some() {
                return;
            }
            let is_first = !std::mem::replace(&mut is_open, true);
            let is_made = !is_first && head.xid().is_some_and(|xid| creates.answered(xid)) && head.error() == Some(0);
            if is_made && drops_create.swap(false, Ordering::AcqRel) {
                lost = Some(head.begins.unwrap_or(0));
                return;
            }
            meter.reply(!is_first && head.xid() == Some(EVENT));
        });
        found.map_err(malformed)?;
        let kept = lost.unwrap_or(count);
        meter.bytes_in(kept);
        to.write_all(&buffer[..kept]).await?;
        if lost.is_some() {
            return Ok(());
        }
    }
}
