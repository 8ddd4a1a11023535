//! A recursive watch over one socket, without a client library: ZooKeeper's protocol by hand, as little of it as a
//! watcher needs, alone or with reads of created znodes. What a session of our own for watching could cost. A request
//! is a length, an xid, an operation and its record; a notification has the xid -1.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// `OpCode.addWatch` and `AddWatchMode.PERSISTENT_RECURSIVE`.
const ADD_WATCH: i32 = 106;
const PERSISTENT_RECURSIVE: i32 = 1;
/// `OpCode.multiRead` and `getData`, and the operation that ends its list.
const MULTI_READ: i32 = 22;
const GET_DATA: i32 = 4;
const END_OF_LIST: i32 = -1;
/// So long created znodes wait for others, as in Lockscope where there are many.
const HELD: Duration = Duration::from_millis(4);
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

pub(super) fn watch(connect: &str, root: &str, reads: bool) {
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
    let mut frames =
        Frames { socket: socket.try_clone().unwrap(), bytes: vec![0; BUFFER], begin: 0, end: 0, time_out: None };
    frames.next(None, |_| ());
    let mut add = [1_i32.to_be_bytes(), ADD_WATCH.to_be_bytes()].concat();
    add.extend(text(root.as_bytes()));
    add.extend(PERSISTENT_RECURSIVE.to_be_bytes());
    socket.write_all(&text(&add)).unwrap();
    frames.next(None, |_| ());
    let mut pinging = socket.try_clone().unwrap();
    std::thread::spawn(move || {
        let ping = text(&[PING_XID.to_be_bytes(), PING.to_be_bytes()].concat());
        while pinging.write_all(&ping).is_ok() {
            std::thread::sleep(PING_EVERY);
        }
    });
    println!("ready");
    let end = crate::load::end(root);
    let (mut seen, mut is_over) = (0_u64, false);
    let mut wanted = Wanted::default();
    while !is_over {
        let due = wanted.due();
        frames.next(due, |frame| {
            if int(frame, 0) != NOTIFICATION_XID {
                return;
            }
            // Type, state, path.
            let (kind, path) = (int(frame, HEAD), &frame[HEAD + 12..]);
            seen += u64::from(kind == CREATED || kind == DELETED);
            is_over = path == end.as_bytes();
            if reads && kind == CREATED {
                wanted.add(path);
            }
        });
        if wanted.due().is_some_and(|due| due <= Instant::now()) {
            socket.write_all(&wanted.take()).unwrap();
        }
    }
    super::end(seen);
}

/// Created znodes that are to be read in one request.
#[derive(Default)]
struct Wanted {
    operations: Vec<u8>,
    sent_at: Option<Instant>,
    xid: i32,
}

impl Wanted {
    fn add(&mut self, path: &[u8]) {
        self.operation(GET_DATA, false);
        self.operations.extend(text(path));
        // Without a watch.
        self.operations.push(0);
    }

    /// A `MultiHeader`: type, whether it ends the list, no error.
    fn operation(&mut self, kind: i32, is_end: bool) {
        self.operations.extend(kind.to_be_bytes());
        self.operations.push(u8::from(is_end));
        self.operations.extend((-1_i32).to_be_bytes());
    }

    /// When it is to be sent.
    fn due(&self) -> Option<Instant> {
        (!self.operations.is_empty()).then(|| self.sent_at.map_or_else(Instant::now, |sent_at| sent_at + HELD))
    }

    fn take(&mut self) -> Vec<u8> {
        self.operation(END_OF_LIST, true);
        (self.sent_at, self.xid) = (Some(Instant::now()), self.xid.wrapping_add(1).max(1));
        let head = [self.xid.to_be_bytes(), MULTI_READ.to_be_bytes()].concat();
        text(&[head, std::mem::take(&mut self.operations)].concat())
    }
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
    time_out: Option<Duration>,
}

impl Frames {
    /// The next frame; none when none has come by then.
    fn next(&mut self, until: Option<Instant>, take: impl FnOnce(&[u8])) {
        if !self.fill(4, until) {
            return;
        }
        let length = usize::try_from(int(&self.bytes, self.begin)).unwrap();
        self.fill(4 + length, None);
        take(&self.bytes[self.begin + 4..self.begin + 4 + length]);
        self.begin += 4 + length;
    }

    /// Reads until so many bytes are there; false when they are not by then.
    fn fill(&mut self, wanted: usize, until: Option<Instant>) -> bool {
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        while self.end - self.begin < wanted {
            if self.begin > 0 {
                self.bytes.copy_within(self.begin..self.end, 0);
                (self.begin, self.end) = (0, self.end - self.begin);
            }
            let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
            if rest.is_some_and(|rest| rest.is_zero()) {
                return false;
            }
            if rest != self.time_out {
                self.socket.set_read_timeout(rest).unwrap();
                self.time_out = rest;
            }
            let read = match self.socket.read(&mut self.bytes[self.end..]) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return false,
                read => read.unwrap(),
            };
            assert!(read > 0, "the server closed the connection");
            self.end += read;
        }
        true
    }
}
