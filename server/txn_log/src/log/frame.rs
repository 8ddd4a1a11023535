//! A record as its frame says it is: checksum, length, payload, end mark.

use super::{END_MARK, PREFIX_BYTES, length};
use crate::jute::Input;
use crate::{Problem, ReadError, Transaction, payload};

pub(super) enum Record {
    Whole(Result<Transaction, ReadError>, usize),
    /// Framed as one, with the wrong checksum.
    Checksum(Problem, usize),
    Zeros,
    /// Not framed as one. If it is the torn end of the log, only zeros follow behind so many bytes.
    Bad(Problem, u64),
    /// More bytes are needed.
    Starved {
        /// How many at least.
        needed: u64,
    },
}

pub(super) fn read_record(bytes: &[u8], offset: u64) -> Record {
    let mut input = Input::new(bytes, offset);
    let (Ok(checksum), Ok(found)) = (input.long(), input.int()) else {
        return Record::Starved { needed: PREFIX_BYTES as u64 };
    };
    if found == 0 {
        let torn_end = offset + PREFIX_BYTES as u64;
        return if checksum == 0 { Record::Zeros } else { Record::Bad(Problem::BadLength { found }, torn_end) };
    }
    let length = match length(found) {
        Ok(length) => length,
        Err(problem) => return Record::Bad(problem, 0),
    };
    let begin = input.offset();
    let used = PREFIX_BYTES + length + 1;
    let (Ok(payload), Ok(mark)) = (input.take(length), input.byte()) else {
        return Record::Starved { needed: used as u64 };
    };
    if mark != END_MARK {
        return Record::Bad(Problem::NoEndMark, begin + length as u64);
    }
    let computed = i64::from(adler2::adler32_slice(payload));
    if computed != checksum {
        return Record::Checksum(Problem::Checksum { found: checksum, computed }, used);
    }
    Record::Whole(payload::transaction(payload, begin), used)
}
