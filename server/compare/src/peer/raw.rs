//! A recursive watch over one socket, without a client library: ZooKeeper's protocol by hand, as little of it as a
//! watcher needs. A request is a length, an xid, an operation and its record; a notification has the xid -1.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// `OpCode.addWatch` and `AddWatchMode.PERSISTENT_RECURSIVE`.
const ADD_WATCH: i32 = 106;
const PERSISTENT_RECURSIVE: i32 = 1;
/// `OpCode.ping`, and its xid.
const PING: i32 = 11;
const PING_XID: i32 = -2;
const NOTIFICATION_XID: i32 = -1;
/// `EventType.NodeCreated` and `NodeDeleted`.
const CREATED: i32 = 1;
const DELETED: i32 = 2;
const SESSION_MS: i32 = 20_000;
const PING_EVERY: Duration = Duration::from_secs(5);
const BUFFER: usize = 64 * 1_024;
/// A reply's xid, zxid and error.
const HEAD: usize = 16;

pub(super) fn watch(connect: &str, root: &str) {
    let mut socket = TcpStream::connect(connect).unwrap();
    socket.set_nodelay(true).unwrap();
    // Protocol version, last zxid seen, time-out, session id, password.
    let mut hello = Vec::new();
    hello.extend(0_i32.to_be_bytes());
    hello.extend(0_i64.to_be_bytes());
    hello.extend(SESSION_MS.to_be_bytes());
    hello.extend(0_i64.to_be_bytes());
    hello.extend(text(&[0; 16]));
    socket.write_all(&text(&hello)).unwrap();
    let mut frames = Frames { socket: socket.try_clone().unwrap(), bytes: vec![0; BUFFER], begin: 0, end: 0 };
    frames.next(|_| ());
    let mut add = [1_i32.to_be_bytes(), ADD_WATCH.to_be_bytes()].concat();
    add.extend(text(root.as_bytes()));
    add.extend(PERSISTENT_RECURSIVE.to_be_bytes());
    socket.write_all(&text(&add)).unwrap();
    frames.next(|_| ());
    std::thread::spawn(move || {
        let ping = text(&[PING_XID.to_be_bytes(), PING.to_be_bytes()].concat());
        while socket.write_all(&ping).is_ok() {
            std::thread::sleep(PING_EVERY);
        }
    });
    println!("ready");
    let end = crate::load::end(root);
    let (mut seen, mut is_over) = (0_u64, false);
    while !is_over {
        frames.next(|frame| {
            if int(frame, 0) != NOTIFICATION_XID {
                return;
            }
            // Type, state, path.
            let kind = int(frame, HEAD);
            seen += u64::from(kind == CREATED || kind == DELETED);
            is_over = &frame[HEAD + 12..] == end.as_bytes();
        });
    }
    println!("{seen}");
}

/// With its length in front.
fn text(bytes: &[u8]) -> Vec<u8> {
    let length = i32::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes(), bytes].concat()
}

fn int(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// What the server sends, frame by frame.
struct Frames {
    socket: TcpStream,
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Frames {
    fn next(&mut self, take: impl FnOnce(&[u8])) {
        self.fill(4);
        let length = usize::try_from(int(&self.bytes, self.begin)).unwrap();
        self.fill(4 + length);
        take(&self.bytes[self.begin + 4..self.begin + 4 + length]);
        self.begin += 4 + length;
    }

    /// Reads until so many bytes are there.
    fn fill(&mut self, wanted: usize) {
        while self.end - self.begin < wanted {
            if self.begin > 0 {
                self.bytes.copy_within(self.begin..self.end, 0);
                (self.begin, self.end) = (0, self.end - self.begin);
            }
            let read = self.socket.read(&mut self.bytes[self.end..]).unwrap();
            assert!(read > 0, "the server closed the connection");
            self.end += read;
        }
    }
}
