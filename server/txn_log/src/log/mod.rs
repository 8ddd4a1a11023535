//! A transaction log: 16 bytes of header, then records, each behind its checksum and length and before an end mark.

mod decoder;
mod frame;
mod search;
mod tolerant;

pub use decoder::LogDecoder;
pub use tolerant::{Damage, LogEntry, TolerantLogDecoder};

use crate::jute::Input;
use crate::{Problem, ReadError, Transaction, payload};

/// "ZKLG".
const MAGIC: u32 = 0x5a4b_4c47;
/// The only version there has been.
const VERSION: i32 = 2;
/// Magic, version, database id.
const HEADER_BYTES: usize = 16;
/// Checksum and length.
const PREFIX_BYTES: usize = 12;
/// What stands behind each record.
const END_MARK: u8 = b'B';
/// The longest record that is read, and so the most that a damaged length makes a reader wait for. A server refuses to read
/// back what is longer than `jute.maxbuffer` and `zookeeper.jute.maxbuffer.extrasize` together (`checkLength` in
/// `BinaryInputArchive`), 2 MiB unless it is configured otherwise; this is eight times that.
pub const RECORD_BYTES_MAX: usize = 16 << 20;

/// How a log ended. All of these are normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Behind a record.
    Whole,
    /// In the zeros that the server writes ahead, which begin here.
    Zeros { offset: u64 },
    /// In the midst of a record, as after the server was killed: what is there of it begins here.
    Torn { offset: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Header,
    Records,
    Zeros {
        from: u64,
    },
    /// Behind a record without end mark; only zeros may follow.
    Torn {
        from: u64,
    },
    Failed,
}

/// What could be done with the bytes at hand.
enum Step {
    /// A record, of so many bytes.
    Record(Transaction, usize),
    /// So many bytes are done with.
    Passed(usize),
    /// More bytes are needed.
    Starved,
}

/// The format, apart from where the bytes come from.
#[derive(Clone, Copy, Debug)]
struct Scan {
    state: State,
    offset: u64,
}

impl Scan {
    const BEGIN: Self = Self { state: State::Header, offset: 0 };

    /// Goes on with all bytes from `offset` on that are at hand.
    fn step(&mut self, bytes: &[u8]) -> Result<Step, ReadError> {
        let step = match self.state {
            State::Header => self.header(bytes),
            State::Records => self.record(bytes),
            State::Zeros { .. } => self.zeros(bytes, Problem::DataBehindZeros),
            State::Torn { .. } => self.zeros(bytes, Problem::NoEndMark),
            State::Failed => Ok(Step::Starved),
        };
        match &step {
            Ok(Step::Record(_, used) | Step::Passed(used)) => self.offset += *used as u64,
            Ok(Step::Starved) => {}
            Err(_) => self.state = State::Failed,
        }
        step
    }

    fn header(&mut self, bytes: &[u8]) -> Result<Step, ReadError> {
        if bytes.len() < HEADER_BYTES {
            return Ok(Step::Starved);
        }
        header(Input::new(bytes, self.offset))?;
        self.state = State::Records;
        Ok(Step::Passed(HEADER_BYTES))
    }

    fn record(&mut self, bytes: &[u8]) -> Result<Step, ReadError> {
        if bytes.len() < PREFIX_BYTES {
            return Ok(Step::Starved);
        }
        let mut input = Input::new(bytes, self.offset);
        let begin = input;
        let checksum = input.long()?;
        let at = input;
        let found = input.int()?;
        if found == 0 {
            // The length comes after the checksum: with one and without the other, the writing stopped between them.
            self.state =
                if checksum == 0 { State::Zeros { from: self.offset } } else { State::Torn { from: self.offset } };
            return Ok(Step::Passed(PREFIX_BYTES));
        }
        let length = length(found).map_err(|problem| at.error(problem))?;
        if input.left() <= length {
            return Ok(Step::Starved);
        }
        let offset = input.offset();
        let payload = input.take(length)?;
        if input.byte()? != END_MARK {
            // What was torn is followed by zeros alone: those written ahead.
            self.state = State::Torn { from: self.offset };
            return Ok(Step::Passed(PREFIX_BYTES + length));
        }
        let computed = i64::from(adler2::adler32_slice(payload));
        if computed != checksum {
            return Err(begin.error(Problem::Checksum { found: checksum, computed }));
        }
        Ok(Step::Record(payload::transaction(payload, offset)?, PREFIX_BYTES + length + 1))
    }

    /// Nothing else may follow.
    fn zeros(&self, bytes: &[u8], otherwise: Problem) -> Result<Step, ReadError> {
        match bytes.iter().position(|byte| *byte != 0) {
            Some(at) => Err(ReadError { offset: self.offset + at as u64, problem: otherwise }),
            None if bytes.is_empty() => Ok(Step::Starved),
            None => Ok(Step::Passed(bytes.len())),
        }
    }

    /// How it ended, with these bytes of the file left over.
    fn end(&self, left: &[u8]) -> Option<End> {
        match self.state {
            State::Records if left.is_empty() => Some(End::Whole),
            State::Records if left.iter().all(|byte| *byte == 0) => Some(End::Zeros { offset: self.offset }),
            State::Header | State::Records => Some(End::Torn { offset: self.offset }),
            State::Zeros { from } => Some(End::Zeros { offset: from }),
            State::Torn { from } => Some(End::Torn { offset: from }),
            State::Failed => None,
        }
    }
}

fn length(found: i32) -> Result<usize, Problem> {
    let length = usize::try_from(found).map_err(|_| Problem::BadLength { found })?;
    if length > RECORD_BYTES_MAX {
        return Err(Problem::TooLong { found: length as u64, max: RECORD_BYTES_MAX as u64 });
    }
    Ok(length)
}

fn header(mut input: Input<'_>) -> Result<(), ReadError> {
    let begin = input;
    let found = input.int()?.cast_unsigned();
    if found != MAGIC {
        return Err(begin.error(Problem::NotALog { found }));
    }
    let at = input;
    match input.int()? {
        VERSION => Ok(()),
        found => Err(at.error(Problem::UnknownVersion { found })),
    }
}

/// Reads a log that is at hand as a whole: an iterator over its transactions, at most one error as the last.
#[derive(Clone, Debug)]
pub struct LogReader<'a> {
    bytes: &'a [u8],
    scan: Scan,
    is_done: bool,
}

impl<'a> LogReader<'a> {
    /// Of all bytes of a file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, scan: Scan::BEGIN, is_done: false }
    }

    /// How the log ended, once the iterator has; `None` before, and after an error.
    pub fn end(&self) -> Option<End> {
        if self.is_done { self.scan.end(self.bytes) } else { None }
    }

    /// Where the next record begins.
    pub fn offset(&self) -> u64 {
        self.scan.offset
    }

    fn pass(&mut self, used: usize) {
        self.bytes = self.bytes.get(used..).unwrap_or_default();
    }
}

impl Iterator for LogReader<'_> {
    type Item = Result<Transaction, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_done {
            match self.scan.step(self.bytes) {
                Ok(Step::Record(transaction, used)) => {
                    self.pass(used);
                    return Some(Ok(transaction));
                }
                Ok(Step::Passed(used)) => self.pass(used),
                Ok(Step::Starved) => self.is_done = true,
                Err(error) => {
                    self.is_done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
