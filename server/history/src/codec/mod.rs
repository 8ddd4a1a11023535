//! Observations as bytes and back. Owns the format of chunks; knows no store and no clock.
//!
//! A chunk is decoded alone: it says each path, session and text once and refers to it afterwards. One thing reaches over
//! chunks: a round of evidence is told as the difference to the round before it (`rounds`). The bytes of a body:
//!
//! ```text
//! version  kind  part  first_at  rounds told before   then records:
//! tag: kind of record (5 bits), another root than before, a flag of the kind, the path is known
//! ```
//!
//! Numbers are differences wherever something like them came before. [`VERSION`] rises with every change, and bytes of
//! earlier versions stay readable: `tests/golden` has some of each. Version 2 has one more part of checkpoints, the orders
//! in which locks are taken, and one more code of findings; else it is version 1. Version 3 says which locks must be held, has
//! three more codes, one more kind of record, and one more part of checkpoints, which warnings of such orders are silenced;
//! else it is version 2. Version 4 says of each session in a checkpoint how long it was silent, and has three more codes;
//! else it is version 3. Version 5 has one more kind of record, the time-out of a session, and two more codes; else it is
//! version 4.

mod bytes;
mod coded;
mod collections;
mod decode;
mod encode;
mod error;
mod facts;
pub(crate) mod names;
mod recollection;
mod rounds;
mod size;
mod tables;
mod words;

use std::sync::Arc;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

pub use decode::{Decoder, Records};
pub use encode::Encoder;
pub use error::CodecError;
pub use size::bytes_of;
pub use tables::OBSERVATION_BYTES_MAX;

/// The format that is written.
pub const VERSION: u8 = 5;
/// A chunk ends when it is this large; the observation that made it so is in it, however large that is.
pub const CHUNK_BYTES_MAX: usize = 64 << 10;
/// A chunk ends after so long. It is stored several times until then, each time with more in it.
pub const CHUNK_MS_MAX: i64 = 10_000;
/// The largest body that is read; only an observation of many thousand sessions makes one of more than 64 KiB.
pub const BODY_BYTES_MAX: usize = 256 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChunkKind {
    Events,
    /// A part of what was known at one instant; parts count from 0. An event never stands in one.
    Checkpoint {
        part: u32,
    },
}

/// Observations of one stretch of time, as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its place in the recording. Each is one more than that of the chunk before; only numbers say what came first.
    pub seq: u64,
    pub first_at: TimeMs,
    /// Instant of its last observation, never before the first.
    pub last_at: TimeMs,
    /// The newest transaction that had been seen at its end.
    pub zxid: Zxid,
    pub kind: ChunkKind,
    /// Checksum of all the others and the body.
    pub crc: u32,
    pub body: Arc<[u8]>,
}

impl Chunk {
    pub fn checksum(&self) -> u32 {
        let Self { seq, first_at, last_at, zxid, kind, crc: _, body } = self;
        let (kind, part) = match kind {
            ChunkKind::Events => (0, 0),
            ChunkKind::Checkpoint { part } => (1, *part),
        };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&seq.to_le_bytes());
        [first_at.0, last_at.0, zxid.0, kind].iter().for_each(|value| hasher.update(&value.to_le_bytes()));
        hasher.update(&part.to_le_bytes());
        hasher.update(body);
        hasher.finalize()
    }
}

/// What a record is; the numbers are those of the format.
mod tag {
    /// Time went on: by how much.
    pub(super) const NOW: u8 = 0;
    pub(super) const CHECKPOINT_END: u8 = 1;
    pub(super) const LINK: u8 = 2;
    pub(super) const SYNC_BEGAN: u8 = 3;
    pub(super) const SYNC_NODE: u8 = 4;
    pub(super) const SYNC_ENDED: u8 = 5;
    pub(super) const COMPARISON_BEGAN: u8 = 6;
    pub(super) const LISTED: u8 = 7;
    pub(super) const COMPARISON_ENDED: u8 = 8;
    pub(super) const ROOT_TROUBLE: u8 = 9;
    pub(super) const NODE_CREATED: u8 = 10;
    pub(super) const NODE_READ: u8 = 11;
    pub(super) const NODE_DENIED: u8 = 12;
    pub(super) const NODE_DELETED: u8 = 13;
    pub(super) const COUNTED: u8 = 14;
    pub(super) const INCOMPLETE: u8 = 15;
    pub(super) const MISSED: u8 = 16;
    pub(super) const EVIDENCE: u8 = 17;
    pub(super) const ASKED: u8 = 18;
    pub(super) const ANSWERED: u8 = 19;
    pub(super) const SYNCED: u8 = 20;
    pub(super) const EVENTS_ARRIVED: u8 = 21;
    pub(super) const CLOCK_READ: u8 = 22;
    pub(super) const CONFIG_CHANGED: u8 = 23;
    pub(super) const TICK: u8 = 24;
    pub(super) const RECALLED: u8 = 25;
    pub(super) const RESTARTED: u8 = 26;
    pub(super) const SESSION_TOLD: u8 = 27;
    pub(super) const ORDERS_SNOOZED: u8 = 28;
    pub(super) const SESSION_TIMEOUT: u8 = 29;

    /// The bits that say what a record is.
    pub(super) const KINDS: u8 = 0x1f;
    /// The root is another than that of the record before; it follows.
    pub(super) const OTHER_ROOT: u8 = 0x20;
    /// Unreadable, within a sync, or ended.
    pub(super) const FLAG: u8 = 0x40;
    /// The path was said before in this chunk.
    pub(super) const KNOWN_PATH: u8 = 0x80;
}
