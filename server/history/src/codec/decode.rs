//! Reads observations out of chunks, one at a time. Any bytes are read or refused: none make it panic, and what is
//! allocated is bounded by the chunk and by [`super::OBSERVATION_BYTES_MAX`].

use lockscope_core::observation::{Observation, RootId};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Facts;

use super::coded::{Coded, element};
use super::rounds::Rounds;
use super::tables::Reader;
use super::{Chunk, ChunkKind, CodecError, VERSION, tag};

/// Reads chunks one after the other. Cheap to clone: a clone reads on from the same place.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// None where chunks were left out: then no round is read that is a difference to theirs.
    rounds: Option<Rounds>,
    /// The number of the chunk that was read last.
    seq: Option<u64>,
}

impl Decoder {
    pub fn new() -> Self {
        Self::default()
    }

    /// The observations of the next chunk. Whoever leaves out some of them leaves out rounds as well: the next chunk
    /// then tells no differences to them.
    ///
    /// # Errors
    /// It is damaged, or of a later version.
    pub fn read<'a>(&'a mut self, chunk: &'a Chunk) -> Result<Records<'a>, CodecError> {
        if chunk.checksum() != chunk.crc {
            return Err(CodecError::Checksum);
        }
        let mut reader = Reader::new(&chunk.body);
        let version = reader.bytes.byte()?;
        if !(1..=VERSION).contains(&version) {
            return Err(CodecError::Version(version));
        }
        reader.version = version;
        let kind = match (reader.bytes.byte()?, u32::take(&mut reader)?) {
            (0, 0) => ChunkKind::Events,
            (1, part) => ChunkKind::Checkpoint { part },
            _ => return Err(CodecError::Malformed("unknown kind of chunk")),
        };
        if kind != chunk.kind {
            return Err(CodecError::Malformed("the chunk is of another kind than it is stored as"));
        }
        reader.last.now = reader.bytes.i64()?;
        let told = reader.bytes.u64()?;
        let follows = self.seq.is_some_and(|seq| seq.checked_add(1) == Some(chunk.seq));
        self.rounds = match self.rounds.take() {
            _ if told == 0 => Some(Rounds::default()),
            Some(rounds) if follows && rounds.told == told => Some(rounds),
            _ => None,
        };
        self.seq = Some(chunk.seq);
        Ok(Records { reader, rounds: &mut self.rounds, is_checkpoint_end: false, is_failed: false })
    }
}

#[derive(Debug)]
pub struct Records<'a> {
    reader: Reader<'a>,
    rounds: &'a mut Option<Rounds>,
    is_checkpoint_end: bool,
    is_failed: bool,
}

impl Records<'_> {
    /// Whether the part of a checkpoint that was read is its last.
    pub fn is_checkpoint_end(&self) -> bool {
        self.is_checkpoint_end
    }

    fn next_record(&mut self) -> Result<Option<(TimeMs, Observation)>, CodecError> {
        let from = &mut self.reader;
        from.begin();
        while from.bytes.len() > 0 {
            if self.is_checkpoint_end {
                return Err(CodecError::Malformed("something follows the end of a checkpoint"));
            }
            let byte = from.bytes.byte()?;
            match byte {
                tag::NOW => from.last.now = from.last.now.wrapping_add(from.bytes.i64()?),
                tag::CHECKPOINT_END => self.is_checkpoint_end = true,
                _ => {
                    let observation = take_observation(from, self.rounds, byte)?;
                    return Ok(Some((TimeMs(from.last.now), observation)));
                }
            }
        }
        Ok(None)
    }
}

impl Iterator for Records<'_> {
    type Item = Result<(TimeMs, Observation), CodecError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_failed {
            return None;
        }
        let next = self.next_record().transpose();
        if let Some(Err(_)) = next {
            self.is_failed = true;
            *self.rounds = None;
        }
        next
    }
}

impl Drop for Records<'_> {
    /// Rounds that were not read can't be told differences to.
    fn drop(&mut self) {
        if self.reader.bytes.len() > 0 {
            *self.rounds = None;
        }
    }
}

fn root_of(from: &mut Reader<'_>, byte: u8) -> Result<RootId, CodecError> {
    if byte & tag::OTHER_ROOT != 0 {
        from.last.root = u32::take(from)?;
    }
    Ok(RootId(from.last.root))
}

/// Root, path, and the flag.
fn node(from: &mut Reader<'_>, byte: u8) -> Result<(RootId, Box<str>, bool), CodecError> {
    let root = root_of(from, byte)?;
    let path = if byte & tag::KNOWN_PATH != 0 { from.known_path()? } else { from.new_path()? };
    Ok((root, path, byte & tag::FLAG != 0))
}

fn facts(from: &mut Reader<'_>) -> Result<Box<Facts>, CodecError> {
    Facts::take(from).map(Box::new)
}

/// The bits that a record of a kind may have beside it.
fn bits_of(kind: u8) -> u8 {
    match kind {
        tag::SYNC_BEGAN | tag::SYNC_ENDED | tag::COMPARISON_BEGAN | tag::COMPARISON_ENDED | tag::ROOT_TROUBLE => {
            tag::OTHER_ROOT
        }
        tag::SYNC_NODE | tag::NODE_READ | tag::NODE_DENIED => tag::OTHER_ROOT | tag::KNOWN_PATH | tag::FLAG,
        tag::LISTED | tag::NODE_CREATED | tag::NODE_DELETED | tag::COUNTED | tag::INCOMPLETE | tag::MISSED => {
            tag::OTHER_ROOT | tag::KNOWN_PATH
        }
        tag::SESSION_TOLD => tag::FLAG,
        _ => 0,
    }
}

fn take_observation(from: &mut Reader<'_>, rounds: &mut Option<Rounds>, byte: u8) -> Result<Observation, CodecError> {
    let kind = byte & tag::KINDS;
    if byte & !tag::KINDS & !bits_of(kind) != 0 {
        return Err(CodecError::Malformed("a record has bits of another kind"));
    }
    Ok(match kind {
        tag::LINK => {
            Observation::Link { link: Coded::take(from)?, session: Coded::take(from)?, why: Coded::take(from)? }
        }
        tag::SYNC_BEGAN => Observation::SyncBegan { root: root_of(from, byte)?, why: Coded::take(from)? },
        tag::SYNC_ENDED => Observation::SyncEnded { root: root_of(from, byte)? },
        tag::COMPARISON_BEGAN => Observation::ComparisonBegan { root: root_of(from, byte)?, why: Coded::take(from)? },
        tag::COMPARISON_ENDED => Observation::ComparisonEnded { root: root_of(from, byte)? },
        tag::ROOT_TROUBLE => {
            let root = root_of(from, byte)?;
            Observation::RootTrouble { root, trouble: Coded::take(from)?, why: Coded::take(from)? }
        }
        tag::EVIDENCE => {
            let rounds = rounds.as_mut().ok_or(CodecError::NotContinuous)?;
            Observation::Evidence(Box::new(rounds.take(from)?))
        }
        tag::ASKED => Observation::Asked,
        tag::ANSWERED => Observation::Answered,
        tag::SYNCED => Observation::Synced { sent_at: Coded::take(from)? },
        tag::EVENTS_ARRIVED => Observation::EventsArrived { at: Coded::take(from)? },
        tag::CLOCK_READ => {
            let (sent_at, told_at) = (Coded::take(from)?, Coded::take(from)?);
            Observation::ClockRead { sent_at, told_at, ctime_ms: TimeMs::take(from)?.0 }
        }
        tag::CONFIG_CHANGED => Observation::ConfigChanged(Box::new(Coded::take(from)?)),
        tag::SESSION_TOLD => Observation::SessionTold { session: Coded::take(from)?, has_ended: byte & tag::FLAG != 0 },
        tag::SESSION_TIMEOUT => {
            Observation::SessionTimeout { session: Coded::take(from)?, timeout_ms: Coded::take(from)? }
        }
        tag::ORDERS_SNOOZED => Observation::OrdersSnoozed(Coded::take(from)?),
        tag::TICK => Observation::Tick,
        tag::RECALLED => Observation::Recalled(Coded::take(from)?),
        tag::RESTARTED => Observation::Restarted(Coded::take(from)?),
        _ => return take_node(from, byte),
    })
}

fn take_node(from: &mut Reader<'_>, byte: u8) -> Result<Observation, CodecError> {
    let kind = byte & tag::KINDS;
    if bits_of(kind) & tag::KNOWN_PATH == 0 {
        return Err(CodecError::Malformed("unknown kind of record"));
    }
    let (root, path, flag) = node(from, byte)?;
    Ok(match kind {
        tag::SYNC_NODE => Observation::SyncNode { root, path, facts: facts(from)?, unreadable: flag },
        tag::NODE_READ => Observation::NodeRead { root, path, facts: facts(from)?, unreadable: flag },
        tag::NODE_DENIED => Observation::NodeDenied { root, path, in_sync: flag },
        tag::LISTED => {
            let names: Result<Vec<Box<str>>, _> =
                (0..from.bytes.count()?).map(|_| element(from, Coded::take)).collect();
            Observation::Listed { root, path, names: names?.into() }
        }
        tag::NODE_CREATED => Observation::NodeCreated { root, path },
        tag::COUNTED => Observation::Counted { root, path, facts: facts(from)? },
        tag::INCOMPLETE => Observation::Incomplete { root, path, missing: Coded::take(from)? },
        tag::MISSED => Observation::Missed { root, path, creates: Coded::take(from)? },
        _ => Observation::NodeDeleted { root, path },
    })
}
