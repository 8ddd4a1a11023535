//! What the lab's names are called for people, and its numbers as they are read.

use crate::format::{count, duration, plural};
use lockscope_view::{Fault, LabOrder, LabState, Lane, Spread, Strategy, ThrownFault};

#[cfg(feature = "hydrate")]
pub(super) const LOST: &str = "Link lost, trying again. What you see is the last that came.";
#[cfg(feature = "hydrate")]
pub(super) const SIGNED_OUT: &str = "Your sign-in ended. What you see is the last that came.";
#[cfg(feature = "hydrate")]
pub(super) const GONE: &str =
    "This run is gone: a run that is under way ends with its server, and only the newest of those that ended are kept.";

pub(super) const ACQUISITIONS: &str = "acquisitions";
pub(super) const HANDOFF_P50: &str = "hand-off p50";
pub(super) const HANDOFF_P99: &str = "hand-off p99";
pub(super) const WOKEN_IN_VAIN: &str = "woken in vain";
pub(super) const REQUESTS: &str = "requests";
pub(super) const BYTES: &str = "bytes in and out";
/// What a seat's look means, by its letter: those that any run has, and those that are shown where one is there.
pub(super) const USUAL_SEATS: [(char, &str); 4] =
    [('h', "holds"), ('k', "woken in vain"), ('w', "waits"), ('d', "done")];
pub(super) const ODD_SEATS: [(char, &str); 7] = [
    ('o', "opening"),
    ('.', "away"),
    ('b', "believes that it holds"),
    ('p', "paused"),
    ('g', "gave up, znode stays"),
    ('x', "killed"),
    ('l', "lost, took no part"),
];

/// `50 clients, one lock, two ways to wait`.
pub(crate) fn title(order: &LabOrder) -> String {
    let ways = order.strategies.len();
    let ways = format!("{} {}", spelled(ways), if ways == 1 { "way" } else { "ways" });
    format!("{}, one lock, {ways} to wait", plural(order.clients.into(), "client", "clients"))
}

/// What was ordered, before the path of the run.
pub(super) fn facts(order: &LabOrder) -> String {
    let mut parts = vec!["Each in a session of its own".to_owned()];
    parts.push(plural(order.rounds.into(), "round", "rounds"));
    parts.push(format!("held for {}", duration(order.hold_ms.into())));
    if order.think_ms > 0 {
        parts.push(format!("away for {} on average", duration(order.think_ms.into())));
    }
    if let Some(ms) = order.duration_ms {
        parts.push(format!("{} at most", duration(ms.into())));
    }
    if order.strategies.len() > 1 {
        parts.push(if order.in_turn { "one strategy after the other" } else { "all strategies at once" }.to_owned());
    }
    format!("{} · ", parts.join(", "))
}

pub(super) fn seed(seed: u64) -> String {
    format!(" · seed {seed}")
}

pub(super) fn acquisitions(got: u64, wanted: u64) -> String {
    format!("{} of {} acquisitions", count(got), count(wanted))
}

pub(super) fn of(got: u64, wanted: u64) -> String {
    format!("{} of {}", count(got), count(wanted))
}

/// How late our own timers were; `is_much`: later than a hand-off took.
pub(super) fn lag(lag: Spread, is_much: bool) -> String {
    let then = if is_much {
        "; that is more than a hand-off took, so the times say more of this machine than of the lock"
    } else {
        ""
    };
    let (median, p99, most) = (millis(lag.p50), millis(lag.p99), millis(lag.max));
    format!("Our own timers were late by {median} at the median, {p99} at p99, {most} at most{then}.")
}

pub(super) fn hand_offs(spread: Spread) -> String {
    if spread.count == 0 {
        return "no hand-off yet".to_owned();
    }
    format!("p50 {} · p99 {}", millis(spread.p50), millis(spread.p99))
}

/// By what those were woken whose number stands before it.
pub(super) fn woken_by(is_over: bool, releases: u64) -> &'static str {
    match (is_over, releases) {
        (true, _) => "woken by one release, at most",
        (false, 0) => "nothing released yet",
        (false, _) => "woken by the last release",
    }
}

/// After their number, with what theory says.
pub(super) fn watch_events(lane: &Lane) -> String {
    match lane.watch_events_expected {
        Some(expected) => format!("watch events; {} = {}", formula(lane.name), count(expected)),
        None => "watch events".to_owned(),
    }
}

pub(super) fn theory(lane: &Lane) -> String {
    match lane.watch_events_expected {
        Some(expected) => format!("{} = {}", formula(lane.name), count(expected)),
        None => "nothing here".to_owned(),
    }
}

pub(super) fn how_often(number: u64) -> String {
    match number {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        more => format!("{} times", count(more)),
    }
}

pub(super) fn thrown_into(thrown: &ThrownFault) -> String {
    let client = thrown.client.map(|client| format!(", client {}", client + 1)).unwrap_or_default();
    format!("{}{client}", name(thrown.strategy))
}

pub(crate) fn name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Predecessor => "Predecessor",
        Strategy::HerdChildren => "Herd on the children",
        Strategy::HerdExists => "Herd on one znode",
        Strategy::HerdLowest => "Herd on the lowest",
    }
}

fn in_sentence(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Predecessor => "the predecessor queue",
        Strategy::HerdChildren => "the herd on the children",
        Strategy::HerdExists => "the herd on one znode",
        Strategy::HerdLowest => "the herd on the lowest",
    }
}

/// What its clients do, in one line.
pub(crate) fn way(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Predecessor => "Numbered znodes; each client watches only the one right before its own.",
        Strategy::HerdChildren => "One fixed znode; everybody watches the children of the directory.",
        Strategy::HerdExists => "One fixed znode; everybody watches whether it is there.",
        Strategy::HerdLowest => "Numbered znodes; everybody watches the lowest.",
    }
}

/// The conclusion as people read it: strategies by the names that the page has for them, thousands set apart as on it.
pub(crate) fn spoken(conclusion: &str) -> String {
    let named = Strategy::ALL
        .into_iter()
        .fold(conclusion.to_owned(), |text, strategy| text.replace(strategy.name(), in_sentence(strategy)));
    let mut chars = named.chars().peekable();
    let mut out = String::with_capacity(named.len());
    while let Some(char) = chars.next() {
        let is_between = char == ','
            && out.ends_with(|char: char| char.is_ascii_digit())
            && chars.peek().is_some_and(char::is_ascii_digit);
        out.push(if is_between { '\u{202f}' } else { char });
    }
    out
}

/// How theory counts the watch events of draining once.
fn formula(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Predecessor => "n − 1",
        Strategy::HerdChildren | Strategy::HerdExists | Strategy::HerdLowest => "n(n − 1)/2",
    }
}

pub(crate) fn state(state: LabState) -> &'static str {
    match state {
        LabState::Waiting => "waits its turn",
        LabState::Opening => "opening sessions",
        LabState::Running => "running",
        LabState::Clearing => "clearing up",
        LabState::Finished => "finished",
        LabState::Stopped => "stopped",
        LabState::Failed => "failed",
    }
}

pub(crate) fn is_under_way(state: LabState) -> bool {
    matches!(state, LabState::Waiting | LabState::Opening | LabState::Running | LabState::Clearing)
}

/// What a button that throws a fault says, and what then happens.
pub(crate) fn fault(fault: Fault) -> (&'static str, &'static str) {
    match fault {
        Fault::Kill => {
            ("Kill the holder", "Its connection is cut for good; the lock hangs until its session runs out.")
        }
        Fault::Pause => (
            "Pause the holder",
            "It receives nothing until its session has expired, then goes on and still believes that it holds.",
        ),
        Fault::Orphan => {
            ("Orphan a waiter", "A client gives up, and its znode stays: the queue will come to a stop there.")
        }
        Fault::DropReply => {
            ("Lose a reply", "The answer to a create is lost; the client makes a second znode and waits behind itself.")
        }
        Fault::Stale => ("Leave a stale znode", "A persistent znode that nobody owns stands where the holder stood."),
    }
}

fn spelled(number: usize) -> String {
    match number {
        1 => "one".to_owned(),
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        4 => "four".to_owned(),
        more => more.to_string(),
    }
}

/// A time with three digits: `0.84 ms`, `12.3 ms`, `124 ms`, `1.24 s`.
pub(crate) fn millis(ms: f64) -> String {
    match ms {
        ..9.995 => format!("{ms:.2} ms"),
        ..99.95 => format!("{ms:.1} ms"),
        ..999.5 => format!("{ms:.0} ms"),
        ..99_950.0 => format!("{:.2} s", ms / 1_000.0),
        _ => format!("{} s", count((ms / 1_000.0) as u64)),
    }
}

/// How many times as much: `25.0×`; with no more digits than it has.
pub(crate) fn times(factor: f64) -> String {
    match factor {
        ..9.995 => format!("{factor:.2}×"),
        ..99.95 => format!("{factor:.1}×"),
        _ => format!("{}×", count(factor.round() as u64)),
    }
}

/// A difference to what was expected: `±0 %`, `+0.4 %`.
pub(crate) fn difference(is: u64, should: u64) -> Option<String> {
    if should == 0 {
        return None;
    }
    let percent = (is as f64 - should as f64) * 100.0 / should as f64;
    Some(if is == should { "±0 %".to_owned() } else { format!("{percent:+.2} %").replace('-', "−") })
}

/// The seats of a lane, for who can't see them: who is at what.
pub(super) fn lane_seats(lane: &Lane) -> String {
    let kinds = [
        ('h', "holds", "hold"),
        ('b', "believes that it holds", "believe that they hold"),
        ('k', "was woken in vain", "were woken in vain"),
        ('w', "waits", "wait"),
        ('.', "is away", "are away"),
        ('o', "opens", "open"),
        ('p', "is paused", "are paused"),
        ('g', "gave up", "gave up"),
        ('x', "was killed", "were killed"),
        ('l', "was lost", "were lost"),
        ('d', "is done", "are done"),
    ];
    let part = |(letter, one, many): &(char, &str, &str)| {
        let there = lane.seats.chars().filter(|seat| seat == letter).count() as u64;
        (there > 0).then(|| format!("{} {}", count(there), if there == 1 { one } else { many }))
    };
    let parts: Vec<String> = kinds.iter().filter_map(part).collect();
    let seats = if parts.is_empty() { "no clients yet".to_owned() } else { parts.join(", ") };
    format!("{}: {seats}", name(lane.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let texts: Vec<String> =
            [0.0, 0.842, 9.994, 12.34, 99.96, 999.6, 12_345.0, 123_456.0].into_iter().map(millis).collect();
        assert_eq!(texts, ["0.00 ms", "0.84 ms", "9.99 ms", "12.3 ms", "100 ms", "1.00 s", "12.35 s", "123 s"]);
        assert_eq!([1.0, 25.0, 250.4].map(times), ["1.00×", "25.0×", "250×"]);
        assert_eq!(difference(1_225, 1_225).as_deref(), Some("±0 %"));
        assert_eq!(difference(1_220, 1_225).as_deref(), Some("−0.41 %"));
        assert_eq!(difference(1, 0), None);
    }
}
