//! The bench: one lock on one socket after the other, against that lock's truth.

use std::ops::Range;

use crate::claim::Claim;
use crate::difference::difference;
use crate::display::{Display, Track, What};
use crate::fault::{FaultSpan, Faults};
use crate::truth::{Cursor, Timeline};
use crate::{FrameRef, Line, Report, Wrong};

/// How far back it is looked for the state that a wrong claim may be, in versions.
const PAST_MAX: usize = 4_096;
/// How far ahead.
const FUTURE_MAX: usize = 256;
/// What comes true so soon after it was shown is put down to clocks, and named so.
const SKEW_MAX_MS: i64 = 250;

/// Who judges one lock.
pub(crate) struct Bench<'a> {
    faults: Faults<'a>,
    timeline: &'a Timeline,
    cursor: Cursor,
    report: &'a mut Report,
}

/// A reconnect that a track is watched after.
struct Reconnect<'a> {
    span: &'a FaultSpan,
    good_at_ms: i64,
    exact_at_ms: Option<i64>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(faults: Faults<'a>, timeline: &'a Timeline, report: &'a mut Report) -> Self {
        Self { faults, timeline, cursor: Cursor::default(), report }
    }

    /// Judges all that a socket showed of the lock.
    pub(crate) fn track(&mut self, track: &Track<'_>) {
        let faults = self.faults;
        let reconnect = |(span, good_at_ms)| Reconnect { span, good_at_ms, exact_at_ms: None };
        let mut reconnects: Vec<Reconnect<'_>> = faults.reconnects().map(reconnect).collect();
        let (mut last_match, mut last_display) = (0, None);
        for display in &track.displays {
            let place_of = |display: &Display<'_>| FrameRef {
                socket: track.socket,
                lock: track.lock.to_owned(),
                arrived_at_ms: display.from_ms,
                zxid: display.what.claims().0,
            };
            let place = || place_of(display);
            let claim = self.claim(display);
            self.count(&claim);
            self.link(display, place);
            let range = self.range(display, last_match);
            let Some(version) = claim.first_in(range.clone(), self.timeline, &mut self.cursor) else {
                let line = |before: &Display<'_>| self.claim(before).short_line();
                let before = last_display.map(|before| (place_of(before), before.what.claims().1, line(before)));
                let wrong = self.explain(&claim, display, place(), range, (last_match, before));
                self.report.push(wrong);
                continue;
            };
            (last_match, last_display) = (version, Some(display));
            self.unproved(&claim, version);
            self.age(&claim, display, version, place);
            for reconnect in &mut reconnects {
                self.exact(reconnect, &claim, display, version);
            }
        }
        for reconnect in reconnects {
            self.late(&reconnect, track);
        }
    }

    fn claim<'d>(&self, display: &Display<'d>) -> Claim<'d> {
        match display.what {
            What::Shown(shown) => Claim::of_shown(shown, self.timeline),
            What::Gone(gone) => Claim::of_gone(gone, self.timeline),
        }
    }

    fn count(&mut self, claim: &Claim<'_>) {
        let counts = &mut self.report.counts;
        counts.live += 1;
        counts.incomplete += u64::from(!claim.is_complete);
        counts.cut_short += u64::from(claim.is_cut_short());
        counts.unread += claim.unread as u64;
    }

    /// An incomplete line may name a holder who is not one; how often that happens is worth knowing.
    fn unproved(&mut self, claim: &Claim<'_>, version: usize) {
        if !claim.is_complete && !claim.are_holders_at(version, self.timeline, &mut self.cursor) {
            self.report.counts.unproved_holders += 1;
        }
    }

    /// The versions at which a frame has to be true: not before what it claims, not before what the socket had been
    /// shown, not after its arrival.
    fn range(&self, display: &Display<'_>, last_match: usize) -> Range<usize> {
        let tolerance_ms = self.faults.limits.clock_tolerance_ms;
        let (zxid, true_at_ms) = display.what.claims();
        let by_zxid = if zxid == 0 { 0 } else { self.timeline.at_zxid(zxid) };
        let by_time =
            if true_at_ms == 0 { 0 } else { self.timeline.at_time(self.faults.settled_ms(true_at_ms - tolerance_ms)) };
        let arrival = self.timeline.at_time(display.from_ms + tolerance_ms);
        by_zxid.max(by_time).max(last_match)..arrival + 1
    }

    /// When a version was not true any more, at the latest.
    fn ended_ms(&self, version: usize) -> i64 {
        self.faults.came_true_ms(self.timeline.ends(version).time_ms)
    }

    /// How old the state grew while it was shown: it may have come true again meanwhile.
    fn age(&mut self, claim: &Claim<'_>, display: &Display<'_>, version: usize, place: impl Fn() -> FrameRef) {
        let limits = self.faults.limits;
        let arrival = self.timeline.at_time(display.from_ms + limits.clock_tolerance_ms);
        let end = self.timeline.at_time(display.until_ms + limits.clock_tolerance_ms) + 1;
        let mut current = claim.last_in(version..arrival + 1, self.timeline, &mut self.cursor);
        let mut worst: Option<Wrong> = None;
        while let Some(version) = current {
            let next = claim.first_in(version + 1..end, self.timeline, &mut self.cursor);
            let true_until_ms = self.ended_ms(version);
            let stood_until_ms = next
                .map_or(display.until_ms, |next| self.timeline.begins(next).time_ms.min(display.until_ms))
                .max(display.from_ms);
            self.report.worst.age_ms = self.report.worst.age_ms.max(stood_until_ms.saturating_sub(true_until_ms));
            let wrong_from_ms = true_until_ms.saturating_add(limits.age_max_ms + limits.clock_tolerance_ms);
            let last_ms = self
                .faults
                .last_inexcusable(wrong_from_ms, stood_until_ms)
                .filter(|last_ms| *last_ms >= display.from_ms);
            if let Some(shown_until_ms) = last_ms {
                let age_ms = shown_until_ms - true_until_ms;
                worst = Some(Wrong::OldAndLive { place: place(), true_until_ms, shown_until_ms, age_ms });
            }
            current = next;
        }
        if let Some(wrong) = worst {
            self.report.push(wrong);
        }
    }

    /// LIVE has to end soon after the link is lost, whether or not anything changes meanwhile.
    fn link(&mut self, display: &Display<'_>, place: impl Fn() -> FrameRef) {
        let faults = self.faults;
        for (span, wrong_from_ms) in faults.dark() {
            let shown_until_ms = display.until_ms.min(span.ends_ms() - 1);
            let stayed_ms = shown_until_ms - span.lost_at_ms;
            if display.from_ms < span.ends_ms() && stayed_ms > 0 {
                self.report.worst.not_live_ms = self.report.worst.not_live_ms.max(stayed_ms);
            }
            let last_ms = self
                .faults
                .last_inexcusable(wrong_from_ms, shown_until_ms)
                .filter(|last_ms| *last_ms >= display.from_ms);
            if let Some(shown_until_ms) = last_ms {
                self.report.push(Wrong::LiveWithoutLink {
                    place: place(),
                    lost_at_ms: span.lost_at_ms,
                    shown_until_ms,
                });
            }
        }
    }

    /// Notes when a track was exact again after a reconnect.
    fn exact(&mut self, reconnect: &mut Reconnect<'_>, claim: &Claim<'_>, display: &Display<'_>, version: usize) {
        if reconnect.exact_at_ms.is_some() || display.until_ms < reconnect.good_at_ms {
            return;
        }
        let tolerance_ms = self.faults.limits.clock_tolerance_ms;
        let begin = self.timeline.at_time(self.faults.settled_ms(reconnect.good_at_ms)).max(version);
        let end = self.timeline.at_time(display.until_ms + tolerance_ms) + 1;
        if let Some(version) = claim.first_in(begin..end, self.timeline, &mut self.cursor) {
            let began_ms = self.timeline.begins(version).time_ms;
            reconnect.exact_at_ms = Some(began_ms.max(display.from_ms).max(reconnect.good_at_ms));
        }
    }

    fn late(&mut self, reconnect: &Reconnect<'_>, track: &Track<'_>) {
        let limits = self.faults.limits;
        let good_at_ms = reconnect.good_at_ms;
        let deadline_ms = good_at_ms + limits.exact_max_ms + limits.clock_tolerance_ms;
        let is_watched = track.first_at_ms < good_at_ms && track.last_at_ms > deadline_ms;
        if !is_watched || self.faults.is_disturbed(reconnect.span, good_at_ms, deadline_ms) {
            return;
        }
        if let Some(exact_at_ms) = reconnect.exact_at_ms {
            self.report.worst.exact_ms = self.report.worst.exact_ms.max(exact_at_ms - good_at_ms);
        }
        if reconnect.exact_at_ms.is_none_or(|exact_at_ms| exact_at_ms > deadline_ms) {
            let (socket, lock) = (track.socket, track.lock.to_owned());
            self.report.push(Wrong::LateAfterReconnect {
                socket,
                lock,
                good_at_ms,
                exact_at_ms: reconnect.exact_at_ms,
            });
        }
    }

    /// Why a claim was true at none of the versions at which it could have been.
    fn explain(
        &mut self,
        claim: &Claim<'_>,
        display: &Display<'_>,
        place: FrameRef,
        range: Range<usize>,
        (last_match, before): (usize, Option<(FrameRef, i64, Line)>),
    ) -> Wrong {
        // That somebody has it and nobody is said to is the gravest, whatever it was before.
        if !claim.is_empty() {
            let past = range.start.saturating_sub(PAST_MAX)..range.start;
            if let Some(version) = claim.last_in(past, self.timeline, &mut self.cursor) {
                let true_until_zxid = self.timeline.ends(version).zxid - 1;
                let true_until_ms = self.ended_ms(version);
                if let Some((shown_before, before_true_at_ms, line_before)) = before.filter(|_| version < last_match) {
                    return Wrong::TimeTravel {
                        place,
                        true_until_zxid,
                        shown_before_zxid: self.timeline.begins(last_match).zxid,
                        true_at_ms: display.what.claims().1,
                        line: claim.short_line(),
                        stamped_at_ms: self.timeline.ends(version).time_ms,
                        shown_before,
                        before_true_at_ms,
                        line_before,
                    };
                }
                if display.from_ms.saturating_sub(true_until_ms) <= self.faults.limits.age_max_ms {
                    return Wrong::OlderThanClaimed { place, true_until_zxid, true_until_ms };
                }
            }
            let future = range.end..range.end + FUTURE_MAX;
            if let Some(version) = claim.first_in(future, self.timeline, &mut self.cursor) {
                let true_from_ms = self.timeline.begins(version).time_ms;
                if true_from_ms - display.from_ms <= SKEW_MAX_MS {
                    return Wrong::FromTheFuture { place, true_from_ms };
                }
            }
        }
        let nearest = range.start.min(range.end - 1)..range.end;
        difference(claim, place, nearest, self.timeline, &mut self.cursor)
    }
}
