//! The sentences in English.

pub(super) mod deadlocks;
pub(super) mod findings;
mod forecasts;
pub(super) mod releases;

use super::{Conflict, Statement, Waiting};
use crate::verdict::duration;

/// The sentence.
pub(super) fn sentence(statement: &Statement, waits: Waiting) -> String {
    let held = of(statement);
    let waiting = waiting(waits);
    if waiting.is_empty() { held } else { format!("{held} {waiting}") }
}

/// What is said of who waits.
pub(super) fn waiting(waiting: Waiting) -> String {
    let least = |is_least| if is_least { "At least " } else { "" };
    match waiting {
        Waiting::Unsaid => String::new(),
        Waiting::Nobody => "Nobody waits.".to_owned(),
        Waiting::NobodySeen => "Nobody is seen to wait.".to_owned(),
        Waiting::CantBeCounted => "Waiters can't be counted here.".to_owned(),
        Waiting::Waiters { count: 1, is_least } => format!("{}1 waits.", least(is_least)),
        Waiting::Waiters { count, is_least } => format!("{}{} wait.", least(is_least), number(count)),
        Waiting::Standbys { count: 1, is_least } => format!("{}1 standby.", least(is_least)),
        Waiting::Standbys { count, is_least } => format!("{}{} standbys.", least(is_least), number(count)),
    }
}

fn of(statement: &Statement) -> String {
    match statement {
        Statement::Circle(text) => text.clone(),
        Statement::HeldAtOnce { names, more, why } => held_at_once(names, *more, *why),
        Statement::Orphan { znode } => format!("No session owns {znode}, so it never frees itself."),
        Statement::Expiring { who } => {
            format!("{who} is connected to no server; the lock frees itself when its session runs out.")
        }
        Statement::HeldTooLong { who, usual_ms: Some(usual_ms), is_stuck } => {
            let far = if *is_stuck { "far " } else { "" };
            format!("{who} has held it {far}longer than usual ({}).", usual(*usual_ms))
        }
        Statement::HeldTooLong { who, usual_ms: None, .. } => {
            format!("{who} has held it for very long; what is usual is not known yet.")
        }
        Statement::WaitedTooLong { who } => {
            format!("The first in line has waited for very long; since when {who} holds it is not known.")
        }
        Statement::Held { who, more: 0 } => format!("{who} holds it."),
        Statement::Held { who, more } => format!("{who} and {} more hold it.", number(*more)),
        Statement::ChangesHands { in_10_s } => format!("Changes hands {} times a second.", a_second(*in_10_s)),
        Statement::Leader { who } => format!("Leader: {who}."),
        Statement::Written { who, reads_as_well: false } => format!("{who} holds it for writing."),
        Statement::Written { who, reads_as_well: true } => format!("{who} holds it for writing, and reads as well."),
        Statement::Read { who, more: 0 } => format!("{who} holds it for reading."),
        Statement::Read { who, more } => format!("{who} and {} more hold it for reading.", number(*more)),
        Statement::Leases { held, max, first } => {
            let of = max.map_or_else(String::new, |max| format!(" of {}", number(max)));
            let leases = if *held == 1 && max.is_none() { "lease is" } else { "leases are" };
            format!("{}{of} {leases} held, the first by {first}.", number(*held))
        }
        Statement::BarrierUp => "Up: everybody waits until it is taken down.".to_owned(),
        Statement::BarrierDown => "Down: nobody has to wait.".to_owned(),
        Statement::BarrierOpen { inside } => format!("Open: {} inside.", number(*inside)),
        Statement::BarrierLeaving { inside } => format!("Leaving: {} still inside.", number(*inside)),
        Statement::NobodyAtBarrier => "Nobody is at the barrier.".to_owned(),
        Statement::Gathering { count, max: Some(max) } => {
            format!("Gathering: {} of {} are there.", number(*count), number(*max))
        }
        Statement::Gathering { count: 1, max: None } => "Gathering: 1 waits for the rest.".to_owned(),
        Statement::Gathering { count, max: None } => format!("Gathering: {} wait for the rest.", number(*count)),
        Statement::InWork { count, first, items } => {
            format!("{} in work, the first by {first}. {}", number(*count), idle_items(*items))
        }
        Statement::Items { items } => idle_items(*items),
        Statement::Empty => "Empty.".to_owned(),
        Statement::Members { count: 1, first, .. } => format!("1 member: {first}."),
        Statement::Members { count, first, more } => {
            format!("{} members: {first} and {} more.", number(*count), number(*more))
        }
        Statement::NobodyHome { last } => {
            with_last("Nobody home: its directory is gone and nobody made it again.", last.as_deref())
        }
        Statement::NotKnown { last } => {
            with_last("Not known: nobody is seen here, and not all of its znodes can be seen.", last.as_deref())
        }
        Statement::NobodyLeads { last: None } => "Nobody leads; nobody was seen to lead it yet.".to_owned(),
        Statement::NobodyLeads { last } => with_last("Nobody leads.", last.as_deref()),
        Statement::Free { last: None } => "Free; nobody was seen to hold it yet.".to_owned(),
        Statement::Free { last } => with_last("Free.", last.as_deref()),
    }
}

fn held_at_once(names: &[String], more: u32, why: Conflict) -> String {
    let all = match (names, more) {
        ([one, other], 0) => format!("{one} and {other} both"),
        (names, 0) => format!("{} all", names.join(", ")),
        (names, more) => format!("{} and {} more all", names.join(", "), number(more)),
    };
    let why = match why {
        Conflict::SameNumber => "they have the same sequence number",
        Conflict::BlindLibraries => "their libraries don't see each other",
        Conflict::Unexplained => "although their recipe admits one",
    };
    let joint = if why.starts_with("although") { "," } else { ":" };
    format!("{all} hold it{joint} {why}.")
}

fn idle_items(items: u32) -> String {
    format!("{} {}.", number(items), if items == 1 { "item waits" } else { "items wait" })
}

fn with_last(text: &str, last: Option<&str>) -> String {
    last.map_or_else(|| text.to_owned(), |last| format!("{text} Last held by {last}."))
}

/// A rate of which the last digit says something: `3.4`, `25`.
fn a_second(in_10_s: u32) -> String {
    match in_10_s {
        ..100 => format!("{}.{}", in_10_s / 10, in_10_s % 10),
        _ => number((in_10_s + 5) / 10),
    }
}

/// How long a hold usually is: `0.3 s`, `12.3 s`, `4 min`.
fn usual(ms: i64) -> String {
    match ms {
        ..100 => "under 0.1 s".to_owned(),
        100..1_000 => format!("0.{} s", ms / 100),
        _ => duration(ms),
    }
}

/// A number with thin spaces between thousands.
fn number(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_sentences_joined() {
        let held = Statement::Held { who: "a".to_owned(), more: 1_200 };
        let waiting = Waiting::Waiters { count: 10_000, is_least: true };
        assert_eq!(sentence(&held, waiting), "a and 1\u{202f}200 more hold it. At least 10\u{202f}000 wait.");
        assert_eq!(sentence(&Statement::BarrierUp, Waiting::Unsaid), "Up: everybody waits until it is taken down.");
        assert_eq!((usual(42), usual(287), usual(61_000)), ("under 0.1 s".into(), "0.2 s".into(), "1 min".into()));
    }

    #[test]
    fn a_rate_has_no_more_digits_than_it_says() {
        let rate = |in_10_s| sentence(&Statement::ChangesHands { in_10_s }, Waiting::Unsaid);
        assert_eq!(rate(34), "Changes hands 3.4 times a second.");
        assert_eq!([a_second(99), a_second(104), a_second(12_345)], ["9.9", "10", "1\u{202f}235"]);
    }

    #[test]
    fn those_that_hold_at_once_are_named() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            held_at_once(&names(&["a", "b"]), 0, Conflict::BlindLibraries),
            "a and b both hold it: their libraries don't see each other."
        );
        assert_eq!(
            held_at_once(&names(&["a", "b", "c"]), 2, Conflict::Unexplained),
            "a, b, c and 2 more all hold it, although their recipe admits one."
        );
    }
}
