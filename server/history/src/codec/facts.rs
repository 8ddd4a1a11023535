//! What a read of a znode gave. Most znodes of locks were never changed: their three zxids are one, and their counters 0.

use lockscope_core::znode::{Facts, Zxid};

use super::CodecError;
use super::coded::Coded;
use super::tables::{Reader, Writer};

const IS_CHANGED: u8 = 1;
const HAS_CHILDREN: u8 = 1 << 1;
const HAS_VERSIONS: u8 = 1 << 2;
const HAS_OWNER: u8 = 1 << 3;
const HAS_PAYLOAD: u8 = 1 << 4;
/// The payload is longer than what is known of it, or may not be read.
const HAS_SIZE: u8 = 1 << 5;
const ALL: u8 = (1 << 6) - 1;

impl Coded for Facts {
    fn put(&self, out: &mut Writer) {
        let Self { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, owner, payload, payload_bytes } = self;
        let known = payload.as_ref().map_or(0, |payload| payload.len());
        let has_size = usize::try_from(*payload_bytes) != Ok(known);
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(mzxid != czxid, IS_CHANGED)
            | flag(pzxid != czxid, HAS_CHILDREN)
            | flag((*version, *cversion, *children) != (0, 0, 0), HAS_VERSIONS)
            | flag(owner.is_some(), HAS_OWNER)
            | flag(payload.is_some(), HAS_PAYLOAD)
            | flag(has_size, HAS_SIZE);
        out.byte(flags);
        czxid.put(out);
        out.last.zxid = czxid.0;
        if mzxid != czxid {
            mzxid.put(out);
        }
        if pzxid != czxid {
            pzxid.put(out);
        }
        out.i64(ctime_ms.wrapping_sub(out.last.ctime_ms));
        out.last.ctime_ms = *ctime_ms;
        if flags & HAS_VERSIONS != 0 {
            version.put(out);
            cversion.put(out);
            children.put(out);
        }
        if let Some(owner) = owner {
            owner.put(out);
        }
        if let Some(payload) = payload {
            out.text(payload);
        }
        if has_size {
            payload_bytes.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let flags = from.bytes.byte()?;
        if flags & !ALL != 0 {
            return Err(CodecError::Malformed("unknown facts"));
        }
        let has = |flag: u8| flags & flag != 0;
        let czxid = Zxid::take(from)?;
        from.last.zxid = czxid.0;
        let mzxid = if has(IS_CHANGED) { Zxid::take(from)? } else { czxid };
        let pzxid = if has(HAS_CHILDREN) { Zxid::take(from)? } else { czxid };
        let ctime_ms = from.last.ctime_ms.wrapping_add(from.bytes.i64()?);
        from.last.ctime_ms = ctime_ms;
        let (version, cversion, children) =
            if has(HAS_VERSIONS) { (i32::take(from)?, i32::take(from)?, u32::take(from)?) } else { (0, 0, 0) };
        let owner = has(HAS_OWNER).then(|| Coded::take(from)).transpose()?;
        let payload: Option<Box<[u8]>> = has(HAS_PAYLOAD).then(|| from.bytes_text()).transpose()?.map(Into::into);
        let payload_bytes = match &payload {
            _ if has(HAS_SIZE) => u32::take(from)?,
            Some(payload) => u32::try_from(payload.len()).map_err(|_| CodecError::TooLarge)?,
            None => 0,
        };
        Ok(Self { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, owner, payload, payload_bytes })
    }
}
