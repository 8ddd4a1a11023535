//! Moments of the past, as the recording shows them and as an autopsy of ZooKeeper's log does: each is asked for over HTTP
//! and becomes a state that was shown at that instant, to be judged as a live one is.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use lockscope_judge::{Capture as Captured, Contender, Shown};
use rand::RngExt as _;
use rand::rngs::StdRng;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;
use tokio::time::timeout;

use crate::lockscope::command;
use crate::shown::{count, hex};
use crate::{DEADLINE, ROOT};

/// Moments of each run.
const MOMENTS: usize = 8;
/// Locks that are looked at, at each moment.
const LOCKS_MAX: usize = 8;
/// The number of the first moment's socket: a moment owes nothing to the one before.
const SOCKET: u32 = 2_000_000;
/// The same for an autopsy.
const AUTOPSY_SOCKET: u32 = 3_000_000;

/// What was shown of the past.
#[derive(Debug, Default)]
pub struct Past {
    pub captured: Vec<Captured>,
    /// States that were shown, and those of them that claim to be true.
    pub shown: usize,
    pub live: usize,
    /// Moments or locks of which nothing is kept.
    pub unknown: usize,
    /// Answers that are no answer.
    pub wrong: Vec<String>,
}

/// Moments between two instants, in order.
pub fn moments(rng: &mut StdRng, from_ms: i64, to_ms: i64) -> Vec<i64> {
    let mut moments: Vec<i64> = (0..MOMENTS).map(|_| rng.random_range(from_ms..to_ms.max(from_ms + 1))).collect();
    moments.sort_unstable();
    moments
}

/// What a server that records shows of these moments.
pub async fn rewind(url: &str, locks: &[String], moments: &[i64]) -> Past {
    ask(url, locks, moments, SOCKET).await
}

/// What an autopsy of these folders shows of the same moments.
pub async fn autopsy(program: &Path, folders: &[PathBuf], locks: &[String], moments: &[i64]) -> Past {
    let mut args = vec!["autopsy".to_owned()];
    args.extend(folders.iter().map(|folder| folder.display().to_string()));
    args.extend(["--root", ROOT, "--serve", "--listen", "127.0.0.1:0"].map(str::to_owned));
    let mut child = command(program, &args).stdout(Stdio::piped()).spawn().expect("lockscope starts");
    match listening(&mut child).await {
        Some(url) => ask(&url, locks, moments, AUTOPSY_SOCKET).await,
        None => Past { wrong: vec!["the autopsy never listened".to_owned()], ..Past::default() },
    }
}

async fn listening(child: &mut Child) -> Option<String> {
    let mut lines = BufReader::new(child.stdout.take()?).lines();
    let url = async {
        loop {
            let line = lines.next_line().await.ok()??;
            if let Some(url) = line.strip_prefix("lockscope listening on ") {
                return Some(url.to_owned());
            }
        }
    };
    timeout(DEADLINE, url).await.ok()?
}

async fn ask(url: &str, locks: &[String], moments: &[i64], first_socket: u32) -> Past {
    let http = reqwest::Client::builder().timeout(DEADLINE).build().expect("a client");
    let mut past = Past::default();
    for (socket, at_ms) in (first_socket..).zip(moments) {
        for lock in locks.iter().take(LOCKS_MAX) {
            let mut address = reqwest::Url::parse(url).expect("an address");
            address.set_path("/api/v1/lock");
            let at = at_ms.to_string();
            address.query_pairs_mut().extend_pairs([("path", lock.as_str()), ("at", &at), ("limit", "500")]);
            let Ok(answer) = http.get(address).send().await else {
                past.wrong.push(format!("no answer of {lock} at {at_ms}"));
                continue;
            };
            let status = answer.status().as_u16();
            let body: Value = answer.json().await.unwrap_or_default();
            match status {
                200 => past.take(state(&body, lock, socket, *at_ms)),
                404 => past.unknown += 1,
                _ => past.wrong.push(format!("{status} of {lock} at {at_ms}: {body}")),
            }
        }
    }
    past
}

impl Past {
    /// In a few words.
    pub fn told(&self, whose: &str) -> String {
        let Self { shown, live, unknown, .. } = self;
        format!("{whose}: {shown} states of {MOMENTS} moments, {live} of them judged; {unknown} not kept")
    }

    /// Shown at that instant and no longer.
    fn take(&mut self, shown: Shown) {
        let Shown { socket, arrived_at_ms, .. } = shown;
        let lock = Some(shown.lock.clone());
        self.shown += 1;
        self.live += usize::from(shown.is_live);
        self.captured.push(Captured::Shown(shown));
        self.captured.push(Captured::NotLive { socket, arrived_at_ms, lock });
    }
}

/// What an answer claims. What was not live then claims nothing, and says why.
fn state(body: &Value, lock: &str, socket: u32, at_ms: i64) -> Shown {
    let as_of = &body["as_of"];
    let rows = body["contenders"].as_array().map_or(&[][..], Vec::as_slice);
    let of =
        |role: &str| rows.iter().filter(|row| row["role"] == role && !row["czxid"].is_null()).map(contender).collect();
    Shown {
        socket,
        arrived_at_ms: at_ms,
        lock: lock.to_owned(),
        is_live: as_of["state"] == "past" && as_of["why"] == "",
        is_complete: body["complete"] == true && body["waiter_count"].is_u64(),
        is_free: body["verdict"] == "free",
        zxid: hex(&as_of["zxid"]).unwrap_or(0),
        true_at_ms: 0,
        holder_count: count(&body["holder_count"]),
        waiter_count: count(&body["waiter_count"]),
        holders: of("holder"),
        waiters: of("waiter"),
    }
}

fn contender(row: &Value) -> Contender {
    Contender { czxid: hex(&row["czxid"]), session: hex(&row["session_id"]) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(why: &str) -> Value {
        json!({
            "as_of": {"state": "past", "zxid": "0x2a6", "at_ms": 7, "why": why},
            "verdict": "healthy", "complete": true, "holder_count": 1, "waiter_count": 1,
            "contenders": [
                {"role": "holder", "czxid": "0x1", "session_id": "0xa"},
                {"role": "waiter", "czxid": "0x2", "session_id": "0xb"},
                {"role": "waiter", "czxid": null, "session_id": "0xc"},
            ],
        })
    }

    #[test]
    fn an_answer_claims_what_it_says_of_znodes() {
        let shown = state(&answer(""), "/order", SOCKET, 7);
        assert!(shown.is_live && shown.is_complete && !shown.is_free);
        assert_eq!((shown.zxid, shown.arrived_at_ms), (0x2a6, 7));
        assert_eq!(shown.holders, [Contender { czxid: Some(1), session: Some(10) }]);
        assert_eq!(shown.waiters, [Contender { czxid: Some(2), session: Some(11) }]);
    }

    #[test]
    fn what_was_not_live_then_claims_nothing() {
        assert!(!state(&answer("it was stale then: no link"), "/order", SOCKET, 7).is_live);
    }
}
