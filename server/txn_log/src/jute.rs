//! ZooKeeper's serialisation: big-endian, strings and buffers behind their length, -1 for null. Nothing is allocated
//! that the bytes at hand do not hold.

use crate::{Acl, Problem, ReadError};

/// Bytes of a file that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    /// Where in the file they begin.
    offset: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, offset }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn error(&self, problem: Problem) -> ReadError {
        ReadError { offset: self.offset, problem }
    }

    fn short(&self, needed: usize) -> ReadError {
        self.error(Problem::Short { needed: needed as u64, left: self.bytes.len() as u64 })
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], ReadError> {
        let (head, tail) = self.bytes.split_at_checked(length).ok_or_else(|| self.short(length))?;
        self.bytes = tail;
        self.offset += length as u64;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let (head, tail) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.short(N))?;
        self.bytes = tail;
        self.offset += N as u64;
        Ok(*head)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ReadError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn boolean(&mut self) -> Result<bool, ReadError> {
        let at = *self;
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            found => Err(at.error(Problem::BadBoolean { found })),
        }
    }

    pub(crate) fn int(&mut self) -> Result<i32, ReadError> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn long(&mut self) -> Result<i64, ReadError> {
        self.array().map(i64::from_be_bytes)
    }

    /// A length, or `None` for null.
    fn length(&mut self) -> Result<Option<usize>, ReadError> {
        let at = *self;
        match self.int()? {
            -1 => Ok(None),
            found => usize::try_from(found).map(Some).map_err(|_| at.error(Problem::BadLength { found })),
        }
    }

    /// Bytes behind their length.
    pub(crate) fn slice(&mut self) -> Result<Option<&'a [u8]>, ReadError> {
        self.length()?.map(|length| self.take(length)).transpose()
    }

    pub(crate) fn buffer(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.slice()?.map(<[u8]>::to_vec))
    }

    /// Text; null is empty. What is no UTF-8 is replaced, as ZooKeeper itself does when it reads.
    pub(crate) fn string(&mut self) -> Result<String, ReadError> {
        Ok(self.slice()?.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default())
    }

    /// A number of elements; null is none.
    pub(crate) fn number(&mut self) -> Result<u32, ReadError> {
        Ok(self.length()?.map_or(0, |length| u32::try_from(length).unwrap_or(u32::MAX)))
    }

    /// The number of elements that follow, each of at least so many bytes; `None` for null.
    pub(crate) fn count(&mut self, element_min: usize) -> Result<Option<usize>, ReadError> {
        let Some(count) = self.length()? else { return Ok(None) };
        // Whoever promises more than the bytes can hold gets no memory for it.
        let needed = count.saturating_mul(element_min);
        if needed > self.bytes.len() { Err(self.short(needed)) } else { Ok(Some(count)) }
    }

    pub(crate) fn vector<T>(
        &mut self,
        element_min: usize,
        mut element: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Option<Vec<T>>, ReadError> {
        let Some(count) = self.count(element_min)? else { return Ok(None) };
        (0..count).map(|_| element(self)).collect::<Result<_, _>>().map(Some)
    }

    pub(crate) fn acl(&mut self) -> Result<Vec<Acl>, ReadError> {
        /// Permissions and two lengths.
        const ACL_MIN: usize = 12;
        let entry =
            |input: &mut Self| Ok(Acl { permissions: input.int()?, scheme: input.string()?, id: input.string()? });
        Ok(self.vector(ACL_MIN, entry)?.unwrap_or_default())
    }
}
