//! Looks for the next record behind damage: bytes that are framed as one, have its checksum, and come next by number.

use super::{END_MARK, PREFIX_BYTES, RECORD_BYTES_MAX};

/// Session, cxid, zxid, time, type: the shortest payload.
const PAYLOAD_BYTES_MIN: usize = 32;
const ZXID_AT: usize = 12;
const RECORD_BYTES_MIN: u64 = (PREFIX_BYTES + PAYLOAD_BYTES_MIN + 1) as u64;
/// The checksum is an `Adler-32` in a `long`.
const CHECKSUM_ZEROS: [u8; 4] = [0; 4];
const COUNTER_BITS: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    No,
    /// More bytes are needed to say.
    Starved,
    Yes,
}

/// What is looked for: whatever follows a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Successor {
    pub(super) last_zxid: Option<i64>,
}

impl Successor {
    /// Whether it may have this number, with so many bytes skipped: all transactions of an epoch are numbered one after
    /// the other, and only so many fit. What a client stored in a znode may look like a record, but rarely has the next
    /// number.
    fn has_number(self, zxid: i64, skipped: u64) -> bool {
        let Some(last) = self.last_zxid else { return zxid > 0 };
        let is_same_epoch = zxid >> COUNTER_BITS == last >> COUNTER_BITS;
        let first = if is_same_epoch { last } else { zxid >> COUNTER_BITS << COUNTER_BITS };
        let most = skipped / RECORD_BYTES_MIN + 1;
        zxid > last
            && zxid.checked_sub(first).and_then(|more| u64::try_from(more).ok()).is_some_and(|more| more <= most)
    }

    /// Whether it begins at the first of these bytes. Takes what the checksum costs off the budget.
    pub(super) fn probe(self, bytes: &[u8], skipped: u64, budget: &mut u64) -> Probe {
        if bytes.get(..4).is_some_and(|upper| upper != CHECKSUM_ZEROS) {
            return Probe::No;
        }
        let Some(length) = number(bytes, 8).map(|length| length >> 32) else { return Probe::Starved };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(PAYLOAD_BYTES_MIN..=RECORD_BYTES_MAX).contains(&length) {
            return Probe::No;
        }
        let Some(zxid) = number(bytes, PREFIX_BYTES + ZXID_AT) else { return Probe::Starved };
        if !self.has_number(zxid.cast_signed(), skipped) {
            return Probe::No;
        }
        let Some(payload) = bytes.get(PREFIX_BYTES..PREFIX_BYTES + length) else { return Probe::Starved };
        match bytes.get(PREFIX_BYTES + length) {
            None => return Probe::Starved,
            Some(mark) if *mark != END_MARK => return Probe::No,
            Some(_) => {}
        }
        *budget = budget.saturating_sub(length as u64);
        let checksum = u64::from(adler2::adler32_slice(payload));
        if number(bytes, 0) == Some(checksum) { Probe::Yes } else { Probe::No }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes))
}

/// The zxid of a payload whose checksum is right.
pub(super) fn zxid(payload: &[u8]) -> Option<i64> {
    number(payload, ZXID_AT).map(u64::cast_signed)
}
