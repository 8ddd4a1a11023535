//! Steps of a history, and how often each comes.

use proptest::prelude::*;

use super::kinds::KINDS;
use super::rounds::RoundKind;

const SESSIONS: i64 = 6;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create { kind: usize, session: i64, is_read: bool },
    Read { at: usize, is_unreadable: bool },
    Write { at: usize },
    Replace { at: usize },
    Deny { at: usize, in_sync: bool },
    Delete { at: usize },
    DeleteDirectory { at: usize },
    EndSession { session: i64 },
    Missed { at: usize },
    Sync { root: u32 },
    SyncBegan { root: u32 },
    SyncSome { root: u32, number: usize },
    SyncEnded { root: u32 },
    Compare { root: u32, number: usize },
    Trouble { root: u32, kind: usize },
    Link { kind: usize },
    Members { kind: RoundKind, times: usize },
    Circle { first: i64, second: i64 },
    Configure { which: usize },
    Count { at: usize },
    Incomplete { at: usize, bits: usize },
    Clock { error_ms: i64 },
    Answer { is_synced: bool },
    Arrived { ago_ms: i64 },
    Tick { ms: i64 },
    Restart { which: usize },
}

/// A whole history; half of them on two or three kinds of locks only, so that much happens to each.
pub(super) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let few = (0..KINDS.len()).prop_map(|kind| kind..(kind + 3).min(KINDS.len()));
    let some = prop_oneof![2 => Just(0..KINDS.len()), 2 => few, 1 => Just(37..40)];
    some.prop_flat_map(move |kinds| prop::collection::vec(step(kinds), 1..most))
}

fn step(kinds: std::ops::Range<usize>) -> impl Strategy<Value = Step> {
    let at = || 0..256_usize;
    let root = || 0..2_u32;
    let create = (kinds, 1..=SESSIONS, prop::bool::weighted(0.7));
    let nodes = prop_oneof![
        24 => create.prop_map(|(kind, session, is_read)| Step::Create { kind, session, is_read }),
        5 => (at(), prop::bool::weighted(0.2)).prop_map(|(at, is_unreadable)| Step::Read { at, is_unreadable }),
        2 => at().prop_map(|at| Step::Write { at }),
        4 => at().prop_map(|at| Step::Replace { at }),
        1 => (at(), any::<bool>()).prop_map(|(at, in_sync)| Step::Deny { at, in_sync }),
        8 => at().prop_map(|at| Step::Delete { at }),
        1 => at().prop_map(|at| Step::DeleteDirectory { at }),
        2 => (1..=SESSIONS).prop_map(|session| Step::EndSession { session }),
        1 => at().prop_map(|at| Step::Missed { at }),
        1 => at().prop_map(|at| Step::Count { at }),
        1 => (at(), 0..4_usize).prop_map(|(at, bits)| Step::Incomplete { at, bits }),
    ];
    let gaps = prop_oneof![
        2 => root().prop_map(|root| Step::Sync { root }),
        2 => root().prop_map(|root| Step::SyncBegan { root }),
        2 => (root(), at()).prop_map(|(root, number)| Step::SyncSome { root, number }),
        2 => root().prop_map(|root| Step::SyncEnded { root }),
        2 => (root(), 0..4_usize).prop_map(|(root, number)| Step::Compare { root, number }),
        1 => (root(), 0..3_usize).prop_map(|(root, kind)| Step::Trouble { root, kind }),
        3 => (0..4_usize).prop_map(|kind| Step::Link { kind }),
        1 => (0..4_usize).prop_map(|which| Step::Restart { which }),
    ];
    let rest = prop_oneof![
        4 => (RoundKind::any(), 1..4_usize).prop_map(|(kind, times)| Step::Members { kind, times }),
        1 => (1..=SESSIONS, 1..=SESSIONS).prop_map(|(first, second)| Step::Circle { first, second }),
        1 => (0..4_usize).prop_map(|which| Step::Configure { which }),
        1 => (-200..200_i64).prop_map(|error_ms| Step::Clock { error_ms }),
        2 => any::<bool>().prop_map(|is_synced| Step::Answer { is_synced }),
        1 => (0..90_i64).prop_map(|ago_ms| Step::Arrived { ago_ms }),
        4 => (0..900_i64).prop_map(|ms| Step::Tick { ms }),
        3 => (900..40_000_i64).prop_map(|ms| Step::Tick { ms }),
        1 => Just(Step::Tick { ms: 310_000 }),
    ];
    prop_oneof![30 => nodes, 5 => gaps, 9 => rest]
}
