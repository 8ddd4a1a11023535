//! How long the waiters of a lock still have to wait: a section of the lock's page (see `sections`), fetched anew every ten
//! seconds: such times change with the clock, and live rows do not.

mod section;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use section::initial;
pub use section::{TimeToLockMarkup, time_to_lock_first, time_to_lock_markup};

/// Every ten seconds.
pub(crate) fn script() -> String {
    crate::parts::fetched_script("time-to-lock /lock/time-to-lock ensemble|path|at 1e4 0 1 1", words::NOT_FETCHED)
}
