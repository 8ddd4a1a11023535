//! A log that comes in pieces, and is read on behind damage.

use super::frame::{Record, read_record};
use super::search::{self, Probe, Successor};
use super::{End, HEADER_BYTES, PREFIX_BYTES, header};
use crate::jute::Input;
use crate::unpack::Pieces;
use crate::{Problem, ReadError, Transaction};

/// How far behind damage the next record is looked for; a log with a larger hole ends there.
const SEARCH_BYTES_MAX: u64 = 1 << 30;
/// Bytes whose checksum is computed while looking for records, in all of a log. Whoever writes what looks like records
/// on purpose takes no more time than that.
const SEARCH_CHECKSUMS_MAX: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEntry {
    Transaction(Transaction),
    Damage(Damage),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where in the file it begins: of a record, its first byte. See [`ReadError::offset`] for compressed files.
    pub offset: u64,
    /// Where the next record was found; `None` if there is none, or none was found within bounds: it is the last entry
    /// then.
    pub resumed_at: Option<u64>,
    pub problem: Problem,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Header,
    Records,
    /// Only zeros since there.
    Zeros {
        from: u64,
    },
    /// At a record, so long as its frame says, with the wrong checksum; it is computed once.
    Checksum {
        problem: Problem,
        used: usize,
    },
    Search(Search),
    Done(Option<End>),
}

/// A damaged place, and what was seen behind it.
#[derive(Clone, Copy, Debug)]
struct Search {
    from: u64,
    problem: Problem,
    /// If the record was torn, and not damaged, only zeros follow from here on.
    torn_end: u64,
    /// Behind the last byte that is not zero.
    nonzero_end: u64,
}

/// What could be done with the bytes at hand.
enum Step {
    Entry(LogEntry, usize),
    Passed(usize),
    Starved,
}

/// Reads a log that comes in pieces, as [`LogDecoder`](crate::LogDecoder) does, and goes on behind damage: with the
/// record behind a damaged one, or with the next bytes that have the frame, the checksum and the number of a record.
/// Holds one record and the piece at hand at most.
///
/// A record in which a client stored bytes that look like a record is read as one thing unless its own length is
/// damaged. Behind such damage whatever fits in frame, checksum, contents and number is believed.
///
/// ```
/// let record = |payload: &[u8]| [[0; 8].as_slice(), &(payload.len() as u32).to_be_bytes(), payload, b"B"].concat();
/// let log = [b"ZKLG".as_slice(), &2i32.to_be_bytes(), &0i64.to_be_bytes(), &record(&[7; 40]), &[0; 4096]].concat();
/// let mut decoder = lockscope_txn_log::TolerantLogDecoder::new();
/// decoder.push(&log);
/// decoder.finish();
/// let Some(lockscope_txn_log::LogEntry::Damage(damage)) = decoder.next_entry() else { panic!() };
/// assert_eq!((damage.offset, damage.resumed_at), (16, Some(16 + 12 + 40 + 1)));
/// assert_eq!((decoder.next_entry(), decoder.end()), (None, Some(lockscope_txn_log::End::Zeros { offset: 69 })));
/// ```
#[derive(Debug)]
pub struct TolerantLogDecoder {
    pieces: Pieces,
    /// Where the first byte of `pieces` is.
    offset: u64,
    state: State,
    last_zxid: Option<i64>,
    checksums_left: u64,
    unknown: u64,
    damaged: u64,
}

impl Default for TolerantLogDecoder {
    fn default() -> Self {
        Self {
            pieces: Pieces::new(),
            offset: 0,
            state: State::Header,
            last_zxid: None,
            checksums_left: SEARCH_CHECKSUMS_MAX,
            unknown: 0,
            damaged: 0,
        }
    }
}

impl TolerantLogDecoder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece. [`Self::next_entry`] is called until it has no more before another is pushed, so that the
    /// buffer stays small.
    pub fn push(&mut self, piece: &[u8]) {
        if !matches!(self.state, State::Done(_)) {
            self.pieces.push(piece);
        }
    }

    /// No more pieces come. [`Self::next_entry`] may have more to say then, and [`Self::end`] says how the log ended.
    pub fn finish(&mut self) {
        self.pieces.finish();
    }

    /// The next transaction or damage, or `None` when more bytes are needed.
    pub fn next_entry(&mut self) -> Option<LogEntry> {
        while !matches!(self.state, State::Done(_)) {
            match self.step(false) {
                Step::Entry(entry, used) => return Some(self.entry(entry, used)),
                Step::Passed(used) => self.pass(used),
                Step::Starved => match self.pieces.refill() {
                    Ok(true) => {}
                    Ok(false) if self.pieces.is_finished() => match self.step(true) {
                        Step::Entry(entry, used) => return Some(self.entry(entry, used)),
                        Step::Passed(used) => self.pass(used),
                        Step::Starved => return None,
                    },
                    Ok(false) => return None,
                    Err(ReadError { offset, problem }) => {
                        self.state = State::Done(None);
                        return Some(self.entry(LogEntry::Damage(Damage { offset, resumed_at: None, problem }), 0));
                    }
                },
            }
        }
        None
    }

    /// How the log ended, once it was [finished](Self::finish) and there are no more entries; `None` before, and if
    /// what is last in it is damaged.
    pub fn end(&self) -> Option<End> {
        if let State::Done(end) = self.state { end } else { None }
    }

    /// Where the next record begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Transactions so far that have a type this reader does not know, alone or in a multi.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    fn pass(&mut self, used: usize) {
        self.pieces.pass(used);
        self.offset += used as u64;
    }

    fn entry(&mut self, entry: LogEntry, used: usize) -> LogEntry {
        self.pass(used);
        match &entry {
            LogEntry::Damage(_) => self.damaged += 1,
            LogEntry::Transaction(transaction) => self.unknown += u64::from(transaction.change.has_unknown()),
        }
        if matches!(self.state, State::Done(_)) {
            self.pieces.clear();
        }
        entry
    }

    /// Goes on with the bytes at hand; whether there will be no others.
    fn step(&mut self, is_last: bool) -> Step {
        match self.state {
            State::Header => self.header(is_last),
            State::Records => self.record(is_last),
            State::Zeros { from } => self.zeros(from, is_last),
            State::Checksum { problem, used } => self.wrong_checksum(problem, used, is_last),
            State::Search(search) => self.search(search, is_last),
            State::Done(_) => Step::Starved,
        }
    }

    fn ended(&mut self, end: End) -> Step {
        let end = if self.pieces.is_whole() { end } else { End::Torn { offset: self.offset } };
        self.state = State::Done(Some(end));
        Step::Passed(0)
    }

    fn header(&mut self, is_last: bool) -> Step {
        let bytes = self.pieces.bytes();
        if bytes.len() < HEADER_BYTES {
            return if is_last { self.ended(End::Torn { offset: 0 }) } else { Step::Starved };
        }
        match header(Input::new(bytes, 0)) {
            Ok(()) => {
                self.state = State::Records;
                Step::Passed(HEADER_BYTES)
            }
            // It may be that only the header is damaged.
            Err(ReadError { problem: problem @ Problem::NotALog { .. }, .. }) => self.look(problem, 0),
            Err(ReadError { offset, problem }) => {
                self.state = State::Done(None);
                Step::Entry(LogEntry::Damage(Damage { offset, resumed_at: None, problem }), 0)
            }
        }
    }

    fn record(&mut self, is_last: bool) -> Step {
        let bytes = self.pieces.bytes();
        if is_last && bytes.is_empty() {
            return self.ended(End::Whole);
        }
        if is_last && bytes.len() < PREFIX_BYTES {
            let is_zero = bytes.iter().all(|byte| *byte == 0);
            let offset = self.offset;
            return self.ended(if is_zero { End::Zeros { offset } } else { End::Torn { offset } });
        }
        match read_record(bytes, self.offset) {
            Record::Starved { needed } if is_last => {
                self.look(Problem::Short { needed, left: bytes.len() as u64 }, u64::MAX)
            }
            Record::Starved { .. } => Step::Starved,
            Record::Zeros => {
                self.state = State::Zeros { from: self.offset };
                Step::Passed(0)
            }
            Record::Bad(problem, torn_end) => self.look(problem, torn_end),
            Record::Checksum(problem, used) => {
                self.state = State::Checksum { problem, used };
                Step::Passed(0)
            }
            Record::Whole(read, used) => {
                self.last_zxid = search::zxid(bytes.get(PREFIX_BYTES..).unwrap_or_default()).or(self.last_zxid);
                match read {
                    Ok(transaction) => Step::Entry(LogEntry::Transaction(transaction), used),
                    // The bytes are those that were written; only this reader can't read them.
                    Err(error) => self.skip(error.problem, used),
                }
            }
        }
    }

    /// If a record follows, the length is right, and only this one is damaged.
    fn wrong_checksum(&mut self, problem: Problem, used: usize, is_last: bool) -> Step {
        let rest = self.pieces.bytes().get(used..).unwrap_or_default();
        if rest.first_chunk::<PREFIX_BYTES>().is_some_and(|prefix| prefix.iter().all(|byte| *byte == 0)) {
            return self.skip(problem, used);
        }
        let successor = Successor { last_zxid: self.last_zxid };
        match successor.probe(rest, used as u64, &mut self.checksums_left) {
            Probe::Yes => self.skip(problem, used),
            Probe::Starved if is_last => self.skip(problem, used),
            Probe::Starved => Step::Starved,
            Probe::No => self.look(problem, 0),
        }
    }

    fn skip(&mut self, problem: Problem, used: usize) -> Step {
        self.state = State::Records;
        let resumed_at = Some(self.offset + used as u64);
        Step::Entry(LogEntry::Damage(Damage { offset: self.offset, resumed_at, problem }), used)
    }

    /// Looks for a record from the next byte on.
    fn look(&mut self, problem: Problem, torn_end: u64) -> Step {
        let from = self.offset;
        let is_zero = self.pieces.bytes().first().is_none_or(|byte| *byte == 0);
        let nonzero_end = if is_zero { 0 } else { from + 1 };
        self.state = State::Search(Search { from, problem, torn_end, nonzero_end });
        Step::Passed(1)
    }

    fn zeros(&mut self, from: u64, is_last: bool) -> Step {
        let bytes = self.pieces.bytes();
        if bytes.iter().all(|byte| *byte == 0) {
            if is_last {
                return self.ended(End::Zeros { offset: from });
            }
            // A record begins with zeros of its own.
            let used = bytes.len().saturating_sub(PREFIX_BYTES);
            return if used == 0 { Step::Starved } else { Step::Passed(used) };
        }
        self.state = State::Search(Search { from, problem: Problem::DataBehindZeros, torn_end: 0, nonzero_end: 0 });
        Step::Passed(0)
    }

    fn search(&mut self, mut search: Search, is_last: bool) -> Step {
        let bytes = self.pieces.bytes();
        let successor = Successor { last_zxid: self.last_zxid };
        let resumed =
            |resumed_at| LogEntry::Damage(Damage { offset: search.from, resumed_at, problem: search.problem });
        for (at, byte) in bytes.iter().enumerate() {
            let place = self.offset + at as u64;
            let skipped = place - search.from;
            if skipped > SEARCH_BYTES_MAX || self.checksums_left == 0 {
                self.state = State::Done(None);
                return Step::Entry(resumed(None), at);
            }
            match successor.probe(bytes.get(at..).unwrap_or_default(), skipped, &mut self.checksums_left) {
                Probe::Yes => {
                    self.state = State::Records;
                    return Step::Entry(resumed(Some(place)), at);
                }
                Probe::Starved if !is_last => {
                    self.state = State::Search(search);
                    return if at == 0 { Step::Starved } else { Step::Passed(at) };
                }
                Probe::Starved | Probe::No => {}
            }
            if *byte != 0 {
                search.nonzero_end = place + 1;
            }
        }
        if !is_last {
            self.state = State::Search(search);
            return if bytes.is_empty() { Step::Starved } else { Step::Passed(bytes.len()) };
        }
        if search.nonzero_end <= search.torn_end {
            self.state = State::Done(Some(End::Torn { offset: search.from }));
            return Step::Passed(bytes.len());
        }
        self.state = State::Done(None);
        Step::Entry(resumed(None), bytes.len())
    }
}

#[cfg(test)]
mod tests;
