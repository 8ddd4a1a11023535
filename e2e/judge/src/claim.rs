//! What a frame claims of a lock, and at which versions of the truth that is so.

use std::ops::Range;

use crate::truth::{Cursor, Found, Member, Rule, Timeline, Version, digest, mix};
use crate::{Contender, Gone, LINE_MAX, Line, Shown};

/// What is claimed, made ready to be looked for.
#[derive(Clone, Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) is_complete: bool,
    pub(crate) is_free: bool,
    pub(crate) holder_count: usize,
    pub(crate) waiter_count: usize,
    pub(crate) holders: &'a [Contender],
    pub(crate) waiters: &'a [Contender],
    /// Contenders that were shown before they were read.
    pub(crate) unread: usize,
    search: Search,
    /// Outside of these versions somebody who is shown was not there.
    alive: Range<usize>,
}

/// How it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// Somebody is shown whom the log does not know, or with another session, or the order is never right.
    Never,
    /// All contenders are known: a digest says where.
    Digest(u64),
    /// Contender by contender.
    Walk,
}

impl<'a> Claim<'a> {
    pub(crate) fn of_shown(shown: &'a Shown, timeline: &Timeline) -> Self {
        // Whoever waits for a znode of a fixed name has none of its own, so the log does not know them.
        let has_waiters = matches!(timeline.rule(), Rule::Queue | Rule::ReadWrite);
        let mut claim = Self {
            is_complete: shown.is_complete,
            is_free: shown.is_free,
            holder_count: shown.holder_count as usize,
            waiter_count: if has_waiters { shown.waiter_count as usize } else { 0 },
            holders: &shown.holders,
            waiters: if has_waiters { &shown.waiters } else { &[] },
            unread: 0,
            search: Search::Walk,
            alive: 0..usize::MAX,
        };
        claim.prepare(timeline);
        claim
    }

    /// A lock that is not there has nobody.
    pub(crate) fn of_gone(_gone: &Gone, timeline: &Timeline) -> Self {
        let (holders, waiters): (&[Contender], &[Contender]) = (&[], &[]);
        let mut claim = Self {
            is_complete: true,
            is_free: true,
            holder_count: 0,
            waiter_count: 0,
            holders,
            waiters,
            unread: 0,
            search: Search::Walk,
            alive: 0..usize::MAX,
        };
        claim.prepare(timeline);
        claim
    }

    pub(crate) fn is_cut_short(&self) -> bool {
        self.holders.len() < self.holder_count || self.waiters.len() < self.waiter_count
    }

    /// Nobody is said to have it.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_free || (self.is_complete && self.holder_count == 0 && self.waiter_count == 0)
    }

    /// Nobody is shown as holder.
    pub(crate) fn is_empty_of_holders(&self) -> bool {
        self.is_free || self.holder_count == 0
    }

    pub(crate) fn shown(&self) -> impl Iterator<Item = &'a Contender> + use<'a> {
        self.holders.iter().chain(self.waiters)
    }

    pub(crate) fn short_line(&self) -> Line {
        let first = |contenders: &[Contender]| contenders.iter().take(LINE_MAX).copied().collect();
        Line {
            holder_count: self.holder_count,
            waiter_count: self.waiter_count,
            holders: first(self.holders),
            waiters: first(self.waiters),
        }
    }

    fn prepare(&mut self, timeline: &Timeline) {
        let (mut sum, mut before, mut is_known) = (0u64, None, true);
        for contender in self.shown() {
            let Some(czxid) = contender.czxid else {
                self.unread += 1;
                is_known = false;
                continue;
            };
            match timeline.find(czxid) {
                Found::Several => is_known = false,
                Found::Nobody => self.search = Search::Never,
                Found::At(at) => {
                    let Some(member) = timeline.member(at) else { continue };
                    // The order among all there ever were is the order at each version.
                    if !fits(contender, member) || before.is_some_and(|before| before >= at) {
                        self.search = Search::Never;
                    }
                    before = Some(at);
                    self.alive.start = self.alive.start.max(member.from);
                    self.alive.end = self.alive.end.min(member.until);
                    sum = sum.wrapping_add(mix(czxid));
                }
            }
        }
        if self.search == Search::Walk && is_known && self.is_complete && !self.is_cut_short() {
            self.search = Search::Digest(digest(sum, self.holder_count));
        }
    }

    /// The first version within a range at which it is so.
    pub(crate) fn first_in(&self, range: Range<usize>, timeline: &Timeline, cursor: &mut Cursor) -> Option<usize> {
        let mut range = self.narrow(range, timeline);
        match self.search {
            Search::Never => None,
            Search::Digest(digest) => {
                let found = timeline.with_digest(digest);
                let at = found.partition_point(|version| *version < range.start);
                found.get(at).copied().filter(|version| *version < range.end && self.fits_counts_at(timeline, *version))
            }
            Search::Walk => range.find(|version| self.is_so(*version, timeline, cursor)),
        }
    }

    /// The last one.
    pub(crate) fn last_in(&self, range: Range<usize>, timeline: &Timeline, cursor: &mut Cursor) -> Option<usize> {
        let mut range = self.narrow(range, timeline);
        match self.search {
            Search::Never => None,
            Search::Digest(digest) => {
                let found = timeline.with_digest(digest);
                let at = found.partition_point(|version| *version < range.end);
                let version = *found.get(at.checked_sub(1)?)?;
                (version >= range.start && self.fits_counts_at(timeline, version)).then_some(version)
            }
            Search::Walk => range.rfind(|version| self.is_so(*version, timeline, cursor)),
        }
    }

    fn narrow(&self, range: Range<usize>, timeline: &Timeline) -> Range<usize> {
        let end = range.end.min(self.alive.end).min(timeline.versions().len());
        range.start.max(self.alive.start).min(end)..end
    }

    fn fits_counts_at(&self, timeline: &Timeline, version: usize) -> bool {
        timeline.versions().get(version).is_some_and(|version| self.fits_counts(version))
    }

    fn fits_counts(&self, version: &Version) -> bool {
        if self.is_free && version.holder_count > 0 {
            return false;
        }
        let shown = self.holder_count + self.waiter_count;
        if self.is_complete {
            self.holder_count == version.holder_count && shown == version.count
        } else {
            shown <= version.count
        }
    }

    fn is_so(&self, version: usize, timeline: &Timeline, cursor: &mut Cursor) -> bool {
        let Some(state) = timeline.versions().get(version).filter(|state| self.fits_counts(state)) else {
            return false;
        };
        let line = timeline.seek(version, cursor);
        if self.is_complete {
            let (holders, waiters) = line.split_at_checked(state.holder_count).unwrap_or_default();
            begins_with(self.holders, holders, timeline) && begins_with(self.waiters, waiters, timeline)
        } else {
            // Some may be missing, but those who are shown stand in this order.
            let mut rest = line.iter();
            self.shown()
                .all(|contender| rest.any(|at| timeline.member(*at).is_some_and(|member| fits(contender, member))))
        }
    }
}

impl Claim<'_> {
    /// Whether all who are shown as holders hold.
    pub(crate) fn are_holders_at(&self, version: usize, timeline: &Timeline, cursor: &mut Cursor) -> bool {
        let holder_count = timeline.versions().get(version).map_or(0, |state| state.holder_count);
        let line = timeline.seek(version, cursor);
        let holders = line.split_at_checked(holder_count).unwrap_or_default().0;
        let holds = |contender: &Contender| {
            holders.iter().any(|at| timeline.member(*at).is_some_and(|member| fits(contender, member)))
        };
        self.holders.iter().all(holds)
    }
}

fn begins_with(shown: &[Contender], line: &[usize], timeline: &Timeline) -> bool {
    shown.len() <= line.len()
        && shown
            .iter()
            .zip(line)
            .all(|(contender, at)| timeline.member(*at).is_some_and(|member| fits(contender, member)))
}

/// What was not read fits anybody.
pub(crate) fn fits(contender: &Contender, member: &Member) -> bool {
    contender.czxid.is_none_or(|czxid| czxid == member.czxid)
        && contender.session.is_none_or(|session| Some(session) == member.session)
}
