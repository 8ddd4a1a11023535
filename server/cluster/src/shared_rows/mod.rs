//! What servers that watch the same share in PostgreSQL. Knows no session, silence or alert: those are rows of a kind, which
//! whoever has them makes and takes.
//!
//! Nothing here is on the way of a request that finds what it needs in memory. One task exchanges rows each second, and at
//! once where somebody waits for it; whoever waits does so for a moment at most, and not at all while the database is down.

mod keeper;
mod rows;

pub use keeper::{Keeper, Shared, WAIT_MAX};
pub use rows::{ROWS_MAX, rows_of};
