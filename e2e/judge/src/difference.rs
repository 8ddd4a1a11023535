//! What is wrong with a claim that was never true when it could have been: compared with the state that comes nearest.

use std::ops::Range;

use crate::claim::{Claim, fits};
use crate::truth::{Cursor, Found, Timeline};
use crate::{Contender, Difference, FrameRef, Wrong};

/// How many of the latest versions are compared.
const NEAREST_MAX: usize = 64;

/// A way of being wrong, without the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    WrongHolder,
    SwappedWaiters,
    MissingWaiter,
    ExtraWaiter,
    FreeThoughHeld,
    HeldThoughFree,
}

/// Names what is wrong, by the version among the last of a range that differs least.
pub(crate) fn difference(
    claim: &Claim<'_>,
    place: FrameRef,
    range: Range<usize>,
    timeline: &Timeline,
    cursor: &mut Cursor,
) -> Wrong {
    let last = range.end.saturating_sub(1);
    let mut nearest = (usize::MAX, last);
    for version in range.rev().take(NEAREST_MAX) {
        let apart = Apart::new(claim, version, timeline, cursor).sum();
        if apart < nearest.0 {
            nearest = (apart, version);
        }
    }
    let version = nearest.1;
    let way = Apart::new(claim, version, timeline, cursor).way();
    let zxid = timeline.begins(version).zxid;
    let difference = Difference { zxid, shown: claim.short_line(), truth: timeline.short_line(version, cursor) };
    match way {
        Way::WrongHolder => Wrong::WrongHolder(place, difference),
        Way::SwappedWaiters => Wrong::SwappedWaiters(place, difference),
        Way::MissingWaiter => Wrong::MissingWaiter(place, difference),
        Way::ExtraWaiter => Wrong::ExtraWaiter(place, difference),
        Way::FreeThoughHeld => Wrong::FreeThoughHeld(place, difference),
        Way::HeldThoughFree => Wrong::HeldThoughFree(place, difference),
    }
}

/// How far a claim is from one state.
#[derive(Clone, Copy, Debug)]
struct Apart {
    is_free_though_held: bool,
    is_held_though_free: bool,
    /// Holders that hold not, and those that are missing.
    holders: usize,
    extra: usize,
    missing: usize,
}

impl Apart {
    fn new(claim: &Claim<'_>, version: usize, timeline: &Timeline, cursor: &mut Cursor) -> Self {
        let state = timeline.versions().get(version);
        let (holder_count, count) = state.map_or((0, 0), |state| (state.holder_count, state.count));
        let line = timeline.seek(version, cursor);
        let (holders, waiters) = line.split_at_checked(holder_count).unwrap_or_default();
        let is_fit =
            |contender: &Contender, at: usize| timeline.member(at).is_some_and(|member| fits(contender, member));
        let is_among = |contender: &Contender, line: &[usize]| match contender.czxid.map(|czxid| timeline.find(czxid)) {
            Some(Found::At(at)) => line.binary_search(&at).is_ok() && is_fit(contender, at),
            Some(Found::Nobody) => false,
            // Not read, or one of several: anybody who fits.
            None | Some(Found::Several) => line.iter().any(|at| is_fit(contender, *at)),
        };
        let strangers =
            |shown: &[Contender], line: &[usize]| shown.iter().filter(|contender| !is_among(contender, line)).count();
        if !claim.is_complete {
            let extra =
                strangers(claim.waiters, line) + (claim.holder_count + claim.waiter_count).saturating_sub(count);
            return Self {
                is_free_though_held: claim.is_free && holder_count > 0,
                is_held_though_free: count == 0 && claim.holder_count > 0,
                holders: strangers(claim.holders, line),
                extra,
                missing: 0,
            };
        }
        let waiter_count = waiters.len();
        Self {
            is_free_though_held: holder_count > 0 && claim.is_empty_of_holders(),
            is_held_though_free: holder_count == 0 && claim.holder_count > 0,
            holders: strangers(claim.holders, holders).max(claim.holder_count.abs_diff(holder_count)),
            extra: strangers(claim.waiters, waiters).max(claim.waiter_count.saturating_sub(waiter_count)),
            missing: waiter_count.saturating_sub(claim.waiter_count),
        }
    }

    fn sum(self) -> usize {
        usize::from(self.is_free_though_held)
            + usize::from(self.is_held_though_free)
            + self.holders
            + self.extra
            + self.missing
    }

    fn way(self) -> Way {
        if self.is_free_though_held {
            Way::FreeThoughHeld
        } else if self.is_held_though_free {
            Way::HeldThoughFree
        } else if self.holders > 0 {
            Way::WrongHolder
        } else if self.extra > 0 {
            Way::ExtraWaiter
        } else if self.missing > 0 {
            Way::MissingWaiter
        } else {
            Way::SwappedWaiters
        }
    }
}
