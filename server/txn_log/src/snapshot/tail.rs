//! What ends a snapshot: the checksum of all before it, then what later servers added, each with another checksum: a
//! digest of the tree (3.6) and the last transaction that is in it (3.9).

use adler2::Adler32;

use crate::jute::Input;
use crate::{Problem, ReadError};

/// A checksum, and the path "/" that stands behind it.
const SEAL_BYTES: usize = 13;
const SEAL_PATH: &[u8] = b"/";
/// A number and its seal.
const LAST_ZXID_BYTES: usize = 8 + SEAL_BYTES;
/// Digests have been numbers since this version, and hexadecimal text before.
const VERSION_NUMBERS: i32 = 2;
/// The longest tail: a digest as text, its seal, and the last transaction.
pub(super) const TAIL_BYTES_MAX: usize = 128;

/// A digest of all of a tree, as the server that wrote the snapshot computed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeDigest {
    /// Behind this transaction.
    pub zxid: i64,
    /// The version of the way to compute it.
    pub version: i32,
    pub digest: i64,
}

/// What some servers write behind the first checksum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    pub(super) digest: Option<TreeDigest>,
    pub(super) last_zxid: Option<i64>,
}

impl Tail {
    /// Of all bytes that are left, with the checksum of all before. Which parts there are, only the length tells.
    pub(super) fn read(input: &mut Input<'_>, mut checksum: Adler32) -> Result<Self, ReadError> {
        let mut tail = Self::default();
        if input.left() != 0 && input.left() != LAST_ZXID_BYTES {
            tail.digest = Some(sealed(input, &mut checksum, digest)?);
        }
        if input.left() == LAST_ZXID_BYTES {
            tail.last_zxid = Some(sealed(input, &mut checksum, |input| input.long())?);
        }
        match input.left() {
            0 => Ok(tail),
            left => Err(input.error(Problem::DataBehindSnapshot { left: left as u64 })),
        }
    }
}

fn digest(input: &mut Input<'_>) -> Result<TreeDigest, ReadError> {
    let (zxid, version) = (input.long()?, input.int()?);
    let digest = if version >= VERSION_NUMBERS {
        input.long()?
    } else {
        i64::from_str_radix(&input.string()?, 16).unwrap_or_default()
    };
    Ok(TreeDigest { zxid, version, digest })
}

/// A value, and the checksum of all up to there.
fn sealed<T>(
    input: &mut Input<'_>,
    checksum: &mut Adler32,
    value: impl Fn(&mut Input<'_>) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let mut behind = *input;
    let value = value(&mut behind)?;
    checksum.write_slice(input.take(input.left() - behind.left())?);
    seal(&mut behind, checksum.checksum())?;
    checksum.write_slice(input.take(SEAL_BYTES)?);
    Ok(value)
}

/// The checksum, which has to be this one, and the path.
pub(super) fn seal(input: &mut Input<'_>, computed: u32) -> Result<(), ReadError> {
    let at = *input;
    let (found, computed) = (input.long()?, i64::from(computed));
    if found != computed {
        return Err(at.error(Problem::Checksum { found, computed }));
    }
    let at = *input;
    if input.slice()? == Some(SEAL_PATH) { Ok(()) } else { Err(at.error(Problem::NoSeal)) }
}
