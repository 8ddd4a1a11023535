//! Servers that went on with another history: each part of what was shown is judged by its own log.

use std::collections::BTreeSet;

use crate::{Capture, FaultSpan};

/// What is judged by the log of one history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// What was shown.
    pub captures: Vec<Capture>,
    /// What was broken.
    pub faults: Vec<FaultSpan>,
}

/// Splits at an instant at which no server ran: behind the last transaction of the first history, before the first one
/// that only the second has.
///
/// * What arrived before it claims something of the first history. To it the link stays lost for good, so nothing that
///   arrived before may be LIVE for longer than after any other loss of the link, whatever the second history has.
/// * What arrived after it claims something of the second history, also where it repeats a state that was shown before.
/// * Revisions are compared with each other and with no log: all of them are in the second part.
pub fn split_at_restore(captures: &[Capture], faults: &[FaultSpan], at_ms: i64) -> [Part; 2] {
    let (mut before, mut after) = (Part::default(), Part::default());
    let mut shown = BTreeSet::new();
    for capture in captures {
        if arrived_at_ms(capture).is_some_and(|arrived_at_ms| arrived_at_ms < at_ms) {
            before.captures.push(capture.clone());
            shown.extend(place(capture));
        } else {
            before.captures.extend(ended(capture));
            after.captures.push(capture.clone());
        }
    }
    // So that a lock which never is LIVE again is missed.
    let not_live =
        |(socket, lock): (u32, &str)| Capture::NotLive { socket, arrived_at_ms: at_ms, lock: Some(lock.to_owned()) };
    after.captures.splice(..0, shown.into_iter().map(not_live));
    let begun = faults.iter().filter(|fault| fault.lost_at_ms < at_ms);
    before.faults =
        begun.map(|fault| FaultSpan { good_at_ms: fault.good_at_ms.filter(|good| *good < at_ms), ..*fault }).collect();
    after.faults = faults.to_vec();
    [before, after]
}

/// None for a revision.
fn arrived_at_ms(capture: &Capture) -> Option<i64> {
    match capture {
        Capture::Shown(shown) => Some(shown.arrived_at_ms),
        Capture::Gone(gone) => Some(gone.arrived_at_ms),
        Capture::NotLive { arrived_at_ms, .. }
        | Capture::Heartbeat { arrived_at_ms, .. }
        | Capture::Closed { arrived_at_ms, .. } => Some(*arrived_at_ms),
        Capture::Revision(_) => None,
    }
}

/// Which socket shows which lock.
fn place(capture: &Capture) -> Option<(u32, &str)> {
    match capture {
        Capture::Shown(shown) => Some((shown.socket, &shown.lock)),
        Capture::Gone(gone) => Some((gone.socket, &gone.lock)),
        Capture::NotLive { .. } | Capture::Heartbeat { .. } | Capture::Closed { .. } | Capture::Revision(_) => None,
    }
}

/// What something of the second history says of the first: a state that stood until then stands no longer.
fn ended(capture: &Capture) -> Option<Capture> {
    match (place(capture), capture) {
        (Some((socket, lock)), _) => {
            Some(Capture::NotLive { socket, arrived_at_ms: arrived_at_ms(capture)?, lock: Some(lock.to_owned()) })
        }
        (None, Capture::Revision(_)) => None,
        (None, _) => Some(capture.clone()),
    }
}
