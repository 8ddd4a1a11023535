//! The Stat counters of each directory against the events since: shows whether a change went unseen. Pure.

mod after_gap;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use lockscope_core::znode::{Facts, Zxid, join_path};

use super::reads::ChildEvents;
use super::unreadable::Unreadable;
pub(super) use after_gap::AfterGap;

/// Directories that are counted in one root. Overflow policy: further ones are not checked, only followed.
const DIRECTORIES_MAX: usize = 1 << 20;

/// A directory with more data than this is asked for its Stat alone, which takes a request of its own.
const DATA_BYTES_MAX: u32 = 1_024;
/// Comparisons in a row without a result before a directory is listed: of one with few children, and of any.
const DOUBTS_OF_SMALL: u8 = 2;
const DOUBTS_MAX: u8 = 8;
const SMALL_MAX: u32 = 1_000;

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Not known between its creation event and its first read.
    czxid: Option<Zxid>,
    creates: u32,
    deletes: u32,
    seen: ChildEvents,
    /// No event of a child came while the counters were read, so `seen` counts exactly what they don't.
    exact: bool,
    /// How often `creates`, `deletes` and `seen` began anew.
    begun: u8,
    /// Comparisons in a row without a result.
    doubts: u8,
    /// Its data may not be read, or are long.
    by_stat: bool,
    /// It was said to be incomplete.
    incomplete: bool,
    /// Children that went before they could be read; their deletions are in no counter yet.
    ghosts: u32,
    /// As last read.
    told: Told,
}

/// What a directory's Stat says of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    cversion: i32,
    mzxid: Zxid,
    pzxid: Zxid,
}

impl Told {
    fn of(facts: &Facts) -> Self {
        Self { cversion: facts.cversion, mzxid: facts.mzxid, pzxid: facts.pzxid }
    }
}

impl Tally {
    fn of(facts: &Facts, child_events: ChildEvents) -> Self {
        Self {
            czxid: Some(facts.czxid),
            creates: facts.creates_ever(),
            deletes: facts.deletes_ever(),
            seen: child_events,
            exact: child_events == ChildEvents::default(),
            told: Told::of(facts),
            ..Self::default()
        }
    }

    /// About how many children there are.
    fn children(&self) -> u32 {
        let creates = self.creates.wrapping_add(self.seen.creates);
        let children = creates.wrapping_sub(self.deletes.wrapping_add(self.seen.deletes));
        if children > u32::MAX / 2 { 0 } else { children }
    }

    fn begin(&mut self, facts: &Facts) {
        (self.creates, self.deletes, self.seen) = (facts.creates_ever(), facts.deletes_ever(), ChildEvents::default());
        self.begun = self.begun.wrapping_add(1);
    }
}

/// A mark: the events that were seen of a directory's children when its Stat was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    seen: ChildEvents,
    begun: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) directory: Arc<str>,
    pub(super) stamp: Version,
    /// Its Stat alone is asked for.
    pub(super) by_stat: bool,
}

/// What a check shows that no event did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missed {
    pub(super) creates: u32,
    pub(super) deletes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// It is not counted, or another znode has its path by now.
    Nothing,
    /// Events showed all that the counters report.
    Complete,
    Missed(Missed),
    /// Children came or went meanwhile, so that the counters may hide something: compare again.
    Doubtful,
    /// The same once too often: only a list shows it.
    Obscure,
}

#[derive(Debug, Default)]
pub(super) struct StatCounters {
    directories: BTreeMap<Arc<str>, Tally>,
    pub(super) unreadable: Unreadable,
    cursor: Option<Arc<str>>,
}

impl StatCounters {
    /// A znode was seen to be created: its counters began at zero, so its children are counted from the first on.
    pub(super) fn created(&mut self, path: &str) {
        if self.directories.len() < DIRECTORIES_MAX {
            self.directories.insert(path.into(), Tally { exact: true, ..Tally::default() });
        }
    }

    /// A znode was read; one that has an owner is no directory. Events of children while it was being read may or may
    /// not be in its counters; taking them as seen can't raise a false alarm. True when it should be checked at once.
    pub(super) fn read(&mut self, path: &Arc<str>, facts: &Facts, child_events: ChildEvents) -> bool {
        if facts.owner.is_some() {
            self.directories.remove(path);
            return false;
        }
        let full = self.directories.len() >= DIRECTORIES_MAX;
        match self.directories.get_mut(path) {
            Some(tally) if tally.czxid == Some(facts.czxid) => return false,
            Some(tally) if tally.czxid.is_none() => {
                tally.czxid = Some(facts.czxid);
                tally.told = Told::of(facts);
                // What was seen before it was asked for is in its counters; what was seen meanwhile may be.
                return facts.creates_ever() > tally.seen.creates.wrapping_sub(child_events.creates);
            }
            None if full => return false,
            Some(_) | None => {}
        }
        self.directories.insert(Arc::clone(path), Tally::of(facts, child_events));
        false
    }

    /// A directory whose data may not be read, or are long, is asked for its Stat alone.
    pub(super) fn choose_way(&mut self, path: &str, unreadable: bool, payload_bytes: u32) {
        if let Some(tally) = self.directories.get_mut(path) {
            tally.by_stat = unreadable || payload_bytes > DATA_BYTES_MAX;
        }
    }

    /// Whether a directory is said to be incomplete, as it is said from now on; None when it is not counted or that is
    /// no news.
    pub(super) fn say(&mut self, path: &str, incomplete: bool) -> Option<bool> {
        let tally = self.directories.get_mut(path)?;
        (std::mem::replace(&mut tally.incomplete, incomplete) != incomplete).then_some(incomplete)
    }

    /// Whether a directory's Stat differs from the last one; remembers it.
    pub(super) fn is_news(&mut self, path: &str, facts: &Facts) -> bool {
        let told = Told::of(facts);
        self.directories.get_mut(path).is_some_and(|tally| std::mem::replace(&mut tally.told, told) != told)
    }

    /// Whether a directory's Stat is of before the last one.
    pub(super) fn is_older(&self, path: &str, facts: &Facts) -> bool {
        let told = self.directories.get(path).map(|tally| tally.told);
        told.is_some_and(|told| facts.pzxid < told.pzxid || facts.mzxid < told.mzxid)
    }

    /// Children went before they could be read.
    pub(super) fn add_ghosts(&mut self, directory: &str, count: u32) {
        if let Some(tally) = self.directories.get_mut(directory) {
            tally.ghosts = tally.ghosts.saturating_add(count);
        }
    }

    /// Takes deletions that no known child explains for those of ghosts. False when they are too many.
    pub(super) fn lay_ghosts(&mut self, directory: &str, count: u32) -> bool {
        let Some(tally) = self.directories.get_mut(directory) else { return true };
        let explained = tally.ghosts >= count;
        tally.ghosts = tally.ghosts.saturating_sub(count);
        explained
    }

    /// A child was seen to come or go. False when its directory is not counted.
    pub(super) fn child_seen(&mut self, directory: &str, created: bool) -> bool {
        let Some(tally) = self.directories.get_mut(directory) else { return false };
        let count = if created { &mut tally.seen.creates } else { &mut tally.seen.deletes };
        *count = count.wrapping_add(1);
        true
    }

    pub(super) fn has(&self, directory: &str) -> bool {
        self.directories.contains_key(directory)
    }

    pub(super) fn directories(&self) -> Vec<Arc<str>> {
        self.directories.keys().cloned().collect()
    }

    pub(super) fn gone(&mut self, path: &str) {
        self.directories.remove(path);
        self.unreadable.gone(path);
    }

    /// A directory's Stat may not be read any more.
    pub(super) fn uncount(&mut self, path: &str) {
        self.directories.remove(path);
    }

    /// A directory as it is compared now; None when it is not counted.
    pub(super) fn check_of(&self, directory: &Arc<str>) -> Option<Check> {
        self.directories.get(directory).map(|tally| check_of(directory, tally))
    }

    pub(super) fn begin_round(&mut self) {
        self.cursor = None;
    }

    /// The next directories of the round, at least one; empty at its end.
    pub(super) fn next_checks(&mut self, count_max: usize, bytes_max: usize) -> Vec<Check> {
        let after = self.cursor.take().map_or(Bound::Unbounded, Bound::Excluded);
        let mut bytes = 0;
        let fits = |(path, _): &(&Arc<str>, &Tally)| {
            bytes += path.len();
            bytes == path.len() || bytes <= bytes_max
        };
        let next = self.directories.range((after, Bound::Unbounded)).take(count_max).take_while(fits);
        let next: Vec<Check> = next.map(|(path, tally)| check_of(path, tally)).collect();
        self.cursor = next.last().map(|check| Arc::clone(&check.directory));
        next
    }

    /// Compares counters with what was seen; what is unseen is reported once. Nothing unseen may be reported as well:
    /// until now the counters were not exact enough to show it, so only a list does.
    pub(super) fn check(&mut self, directory: &str, facts: &Facts, stamp: Version) -> Comparison {
        let tally = self.directories.get_mut(directory).filter(|tally| tally.czxid == Some(facts.czxid));
        let Some(tally) = tally else { return Comparison::Nothing };
        let creates = facts.creates_ever().wrapping_sub(tally.creates);
        let deletes = facts.deletes_ever().wrapping_sub(tally.deletes);
        // Events seen by now may be ahead of the counters, never behind; those seen when it was asked for are in them.
        // Half of the number range separates a deficit from being ahead.
        let deficit =
            |counted: u32, seen: u32| Some(counted.wrapping_sub(seen)).filter(|n| *n <= u32::MAX / 2).unwrap_or(0);
        let at_least = |seen: ChildEvents| Missed {
            creates: deficit(creates, seen.creates),
            deletes: deficit(deletes, seen.deletes),
        };
        let unseen = at_least(tally.seen);
        let is_same = stamp.begun == tally.begun;
        let quiet = is_same && stamp.seen == tally.seen;
        let was_exact = tally.exact;
        tally.exact |= quiet;
        let hides_nothing = was_exact && is_same && at_least(stamp.seen) == Missed::default();
        if quiet {
            tally.begin(facts);
        } else {
            tally.creates = tally.creates.wrapping_add(unseen.creates);
            tally.deletes = tally.deletes.wrapping_add(unseen.deletes);
        }
        tally.by_stat |= facts.payload_bytes > DATA_BYTES_MAX;
        if unseen != Missed::default() || was_exact != tally.exact {
            tally.doubts = 0;
            return Comparison::Missed(unseen);
        }
        if hides_nothing {
            tally.doubts = 0;
            return Comparison::Complete;
        }
        tally.doubts += 1;
        let enough = if facts.children <= SMALL_MAX { DOUBTS_OF_SMALL } else { DOUBTS_MAX };
        if tally.doubts < enough {
            return Comparison::Doubtful;
        }
        tally.doubts = 0;
        Comparison::Obscure
    }

    /// About how many children a directory has; None when it is not counted.
    pub(super) fn children(&self, directory: &str) -> Option<u32> {
        self.directories.get(directory).map(Tally::children)
    }

    /// Whether all that came and went is explained, and no directory has more children than that.
    pub(super) fn is_complete(&self, children_max: u32) -> bool {
        let is_whole = |tally: &Tally| !tally.incomplete && tally.children() <= children_max;
        self.unreadable.is_empty()
            && self.directories.len() < DIRECTORIES_MAX
            && self.directories.values().all(is_whole)
    }

    pub(super) fn below(&self, directory: &str) -> Vec<Arc<str>> {
        let begin = join_path(directory, "");
        let after = self.directories.range::<str, _>((Bound::Excluded(&*begin), Bound::Unbounded));
        after.map(|(path, _)| path).take_while(|path| path.starts_with(&begin)).cloned().collect()
    }

    pub(super) fn is_round_over(&self) -> bool {
        let Some(last) = &self.cursor else { return true };
        self.directories.range::<str, _>((Bound::Excluded(&**last), Bound::Unbounded)).next().is_none()
    }

    /// It is not known which changes the counters reported: the next quiet comparison counts from there.
    pub(super) fn doubt(&mut self, directory: &str) {
        if let Some(tally) = self.directories.get_mut(directory) {
            tally.exact = false;
        }
    }

    /// A list showed more than its check: those count as seen.
    pub(super) fn seen_by_list(&mut self, directory: &str, creates: u32, deletes: u32) {
        if let Some(tally) = self.directories.get_mut(directory) {
            tally.seen.creates = tally.seen.creates.wrapping_add(creates);
            tally.seen.deletes = tally.seen.deletes.wrapping_add(deletes);
        }
    }
}

fn check_of(directory: &Arc<str>, tally: &Tally) -> Check {
    Check {
        directory: Arc::clone(directory),
        stamp: Version { seen: tally.seen, begun: tally.begun },
        by_stat: tally.by_stat,
    }
}

#[cfg(test)]
mod tests;
