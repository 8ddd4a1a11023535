//! What the section on a session's time-out says. Pure.

use crate::format::{clock, duration};
use lockscope_view::{SessionTimeout, TimeoutOutcome, TimeoutUnknownReason};

pub(super) const TITLE: &str = "Session time-out";
/// What stands where the fragment can't be fetched.
pub(super) const NOT_FETCHED: &str = "Whether the time-out suits this client could not be loaded: the server may be gone or busy. It is tried again in 30 s.";
pub(super) const DO: &str = "What to do";
pub(super) const UNKNOWN: &str = "not known";

pub(super) const TIMEOUT: &str = "Time-out";
pub(super) const SILENCE: &str = "Longest silence";
pub(super) const KNOWN_FOR: &str = "Known for";
pub(super) const ENOUGH: &str = "Would be enough";
pub(super) const SAVED: &str = "Saved if it dies";
pub(super) const LEFT: &str = "Left before its end";

/// Whether the time-out suits, in one sentence.
pub(super) fn lead(told: &SessionTimeout) -> String {
    let (at_least, at_most) = (duration(told.silence_at_least_ms), duration(told.silence_at_most_ms));
    let (timeout, over) = (told.timeout_ms.map_or(UNKNOWN.to_owned(), duration), duration(told.over_ms));
    let as_of = clock(told.at_ms);
    match told.outcome {
        TimeoutOutcome::Suits { .. } => {
            format!(
                "The time-out of {timeout} suits this client: it was never silent for more than {at_most} in {over} (as of {as_of})."
            )
        }
        TimeoutOutcome::Long { .. } => format!(
            "The time-out of {timeout} is longer than it must be: this client was never silent for more than {at_most} in {over} (as of {as_of})."
        ),
        TimeoutOutcome::Short { .. } => format!(
            "This client nearly lost its session: in {over} it was once silent for at least {at_least} of its time-out of {timeout}, and went on (as of {as_of})."
        ),
        TimeoutOutcome::Unknown(why) => {
            format!("Whether its time-out suits this client is not known: {} (as of {as_of}).", unknown(why))
        }
    }
}

fn unknown(why: TimeoutUnknownReason) -> &'static str {
    match why {
        TimeoutUnknownReason::NotListed => "no member listed it as connected within the last minute",
        TimeoutUnknownReason::NoTimeout => "the member that it is connected to does not report its time-out",
        TimeoutUnknownReason::NoStamps => {
            "the member that it is connected to does not report when it last answered this client"
        }
        TimeoutUnknownReason::TooSoon => "its silences are judged once they are known for 10 min",
        TimeoutUnknownReason::NotInLogs => "the transaction log has the time-out, but not when a client was last heard",
        TimeoutUnknownReason::Implausible => "what the members report of its silences can't be true",
    }
}

/// The longest silence, within its bounds; None where none is known.
pub(super) fn silence(told: &SessionTimeout) -> Option<String> {
    let (at_least, at_most) = (told.silence_at_least_ms, told.silence_at_most_ms);
    match (at_least, at_most) {
        (_, ..=0) => None,
        (0, _) => Some(format!("≤ {}", duration(at_most))),
        _ if duration(at_least) == duration(at_most) => Some(duration(at_most)),
        _ => Some(format!("{} to {}", duration(at_least), duration(at_most))),
    }
}

pub(super) fn enough_ms(outcome: TimeoutOutcome) -> Option<i64> {
    match outcome {
        TimeoutOutcome::Suits { enough_ms }
        | TimeoutOutcome::Long { enough_ms }
        | TimeoutOutcome::Short { enough_ms } => Some(enough_ms),
        TimeoutOutcome::Unknown(_) => None,
    }
}

/// What to do, in order; nothing where all is well.
pub(super) fn steps(told: &SessionTimeout) -> Vec<String> {
    let timeout_ms = told.timeout_ms.unwrap_or(0);
    let set = |enough_ms: i64| {
        format!(
            "Set the session time-out in this client's configuration to {} (sessionTimeoutMs in Curator, timeout in kazoo, sessionTimeout in Java), and restart it. Servers grant from 2 to 20 of their ticks unless they are configured otherwise.",
            duration(enough_ms)
        )
    };
    match told.outcome {
        TimeoutOutcome::Suits { .. } => Vec::new(),
        TimeoutOutcome::Long { enough_ms } => vec![
            set(enough_ms),
            format!(
                "If it dies, others then get its locks {} sooner: after {} instead of {}. A longer time-out is right where pauses of more than {} are to be expected that did not come yet.",
                duration(timeout_ms.saturating_sub(enough_ms)),
                duration(enough_ms),
                duration(timeout_ms),
                duration(enough_ms)
            ),
        ],
        TimeoutOutcome::Short { enough_ms } => vec![
            "Look for pauses of its process or host: garbage collection, swapping, a suspended virtual machine, a slow disk, a slow network.".to_owned(),
            format!("If they are to be expected: {} Others then wait longer for its locks if it dies.", lower(&set(enough_ms))),
        ],
        TimeoutOutcome::Unknown(why) => match why {
            TimeoutUnknownReason::TooSoon | TimeoutUnknownReason::NotInLogs => Vec::new(),
            TimeoutUnknownReason::NotListed | TimeoutUnknownReason::NoTimeout | TimeoutUnknownReason::NoStamps => {
                vec!["Look at the status page for which members answer, and what to configure on those that do not.".to_owned()]
            }
            TimeoutUnknownReason::Implausible => {
                vec!["Compare the clocks of the members, and what each says of this session, on the status page.".to_owned()]
            }
        },
    }
}

/// A sentence behind a colon.
fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
