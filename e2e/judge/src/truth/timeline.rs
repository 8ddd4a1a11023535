//! One lock through time: a version for each transaction that changed who contends.
//!
//! Holders are always the first of the line, so a state is the line and a number of holders. Only differences are kept;
//! a [`Cursor`] walks from version to version, and digests find a whole line at once.

use std::collections::{BTreeSet, HashMap};

use super::{Child, Moment, Rule, rule};
use crate::{Contender, LINE_MAX, Line};

/// One contender; its place in the vector is its place in the line among all there ever were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) czxid: i64,
    pub(crate) session: Option<i64>,
    is_reader: bool,
    /// The first version it is in, and the first it is not in any more.
    pub(crate) from: usize,
    pub(crate) until: usize,
}

/// What holds from one transaction until the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub(crate) begins: Moment,
    pub(crate) holder_count: usize,
    /// Holders and waiters.
    pub(crate) count: usize,
    /// Its changes begin here.
    changes: usize,
    /// The earliest stamp of this version and all later ones: clocks may have been set back.
    earliest_ms: i64,
}

/// Somebody came or went.
#[derive(Clone, Copy, Debug)]
struct Step {
    member: usize,
    is_birth: bool,
}

/// One lock through time.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    rule: Rule,
    members: Vec<Member>,
    /// Where a czxid is; `None` where a multi made several contenders, which share it.
    by_czxid: HashMap<i64, Option<usize>>,
    versions: Vec<Version>,
    steps: Vec<Step>,
    by_digest: HashMap<u64, Vec<usize>>,
}

/// Who has a czxid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nobody,
    At(usize),
    Several,
}

/// The line at one version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
    at: usize,
    line: Vec<usize>,
}

impl Timeline {
    pub(super) fn new<'a>(rule: Rule, children: impl Iterator<Item = &'a Child>) -> Self {
        let mut children: Vec<&Child> = children.collect();
        let place = |child: &Child| (rule::sequence(&child.name).unwrap_or_default(), child.name.clone(), child.czxid);
        match rule {
            Rule::Queue | Rule::ReadWrite => children.sort_by_cached_key(|child| place(child)),
            Rule::FixedChild | Rule::FixedNode => children.sort_by_key(|child| child.czxid),
        }
        let member = |child: &&Child| Member {
            czxid: child.czxid,
            session: child.owner,
            is_reader: rule::is_reader(&child.name),
            from: 0,
            until: usize::MAX,
        };
        let members: Vec<Member> = children.iter().map(member).collect();
        let mut by_czxid = HashMap::new();
        for (at, member) in members.iter().enumerate() {
            by_czxid.entry(member.czxid).and_modify(|at| *at = None).or_insert(Some(at));
        }
        let mut timeline =
            Self { rule, members, by_czxid, versions: Vec::new(), steps: Vec::new(), by_digest: HashMap::new() };
        timeline.play(&children);
        timeline
    }

    fn play(&mut self, children: &[&Child]) {
        let births = children.iter().enumerate().map(|(member, child)| (child.born, Step { member, is_birth: true }));
        let deaths = children
            .iter()
            .enumerate()
            .filter_map(|(member, child)| Some((child.died?, Step { member, is_birth: false })));
        let mut steps: Vec<(Moment, Step)> = births.chain(deaths).collect();
        // One multi may create and delete: births first, so that nobody goes before they came.
        steps.sort_by_key(|(moment, step)| (moment.zxid, !step.is_birth));
        let mut line = BTreeSet::new();
        let mut sum = 0;
        self.close_version(Moment { zxid: i64::MIN, time_ms: i64::MIN }, 0, &line, sum);
        for moment in steps.chunk_by(|a, b| a.0.zxid == b.0.zxid) {
            let (version, changes) = (self.versions.len(), self.steps.len());
            for (_, step) in moment {
                let Some(member) = self.members.get_mut(step.member) else { continue };
                if step.is_birth {
                    member.from = version;
                    line.insert(step.member);
                    sum = mix(member.czxid).wrapping_add(sum);
                } else {
                    member.until = version;
                    line.remove(&step.member);
                    sum = sum.wrapping_sub(mix(member.czxid));
                }
                self.steps.push(*step);
            }
            if let Some((begins, _)) = moment.first() {
                self.close_version(*begins, changes, &line, sum);
            }
        }
        let mut earliest_ms = i64::MAX;
        for version in self.versions.iter_mut().rev() {
            earliest_ms = earliest_ms.min(version.begins.time_ms);
            version.earliest_ms = earliest_ms;
        }
    }

    fn close_version(&mut self, begins: Moment, changes: usize, line: &BTreeSet<usize>, sum: u64) {
        let is_reader = |at: &&usize| self.members.get(**at).is_some_and(|member| member.is_reader);
        let holder_count = match self.rule {
            Rule::Queue => line.len().min(1),
            // A writer at the front holds alone.
            Rule::ReadWrite => line.iter().take_while(is_reader).count().max(line.len().min(1)),
            Rule::FixedChild | Rule::FixedNode => line.len(),
        };
        let digest = digest(sum, holder_count);
        self.by_digest.entry(digest).or_default().push(self.versions.len());
        self.versions.push(Version { begins, holder_count, count: line.len(), changes, earliest_ms: begins.time_ms });
    }

    pub(crate) fn rule(&self) -> Rule {
        self.rule
    }

    /// Never empty: the first is that before all transactions.
    pub(crate) fn versions(&self) -> &[Version] {
        &self.versions
    }

    pub(crate) fn member(&self, at: usize) -> Option<&Member> {
        self.members.get(at)
    }

    pub(crate) fn find(&self, czxid: i64) -> Found {
        match self.by_czxid.get(&czxid) {
            None => Found::Nobody,
            Some(None) => Found::Several,
            Some(Some(at)) => Found::At(*at),
        }
    }

    /// Versions in order whose line and holders have this digest.
    pub(crate) fn with_digest(&self, digest: u64) -> &[usize] {
        self.by_digest.get(&digest).map(Vec::as_slice).unwrap_or_default()
    }

    /// The version that is true at a transaction.
    pub(crate) fn at_zxid(&self, zxid: i64) -> usize {
        self.versions.partition_point(|version| version.begins.zxid <= zxid).saturating_sub(1)
    }

    /// The last version that began at an instant or before.
    pub(crate) fn at_time(&self, time_ms: i64) -> usize {
        self.versions.partition_point(|version| version.earliest_ms <= time_ms).saturating_sub(1)
    }

    pub(crate) fn begins(&self, version: usize) -> Moment {
        self.versions.get(version).map_or(Moment { zxid: i64::MAX, time_ms: i64::MAX }, |version| version.begins)
    }

    /// The transaction that ended a version; far in the future for the last.
    pub(crate) fn ends(&self, version: usize) -> Moment {
        self.begins(version + 1)
    }

    /// Walks a cursor to a version.
    pub(crate) fn seek<'c>(&self, version: usize, cursor: &'c mut Cursor) -> &'c [usize] {
        let version = version.min(self.versions.len() - 1);
        while cursor.at < version {
            cursor.at += 1;
            self.steps_of(cursor.at).iter().for_each(|step| cursor.step(step.member, step.is_birth));
        }
        while cursor.at > version {
            self.steps_of(cursor.at).iter().rev().for_each(|step| cursor.step(step.member, !step.is_birth));
            cursor.at -= 1;
        }
        &cursor.line
    }

    fn steps_of(&self, version: usize) -> &[Step] {
        let begin = self.versions.get(version).map_or(0, |version| version.changes);
        let end = self.versions.get(version + 1).map_or(self.steps.len(), |version| version.changes);
        self.steps.get(begin..end).unwrap_or_default()
    }

    /// What was true at a version, of each kind so many.
    pub(crate) fn line(&self, version: usize, cursor: &mut Cursor, most: usize) -> Line {
        let holder_count = self.versions.get(version).map_or(0, |version| version.holder_count);
        let line = self.seek(version, cursor);
        let contender = |at: &usize| {
            let member = self.members.get(*at)?;
            Some(Contender { czxid: Some(member.czxid), session: member.session })
        };
        let (holders, waiters) = line.split_at_checked(holder_count).unwrap_or_default();
        Line {
            holder_count,
            waiter_count: waiters.len(),
            holders: holders.iter().filter_map(contender).take(most).collect(),
            waiters: waiters.iter().filter_map(contender).take(most).collect(),
        }
    }

    /// The same for a report.
    pub(crate) fn short_line(&self, version: usize, cursor: &mut Cursor) -> Line {
        self.line(version, cursor, LINE_MAX)
    }
}

impl Cursor {
    fn step(&mut self, member: usize, is_there: bool) {
        match (self.line.binary_search(&member), is_there) {
            (Err(at), true) => self.line.insert(at, member),
            (Ok(at), false) => _ = self.line.remove(at),
            (Ok(_), true) | (Err(_), false) => {}
        }
    }
}

/// Spreads a czxid over all bits (the finaliser of SplitMix64), so that sums of different lines differ.
pub(crate) fn mix(czxid: i64) -> u64 {
    let mut bits = czxid.cast_unsigned().wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Of a line by the sum over its czxids, and of how many hold.
pub(crate) fn digest(sum: u64, holder_count: usize) -> u64 {
    sum.wrapping_add(mix(-1 - i64::try_from(holder_count).unwrap_or(i64::MAX)))
}
