//! Who holds a lock, in one line. Pure.

use lockscope_view::api::{AgedContender, AgedLock, Finding};
use lockscope_view::words::{between, how_often_right, no_estimate, ordinal};
use lockscope_view::{TimeToLock, WaitTime, visible};
use serde_json::{Map, Value};

use super::responses::is_current;
use super::staleness::of_lock;
use super::table::{OutputStyle, Tone, of_verdict};
use super::words::{held, host, instant, name, waiting};
use crate::error::{EXIT_BROKEN, EXIT_UNSURE};

type Lock = AgedLock<Finding>;

const FIELDS: [&str; 14] = [
    "ensemble",
    "path",
    "verdict",
    "sentence",
    "as_of",
    "holders",
    "holder_count",
    "waiter_count",
    "oldest_wait_ms",
    "wait_is_lower_bound",
    "hold_ms",
    "hold_is_lower_bound",
    "complete",
    "missing",
];

/// The exit code of an answer: None for held, which is 0.
pub(super) fn code(lock: &Lock) -> Option<u8> {
    if !is_current(&lock.as_of.state) || (lock.holder_count == 0 && lock.may_hide_holders()) {
        return Some(EXIT_UNSURE);
    }
    (lock.holder_count == 0).then_some(EXIT_BROKEN)
}

pub(super) fn render(lock: &Lock, time: Option<&TimeToLock>, now_ms: i64, shown: OutputStyle) -> String {
    let place = if lock.ensemble == "default" { String::new() } else { format!(" in {}", visible(&lock.ensemble)) };
    let mut line = format!("{}{place} is ", visible(&lock.path));
    line.push_str(&match lock.holder_count {
        0 if lock.may_hide_holders() => "not seen to be held, and not all of it can be seen".to_owned(),
        0 if lock.waiter_count == Some(0) => "free".to_owned(),
        0 => "held by nobody".to_owned(),
        1 => format!("held by {}", lock.holders.first().map_or("somebody".to_owned(), |one| only(one, now_ms))),
        count => several(lock, count),
    });
    if lock.holder_count > 0 || lock.waiter_count.is_some_and(|count| count > 0) {
        line.push_str(&format!("; {}", waiting(lock)));
    }
    line.extend(time.filter(|time| time.waiter_count > 0).map(|time| format!("; {}", still_to_wait(time))));
    if !matches!(&*lock.verdict, "free" | "healthy" | "unknown") {
        line.push_str(&format!(" [{}]", shown.tone(of_verdict(&lock.verdict), &visible(&lock.verdict))));
    }
    if let Some(note) = of_lock(&lock.as_of).filter(|note| note.is_old) {
        line.push_str(&format!("; {}", shown.tone(Tone::Bad, &format!("{}: it was so then", note.text))));
    }
    line.push('\n');
    line
}

/// How long those in line still have to wait: whoever was asked for, else the first and the last; and how often that was right.
fn still_to_wait(time: &TimeToLock) -> String {
    if let Some(reason) = time.reason {
        return format!("for how long is not known: {}", no_estimate(reason));
    }
    let one = |wait: &WaitTime| {
        let place = format!("{} in line", ordinal(wait.place));
        match (wait.remaining, wait.reason) {
            (Some(left), _) => format!("{place}: {}", between(left.low_ms, left.high_ms)),
            (None, Some(reason)) => format!("{place}: not known, {}", no_estimate(reason)),
            (None, None) => format!("{place}: not known"),
        }
    };
    let told: Vec<String> = match &time.asked {
        Some(asked) => vec![one(asked)],
        None => time.waits.first().into_iter().chain(time.last.iter().filter(|last| last.place > 1)).map(one).collect(),
    };
    let right = time.calibration.as_ref().and_then(how_often_right);
    format!("{} (80 %{})", told.join(", "), right.map_or_else(String::new, |right| format!("; {right}")))
}

/// Who it is, where from and for how long.
fn holder(of: &AgedContender) -> String {
    let held_for = of.holding_ms.map(|ms| format!(" for {}", held(Some(ms), of.holding_is_lower_bound)));
    format!("{}{}{}", name(of), from(of), held_for.unwrap_or_default())
}

fn only(of: &AgedContender, now_ms: i64) -> String {
    let since = of.holding_ms.map(|ms| format!(", since {}", instant(now_ms.saturating_sub(ms))));
    format!("{}{}", holder(of), since.unwrap_or_default())
}

fn several(lock: &Lock, count: u32) -> String {
    let mut told: Vec<String> = lock.holders.iter().map(holder).collect();
    let more = usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(told.len());
    if more > 0 {
        told.push(format!("{more} more"));
    }
    format!("held by {count}: {}", told.join(", "))
}

/// Session and host, as far as they are known and not the name already.
fn from(holder: &AgedContender) -> String {
    let session = holder.session_id.map(|id| id.to_string()).filter(|session| *session != name(holder));
    let session = session.map(|session| format!("session {session}"));
    let parts: Vec<String> = session.into_iter().chain(host(holder).map(|host| format!("host {host}"))).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The part of the API's answer about who holds, with `held` before it: true, false, or null while that is not known; and
/// behind it `time_to_lock`, the answer of that name.
pub(super) fn json(answer: &Value, lock: &Lock, time: Option<Value>) -> Value {
    let held = match code(lock) {
        None => Value::Bool(true),
        Some(EXIT_BROKEN) => Value::Bool(false),
        Some(_) => Value::Null,
    };
    let kept = FIELDS.into_iter().filter_map(|name| Some((name.to_owned(), answer.get(name)?.clone())));
    let all = std::iter::once(("held".to_owned(), held)).chain(kept);
    let time = ("time_to_lock".to_owned(), time.unwrap_or(Value::Null));
    Value::Object(all.chain(std::iter::once(time)).collect::<Map<_, _>>())
}
