//! Arbitrary values that observations are made of: numbers, names, paths, sessions, facts of znodes.

use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::RootId;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn number() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), -3_i64..300, Just(i64::MIN), Just(i64::MAX)]
}

pub(crate) fn at() -> impl Strategy<Value = TimeMs> {
    prop_oneof![4 => 1_790_000_000_000_i64..1_790_000_100_000, 1 => number()].prop_map(TimeMs)
}

pub(crate) fn text() -> impl Strategy<Value = Box<str>> {
    prop_oneof!["[a-c]{0,3}", ".{0,20}", Just("long".repeat(200))].prop_map(Into::into)
}

pub(super) fn name() -> impl Strategy<Value = String> {
    let uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    prop_oneof![
        "lock-[0-9]{10}",
        "[0-9a-f]{32}__lock__00000000[0-9]{2}",
        uuid.prop_map(|uuid| format!("_c_{uuid}-lock-0000000003")),
        "[a-c]",
        ".{0,12}",
        Just("n".repeat(600)),
    ]
}

/// Paths with few directories, so that they come again; and whatever is no path.
pub(crate) fn path() -> impl Strategy<Value = Box<str>> {
    let joined = |(directory, name): (&str, String)| format!("{directory}/{name}");
    prop_oneof![
        8 => (select(vec!["/locks", "/locks/a", "/locks/b", "", "/"]), name()).prop_map(joined),
        1 => "/locks/[a-d]",
        1 => ".{0,12}",
        1 => name().prop_map(|name| format!("/{}/{name}", "d".repeat(520))),
    ]
    .prop_map(Into::into)
}

pub(super) fn session() -> impl Strategy<Value = SessionId> {
    prop_oneof![4 => 0x1000_0000_0000_0001_i64..0x1000_0000_0000_0009, 1 => number()].prop_map(SessionId)
}

pub(super) fn zxid() -> impl Strategy<Value = Zxid> {
    prop_oneof![4 => 0x0002_0000_0000_i64..0x0002_0000_0100, 1 => number()].prop_map(Zxid)
}

pub(super) fn facts() -> impl Strategy<Value = Box<Facts>> {
    let zxids = (zxid(), of(zxid()), of(zxid()), number());
    let counters = prop_oneof![Just((0, 0, 0)), any::<(i32, i32, u32)>()];
    let payload = of(vec(any::<u8>(), 0..20).prop_map(Vec::into_boxed_slice));
    (zxids, counters, of(session()), payload, of(any::<u32>())).prop_map(|(zxids, counters, owner, payload, size)| {
        let (czxid, mzxid, pzxid, ctime_ms) = zxids;
        let (mzxid, pzxid) = (mzxid.unwrap_or(czxid), pzxid.unwrap_or(czxid));
        let (version, cversion, children) = counters;
        let known: usize = payload.as_ref().map_or(0, |payload| payload.len());
        let payload_bytes = size.unwrap_or(known as u32);
        Facts { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, owner, payload, payload_bytes }.into()
    })
}

pub(super) fn root() -> impl Strategy<Value = RootId> {
    prop_oneof![4 => Just(0), 1 => 0_u32..3, 1 => any::<u32>()].prop_map(RootId)
}

pub(super) fn missing() -> impl Strategy<Value = MissingSet> {
    let some = proptest::sample::subsequence(Missing::ALL.to_vec(), 0..=4);
    some.prop_map(|some| some.into_iter().fold(MissingSet::NONE, |set, missing| set.with(missing, true)))
}
