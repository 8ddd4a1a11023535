//! The sentences of findings of what must be and of what will be, in English.

use crate::evidence::{TimeoutAdvice, TimeoutFit};

pub(super) fn must_be_held(is_there: bool, waiting: u32) -> String {
    let state = match (is_there, waiting) {
        (false, _) => "there is no such znode",
        (true, 0) => "nobody contends for it",
        (true, _) => "those who contend for it do not get it",
    };
    format!("Nobody holds it, and the configuration says that somebody must: {state}. Start what should hold it.")
}

pub(super) fn watch_inversion(watching: &str, behind: &str, is_first: bool, is_circle: bool) -> String {
    let what = format!("{watching} watches {behind}, which stands behind it in the queue");
    let effect = match (is_first, is_circle) {
        (true, _) => format!(
            ": by the queue's order {watching} holds, but its client waits, and {behind} waits for it. Neither goes on"
        ),
        (false, true) => format!(", and {behind} waits for it: once both are first they wait for each other for ever"),
        (false, false) => format!(", and not what it waits for: it is woken only when {behind} goes"),
    };
    format!(
        "{what}{effect}. Restart the client of {watching}; its library may watch the wrong znode (kazoo before 2.9, issue 649)."
    )
}

pub(super) fn never_drains(arrive: u64, served: u64, gave_up: u64) -> String {
    let given_up = if gave_up == 0 { String::new() } else { format!(", and about {gave_up} give up") };
    format!(
        "For two minutes more have arrived than were served: about {arrive} a minute arrive, about {served} have had it{given_up}. While that is so, the queue never drains."
    )
}

pub(super) fn sequence(days: u64, a_day: u64) -> String {
    format!(
        "About {a_day} sequence numbers are given out a day, on average since its directory was made: in about {days} days the counter reaches 2147483647 and runs over."
    )
}

pub(super) fn will_be_reaped(times: usize) -> String {
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    format!(
        "Its directory is empty, and was deleted {times} before while it was: it will be again unless somebody queues up first. A container goes within about a minute, a directory with a time to live after that. Sequence numbers then begin at 0 again."
    )
}

pub(super) fn timeout(who: &str, advice: &TimeoutAdvice, more: usize) -> String {
    let TimeoutAdvice { fit, timeout_ms, silence_ms, enough_ms, over_ms } = *advice;
    let [timeout, silence, enough] = [timeout_ms, silence_ms, enough_ms].map(seconds);
    let over = span(over_ms);
    let others = match more {
        0 => String::new(),
        1 => " 1 more session is like it.".to_owned(),
        _ => format!(" {more} more sessions are like it."),
    };
    match fit {
        TimeoutFit::Long => {
            let saved = seconds(timeout_ms.saturating_sub(enough_ms));
            format!(
                "{who} has a session time-out of {timeout}, and its longest silence seen in {over} was at most {silence}. {enough} would be enough; if it dies, others wait {saved} longer for its locks than they must.{others}"
            )
        }
        TimeoutFit::Short => format!(
            "{who} was silent for at least {silence} of its session time-out of {timeout} once in {over}, and went on: after a pause a little longer it loses its locks. {enough} would be enough.{others}"
        ),
    }
}

/// To a tenth of a second.
fn seconds(ms: i64) -> String {
    let tenths = ms.saturating_add(50) / 100;
    if tenths % 10 == 0 { format!("{} s", tenths / 10) } else { format!("{}.{} s", tenths / 10, tenths % 10) }
}

/// How long it was watched, in steps: what is said changes seldom.
fn span(ms: i64) -> &'static str {
    match ms / 60_000 {
        ..30 => "the last ten minutes",
        30..60 => "the last half an hour",
        60..360 => "the last hour",
        360..720 => "the last six hours",
        720..1_320 => "the last twelve hours",
        1_320.. => "the last day",
    }
}
