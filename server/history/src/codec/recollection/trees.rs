//! Believed trees, and the settings and roots they are of.

use lockscope_core::mirror::{DirectoryStat, Read};
use lockscope_core::recipe::{RuleId, rule_of};
use lockscope_core::recollection::{
    ChildRecollection, ChildrenRecollection, DirectoryRecollection, RootRecollection, RootStatus, Tree,
};
use lockscope_core::root::RootId;
use lockscope_core::settings::Settings;
use lockscope_core::verdict::Thresholds;
use lockscope_core::znode::Zxid;

use super::super::CodecError;
use super::super::coded::{Coded, coded_enum, coded_struct};
use super::super::tables::{Reader, Writer};

coded_enum!(Tree { Believed = 0, Side = 1 });
coded_struct!(RuleId { family, rule });
coded_struct!(Thresholds { usual_after_holds, slow_times, slow_min_ms, stuck_times, stuck_min_ms, stuck_unknown_ms });
coded_struct!(Settings { roots, thresholds, configured, limits });
coded_struct!(RootRecollection { root, status, next_directory, next_side_directory });
coded_struct!(RootStatus {
    why,
    trouble,
    is_synced,
    is_comparing,
    since,
    known_at,
    is_confirmed,
    was_old,
    was_partial,
});
coded_struct!(DirectoryRecollection { root, tree, path, number, stat, told_missing, rules, children });
coded_struct!(ChildrenRecollection { root, tree, path, children });
coded_struct!(DirectoryStat { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, creates_ever });

impl Coded for RootId {
    fn put(&self, out: &mut Writer) {
        self.0.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self(u32::take(from)?))
    }
}

const HAS_READ: u8 = 1;
const IS_DENIED: u8 = 1 << 1;
const HAS_RULE: u8 = 1 << 2;
/// Its rule is not the one that its name has now.
const HAS_OTHER_RULE: u8 = 1 << 3;
const HAS_OWNER: u8 = 1 << 4;
const IS_UNREADABLE: u8 = 1 << 5;
/// It was written to, or is longer than what is known of it.
const HAS_SIZE_AND_VERSION: u8 = 1 << 6;
const ALL: u8 = (1 << 7) - 1;

impl Coded for ChildRecollection {
    fn put(&self, out: &mut Writer) {
        let Self { name, read, is_denied, arrived_at, rule } = self;
        let is_other = *rule != rule_of(name, self.is_owned());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let of_read = |is: fn(&Read) -> bool| read.as_ref().is_some_and(is);
        let flags = flag(read.is_some(), HAS_READ)
            | flag(*is_denied, IS_DENIED)
            | flag(is_other, HAS_OTHER_RULE)
            | flag(is_other && rule.is_some(), HAS_RULE)
            | flag(of_read(|read| read.owner().is_some()), HAS_OWNER)
            | flag(of_read(Read::is_unreadable), IS_UNREADABLE)
            | flag(of_read(has_size_and_version), HAS_SIZE_AND_VERSION);
        out.byte(flags);
        out.child_name(name);
        arrived_at.put(out);
        if let Some(rule) = rule.filter(|_| is_other) {
            rule.put(out);
        }
        let Some(read) = read else { return };
        read.czxid.put(out);
        out.last.zxid = read.czxid.0;
        out.i64(read.ctime_ms.wrapping_sub(out.last.ctime_ms));
        out.last.ctime_ms = read.ctime_ms;
        if let Some(owner) = read.owner() {
            owner.put(out);
        }
        out.text(&read.payload);
        if has_size_and_version(read) {
            read.payload_bytes().put(out);
            read.version.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let flags = from.bytes.byte()?;
        if flags & !ALL != 0 {
            return Err(CodecError::Malformed("unknown facts of a child"));
        }
        let has = |flag: u8| flags & flag != 0;
        let name = from.child_name()?;
        let arrived_at = Coded::take(from)?;
        let rule: Option<RuleId> = has(HAS_RULE).then(|| Coded::take(from)).transpose()?;
        let read = has(HAS_READ).then(|| take_read(from, flags)).transpose()?;
        let mut child = Self { name, read, is_denied: has(IS_DENIED), arrived_at, rule };
        if !has(HAS_OTHER_RULE) {
            child.rule = rule_of(&child.name, child.is_owned());
        }
        Ok(child)
    }
}

fn has_size_and_version(read: &Read) -> bool {
    read.version != 0 || usize::try_from(read.payload_bytes()) != Ok(read.payload.len())
}

fn take_read(from: &mut Reader<'_>, flags: u8) -> Result<Read, CodecError> {
    let has = |flag: u8| flags & flag != 0;
    let czxid = Zxid::take(from)?;
    from.last.zxid = czxid.0;
    let ctime_ms = from.last.ctime_ms.wrapping_add(from.bytes.i64()?);
    from.last.ctime_ms = ctime_ms;
    let owner = has(HAS_OWNER).then(|| Coded::take(from)).transpose()?;
    let payload: Box<[u8]> = from.bytes_text()?.into();
    let (payload_bytes, version) = if has(HAS_SIZE_AND_VERSION) {
        (u32::take(from)?, i32::take(from)?)
    } else {
        (u32::try_from(payload.len()).map_err(|_| CodecError::TooLarge)?, 0)
    };
    Ok(Read::of(czxid, owner, ctime_ms, payload, payload_bytes, has(IS_UNREADABLE), version))
}
