//! Undoes compression piece by piece: what a file is compressed with, its first byte says.

mod gzip;
mod snappy;

use gzip::Gzip;
use snappy::Snappy;

use crate::{Problem, ReadError};

const CUT_SHORT: &str = "the file ends in the midst of it";
/// What is decompressed at once: a few bytes may stand for a thousand times as many.
const OUT_BYTES_MAX: usize = 64 << 10;
/// Spare memory that is kept for the next piece, once something large is done with.
const SPARE_BYTES_MAX: usize = 4 << 20;

#[derive(Debug)]
enum Method {
    /// There was no byte yet.
    Undecided,
    Plain,
    Gzip(Box<Gzip>),
    Snappy(Snappy),
}

/// Bytes that came in pieces, decompressed and not done with yet.
#[derive(Debug)]
pub(crate) struct Pieces {
    method: Method,
    /// As they are in the file; empty if they are not compressed.
    packed: Buffer,
    /// Where in the file the first of these is.
    packed_offset: u64,
    plain: Buffer,
    is_finished: bool,
}

impl Pieces {
    pub(crate) fn new() -> Self {
        Self {
            method: Method::Undecided,
            packed: Buffer::default(),
            packed_offset: 0,
            plain: Buffer::default(),
            is_finished: false,
        }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) {
        if matches!(self.method, Method::Undecided) {
            self.method = match piece.first() {
                None => return,
                Some(&gzip::FIRST_BYTE) => Method::Gzip(Box::default()),
                Some(&snappy::FIRST_BYTE) => Method::Snappy(Snappy::default()),
                Some(_) => Method::Plain,
            };
        }
        match self.method {
            Method::Undecided | Method::Plain => self.plain.push(piece),
            Method::Gzip(_) | Method::Snappy(_) => self.packed.push(piece),
        }
    }

    /// No more pieces come.
    pub(crate) fn finish(&mut self) {
        self.is_finished = true;
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Decompressed bytes that are not done with.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.plain.bytes()
    }

    /// So many of them are done with.
    pub(crate) fn pass(&mut self, used: usize) {
        self.plain.pass(used);
    }

    /// Decompresses more of what was pushed; whether there was any.
    pub(crate) fn refill(&mut self) -> Result<bool, ReadError> {
        loop {
            let before = self.plain.bytes().len();
            let used = match &mut self.method {
                Method::Undecided | Method::Plain => return Ok(false),
                Method::Gzip(gzip) => gzip.unpack(self.packed.bytes(), self.plain.vec()),
                Method::Snappy(snappy) => snappy.unpack(self.packed.bytes(), self.plain.vec()),
            };
            let used = used.map_err(|problem| ReadError { offset: self.packed_offset, problem })?;
            self.packed.pass(used);
            self.packed_offset += used as u64;
            if self.plain.bytes().len() > before {
                return Ok(true);
            }
            if used == 0 {
                return Ok(false);
            }
        }
    }

    /// Whether the file may end here, as far as its compression goes.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.method {
            Method::Undecided | Method::Plain => true,
            Method::Gzip(gzip) => gzip.is_whole() && self.packed.bytes().is_empty(),
            Method::Snappy(snappy) => snappy.is_whole() && self.packed.bytes().is_empty(),
        }
    }

    /// What is wrong if it does end here and may not.
    pub(crate) fn cut_short(&self) -> Option<ReadError> {
        let problem = match &self.method {
            Method::Undecided | Method::Plain => return None,
            Method::Gzip(_) => Problem::BadGzip { reason: CUT_SHORT },
            Method::Snappy(_) => Problem::BadSnappy { reason: CUT_SHORT },
        };
        let offset = self.packed_offset + self.packed.bytes().len() as u64;
        (!self.is_whole()).then_some(ReadError { offset, problem })
    }

    pub(crate) fn clear(&mut self) {
        (self.packed, self.plain) = (Buffer::default(), Buffer::default());
    }
}

/// Bytes that are added behind and taken in front.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// So many are done with.
    read: usize,
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(self.read..).unwrap_or_default()
    }

    fn pass(&mut self, used: usize) {
        self.read = (self.read + used).min(self.bytes.len());
    }

    fn push(&mut self, piece: &[u8]) {
        self.vec().extend_from_slice(piece);
    }

    /// To add to.
    fn vec(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.read);
        self.read = 0;
        if self.bytes.capacity() > SPARE_BYTES_MAX && self.bytes.len() < self.bytes.capacity() / 4 {
            self.bytes.shrink_to(SPARE_BYTES_MAX / 2);
        }
        &mut self.bytes
    }
}
