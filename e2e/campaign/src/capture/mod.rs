//! A client of the live socket that keeps every state with its arrival, in a thread of its own so that nothing else
//! here makes it late. It connects again when the socket ends, and resumes.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lockscope_judge::{Capture as Captured, Shown};
use serde_json::{Value, json};
use tokio::sync::watch;

mod client;
mod log;

pub use client::{open, subscribe};

use crate::disconnects::DisconnectClaim;
use crate::shown::Stamp;
use client::Client;
use log::Log;

/// How the client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Whatever is there.
    Eager,
    /// One frame, then a rest.
    Resting(Duration),
    /// Whatever is there for so long, then nothing for so long, as a browser that the machine puts to sleep.
    Sleeping { awake: Duration, asleep: Duration },
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// The board, by path.
    Board,
    /// The lock at this path.
    Lock(String),
}

impl View {
    fn json(&self) -> Value {
        match self {
            Self::Board => json!({"kind": "board", "sort": "path", "limit": 500}),
            Self::Lock(path) => json!({"kind": "lock", "path": path}),
        }
    }

    /// The same text for the same view.
    pub fn text(&self) -> String {
        self.json().to_string()
    }

    /// Which lock it is of.
    pub fn lock(&self) -> Option<&str> {
        match self {
            Self::Board => None,
            Self::Lock(path) => Some(path),
        }
    }
}

/// What a capture received.
#[derive(Debug, Default)]
pub struct Heard {
    pub captured: Vec<Captured>,
    /// Sessions that were called dead.
    pub dead: Vec<DisconnectClaim>,
    pub broken: Vec<String>,
    pub frames: u64,
    /// With what words sockets ended.
    pub closings: Vec<String>,
}

/// A running client.
#[derive(Debug)]
pub struct Capture {
    first_socket: u32,
    views: Vec<View>,
    log: Arc<Mutex<Log>>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// The wall clock, which ZooKeeper's log has as well.
#[expect(clippy::disallowed_methods, reason = "a program of its own; the server's clock is part of what is judged")]
pub fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    i64::try_from(now.as_millis()).expect("it is before 292 million")
}

impl Capture {
    /// Subscribes to these views. They count as the sockets `first_socket`, the next one, and so on.
    pub fn start(address: &str, first_socket: u32, views: Vec<View>, pace: Pace) -> Self {
        let held = vec![None; views.len()];
        let log = Arc::new(Mutex::new(Log {
            captured: Vec::new(),
            dead: Vec::new(),
            held,
            broken: Vec::new(),
            frames: 0,
            closings: Vec::new(),
        }));
        let (stop, stopped) = watch::channel(false);
        let client = Client {
            address: address.to_owned(),
            first_socket,
            views: views.clone(),
            pace,
            log: Arc::clone(&log),
            stopped,
        };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(client.run());
        });
        Self { first_socket, views, log, stop, thread: Some(thread) }
    }

    /// What is shown of a lock now in its own view, or else on the board.
    pub fn newest(&self, lock: &str) -> Option<Shown> {
        let log = self.log.lock().unwrap();
        let own = self.views.iter().position(|view| view.lock() == Some(lock));
        let board = self.views.iter().position(|view| *view == View::Board);
        let held = log.held.get(own.or(board)?)?.as_ref()?;
        let stamp = Stamp { socket: 0, arrived_at_ms: now_ms(), known_at_ms: held.known_at_ms };
        held.claims.at(stamp).find_map(|captured| match captured {
            Captured::Shown(shown) if shown.lock == lock => {
                Some(Shown { arrived_at_ms: held.arrived_at_ms, is_live: shown.is_live && !held.is_dark, ..shown })
            }
            _ => None,
        })
    }

    /// Frames so far.
    pub fn frames(&self) -> u64 {
        self.log.lock().unwrap().frames
    }

    /// Ends it; gives everything it received.
    pub fn end(mut self) -> Heard {
        self.finish();
        let mut log = self.log.lock().unwrap();
        log.grow_old(self.first_socket, usize::MAX, now_ms());
        Heard {
            captured: std::mem::take(&mut log.captured),
            dead: std::mem::take(&mut log.dead),
            broken: std::mem::take(&mut log.broken),
            frames: log.frames,
            closings: std::mem::take(&mut log.closings),
        }
    }

    fn finish(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the capture ends");
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Of a body whose fields stand in one order, as `serde_json` keeps them.
pub fn digest(body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.to_string().hash(&mut hasher);
    hasher.finish()
}
