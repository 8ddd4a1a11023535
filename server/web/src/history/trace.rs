//! Lives of contenders in the Trace Event Format of Chromium, which Perfetto (ui.perfetto.dev) and `chrome://tracing` open:
//! a process a lock, a thread a session, and slices where it waits and holds. Times are microseconds since the epoch. Pure.

use std::collections::HashMap;

use serde_json::{Value, json};

use lockscope_view::outgoing::plain;
use lockscope_view::past::Hold;

const NAME_BYTES_MAX: usize = 4_096;
const HEAD: &str = r#"{"displayTimeUnit":"ms","traceEvents":["#;

/// A session at a lock.
type Client<'a> = (usize, Option<&'a str>);

/// The trace of some lives. Those that go on reach up to now.
pub(super) fn trace(lives: &[Hold], now_ms: i64) -> Vec<u8> {
    let mut oldest_first: Vec<&Hold> = lives.iter().collect();
    oldest_first.sort_by_key(|life| (life.joined_at_ms, &life.czxid));
    let mut events = TraceEvents::default();
    let mut locks: HashMap<&str, usize> = HashMap::new();
    // A session may be at a lock more than once, with slices that overlap: each thread ends with its last one.
    let mut threads: HashMap<Client<'_>, Vec<(usize, i64)>> = HashMap::new();
    let mut thread_count = 0;
    for life in oldest_first {
        let count = locks.len() + 1;
        let process = *locks.entry(&life.lock).or_insert_with(|| {
            events.push(named("process_name", count, 0, &life.lock));
            count
        });
        let left_at_ms = life.left_at_ms.unwrap_or(now_ms).max(life.joined_at_ms);
        let of_client = threads.entry((process, life.session_id.as_deref())).or_default();
        let thread = match of_client.iter_mut().find(|(_, ends_at_ms)| *ends_at_ms <= life.joined_at_ms) {
            Some((thread, ends_at_ms)) => {
                *ends_at_ms = left_at_ms;
                *thread
            }
            None => {
                thread_count += 1;
                of_client.push((thread_count, left_at_ms));
                let client = life.label.as_deref().or(life.session_id.as_deref()).unwrap_or("no session");
                events.push(named("thread_name", process, thread_count, client));
                thread_count
            }
        };
        let slice = |name: &str, from_ms: i64, to_ms: i64| {
            json!({
                "ph": "X", "cat": "lock", "name": name, "pid": process, "tid": thread,
                "ts": from_ms.saturating_mul(1_000), "dur": (to_ms - from_ms).saturating_mul(1_000),
                "args": {
                    "czxid": life.czxid, "node": shown(&life.node), "session_id": life.session_id,
                    "client": life.client.as_deref().map(shown),
                    "how": life.how, "is_lower_bound": life.is_lower_bound,
                },
            })
        };
        let held_at_ms = life.held_at_ms.map_or(left_at_ms, |at_ms| at_ms.clamp(life.joined_at_ms, left_at_ms));
        if held_at_ms > life.joined_at_ms || life.held_at_ms.is_none() {
            events.push(slice("waits", life.joined_at_ms, held_at_ms));
        }
        if life.held_at_ms.is_some() {
            events.push(slice("holds", held_at_ms, left_at_ms));
        }
    }
    events.end()
}

/// Events as text: a tree of all of them would take ten times as much memory.
#[derive(Default)]
struct TraceEvents(String);

impl TraceEvents {
    fn push(&mut self, event: Value) {
        self.0.push_str(if self.0.is_empty() { HEAD } else { "," });
        self.0.push_str(&event.to_string());
    }

    fn end(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push_str(HEAD);
        }
        self.0.push_str("]}");
        self.0.into_bytes()
    }
}

/// A name that neither hides nor turns anything in the viewer.
fn shown(name: &str) -> String {
    plain(name, NAME_BYTES_MAX)
}

fn named(what: &str, process: usize, thread: usize, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": process, "tid": thread, "args": { "name": shown(name) } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(czxid: &str, session: &str, joined_at_ms: i64, held_at_ms: Option<i64>, left_at_ms: Option<i64>) -> Hold {
        Hold {
            czxid: czxid.to_owned(),
            lock: "/a".to_owned(),
            node: "lock-1".to_owned(),
            session_id: Some(session.to_owned()),
            label: None,
            client: None,
            joined_at_ms,
            held_at_ms,
            left_at_ms,
            how: "released".into(),
            wait_ms: 0,
            hold_ms: None,
            is_lower_bound: false,
            spent: lockscope_view::past::Spent::default(),
        }
    }

    #[test]
    fn names_hide_nothing() {
        let mut life = life("0x1", "0xa", 10, None, None);
        (life.lock, life.node) = ("/a\u{202e}".to_owned(), "lock-1\u{200b}".to_owned());
        (life.label, life.client) = (Some("b\u{2066}".to_owned()), Some("c\n".to_owned()));
        let trace = String::from_utf8(trace(&[life], 50)).unwrap();
        assert!(!trace.contains(['\u{202e}', '\u{200b}', '\u{2066}']) && !trace.contains("\\n"), "{trace}");
    }

    #[test]
    fn slices_of_one_thread_never_overlap() {
        let lives = [
            life("0x3", "0xb", 30, None, None),
            life("0x2", "0xa", 15, Some(15), Some(40)),
            life("0x1", "0xa", 10, Some(12), Some(20)),
        ];
        let trace: Value = serde_json::from_slice(&trace(&lives, 50)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let slices: Vec<_> = events
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| (event["tid"].as_u64(), event["name"].as_str(), event["ts"].as_i64(), event["dur"].as_i64()))
            .collect();
        let slice = |thread: u64, name, from_ms: i64, ms: i64| {
            (Some(thread), Some(name), Some(from_ms * 1_000), Some(ms * 1_000))
        };
        let expected =
            [slice(1, "waits", 10, 2), slice(1, "holds", 12, 8), slice(2, "holds", 15, 25), slice(3, "waits", 30, 20)];
        assert_eq!(slices, expected);
        assert_eq!(events.iter().filter(|event| event["name"] == "process_name").count(), 1);
        let none: Value = serde_json::from_slice(&super::trace(&[], 50)).unwrap();
        assert_eq!(none["traceEvents"].as_array().map(Vec::len), Some(0));
    }
}
