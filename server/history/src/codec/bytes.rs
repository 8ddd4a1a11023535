//! Whole numbers as bytes: seven bits a byte, the lowest first; signed ones with the sign in the lowest bit.

use super::CodecError;

const NUMBER_BYTES_MAX: u32 = 10;

pub(super) fn put_u64(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Puts the sign into the lowest bit, so that small negative numbers are short as well.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// What is left to read of some bytes.
#[derive(Clone, Debug)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8, CodecError> {
        let (byte, rest) = self.0.split_first().ok_or(CodecError::CutOff)?;
        self.0 = rest;
        Ok(*byte)
    }

    pub(super) fn u64(&mut self) -> Result<u64, CodecError> {
        let mut value = 0;
        for at in 0..NUMBER_BYTES_MAX {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit.
            if at == NUMBER_BYTES_MAX - 1 && bits > 1 {
                return Err(CodecError::Malformed("a number has more than 64 bits"));
            }
            value |= bits << (7 * at);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(CodecError::Malformed("a number has no end"))
    }

    pub(super) fn i64(&mut self) -> Result<i64, CodecError> {
        self.u64().map(unzigzag)
    }

    /// A number of things of which each takes at least one of the bytes that are left.
    pub(super) fn count(&mut self) -> Result<usize, CodecError> {
        let count = usize::try_from(self.u64()?).map_err(|_| CodecError::CutOff)?;
        if count > self.0.len() { Err(CodecError::CutOff) } else { Ok(count) }
    }

    pub(super) fn slice(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(CodecError::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for value in [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN, 1_700_000_000_000] {
            let mut out = Vec::new();
            put_u64(&mut out, zigzag(value));
            let mut bytes = Bytes::new(&out);
            assert_eq!((bytes.i64().unwrap(), bytes.len()), (value, 0));
        }
    }

    #[test]
    fn numbers_without_end_are_refused() {
        assert!(Bytes::new(&[0x80; 20]).u64().is_err());
        assert!(Bytes::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]).u64().is_err());
        assert!(Bytes::new(&[]).u64().is_err());
        assert!(Bytes::new(&[200, 1, 0]).count().is_err());
    }
}
