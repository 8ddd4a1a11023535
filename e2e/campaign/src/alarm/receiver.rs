//! A signed webhook that fails as often as not: it refuses, hangs, breaks off before it answers and after it took what it was
//! sent. It keeps what it took, and everything that no receiver may be sent. Beside it an address that takes all, for those
//! whom Alertmanager notifies.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use rand::RngExt as _;
use rand::rngs::StdRng;
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::alertmanager::{Group, groups};

/// What signs messages.
pub(super) const SECRET: &str = "a secret of more than sixteen bytes";
/// The header that carries the signature.
const SIGNATURE: &str = "lockscope-signature";
/// Where Alertmanager's notifications go.
const GROUPS: &str = "/groups";
/// Failures one after another at most: what waits after each is told soon.
const FAILURES_MAX: usize = 2;
/// How long it hangs: mostly not as long as the sender waits.
const HANGS: Duration = Duration::from_millis(1_500);
/// Pause of one that is slow.
const SLOW: Duration = Duration::from_millis(400);
/// Bytes of a request at most.
const REQUEST_MAX: usize = 4 * 1_024 * 1_024;

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Take,
    TakeSlowly,
    /// Takes it and never says so.
    TakeInSilence,
    Refuse,
    Hang,
    BreakOff,
    /// Half of an answer that says that it took it.
    Half,
}

const FAILURES: [Answer; 5] = [Answer::TakeInSilence, Answer::Refuse, Answer::Hang, Answer::BreakOff, Answer::Half];

/// An alert that it was told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) key: String,
    pub(super) is_over: bool,
    pub(super) is_answered: bool,
}

#[derive(Debug)]
struct State {
    rng: StdRng,
    is_good: bool,
    failures: usize,
    taken: Vec<Taken>,
    groups: Vec<Group>,
    broken: Vec<String>,
    requests: usize,
    answers: BTreeMap<Answer, usize>,
}

/// It serves until it is dropped.
#[derive(Debug)]
pub(super) struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    serving: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct Request {
    head: String,
    body: Vec<u8>,
}

impl Receiver {
    pub(super) async fn start(rng: StdRng) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let state = Arc::new(Mutex::new(State {
            rng,
            is_good: false,
            failures: 0,
            taken: Vec::new(),
            groups: Vec::new(),
            broken: Vec::new(),
            requests: 0,
            answers: BTreeMap::new(),
        }));
        let shared = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => _ = tokio::spawn(serve(stream, Arc::clone(&shared))),
                    Err(_) => sleep(SLOW).await,
                }
            }
        });
        Self { address, state, serving }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/alerts", self.address)
    }

    pub(super) fn groups_url(&self) -> String {
        format!("http://{}{GROUPS}", self.address)
    }

    /// It takes everything from now on.
    pub(super) fn be_good(&self) {
        self.state.lock().unwrap().is_good = true;
    }

    pub(super) fn taken(&self) -> Vec<Taken> {
        self.state.lock().unwrap().taken.clone()
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        self.state.lock().unwrap().groups.clone()
    }

    pub(super) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }

    /// What was sent and is no message, or has no good signature.
    pub(super) fn broken(&self) -> Vec<String> {
        self.state.lock().unwrap().broken.clone()
    }

    /// In a few words.
    pub(super) fn summary(&self) -> String {
        let state = self.state.lock().unwrap();
        let failed: usize = FAILURES.iter().filter_map(|answer| state.answers.get(answer)).sum();
        format!("{} requests to the receiver, {failed} of them failed", state.requests)
    }
}

impl State {
    fn answer(&mut self) -> Answer {
        let answer = if self.is_good {
            Answer::Take
        } else if self.failures < FAILURES_MAX && self.rng.random_bool(0.5) {
            FAILURES[self.rng.random_range(0..FAILURES.len())]
        } else if self.rng.random_bool(0.3) {
            Answer::TakeSlowly
        } else {
            Answer::Take
        };
        self.failures = if matches!(answer, Answer::Take | Answer::TakeSlowly) { 0 } else { self.failures + 1 };
        *self.answers.entry(answer).or_default() += 1;
        answer
    }

    /// Reads a message; what is none counts as broken.
    fn read(&mut self, request: &Request) -> Vec<(String, bool)> {
        self.requests += 1;
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        if !is_signed(request) {
            self.broken.push(format!("a message without a good signature: {}", request.head));
        }
        let rows = message["alerts"].as_array().map_or(&[][..], Vec::as_slice);
        let alerts: Option<Vec<_>> = rows
            .iter()
            .map(|row| {
                let state = row["state"].as_str().filter(|state| ["firing", "resolved"].contains(state))?;
                Some((row["key"].as_str()?.to_owned(), state == "resolved"))
            })
            .collect();
        match alerts.filter(|alerts| !alerts.is_empty()) {
            Some(alerts) => alerts,
            None => {
                self.broken.push(format!("a message that is none: {message}"));
                Vec::new()
            }
        }
    }

    fn take(&mut self, alerts: &[(String, bool)], is_answered: bool) {
        let taken = |(key, is_over): &(String, bool)| Taken { key: key.clone(), is_over: *is_over, is_answered };
        self.taken.extend(alerts.iter().map(taken));
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    while let Some(request) = request(&mut stream).await? {
        if request.head.starts_with(&format!("POST {GROUPS} ")) {
            state.lock().unwrap().groups.extend(groups(&request.body));
            stream.write_all(TAKEN).await?;
            continue;
        }
        let (alerts, answer) = {
            let mut state = state.lock().unwrap();
            (state.read(&request), state.answer())
        };
        match answer {
            Answer::Take | Answer::TakeSlowly => {
                if answer == Answer::TakeSlowly {
                    sleep(SLOW).await;
                }
                // Whether it arrives is not known: the sender may be gone, as after a kill.
                state.lock().unwrap().take(&alerts, true);
                stream.write_all(TAKEN).await?;
            }
            Answer::TakeInSilence => {
                state.lock().unwrap().take(&alerts, false);
                return Ok(());
            }
            Answer::Refuse => stream.write_all(b"HTTP/1.1 500 no\r\ncontent-length: 0\r\n\r\n").await?,
            Answer::Hang => {
                sleep(HANGS).await;
                return Ok(());
            }
            Answer::BreakOff => {
                stream.set_zero_linger()?;
                return Ok(());
            }
            Answer::Half => {
                stream.write_all(&TAKEN[..TAKEN.len() / 4]).await?;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The next request; None where the other side closed.
async fn request(stream: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 8 * 1_024]);
    loop {
        let count = stream.read(&mut chunk).await?;
        if count == 0 || bytes.len() > REQUEST_MAX {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = header(&head, "content-length").and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            let body = bytes.split_off(end + 4);
            return Ok(Some(Request { head, body }));
        }
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// `t=<ms>,v1=<HMAC-SHA256 of "t.body">`, as the document has it.
fn is_signed(request: &Request) -> bool {
    let parts = header(&request.head, SIGNATURE).and_then(|value| value.strip_prefix("t=")?.split_once(",v1="));
    let Some((at_ms, signature)) = parts else { return false };
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key of any length");
    mac.update(format!("{at_ms}.").as_bytes());
    mac.update(&request.body);
    let text: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    text == signature
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: `printf '7.{}' | openssl dgst -sha256 -hmac 'a secret of more than sixteen bytes'`.
    const BY_HAND: &str = "4036de99bded103e835f341ded2398486ddee0b2f0ba2c1f758b7811c428b15a";

    #[test]
    fn a_signature_is_of_time_and_body() {
        let of = |signature: &str| Request {
            head: format!("POST /alerts HTTP/1.1\r\nLockscope-Signature: t=7,v1={signature}"),
            body: b"{}".to_vec(),
        };
        assert!(is_signed(&of(BY_HAND)));
        assert!(!is_signed(&of(&BY_HAND.replace('a', "b"))));
        assert!(!is_signed(&Request { body: b"[]".to_vec(), ..of(BY_HAND) }));
    }
}
