//! What the judge found.

use std::collections::BTreeMap;

use crate::{Kind, Wrong};

/// The most wrongs that are kept with all they say; the rest are only counted.
pub const WRONGS_MAX: usize = 1_000;

/// Everything found about some captures or releases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Nothing here: everything shown was true. The first [`WRONGS_MAX`].
    pub wrong: Vec<Wrong>,
    /// All of them by kind, also those that are not kept.
    pub wrong_by_kind: BTreeMap<Kind, u64>,
    /// What was looked at.
    pub counts: Counts,
    /// The worst that was measured, right or wrong.
    pub worst: Worst,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States of locks that were shown or said to be gone.
    pub states: u64,
    /// Those that claimed to be LIVE, each compared with the truth.
    pub live: u64,
    /// Those of them that did not claim to know all contenders.
    pub incomplete: u64,
    /// Those of them that were shown with only the first of their contenders.
    pub cut_short: u64,
    /// Incomplete ones that named a holder who was not one: allowed, since they say that they don't know.
    pub unproved_holders: u64,
    /// Contenders that were shown before they were read, which fit any.
    pub unread: u64,
    /// Revisions of views that were compared with another socket's.
    pub revisions: u64,
    /// Deletions of ours that were compared with plans.
    pub deletions: u64,
    /// Of these, other incarnations of a planned name, which the audit log names.
    pub other_incarnations: u64,
    /// Alerts that fired, each compared with the log.
    pub alerts: u64,
    /// Causes that owed an alert.
    pub causes: u64,
}

/// The worst that was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worst {
    /// The age of a state while it was shown as LIVE.
    pub age_ms: i64,
    /// The time that LIVE stayed after a link was lost.
    pub not_live_ms: i64,
    /// The time from a good reconnect until a lock was exact.
    pub exact_ms: i64,
    /// The time from when an alert was due until somebody saw that it fires.
    pub fires_ms: i64,
}

impl Report {
    /// Nothing was wrong.
    pub fn is_clean(&self) -> bool {
        self.wrong_by_kind.is_empty()
    }

    /// How many were wrong in this way.
    pub fn count(&self, kind: Kind) -> u64 {
        self.wrong_by_kind.get(&kind).copied().unwrap_or_default()
    }

    pub(crate) fn push(&mut self, wrong: Wrong) {
        *self.wrong_by_kind.entry(wrong.kind()).or_default() += 1;
        if self.wrong.len() < WRONGS_MAX {
            self.wrong.push(wrong);
        }
    }

    /// Both in one: what was found of the views and what was found of the releases.
    pub fn merge(&mut self, other: Self) {
        for (kind, count) in other.wrong_by_kind {
            *self.wrong_by_kind.entry(kind).or_default() += count;
        }
        let room = WRONGS_MAX.saturating_sub(self.wrong.len());
        self.wrong.extend(other.wrong.into_iter().take(room));
        self.counts.add(other.counts);
        self.worst.take(other.worst);
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        let Self {
            states,
            live,
            incomplete,
            cut_short,
            unproved_holders,
            unread,
            revisions,
            deletions,
            other_incarnations,
            alerts,
            causes,
        } = other;
        self.states += states;
        self.live += live;
        self.incomplete += incomplete;
        self.cut_short += cut_short;
        self.unproved_holders += unproved_holders;
        self.unread += unread;
        self.revisions += revisions;
        self.deletions += deletions;
        self.other_incarnations += other_incarnations;
        self.alerts += alerts;
        self.causes += causes;
    }
}

impl Worst {
    fn take(&mut self, other: Self) {
        self.age_ms = self.age_ms.max(other.age_ms);
        self.not_live_ms = self.not_live_ms.max(other.not_live_ms);
        self.exact_ms = self.exact_ms.max(other.exact_ms);
        self.fires_ms = self.fires_ms.max(other.fires_ms);
    }
}
