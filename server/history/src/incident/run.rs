//! Runs of trouble of one lock, from the facts that were stored: of unhealthy verdicts, and of findings by which somebody is
//! hurt.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;

use crate::derive::{Harm, harm_by_name, is_trouble, verdict_of};
use crate::store::Gap;
use crate::store::rows::{Fact, FactKind};

/// Trouble that comes back within this time was not over.
pub const QUIET_MS: i64 = 60_000;

/// How long after it is so no longer a finding may be cleared: findings are looked for once a lock has been quiet for a while.
pub(super) const LAG_MS: i64 = 1_000;

/// A run of trouble of one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub lock: Box<str>,
    /// The number of the fact that began it.
    pub number: u64,
    pub from: TimeMs,
    /// When it ended; None while it goes on.
    pub to: Option<TimeMs>,
    /// When it was told last that something is wrong.
    pub told_at: TimeMs,
    /// The worst verdict; `Healthy` where findings alone say that something was wrong.
    pub worst: Verdict,
    /// Findings by which somebody was hurt, by their codes.
    pub findings: BTreeSet<Box<str>>,
    /// Whom it hurts: where that is those who wait, and nobody does, it is no trouble.
    pub harm: Harm,
    /// Nobody looked when it ended: `to` is the last instant at which it was known.
    pub is_cut: bool,
}

impl Run {
    /// It is over, and nobody saw when.
    pub(super) fn cut(&mut self) {
        (self.to, self.is_cut) = (Some(self.told_at), true);
    }

    pub fn is_open(&self) -> bool {
        self.to.is_none()
    }

    /// When it ended, or how far it is.
    pub fn until(&self, now: TimeMs) -> TimeMs {
        self.to.unwrap_or(now).max(self.from)
    }

    pub(super) fn overlaps(&self, other: &Self, now: TimeMs) -> bool {
        self.from <= other.until(now) && other.from <= self.until(now)
    }
}

/// What a fact says of a lock.
enum Sign<'a> {
    Verdict(Verdict),
    Finding(&'a str, Option<Harm>),
}

impl<'a> Sign<'a> {
    fn of(fact: &'a Fact) -> Option<Self> {
        match fact.kind {
            FactKind::Verdict => Some(Self::Verdict(verdict_of(&fact.code).unwrap_or(Verdict::Unknown))),
            FactKind::Finding => Some(Self::Finding(&fact.code, harm_by_name(&fact.code, fact.severity))),
            FactKind::Link
            | FactKind::Root
            | FactKind::Deadlock
            | FactKind::Gap
            | FactKind::Release
            | FactKind::Alert => None,
        }
    }

    /// Whom it hurts; None where it says that something is over.
    fn harm(&self) -> Option<Harm> {
        match self {
            Self::Verdict(verdict) => is_trouble(*verdict).then_some(Harm::Everybody),
            Self::Finding(_, harm) => *harm,
        }
    }
}

#[derive(Debug)]
struct Open {
    run: Run,
    /// Its verdict is one of trouble.
    is_bad: bool,
    /// When its verdict was one of trouble last.
    was_bad_until: Option<TimeMs>,
    /// Its findings by which somebody is hurt.
    findings: BTreeSet<Box<str>>,
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

    fn note(&mut self, sign: &Sign<'_>, harm: Harm, at: TimeMs) {
        if self.gap.take().is_some() {
            // What is so still is told again behind a gap.
            self.is_bad = false;
            self.findings.clear();
        }
        (self.run.to, self.run.is_cut, self.run.told_at) = (None, false, at);
        self.run.harm = self.run.harm.max(harm);
        match sign {
            Sign::Verdict(verdict) => {
                self.is_bad = true;
                self.run.worst = self.run.worst.max(*verdict);
            }
            Sign::Finding(code, _) => {
                self.findings.insert((*code).into());
                self.run.findings.insert((*code).into());
            }
        }
    }

    fn clear(&mut self, sign: &Sign<'_>, at: TimeMs) {
        let mut ended_at = at;
        match sign {
            Sign::Verdict(_) => {
                if std::mem::take(&mut self.is_bad) {
                    self.was_bad_until = Some(at);
                }
                if self.gap.take().is_some() {
                    self.findings.clear();
                }
            }
            Sign::Finding(code, _) => {
                if !self.findings.remove(*code) {
                    return;
                }
                // The verdict knows when.
                ended_at = self.was_bad_until.filter(|until| at.since(*until) <= LAG_MS).unwrap_or(at);
            }
        }
        if self.run.to.is_none() && !self.is_bad && self.findings.is_empty() {
            // Where it is not known what a lock is, nobody sees how its trouble ends.
            (self.run.to, self.run.is_cut) = (Some(ended_at), matches!(sign, Sign::Verdict(Verdict::Unknown)));
            self.gap = None;
        }
    }

    fn finish(mut self) -> Run {
        if let (Some((from, _)), None) = (self.gap, self.run.to) {
            (self.run.to, self.run.is_cut) = (Some(from.max(self.run.from)), true);
        }
        self.run
    }
}

/// The runs that facts tell of. Facts come with the oldest first; those of other kinds than verdicts and findings are passed
/// over.
pub fn runs<'a>(facts: impl IntoIterator<Item = &'a Fact>, gaps: &[Gap]) -> Vec<Run> {
    let mut found = RunFinder::new(gaps);
    facts.into_iter().for_each(|fact| found.take(fact));
    found.finish()
}

/// Finds runs in facts that come one by one, the oldest first.
#[derive(Debug)]
pub(super) struct RunFinder {
    open: BTreeMap<Box<str>, Open>,
    ended: Vec<Run>,
    /// Those that did not begin yet, the first of them last.
    gaps: Vec<(TimeMs, TimeMs)>,
}

impl RunFinder {
    pub(super) fn new(gaps: &[Gap]) -> Self {
        let mut gaps: Vec<(TimeMs, TimeMs)> =
            gaps.iter().map(|gap| (gap.from, gap.to)).filter(|(from, to)| from < to).collect();
        gaps.sort_unstable_by(|one, other| other.cmp(one));
        Self { open: BTreeMap::new(), ended: Vec::new(), gaps }
    }

    pub(super) fn take(&mut self, fact: &Fact) {
        let (Some(lock), Some(sign)) = (&fact.lock, Sign::of(fact)) else { return };
        while let Some(gap) = self.gaps.pop_if(|gap| gap.0 < fact.at) {
            self.hide(gap);
        }
        let Some(harm) = sign.harm() else {
            if let Some(open) = self.open.get_mut(lock) {
                open.clear(&sign, fact.at);
            }
            return;
        };
        if let Some(known) = self.open.get_mut(lock).filter(|open| open.goes_on(fact.at)) {
            known.note(&sign, harm, fact.at);
            return;
        }
        let run = Run {
            lock: lock.clone(),
            number: fact.number,
            from: fact.at,
            to: None,
            told_at: fact.at,
            worst: Verdict::Healthy,
            findings: BTreeSet::new(),
            harm,
            is_cut: false,
        };
        let mut begun = Open { run, is_bad: false, was_bad_until: None, findings: BTreeSet::new(), gap: None };
        begun.note(&sign, harm, fact.at);
        self.ended.extend(self.open.insert(lock.clone(), begun).map(Open::finish));
    }

    /// Lets go of runs that can't go on any more as of an instant, and of the oldest of so many that ended: how many.
    pub(super) fn settle(&mut self, at: TimeMs, most: usize) -> usize {
        let is_over = |open: &Open| open.gap.is_none() && open.run.to.is_some_and(|to| at.since(to) > QUIET_MS);
        let over = self.open.extract_if(.., |_, open| is_over(open)).map(|(_, open)| open.finish());
        self.ended.extend(over);
        let left_out = self.ended.len().saturating_sub(most);
        if left_out > 0 {
            self.ended.sort_by_key(|run| (run.from, run.number));
            self.ended.drain(..left_out);
        }
        left_out
    }

    /// All of them, the oldest first.
    pub(super) fn finish(mut self) -> Vec<Run> {
        while let Some(gap) = self.gaps.pop() {
            self.hide(gap);
        }
        self.ended.extend(self.open.into_values().map(Open::finish));
        self.ended.sort_by_key(|run| (run.from, run.number));
        self.ended
    }

    /// Nobody looked from one instant to another.
    fn hide(&mut self, gap: (TimeMs, TimeMs)) {
        self.open.values_mut().for_each(|open| open.gap = Some(open.gap.map_or(gap, |(from, _)| (from, gap.1))));
    }
}
