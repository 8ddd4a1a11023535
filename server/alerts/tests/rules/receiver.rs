//! A receiver over a real loopback connection that fails as it is told to, and remembers what it took.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What it does with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// Takes it.
    Take,
    /// Answers with a status, and takes nothing.
    Status(u16),
    /// Says nothing until the other side gives up.
    Hang,
    /// Breaks the connection off, without a word.
    Reset,
    /// Says half a word, and breaks off.
    Half,
}

/// An alert as it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) key: String,
    pub(crate) lock: String,
    pub(crate) is_over: bool,
}

#[derive(Default)]
struct State {
    next: VecDeque<Answer>,
    refused: Option<&'static str>,
    taken: Vec<Told>,
    requests: usize,
}

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, state) = (listener.local_addr().unwrap(), Arc::<Mutex<State>>::default());
        let shared = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state, serving }
    }

    /// Answers the next requests like this; the rest is taken.
    pub(crate) fn answer(&self, answers: &[Answer]) {
        self.state.lock().unwrap().next.extend(answers);
    }

    /// Messages that have this in them are refused for good.
    pub(crate) fn refuse(&self, text: &'static str) {
        self.state.lock().unwrap().refused = Some(text);
    }

    /// Nothing is left of what it was to answer.
    pub(crate) fn has_answered(&self) -> bool {
        self.state.lock().unwrap().next.is_empty()
    }

    pub(crate) fn taken(&self) -> Vec<Told> {
        self.state.lock().unwrap().taken.clone()
    }

    pub(crate) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    while let Some(body) = request(&mut stream).await? {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let answer = {
            let mut state = state.lock().unwrap();
            state.requests += 1;
            let is_refused = state.refused.is_some_and(|text| String::from_utf8_lossy(&body).contains(text));
            let answer = if is_refused { Answer::Status(400) } else { state.next.pop_front().unwrap_or(Answer::Take) };
            if matches!(answer, Answer::Take) {
                state.taken.extend(told(&message));
            }
            answer
        };
        match answer {
            Answer::Take => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await?,
            Answer::Status(status) => {
                stream.write_all(format!("HTTP/1.1 {status} no\r\ncontent-length: 0\r\n\r\n").as_bytes()).await?
            }
            Answer::Hang => {
                while stream.read(&mut [0; 64]).await? > 0 {}
                return Ok(());
            }
            Answer::Reset => {
                stream.set_zero_linger()?;
                return Ok(());
            }
            Answer::Half => {
                stream.write_all(b"HTTP/1.1 2").await?;
                return Ok(());
            }
        }
    }
    Ok(())
}

fn told(message: &Value) -> Vec<Told> {
    let text = |alert: &Value, name: &str| alert[name].as_str().unwrap().to_owned();
    let alerts = message["alerts"].as_array().unwrap().iter();
    let one = |alert: &Value| Told {
        key: text(alert, "key"),
        lock: text(alert, "lock"),
        is_over: text(alert, "state") == "resolved",
    };
    alerts.map(one).collect()
}

/// The body of the next request; None where the other side closed.
async fn request(stream: &mut TcpStream) -> std::io::Result<Option<Vec<u8>>> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 8 * 1_024]);
    loop {
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if bytes.len() == end + 4 + length.parse::<usize>().unwrap() {
            return Ok(Some(bytes.split_off(end + 4)));
        }
    }
}
