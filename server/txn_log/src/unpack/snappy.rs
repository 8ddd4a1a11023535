//! snappy as Java's `SnappyOutputStream` frames it: a header of its own, then blocks, each behind its length. (The
//! format that snappy itself calls framing is another one.)

use super::OUT_BYTES_MAX;
use crate::Problem;

pub(super) const FIRST_BYTE: u8 = 0x82;

const MAGIC: [u8; 8] = [FIRST_BYTE, b'S', b'N', b'A', b'P', b'P', b'Y', 0];
/// Magic, version, version of the oldest reader that understands it.
const HEADER_BYTES: usize = 16;
/// The oldest reader: 1 has been enough so far.
const READER_VERSION: u32 = 1;
const LENGTH_BYTES: usize = 4;
/// The largest block that is believed in. Java writes 32 KiB unless it is told otherwise.
const BLOCK_BYTES_MAX: usize = 16 * OUT_BYTES_MAX;
/// What incompressible bytes may take at most: 32 and a sixth more.
const PACKED_BYTES_MAX: usize = BLOCK_BYTES_MAX + BLOCK_BYTES_MAX / 6 + 32;

#[derive(Debug, Default)]
pub(super) struct Snappy {
    has_header: bool,
    decoder: snap::raw::Decoder,
}

fn bad(reason: &'static str) -> Problem {
    Problem::BadSnappy { reason }
}

impl Snappy {
    pub(super) fn is_whole(&self) -> bool {
        self.has_header
    }

    /// Goes on with the bytes at hand, and says how many of them are done with.
    pub(super) fn unpack(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, Problem> {
        // Streams may follow each other, each with its header.
        if !self.has_header || bytes.first() == Some(&FIRST_BYTE) {
            return self.header(bytes);
        }
        let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { return Ok(0) };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > PACKED_BYTES_MAX {
            return Err(bad("the length of a block is not possible"));
        }
        let Some(packed) = rest.get(..length) else { return Ok(0) };
        if !packed.is_empty() {
            self.block(packed, out)?;
        }
        Ok(LENGTH_BYTES + length)
    }

    fn header(&mut self, bytes: &[u8]) -> Result<usize, Problem> {
        if !bytes.iter().zip(MAGIC).all(|(byte, magic)| *byte == magic) {
            return Err(bad("it does not begin as Java's snappy does"));
        }
        let Some((header, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return Ok(0) };
        let [.., a, b, c, d] = *header;
        if u32::from_be_bytes([a, b, c, d]) > READER_VERSION {
            return Err(bad("the version is not known"));
        }
        self.has_header = true;
        Ok(HEADER_BYTES)
    }

    fn block(&mut self, packed: &[u8], out: &mut Vec<u8>) -> Result<(), Problem> {
        let damaged = |_| bad("a block is damaged");
        let length = snap::raw::decompress_len(packed).map_err(damaged)?;
        if length > BLOCK_BYTES_MAX {
            return Err(bad("a block is too long"));
        }
        let begin = out.len();
        out.resize(begin + length, 0);
        self.decoder.decompress(packed, out.get_mut(begin..).unwrap_or_default()).map_err(damaged)?;
        Ok(())
    }
}
