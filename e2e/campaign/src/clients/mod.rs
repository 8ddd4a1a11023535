//! Processes that real clients live in. Each client has a name, a session and a thread of its own there; it takes
//! commands and reports its state, one line each (`kazoo_client.py` documents the words).

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rustix::process::{Pid, Signal};
use tokio::sync::watch;

mod programs;

use programs::{curator, kazoo, kazoo_2_8};
pub use programs::{curator_program, python};

use crate::DEADLINE;

/// Time-out of sessions that nobody kills, in seconds: a busy machine must not end them.
const PATIENT_S: u32 = 40;
/// Time-out of sessions whose process is killed, in seconds.
const VICTIM_S: u32 = 10;
/// Time-out of sessions whose process is killed or stopped and that are looked at after it, in seconds.
const SLOW_VICTIM_S: u32 = 18;

/// Lines of one client that nobody has read yet.
#[derive(Default)]
struct Said {
    words: VecDeque<String>,
    made: VecDeque<String>,
}

/// All that the clients of a process said; `news` counts lines.
struct Ear {
    clients: Mutex<BTreeMap<String, Said>>,
    news: watch::Sender<u64>,
}

/// A process of clients. It ends with its standard input, so at the latest with us. Read by a thread, not by a runtime:
/// a process that tests share outlives the runtime of each.
pub struct Host {
    child: Mutex<Child>,
    orders: Mutex<ChildStdin>,
    ear: Arc<Ear>,
}

/// A client of some library, with a session of its own.
pub struct Client {
    host: Arc<Host>,
    name: String,
    pub session: String,
}

/// The libraries that have a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Kazoo,
    /// Curator's recipes, and ZooKeeper's own.
    Curator,
}

impl Library {
    fn command(self, timeout_s: u32) -> Command {
        match self {
            Self::Kazoo => kazoo(timeout_s),
            Self::Curator => curator(timeout_s),
        }
    }

    /// The process that tests share.
    fn shared(self) -> Arc<Host> {
        static KAZOO: OnceLock<Arc<Host>> = OnceLock::new();
        static CURATOR: OnceLock<Arc<Host>> = OnceLock::new();
        let host = match self {
            Self::Kazoo => &KAZOO,
            Self::Curator => &CURATOR,
        };
        Arc::clone(host.get_or_init(|| Host::start(self.command(PATIENT_S))))
    }

    /// A new client in the process that tests share; `recipe` has the recipe's name, its path and what else it takes.
    pub async fn client(self, connect: &str, recipe: &str) -> Client {
        self.shared().client(connect, recipe).await
    }

    /// A process that will be killed.
    pub fn victim(self) -> Arc<Host> {
        Host::start(self.command(VICTIM_S))
    }

    /// A process that will be killed or stopped, whose sessions outlive it for longer than the pause between two rounds
    /// of questions.
    pub fn slow_victim(self) -> Arc<Host> {
        Host::start(self.command(SLOW_VICTIM_S))
    }
}

impl Host {
    /// A process of clients of kazoo 2.8.
    pub fn kazoo_2_8() -> Arc<Self> {
        Self::start(kazoo_2_8(PATIENT_S))
    }

    fn start(mut command: Command) -> Arc<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (orders, lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
        let ear = Arc::new(Ear { clients: Mutex::default(), news: watch::Sender::new(0) });
        let hearing = Arc::clone(&ear);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                hearing.hear(&line);
            }
        });
        Arc::new(Self { child: Mutex::new(child), orders: Mutex::new(orders), ear })
    }

    pub async fn client(self: &Arc<Self>, connect: &str, recipe: &str) -> Client {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("client-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut client = Client { host: Arc::clone(self), name, session: String::new() };
        client.order(&format!("open {connect} {recipe}"));
        client.session = client.says("ready").await;
        client
    }

    /// Ends the process and with it every client, as `kill -9` does: no session is closed.
    pub fn kill_minus_9(&self) {
        let mut child = self.child.lock().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Signals.
impl Host {
    /// Freezes the process (SIGSTOP): its connections stay open, nothing is said.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
    }

    /// Thaws it.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child.lock().unwrap());
        rustix::process::kill_process(pid, signal).expect("the process is ours");
    }
}

impl Ear {
    fn hear(&self, line: &str) {
        let (name, words) = line.split_once(' ').unwrap_or((line, ""));
        let mut clients = self.clients.lock().unwrap();
        let said = clients.entry(name.to_owned()).or_default();
        match words.strip_prefix("made ") {
            Some(path) => said.made.push_back(path.to_owned()),
            None => said.words.push_back(words.to_owned()),
        }
        drop(clients);
        self.news.send_modify(|count| *count += 1);
    }
}

impl Client {
    /// Sends an order; does not wait.
    pub fn order(&self, order: &str) {
        let mut orders = self.host.orders.lock().unwrap();
        writeln!(orders, "{} {order}", self.name).expect("the clients' process lives");
    }

    /// Waits for the next thing the client says, which must begin with `word`; gives the rest of it.
    pub async fn says(&self, word: &str) -> String {
        let line = self.next(word, |said| said.words.pop_front()).await;
        let rest = line.strip_prefix(word).unwrap_or_else(|| panic!("{} said {line:?}, not {word:?}", self.name));
        rest.trim().to_owned()
    }

    /// Waits for the next thing the client says, whatever it is.
    pub async fn answer(&self) -> String {
        self.next("anything", |said| said.words.pop_front()).await
    }

    /// The next line that was not read yet, if there is one.
    pub fn said(&self) -> Option<String> {
        self.host.ear.clients.lock().unwrap().get_mut(&self.name)?.words.pop_front()
    }

    /// Waits for the next znode that the client made; gives its path.
    pub async fn made(&self) -> String {
        self.next("made", |said| said.made.pop_front()).await
    }

    /// Orders and waits for the answer.
    pub async fn does(&self, order: &str, answer: &str) -> String {
        self.order(order);
        self.says(answer).await
    }

    /// Whether all its lines were read: then it waits for its last command to be carried out.
    pub fn is_silent(&self) -> bool {
        self.host.ear.clients.lock().unwrap().get(&self.name).is_none_or(|said| said.words.is_empty())
    }

    async fn next(&self, what: &str, take: impl Fn(&mut Said) -> Option<String>) -> String {
        let mut news = self.host.ear.news.subscribe();
        let wait = async {
            loop {
                news.borrow_and_update();
                let taken = self.host.ear.clients.lock().unwrap().get_mut(&self.name).and_then(&take);
                match taken {
                    Some(taken) => return taken,
                    None => news.changed().await.expect("the sender lives as long as the host"),
                }
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("{} never said {what:?}", self.name))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Its session would else live as long as the process. A killed process receives nothing.
        if let Ok(mut orders) = self.host.orders.lock() {
            let _ = writeln!(orders, "{} close", self.name);
        }
    }
}
