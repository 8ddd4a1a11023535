//! A directory: its children in order, their census, its Stat.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::child::{AsKey, Child, ChildKey, KeyView, Totals};
use crate::missing::{Missing, MissingSet};
use crate::recipe::{self, NodeRole, RuleId};
use crate::znode::{Facts, Zxid};

/// Stat of a znode that has, or had, children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryStat {
    /// Identity.
    pub czxid: Zxid,
    /// Last change of data.
    pub mzxid: Zxid,
    /// Last change of its children.
    pub pzxid: Zxid,
    /// Creation on the ensemble's clock.
    pub ctime_ms: i64,
    /// Data version.
    pub version: i32,
    /// Child version.
    pub cversion: i32,
    /// Children at that moment.
    pub children: u32,
    /// Children created until that moment.
    pub creates_ever: u32,
}

impl DirectoryStat {
    pub(super) fn of(facts: &Facts) -> Self {
        Self {
            czxid: facts.czxid,
            mzxid: facts.mzxid,
            pzxid: facts.pzxid,
            ctime_ms: facts.ctime_ms,
            version: facts.version,
            cversion: facts.cversion,
            children: facts.children,
            creates_ever: facts.creates_ever(),
        }
    }
}

/// The children of a directory whose names fit one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleCount {
    /// The rule.
    pub rule: RuleId,
    /// Those among them that are evidence of a recipe.
    pub evidence: u32,
    /// All of them.
    pub totals: Totals,
}

/// A znode that has, or had, children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    pub(super) id: u32,
    pub(super) children: BTreeMap<ChildKey, Child>,
    pub(super) census: Vec<RuleCount>,
    /// Children that may not be read.
    pub(super) unreadable: u32,
    /// What the observer says is missing from its children.
    pub(super) told_missing: MissingSet,
    /// Its Stat, as of the last read.
    pub stat: Option<DirectoryStat>,
}

impl Directory {
    /// All children: those without a number first, then in sequence order.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = (&ChildKey, &Child)> {
        self.children.iter()
    }

    /// Children with a sequence number, in order.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (&ChildKey, &Child)> {
        self.children.range(ChildKey::first_of(0)..)
    }

    /// Children without a sequence number.
    pub fn plain(&self) -> impl Iterator<Item = (&ChildKey, &Child)> {
        self.children.range(..ChildKey::first_of(0))
    }

    /// Children without a sequence number behind one.
    pub fn plain_after(&self, key: &ChildKey) -> impl Iterator<Item = (&ChildKey, &Child)> {
        self.after(key).take_while(|(key, _)| key.number().is_none())
    }

    /// Children before one, nearest first.
    pub fn before(&self, key: &ChildKey) -> impl Iterator<Item = (&ChildKey, &Child)> {
        self.children.range::<ChildKey, _>(..key).rev()
    }

    /// Children behind one, nearest first.
    pub fn after(&self, key: &ChildKey) -> impl Iterator<Item = (&ChildKey, &Child)> {
        self.children.range::<ChildKey, _>((Bound::Excluded(key), Bound::Unbounded))
    }

    /// Children with this number.
    pub fn with_number(&self, number: i32) -> impl Iterator<Item = (&ChildKey, &Child)> {
        let first = ChildKey::first_of(number);
        self.children.range(first..).take_while(move |(key, _)| key.number() == Some(number))
    }

    /// One child.
    pub fn child(&self, name: &str) -> Option<(&ChildKey, &Child)> {
        self.children.get_key_value(&KeyView::of(name) as &dyn AsKey)
    }

    /// What is missing from its children: what the observer says, and a child that may not be read is one of many
    /// perhaps.
    pub fn missing(&self) -> MissingSet {
        self.told_missing.with(Missing::UnreadableChildren, self.unreadable > 0)
    }

    /// Children by naming rule.
    pub fn census(&self) -> &[RuleCount] {
        &self.census
    }

    /// Sums over the children of some places.
    pub fn totals(&self, fits: impl Fn(NodeRole) -> bool) -> Totals {
        let fitting = self.census.iter().filter(|rule_count| fits(recipe::rule(rule_count.rule).role));
        fitting.fold(Totals::default(), |sum, rule_count| sum.plus(rule_count.totals))
    }

    /// The kinds of names among its children, and those that are evidence of a recipe; a bit a rule.
    pub fn kinds(&self) -> (u64, u64) {
        let bits = |fits: fn(&RuleCount) -> bool| {
            self.census
                .iter()
                .filter(|rule_count| fits(rule_count))
                .fold(0, |bits, rule_count| bits | rule_count.rule.bit())
        };
        (bits(|rule_count| rule_count.totals.count > 0), bits(|rule_count| rule_count.evidence > 0))
    }

    /// Some child has a number of a counter that ran over.
    pub fn is_wrapped(&self) -> bool {
        self.children.last_key_value().is_some_and(|(key, _)| key.is_wrapped())
    }

    /// Number of children.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// No children.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    fn rule_count(&mut self, rule: RuleId) -> Option<&mut RuleCount> {
        let at = self.census.iter().position(|rule_count| rule_count.rule == rule).unwrap_or_else(|| {
            self.census.push(RuleCount { rule, evidence: 0, totals: Totals::default() });
            self.census.len() - 1
        });
        self.census.get_mut(at)
    }

    /// Counts a child in, by the rule it fits.
    pub(super) fn enter(&mut self, child: &Child) {
        self.unreadable += u32::from(child.is_unreadable());
        if let Some(rule_count) = child.rule.and_then(|rule| self.rule_count(rule)) {
            rule_count.totals.add(child);
            rule_count.evidence += u32::from(child.counted);
        }
    }

    /// Counts a child out.
    pub(super) fn leave(&mut self, child: &Child) {
        self.unreadable -= u32::from(child.is_unreadable());
        if let Some(rule_count) = child.rule.and_then(|rule| self.rule_count(rule)) {
            rule_count.totals.remove(child);
            rule_count.evidence -= u32::from(child.counted);
        }
    }
}
