//! Tests of the core through its one door, `Observatory::apply`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests take what they made themselves for granted")]

mod absurd;
mod checkpoint;
mod comparison;
mod crowded;
mod denied;
mod differences;
mod disagreement;
mod evidence;
mod expiring;
mod findings;
mod fixtures;
mod forecasts;
mod freshness;
mod histories;
mod language;
mod lock_order;
mod members;
mod mid_incident;
mod must_be_held;
mod near_misses;
mod order_snooze;
mod pending;
mod pending_at_random;
mod properties;
mod recipes;
mod recorder;
mod release;
mod restored;
mod timeouts;
mod told;
mod waiters;
mod waits;
