//! How soon the view is exact again after the server was killed and restarted on its data: `lockscope serve` next to
//! a bare session that only lists the same directories again, each behind a line that is cut while locks change.
//!
//! Then the same line is cut for a moment while nothing changes, beside a directory with very many contenders: how long
//! until the small locks are live again, and until the large one is.
//!
//! Prints figures of two kinds: from the moment the restarted server answers anybody, which holds the client's pause
//! between tries to connect, and from the moment it answers the party itself, which is the party's own work.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

mod shared;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use shared::{Lockscope, WAIT_MAX, contender, directory};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use zookeeper_client::{Client, SessionState};

const LOCKS: usize = 50;
const CONTENDERS: usize = 20;
const ROUNDS: usize = 7;
/// Contenders of the large lock.
const CROWD: usize = 60_000;
/// Creations under way at once.
const AT_ONCE: usize = 256;
/// Pause between two looks at what lockscope shows: how exact the figures are.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Each round the server stays down for so much longer: it comes back at any point of the clients' pauses.
const STAY_DOWN: Duration = Duration::from_millis(250);
/// Survives the restart; the longest a server with ticks of 500 ms grants.
const SESSION: Duration = Duration::from_secs(10);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

/// Milliseconds since the restarted server answered anybody, and since it answered this party.
#[derive(Clone, Copy)]
struct Took {
    since_server_ms: f64,
    since_link_ms: f64,
}

async fn run() {
    let mut server = PrivateZooKeeper::start(ServerOptions::default()).await.unwrap();
    let mut locks = Locks::make(&server.address()).await;
    let (our_line, bare_line) = (Line::open(server.address()).await, Line::open(server.address()).await);
    let mut lockscope = Lockscope::serve(&our_line.address, "/locks", Duration::from_millis(50)).await;
    until_exact(&lockscope, &locks).await;
    let bare = connect(&bare_line.address).await;
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        our_line.cut();
        bare_line.cut();
        lockscope.status_until(LOOK_EVERY, |status| status["link"] != "live").await;
        locks.change().await;
        server.kill_minus_9().await.unwrap();
        our_line.mend();
        bare_line.mend();
        let look = async {
            until_exact(&lockscope, &locks).await;
            Instant::now()
        };
        let list = async {
            until_listed(&bare, &locks).await;
            Instant::now()
        };
        let (back_at, ours_at, bare_at) =
            tokio::join!(back(&mut server, STAY_DOWN * u32::try_from(round).unwrap()), look, list);
        let took = |line: &Line, exact_at: Instant| {
            let ms_since = |at: Instant| exact_at.saturating_duration_since(at).as_secs_f64() * 1_000.0;
            Took { since_server_ms: ms_since(back_at), since_link_ms: ms_since(line.answered_at()) }
        };
        ours.push(took(&our_line, ours_at));
        bares.push(took(&bare_line, bare_at));
        locks.until_owned().await;
    }
    assert!(lockscope.child.try_wait().unwrap().is_none(), "lockscope ended");
    println!(
        "{LOCKS} locks with {CONTENDERS} contenders each, {} changes while cut off, kill -9 and restart, {ROUNDS} rounds",
        2 * LOCKS
    );
    print("lockscope exact again", &ours);
    print("bare session has listed again", &bares);
    crowded(&our_line, &lockscope, &mut locks).await;
}

/// Cuts the line beside a large lock.
async fn crowded(line: &Line, lockscope: &Lockscope, locks: &mut Locks) {
    locks.owners[0].create("/locks/crowd", b"", &directory()).await.unwrap();
    let create = async |at: usize| {
        locks.owners[at % CONTENDERS].create("/locks/crowd/lock-", b"10.1.2.3", &contender()).await.unwrap();
    };
    stream::iter(0..CROWD).for_each_concurrent(AT_ONCE, create).await;
    until_whole(lockscope).await;
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        line.cut();
        lockscope.status_until(LOOK_EVERY, |status| status["link"] != "live").await;
        line.mend();
        until_exact(lockscope, locks).await;
        small.push(line.answered_at().elapsed().as_secs_f64() * 1_000.0);
        until_whole(lockscope).await;
        large.push(line.answered_at().elapsed().as_secs_f64() * 1_000.0);
    }
    println!("{CROWD} contenders of one lock beside them, the line cut for a moment, {ROUNDS} rounds");
    for (what, mut ms) in [("small locks live again", small), ("large lock live again", large)] {
        ms.sort_by(f64::total_cmp);
        println!(
            "  {what}, from the server's first answer to it: median {:.0} ms, worst {:.0} ms",
            ms[ms.len() / 2],
            ms[ms.len() - 1]
        );
    }
}

/// Waits until the large lock is live with all its contenders.
async fn until_whole(lockscope: &Lockscope) {
    let deadline = Instant::now() + WAIT_MAX;
    let is_whole =
        |answer: &serde_json::Value| answer["as_of"]["state"] == "live" && answer["waiter_count"] == CROWD - 1;
    while !lockscope.get("/api/v1/lock?path=/locks/crowd").await.is_some_and(|answer| is_whole(&answer)) {
        assert!(Instant::now() < deadline, "lockscope never showed the large lock as it is");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Starts the server again after a while; gives the moment it answered a request of an ordinary client.
async fn back(server: &mut PrivateZooKeeper, stay_down: Duration) -> Instant {
    tokio::time::sleep(stay_down).await;
    server.restart().await.unwrap();
    // A status word was answered; only a session proves that requests are.
    let client = connect(&server.address()).await;
    client.check_stat("/locks").await.unwrap().unwrap();
    Instant::now()
}

fn print(what: &str, took: &[Took]) {
    let line = |from: &str, pick: fn(&Took) -> f64| {
        let mut ms: Vec<f64> = took.iter().map(pick).collect();
        ms.sort_by(f64::total_cmp);
        println!("  {what}, from {from}: median {:.0} ms, worst {:.0} ms", ms[ms.len() / 2], ms[ms.len() - 1]);
    };
    line("the server's first answer to anybody", |took| took.since_server_ms);
    line("the server's first answer to it", |took| took.since_link_ms);
}

async fn connect(address: &str) -> Client {
    Client::connector().with_session_timeout(SESSION).connect(address).await.unwrap()
}

/// The locks as they really are.
struct Locks {
    /// One session for each place in a queue.
    owners: Vec<Client>,
    /// Name and owner of each contender, in order, for each lock.
    queues: Vec<VecDeque<(String, usize)>>,
}

impl Locks {
    async fn make(address: &str) -> Self {
        let owners = join_all((0..CONTENDERS).map(|_| connect(address))).await;
        owners[0].create("/locks", b"", &directory()).await.unwrap();
        let mut locks = Self { owners, queues: Vec::new() };
        for lock in 0..LOCKS {
            locks.owners[0].create(&path(lock), b"", &directory()).await.unwrap();
            locks.queues.push(VecDeque::new());
            for owner in 0..CONTENDERS {
                locks.queue_up(lock, owner).await;
            }
        }
        locks
    }

    async fn queue_up(&mut self, lock: usize, owner: usize) {
        let name = format!("_c_{:08x}-0000-4a4a-8b8b-0123456789ab-lock-", rand::random::<u32>());
        let (_, sequence) =
            self.owners[owner].create(&format!("{}/{name}", path(lock)), b"10.1.2.3", &contender()).await.unwrap();
        self.queues[lock].push_back((format!("{name}{sequence}"), owner));
    }

    /// Each holder releases and queues up again.
    async fn change(&mut self) {
        for lock in 0..LOCKS {
            let (name, owner) = self.queues[lock].pop_front().unwrap();
            self.owners[owner].delete(&format!("{}/{name}", path(lock)), None).await.unwrap();
            self.queue_up(lock, owner).await;
        }
    }

    /// Waits until every owner's session is back.
    async fn until_owned(&self) {
        for owner in &self.owners {
            let mut states = owner.state_watcher();
            while owner.state() != SessionState::SyncConnected {
                tokio::time::timeout(WAIT_MAX, states.changed()).await.unwrap();
            }
        }
    }

    /// Whether an answer of the API shows this lock as it is: names, owners and order, and says that it is live.
    fn is_shown(&self, lock: usize, answer: &serde_json::Value) -> bool {
        let queue = &self.queues[lock];
        let is_same = |(shown, (name, owner)): (&serde_json::Value, &(String, usize))| {
            shown["node"] == **name && shown["session_id"] == format!("0x{:x}", self.owners[*owner].session_id().0)
        };
        answer["as_of"]["state"] == "live"
            && answer["holder_count"] == 1
            && answer["contenders"]
                .as_array()
                .is_some_and(|shown| shown.len() == queue.len() && shown.iter().zip(queue).all(is_same))
    }
}

fn path(lock: usize) -> String {
    format!("/locks/{lock:02}")
}

/// Waits until the link is live and every lock is shown as it is; reading all of them is part of the time.
async fn until_exact(lockscope: &Lockscope, locks: &Locks) {
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        lockscope.status_until(LOOK_EVERY, |status| status["link"] == "live").await;
        let answers = (0..LOCKS).map(|lock| async move {
            let answer = lockscope.get(&format!("/api/v1/lock?path={}", path(lock))).await;
            answer.is_some_and(|answer| locks.is_shown(lock, &answer))
        });
        if join_all(answers).await.into_iter().all(|is_shown| is_shown) {
            return;
        }
        assert!(Instant::now() < deadline, "lockscope never showed the locks as they are");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Waits until the session is back and has listed every lock as it is.
async fn until_listed(client: &Client, locks: &Locks) {
    let deadline = Instant::now() + WAIT_MAX;
    let mut states = client.state_watcher();
    loop {
        while client.state() != SessionState::SyncConnected {
            tokio::time::timeout(WAIT_MAX, states.changed()).await.unwrap();
        }
        let paths: Vec<String> = (0..LOCKS).map(path).collect();
        let lists = join_all(paths.iter().map(|path| client.list_children(path))).await;
        let is_same = |(list, queue): (Result<Vec<String>, _>, &VecDeque<(String, usize)>)| {
            list.is_ok_and(|names| names.len() == queue.len() && queue.iter().all(|(name, _)| names.contains(name)))
        };
        if lists.into_iter().zip(&locks.queues).all(is_same) {
            return;
        }
        assert!(Instant::now() < deadline, "the bare session never listed the locks as they are");
    }
}

/// A path to the server that can be cut, and that knows when the server first answered on it after that.
struct Line {
    address: String,
    whole: watch::Sender<bool>,
    answered: Arc<Mutex<Option<Instant>>>,
}

impl Line {
    async fn open(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answered = Arc::new(Mutex::new(None));
        let (whole, state) = watch::channel(true);
        let noted = Arc::clone(&answered);
        tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                if *state.borrow() {
                    let (server, mut state, noted) = (server.clone(), state.clone(), Arc::clone(&noted));
                    tokio::spawn(async move {
                        tokio::select! {
                            () = carry(inbound, server, noted) => {}
                            _ = state.wait_for(|whole| !*whole) => {}
                        }
                    });
                }
            }
        });
        Self { address, whole, answered }
    }

    fn cut(&self) {
        self.whole.send_replace(false);
    }

    fn mend(&self) {
        *self.answered.lock().unwrap() = None;
        self.whole.send_replace(true);
    }

    fn answered_at(&self) -> Instant {
        self.answered.lock().unwrap().unwrap()
    }
}

async fn carry(inbound: TcpStream, server: String, answered: Arc<Mutex<Option<Instant>>>) {
    let Ok(outbound) = TcpStream::connect(server).await else { return };
    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
    let (in_read, in_write) = inbound.into_split();
    let (out_read, out_write) = outbound.into_split();
    // Either direction's end drops both.
    tokio::select! {
        () = pass(in_read, out_write, || {}) => {}
        () = pass(out_read, in_write, || _ = answered.lock().unwrap().get_or_insert_with(Instant::now)) => {}
    }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut note: impl FnMut()) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer).await {
            Ok(count) if count > 0 => {
                note();
                if to.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}
