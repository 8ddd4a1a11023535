//! What a view's body claims of locks, as docs/api.md lets a script read it. Pure. Fields that only some versions of
//! the server have may be missing: then nothing more is claimed by them.

use lockscope_judge::{Capture as Captured, Contender, Gone, Shown};
use serde_json::Value;

/// A state is shown as LIVE by a script that obeys the document only while it is no older than this.
pub const LIVE_AGE_MAX_MS: i64 = 2_000;

/// What a frame adds to a body.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub socket: u32,
    pub arrived_at_ms: i64,
    /// Up to when the state is known to be true; None where the server's version does not report it.
    pub known_at_ms: Option<i64>,
}

impl Stamp {
    /// What says that it is LIVE may be shown so.
    pub fn is_fresh(self) -> bool {
        self.known_at_ms.is_none_or(|known_at_ms| self.arrived_at_ms - known_at_ms <= LIVE_AGE_MAX_MS)
    }
}

/// What a body says of locks, by its words alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    pub shown: Vec<Shown>,
    pub gone: Vec<Gone>,
}

/// Reads a body of a board or of one lock; `asked` is the lock's path in the latter case.
pub fn claims(body: &Value, asked: Option<&str>) -> Claims {
    match asked {
        None => board(body),
        // Nothing is said of the link then.
        Some(path) if body["head"].is_null() => {
            Claims { shown: Vec::new(), gone: vec![Gone { lock: path.to_owned(), ..Gone::default() }] }
        }
        Some(_) => Claims { shown: vec![lock(body)], gone: Vec::new() },
    }
}

impl Claims {
    /// As they are shown at some moment: LIVE no longer than the document allows.
    pub fn at(&self, stamp: Stamp) -> impl Iterator<Item = Captured> {
        let Stamp { socket, arrived_at_ms, known_at_ms } = stamp;
        let is_fresh = stamp.is_fresh();
        let true_at_ms = known_at_ms.unwrap_or(0);
        let shown = self.shown.iter().map(move |shown| {
            Captured::Shown(Shown {
                socket,
                arrived_at_ms,
                true_at_ms,
                is_live: shown.is_live && is_fresh,
                ..shown.clone()
            })
        });
        let gone = self.gone.iter().map(move |gone| {
            Captured::Gone(Gone { socket, arrived_at_ms, is_live: gone.is_live && is_fresh, ..gone.clone() })
        });
        shown.chain(gone)
    }
}

/// Whether a whole board says that it is LIVE, and as of which transaction.
pub fn head_claims(body: &Value) -> (bool, i64) {
    let as_of = &body["head"]["as_of"];
    (as_of["state"] == "live", hex(&as_of["zxid"]).unwrap_or(0))
}

fn board(body: &Value) -> Claims {
    let rows = body["window"]["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let shown = rows.iter().map(|row| {
        let mut shown = of_row(row, &body["head"]["as_of"]);
        shown.holders = contenders(row["holders"].as_array().map_or(&[][..], Vec::as_slice).iter());
        shown
    });
    Claims { shown: shown.collect(), gone: Vec::new() }
}

fn lock(body: &Value) -> Shown {
    let head = &body["head"];
    let rows = body["window"]["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut shown = of_row(&head["row"], &head["as_of"]);
    let of = |role: &'static str| contenders(rows.iter().filter(move |row| row["role"] == role));
    if body["window"]["offset"] == 0 {
        (shown.holders, shown.waiters) = (of("holder"), of("waiter"));
    }
    shown
}

/// Sessions that a body calls dead, where it says that it is LIVE: those of contenders that are `disconnected`, and of
/// holders of a lock that is `expiring`.
pub fn dead_sessions(body: &Value) -> Vec<i64> {
    let rows = body["window"]["rows"].as_array().map_or(&[][..], Vec::as_slice);
    if !head_claims(body).0 {
        return Vec::new();
    }
    let of = |contenders: &[Value], lock: &Value| -> Vec<i64> {
        let is_expiring = lock["verdict"] == "expiring";
        let is_dead = |row: &&Value| row["liveness"] == "disconnected" || is_expiring && row["role"] == "holder";
        let dead = contenders.iter().filter(|_| lock["state"] == "live").filter(is_dead);
        dead.filter_map(|row| hex(&row["session_id"])).collect()
    };
    match &body["head"]["row"] {
        Value::Null => {
            let holders = |row: &Value| of(row["holders"].as_array().map_or(&[][..], Vec::as_slice), row);
            rows.iter().flat_map(holders).collect()
        }
        lock => of(rows, lock),
    }
}

fn of_row(row: &Value, as_of: &Value) -> Shown {
    Shown {
        lock: row["path"].as_str().unwrap_or_default().to_owned(),
        is_live: row["state"] == "live" && as_of["state"] == "live",
        is_complete: is_complete(row),
        is_free: row["verdict"] == "free",
        zxid: hex(&as_of["zxid"]).unwrap_or(0),
        holder_count: count(&row["holder_count"]),
        waiter_count: count(&row["waiter_count"]),
        ..Shown::default()
    }
}

/// What is missing is reported; in some versions nothing ever is missing.
fn is_complete(row: &Value) -> bool {
    row["missing"].as_array().is_none_or(Vec::is_empty) && row["waiter_count"].is_u64()
}

/// Clients that are known by their watches alone have no znode: the log knows nothing of them.
fn contenders<'a>(rows: impl Iterator<Item = &'a Value>) -> Vec<Contender> {
    let of_znodes = rows.filter(|row| !(row["czxid"].is_null() && row["node"].is_null()));
    of_znodes.map(|row| Contender { czxid: hex(&row["czxid"]), session: hex(&row["session_id"]) }).collect()
}

pub(crate) fn count(value: &Value) -> u32 {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
}

pub(crate) fn hex(value: &Value) -> Option<i64> {
    value
        .as_str()
        .and_then(|text| text.strip_prefix("0x"))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .map(u64::cast_signed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contender(session: &str, role: &str, liveness: &str) -> Value {
        json!({"session_id": session, "role": role, "liveness": liveness})
    }

    #[test]
    fn dead_are_the_disconnected_and_holders_that_expire() {
        let rows = [contender("0x1", "holder", "silent"), contender("0x2", "waiter", "disconnected")];
        let lock = |state: &str, verdict: &str| {
            json!({
                "head": {"as_of": {"state": state}, "row": {"state": state, "verdict": verdict}},
                "window": {"rows": rows},
            })
        };
        assert_eq!(dead_sessions(&lock("live", "expiring")), [1, 2]);
        assert_eq!(dead_sessions(&lock("live", "slow")), [2]);
        assert!(dead_sessions(&lock("stale", "expiring")).is_empty());
        let board = json!({
            "head": {"as_of": {"state": "live"}},
            "window": {"rows": [{"state": "live", "verdict": "expiring", "holders": rows}]},
        });
        assert_eq!(dead_sessions(&board), [1, 2]);
    }
}
