//! What servers that watch the same share through a place they all reach: small texts by keys. Knows neither the place nor
//! what the texts say.
//!
//! A row is merged the same way everywhere, in whatever order it arrives: the text with the larger stamp counts, and what is
//! over is over for good. So two servers may write the same row, and one that was cut off may come back.

use std::future::Future;
use std::pin::Pin;

/// Bytes of a row's text at most; a longer one is not shared.
pub const BODY_BYTES_MAX: usize = 16 * 1024;
pub const KEY_BYTES_MAX: usize = 128;
/// Rows that are sent at once. Overflow policy: the rest goes with the next exchange.
pub const SENT_MAX: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRow {
    /// Its name, unique among those of its kind.
    pub key: String,
    pub body: String,
    /// Of two texts the one with the larger stamp counts; ms since the epoch.
    pub stamp: i64,
    /// It ended before its time, and never comes back.
    pub is_over: bool,
    /// When it is of no use any more, ms since the epoch.
    pub expires_at_ms: i64,
}

pub trait Sharer: Send + Sync {
    /// The kind of its rows: a name that stays.
    fn kind(&self) -> &'static str;
    /// What changed here and is not known to be shared, at most [`SENT_MAX`] rows, each key once.
    fn outgoing(&self) -> Vec<SharedRow>;
    /// These are where the others find them.
    fn sent(&self, rows: &[SharedRow]);
    /// What others changed, or all that is not over where `is_whole`.
    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

pub trait Exchange: Send + Sync {
    /// Sends what changed here and takes what the others changed, before the call and not later. False where that can't be
    /// done now: it is done once it can be. Bounded: a place that does not answer keeps nobody for more than a moment.
    fn exchange(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}
