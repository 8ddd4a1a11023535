//! How much is looked at on this thread, for tests of growth: they count and never time. Nothing of the model rests on it.

use std::cell::Cell;

thread_local! {
    static VISITS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what is looked at: paths of roots, believed trees, steps of searches, rules at locks.
pub fn visit(number: usize) {
    VISITS.set(VISITS.get() + number as u64);
}

/// What was looked at on this thread so far.
pub fn visits() -> u64 {
    VISITS.get()
}
