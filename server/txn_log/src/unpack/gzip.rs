//! gzip (RFC 1952), as Java's `GZIPOutputStream` and `gzip` write it: members, each a header, deflated bytes and their
//! checksum.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::OUT_BYTES_MAX;
use crate::Problem;

pub(super) const FIRST_BYTE: u8 = 0x1f;

/// Magic, method, flags, time, level, system.
const HEADER_BYTES: usize = 10;
/// Checksum and length.
const TRAILER_BYTES: usize = 8;
/// The longest header that is believed in: an extra field has 64 KiB at most, a file name and a comment a few hundred
/// bytes.
const HEADER_BYTES_MAX: usize = 128 << 10;
/// The only method there is: deflate.
const DEFLATE: u8 = 8;

const FLAG_CHECKSUM: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
const FLAGS_RESERVED: u8 = 0xe0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before a member; at least one is needed.
    Header {
        is_first: bool,
    },
    Body,
    Trailer,
    /// Zeros that fill up a block of a tape.
    Padding,
}

#[derive(Debug)]
pub(super) struct Gzip {
    state: State,
    inflate: Decompress,
    checksum: Crc,
}

impl Default for Gzip {
    fn default() -> Self {
        Self { state: State::Header { is_first: true }, inflate: Decompress::new(false), checksum: Crc::new() }
    }
}

fn bad(reason: &'static str) -> Problem {
    Problem::BadGzip { reason }
}

impl Gzip {
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.state, State::Header { is_first: false } | State::Padding)
    }

    /// Goes on with the bytes at hand, and says how many of them are done with.
    pub(super) fn unpack(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, Problem> {
        match self.state {
            State::Header { is_first: false } if bytes.first() == Some(&0) => self.padding(bytes),
            State::Header { .. } => {
                let Some(length) = header(bytes)? else { return Ok(0) };
                self.state = State::Body;
                Ok(length)
            }
            State::Body => self.inflate(bytes, out),
            State::Trailer => self.trailer(bytes),
            State::Padding => self.padding(bytes),
        }
    }

    fn inflate(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, Problem> {
        let begin = out.len();
        let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
        out.resize(begin + OUT_BYTES_MAX, 0);
        let fresh = out.get_mut(begin..).unwrap_or_default();
        let status = self.inflate.decompress(bytes, fresh, FlushDecompress::None);
        let written = usize::try_from(self.inflate.total_out() - written).unwrap_or_default();
        out.truncate(begin + written.min(OUT_BYTES_MAX));
        self.checksum.update(out.get(begin..).unwrap_or_default());
        match status {
            Ok(Status::Ok | Status::BufError) => {}
            Ok(Status::StreamEnd) => self.state = State::Trailer,
            Err(_) => return Err(bad("what is compressed is damaged")),
        }
        let used = usize::try_from(self.inflate.total_in() - read).unwrap_or_default();
        // Its end may show only when there is nothing left to read and to write.
        if used == 0 && self.state == State::Trailer { self.trailer(bytes) } else { Ok(used) }
    }

    fn trailer(&mut self, bytes: &[u8]) -> Result<usize, Problem> {
        let Some((trailer, _)) = bytes.split_first_chunk::<TRAILER_BYTES>() else { return Ok(0) };
        let [a, b, c, d, e, f, g, h] = *trailer;
        if u32::from_le_bytes([a, b, c, d]) != self.checksum.sum() {
            return Err(bad("the checksum does not match"));
        }
        if u32::from_le_bytes([e, f, g, h]) != self.checksum.amount() {
            return Err(bad("the length does not match"));
        }
        *self = Self { state: State::Header { is_first: false }, ..Self::default() };
        Ok(TRAILER_BYTES)
    }

    fn padding(&mut self, bytes: &[u8]) -> Result<usize, Problem> {
        self.state = State::Padding;
        if bytes.iter().all(|byte| *byte == 0) { Ok(bytes.len()) } else { Err(bad("something else follows it")) }
    }
}

/// The length of a header that is whole.
fn header(bytes: &[u8]) -> Result<Option<usize>, Problem> {
    if bytes.first().is_some_and(|byte| *byte != FIRST_BYTE) || bytes.get(1).is_some_and(|byte| *byte != 0x8b) {
        return Err(bad("it does not begin as gzip does"));
    }
    let (Some(method), Some(flags)) = (bytes.get(2).copied(), bytes.get(3).copied()) else { return Ok(None) };
    if method != DEFLATE || flags & FLAGS_RESERVED != 0 {
        return Err(bad("the method is not known"));
    }
    let length = header_length(bytes, flags).filter(|length| *length <= bytes.len());
    if length.is_none() && bytes.len() > HEADER_BYTES_MAX {
        return Err(bad("the header has no end"));
    }
    Ok(length)
}

fn header_length(bytes: &[u8], flags: u8) -> Option<usize> {
    let mut length = HEADER_BYTES;
    if flags & FLAG_EXTRA != 0 {
        let (extra, _) = bytes.get(length..)?.split_first_chunk::<2>()?;
        length += 2 + usize::from(u16::from_le_bytes(*extra));
    }
    for text in [FLAG_NAME, FLAG_COMMENT] {
        if flags & text != 0 {
            length += 1 + bytes.get(length..)?.iter().position(|byte| *byte == 0)?;
        }
    }
    Some(if flags & FLAG_CHECKSUM != 0 { length + 2 } else { length })
}
