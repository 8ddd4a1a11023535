//! Where the recording is kept: one trait, and what goes in and out of it. Nothing outside `store/` knows SQL.
//!
//! The trait is blocking: who writes is a thread of its own, who reads runs on a worker pool, and an embedded database
//! blocks in any case. A store over the network drives its own runtime behind it.

pub mod bundle;
mod charges;
mod day;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod rows;
pub mod sqlite;

use std::fmt;
use std::fs::File;
use std::ops::Range;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

use crate::codec::{Chunk, ChunkKind};
use bundle::{BundleError, BundleQuery};
use rows::{Density, DensityQuery, Fact, FactQuery, Minute, MinuteQuery, Rows, Span, SpanQuery};

/// Chunks that are read at once; further ones are asked for.
pub const CHUNKS_READ_MAX: usize = 64;
/// Gaps that are listed; of more, the newest are.
pub const GAPS_READ_MAX: usize = 1_000;
/// Rows written in one transaction; more are written in several.
pub const TRANSACTION_ROWS_MAX: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("no room is left for the history: {0}")]
    Full(String),
    #[error("the history may not be written or read: {0}")]
    Denied(String),
    /// Another process writes it.
    #[error("another process writes the history in {0}")]
    InUse(String),
    /// Its database failed over; it is opened anew.
    #[error("there was a failover of {0}, in which what was written last may have been lost")]
    Restored(String),
    /// What is there is no history, or broken.
    #[error("the history is damaged: {0}")]
    Damaged(String),
    /// It was written by a later version.
    #[error("the history was written by a later version: {0}")]
    Newer(String),
    #[error("that takes too long to find out")]
    TooLong,
    /// Anything else.
    #[error("the history can't be kept: {0}")]
    Failed(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapReason {
    /// Nobody recorded: Lockscope was not running, or was killed.
    NotRunning,
    /// More happened than could be written.
    TooBusy,
    StoreFailed,
    /// It was kept, and what is there is damaged.
    Damaged,
    /// One observation was too large to be kept.
    TooLarge,
    /// The recording begins after it: what is kept before it was generated, for a demonstration.
    Generated,
    /// The servers went on with another history: what is kept before it says nothing of what is kept after it.
    Restored,
}

impl GapReason {
    pub const ALL: [Self; 7] = [
        Self::NotRunning,
        Self::TooBusy,
        Self::StoreFailed,
        Self::Damaged,
        Self::TooLarge,
        Self::Generated,
        Self::Restored,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::NotRunning => "not_running",
            Self::TooBusy => "too_busy",
            Self::StoreFailed => "store_failed",
            Self::Damaged => "damaged",
            Self::TooLarge => "too_large",
            Self::Generated => "generated",
            Self::Restored => "restored",
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

impl fmt::Display for GapReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRunning => "Lockscope was not running",
            Self::TooBusy => "more happened than could be written",
            Self::StoreFailed => "the store could not be written",
            Self::Damaged => "what was written is damaged",
            Self::TooLarge => "something was too large to be kept",
            Self::Restored => "the ensemble was restored, and its history before it is another",
            Self::Generated => "the recording begins after it, and what lies before it was generated for the demo",
        })
    }
}

/// A stretch of time of which nothing is kept. What is kept after it begins with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last chunk before it; 0 when there is none.
    pub after_seq: u64,
    /// The last instant that is known.
    pub from: TimeMs,
    /// The first that is known again, never before `from`: of a clock that was set back it is the same.
    pub to: TimeMs,
    pub why: GapReason,
}

impl Gap {
    /// Whether nothing is known of an instant.
    pub fn hides(&self, at: TimeMs) -> bool {
        self.from < at && at < self.to
    }
}

/// A chunk without its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHead {
    pub seq: u64,
    pub first_at: TimeMs,
    pub last_at: TimeMs,
    /// The newest transaction seen by its end.
    pub zxid: Zxid,
    pub kind: ChunkKind,
}

impl From<&Chunk> for ChunkHead {
    fn from(chunk: &Chunk) -> Self {
        let Chunk { seq, first_at, last_at, zxid, kind, crc: _, body: _ } = chunk;
        Self { seq: *seq, first_at: *first_at, last_at: *last_at, zxid: *zxid, kind: *kind }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The oldest instant that is kept; None while nothing is.
    pub from: Option<TimeMs>,
    pub to: Option<TimeMs>,
    /// Number of the newest chunk; 0 while there is none.
    pub last_seq: u64,
    /// Chunks, those of checkpoints included.
    pub chunks: u64,
    pub checkpoints: u64,
    pub gaps: u64,
    /// All gaps together.
    pub gap_ms: i64,
    /// Bytes on disk.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Chunks that are older go.
    pub chunks_ms: i64,
    /// The oldest chunks go until the rest fits; whichever is reached first.
    pub chunk_bytes_max: u64,
    /// Spans and facts that are older go.
    pub spans_ms: i64,
    /// Minutes that are older go. Not shorter than that of spans.
    pub minutes_ms: i64,
}

/// What happened to the connections of a store over the network, since the start; stores of one database share them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    pub made: u64,
    pub failed: u64,
    /// Looks and writes that took too long.
    pub timeouts: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Whole days of chunks.
    pub days: u64,
    /// Chunks of the day that is written.
    pub chunks: u64,
}

/// The gap behind what was generated for a demonstration; None where all that is kept was observed. Looked for among the
/// newest [`GAPS_READ_MAX`] gaps.
pub fn generated_before(store: &dyn Store) -> Result<Option<Gap>, StoreError> {
    let gaps = store.gaps(TimeMs(i64::MIN)..TimeMs(i64::MAX))?;
    Ok(gaps.into_iter().rfind(|gap| gap.why == GapReason::Generated))
}

/// Why nothing is kept between the newest that is and a recording that begins now.
pub fn reason_before(store: &dyn Store) -> Result<GapReason, StoreError> {
    Ok(if is_all_generated(store)? { GapReason::Generated } else { GapReason::NotRunning })
}

/// Whether something is kept and nothing of it was observed.
pub fn is_all_generated(store: &dyn Store) -> Result<bool, StoreError> {
    let last_seq = store.coverage()?.last_seq;
    Ok(generated_before(store)?.is_some_and(|gap| gap.after_seq == last_seq))
}

/// A recording.
///
/// Chunks are in order of their numbers, whatever their instants are: a clock may be set back. "At" an instant means
/// the newest chunk, by its number, that does not begin later.
pub trait Store: Send + Sync + fmt::Debug {
    /// Its kind, for the status page: `sqlite` or `postgres`.
    fn kind(&self) -> &'static str;

    /// Adds chunks and gaps: all or none, of chunks up to the next checkpoint. A chunk whose number is there already takes its
    /// place: it has grown. Numbers never fall below the newest.
    ///
    /// # Errors
    /// Nothing was added, and it may be tried again.
    fn append(&self, chunks: &[Chunk], gaps: &[Gap]) -> Result<(), StoreError>;

    /// Chunks from a number on, in order, [`CHUNKS_READ_MAX`] at most and less where `limit` says so.
    fn chunks(&self, from_seq: u64, limit: usize) -> Result<Vec<Chunk>, StoreError>;

    /// The newest chunk that does not begin later than an instant.
    fn head_at(&self, at: TimeMs) -> Result<Option<ChunkHead>, StoreError>;

    /// The oldest chunk by whose end a transaction had been seen. Where what comes first was generated, one that was
    /// observed is meant before it.
    fn head_of(&self, zxid: Zxid) -> Result<Option<ChunkHead>, StoreError>;

    /// The newest first part of a checkpoint up to a number.
    fn checkpoint_before(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError>;

    /// The oldest first part of a checkpoint from a number on.
    fn checkpoint_after(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError>;

    /// Gaps that overlap a range, in order, the newest [`GAPS_READ_MAX`].
    fn gaps(&self, range: Range<TimeMs>) -> Result<Vec<Gap>, StoreError>;

    /// Stretches of a range whose rows can't be read, as far as that was noticed: answers made of rows lack them, although
    /// moments may be known.
    fn unread_rows(&self, _range: &Range<TimeMs>) -> Vec<Gap> {
        Vec::new()
    }

    /// What is kept. Reads nothing but totals.
    fn coverage(&self) -> Result<Coverage, StoreError>;

    /// Takes away what is too old or too much. What is kept still begins with a checkpoint.
    ///
    /// # Errors
    /// Something could not be removed.
    fn retain(&self, now: TimeMs, retention: Retention) -> Result<Removed, StoreError>;

    /// Adds spans, minutes and facts; those that are there already are replaced.
    ///
    /// # Errors
    /// Not all were added; they may be added again.
    fn write_rows(&self, rows: &Rows) -> Result<(), StoreError>;

    /// Spans that ended in a range, the newest first.
    fn spans(&self, query: &SpanQuery) -> Result<Vec<Span>, StoreError>;

    /// Minutes of a lock, the oldest first.
    fn minutes(&self, query: &MinuteQuery) -> Result<Vec<Minute>, StoreError>;

    /// How much happened, by locks and pieces of time.
    ///
    /// # Errors
    /// The store can't be read, or it takes too long.
    fn densities(&self, query: &DensityQuery) -> Result<Vec<Density>, StoreError>;

    /// Facts, the newest first.
    fn facts(&self, query: &FactQuery) -> Result<Vec<Fact>, StoreError>;

    /// For people: who has the lock of whoever writes it; None where that is not known.
    fn held_by(&self) -> Option<String> {
        None
    }

    /// What happened to its connections; None where it has none.
    fn connections(&self) -> Option<Connections> {
        None
    }

    /// A window of the recording as a file: an SQLite database that has no name any more, so nothing of it is left behind.
    ///
    /// # Errors
    /// The store can't be read, or it would be too large or take too long.
    fn bundle(&self, _query: &BundleQuery<'_>) -> Result<File, BundleError> {
        Err(StoreError::Failed("this store gives no bundles".to_owned()).into())
    }
}
