//! A log that comes in pieces; the first damage ends it.

use super::{End, Scan, State, Step};
use crate::unpack::Pieces;
use crate::{ReadError, Transaction};

/// Reads a log that comes in pieces, such as one that a server still writes (its zeros are not to be pushed then: they
/// may turn into records). Holds one record and the piece at hand at most. A log that somebody compressed with gzip is
/// decompressed on the way.
#[derive(Debug)]
pub struct LogDecoder {
    pieces: Pieces,
    scan: Scan,
}

impl Default for LogDecoder {
    fn default() -> Self {
        Self { pieces: Pieces::new(), scan: Scan::BEGIN }
    }
}

impl LogDecoder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece. [`Self::next_transaction`] is called until it has no more before another is pushed, so
    /// that the buffer stays small.
    pub fn push(&mut self, piece: &[u8]) {
        if self.scan.state != State::Failed {
            self.pieces.push(piece);
        }
    }

    /// The next transaction, or `None` when more bytes are needed. After an error there is nothing more.
    pub fn next_transaction(&mut self) -> Result<Option<Transaction>, ReadError> {
        let next = self.read_next();
        if next.is_err() {
            self.scan.state = State::Failed;
            self.pieces.clear();
        }
        next
    }

    fn read_next(&mut self) -> Result<Option<Transaction>, ReadError> {
        while self.scan.state != State::Failed {
            match self.scan.step(self.pieces.bytes())? {
                Step::Record(transaction, used) => {
                    self.pieces.pass(used);
                    return Ok(Some(transaction));
                }
                Step::Passed(used) => self.pieces.pass(used),
                Step::Starved if self.pieces.refill()? => {}
                Step::Starved => return Ok(None),
            }
        }
        Ok(None)
    }

    /// How the log ends if no more bytes come; `None` after an error.
    pub fn end(&self) -> Option<End> {
        match self.scan.end(self.pieces.bytes()) {
            Some(_) if !self.pieces.is_whole() => Some(End::Torn { offset: self.scan.offset }),
            end => end,
        }
    }

    /// Where the next record begins.
    pub fn offset(&self) -> u64 {
        self.scan.offset
    }
}
