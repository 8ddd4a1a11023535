//! After how long what is recorded is written.

/// What was handed over is stored after so long.
pub const FLUSH_MS: u64 = 250;
/// The same where nothing but time passed.
pub const FLUSH_TICKS_MS: u64 = 750;
pub const ROWS_FLUSH_MS: u64 = 1_000;
/// The minute that is under way is written after so long, so that little of it is lost with a process that is killed.
pub const MINUTES_FLUSH_MS: u64 = 10_000;
