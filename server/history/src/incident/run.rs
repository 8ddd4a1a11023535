//! Runs of unhealthy verdicts of one lock, from the facts that were stored.

use std::collections::BTreeMap;

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;

use crate::derive::{is_trouble, verdict_of};
use crate::store::Gap;
use crate::store::rows::{Fact, FactKind};

/// Trouble that comes back within this time was not over.
pub const QUIET_MS: i64 = 60_000;

/// A run of unhealthy verdicts of one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The lock.
    pub lock: Box<str>,
    /// The number of the fact that began it.
    pub number: u64,
    /// When it began.
    pub from: TimeMs,
    /// When it ended; None while it goes on.
    pub to: Option<TimeMs>,
    /// When its verdict was told last.
    pub told_at: TimeMs,
    /// The worst verdict.
    pub worst: Verdict,
    /// Nobody looked when it ended: `to` is the last instant at which it was known.
    pub is_cut: bool,
}

impl Run {
    /// It is over, and nobody saw when.
    pub(super) fn cut(&mut self) {
        (self.to, self.is_cut) = (Some(self.told_at), true);
    }

    /// It goes on.
    pub fn is_open(&self) -> bool {
        self.to.is_none()
    }

    /// When it ended, or how far it is.
    pub fn until(&self, now: TimeMs) -> TimeMs {
        self.to.unwrap_or(now).max(self.from)
    }

    /// It overlaps another one.
    pub(super) fn overlaps(&self, other: &Self, now: TimeMs) -> bool {
        self.from <= other.until(now) && other.from <= self.until(now)
    }
}

#[derive(Debug)]
struct Open {
    run: Run,
    /// Nobody looked since: the gap's beginning, and its end.
    gap: Option<(TimeMs, TimeMs)>,
}

impl Open {
    /// Trouble again, or worse: whether the run goes on.
    fn goes_on(&self, at: TimeMs) -> bool {
        match (self.gap, self.run.to) {
            // What is known after a gap is looked at first.
            (Some((from, to)), None) => at.since(to) <= QUIET_MS || at <= from,
            (_, Some(to)) => {
                let blind = self.gap.map_or(0, |(from, to)| to.since(from).max(0));
                at.since(to) - blind <= QUIET_MS
            }
            (None, None) => true,
        }
    }

    fn finish(mut self) -> Run {
        if let (Some((from, _)), None) = (self.gap, self.run.to) {
            (self.run.to, self.run.is_cut) = (Some(from.max(self.run.from)), true);
        }
        self.run
    }
}

/// The runs that facts tell of. Facts come with the oldest first; those of other kinds than verdicts are passed over.
pub fn runs<'a>(facts: impl IntoIterator<Item = &'a Fact>, gaps: &[Gap]) -> Vec<Run> {
    let (mut open, mut ended) = (BTreeMap::<Box<str>, Open>::new(), Vec::new());
    let mut gaps: Vec<(TimeMs, TimeMs)> =
        gaps.iter().map(|gap| (gap.from, gap.to)).filter(|(from, to)| from < to).collect();
    gaps.sort_unstable_by(|one, other| other.cmp(one));
    let hide = |open: &mut BTreeMap<Box<str>, Open>, gap: (TimeMs, TimeMs)| {
        open.values_mut().for_each(|open| open.gap = Some(open.gap.map_or(gap, |(from, _)| (from, gap.1))));
    };
    for fact in facts.into_iter().filter(|fact| fact.kind == FactKind::Verdict) {
        let Some(lock) = &fact.lock else { continue };
        while let Some(gap) = gaps.pop_if(|gap| gap.0 < fact.at) {
            hide(&mut open, gap);
        }
        let verdict = verdict_of(&fact.code).unwrap_or(Verdict::Unknown);
        if !is_trouble(verdict) {
            if let Some(open) = open.get_mut(lock) {
                if open.run.to.is_none() {
                    // Where it is not known what a lock is, nobody sees how its trouble ends.
                    (open.run.to, open.run.is_cut) = (Some(fact.at), verdict == Verdict::Unknown);
                }
                open.gap = None;
            }
            continue;
        }
        if let Some(known) = open.get_mut(lock).filter(|open| open.goes_on(fact.at)) {
            (known.run.to, known.run.is_cut) = (None, false);
            (known.run.told_at, known.gap) = (fact.at, None);
            known.run.worst = known.run.worst.max(verdict);
            continue;
        }
        let run = Run {
            lock: lock.clone(),
            number: fact.number,
            from: fact.at,
            to: None,
            told_at: fact.at,
            worst: verdict,
            is_cut: false,
        };
        ended.extend(open.insert(lock.clone(), Open { run, gap: None }).map(Open::finish));
    }
    while let Some(gap) = gaps.pop() {
        hide(&mut open, gap);
    }
    ended.extend(open.into_values().map(Open::finish));
    ended.sort_by_key(|run| (run.from, run.number));
    ended
}
