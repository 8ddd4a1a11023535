//! What one member says of itself, and how well it can be asked.

use std::sync::Arc;

use super::running::RunningClock;
use super::{Fired, Health, MemberAnswer, Report, Trouble};
use crate::time::TimeMs;

/// How one question to one member goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Not asked yet.
    #[default]
    NotAsked,
    /// Answered.
    Ok {
        /// When it was asked last.
        asked_at: TimeMs,
    },
    /// Not answered.
    None {
        /// Why.
        trouble: Trouble,
        /// What would help.
        remedy: Box<str>,
    },
}

impl Source {
    fn note<T>(&mut self, answer: &MemberAnswer<T>) {
        match answer {
            MemberAnswer::Ok { asked_at, .. } => *self = Self::Ok { asked_at: *asked_at },
            MemberAnswer::None { trouble, remedy } => *self = Self::None { trouble: *trouble, remedy: remedy.clone() },
            MemberAnswer::NotAsked => {}
        }
    }

    /// When it was answered.
    pub fn asked_at(&self) -> Option<TimeMs> {
        match self {
            Self::Ok { asked_at } => Some(*asked_at),
            Self::NotAsked | Self::None { .. } => None,
        }
    }
}

/// Watches fired between two answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lately {
    /// Time between them.
    pub over_ms: i64,
    /// For deletions.
    pub deleted: Fired,
    /// For changes of a list of children.
    pub children: Fired,
    /// For changes of data.
    pub changed: Fired,
}

/// One member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its number in the ensemble.
    pub number: Option<i64>,
    /// By which way it is asked.
    pub by: Arc<str>,
    /// Nobody listens at its client port: no session can be connected to it.
    pub is_down: bool,
    /// Who is connected.
    pub connections: Source,
    /// What sessions own, when they run out.
    pub sessions: Source,
    /// Who watches what.
    pub watches: Source,
    /// How it is.
    pub how: Source,
    /// The last answer to that, and when it was asked; None once it is not answered.
    pub health: Option<(TimeMs, Health)>,
    /// What fired between the last two answers; None before the second, and after a restart.
    pub lately: Option<Lately>,
    /// Its running clock on ours.
    pub running: RunningClock,
}

impl Member {
    pub(super) fn note(&mut self, report: &Report) {
        self.number = report.number;
        if *self.by != *report.by {
            self.by = (*report.by).into();
        }
        // Nobody looked where nothing was asked.
        if report.connections != MemberAnswer::NotAsked {
            self.is_down = report.is_down;
        }
        self.connections.note(&report.connections);
        self.sessions.note(&report.sessions);
        self.watches.note(&report.watches);
        self.how.note(&report.health);
        match &report.health {
            MemberAnswer::Ok { asked_at, value } => {
                self.lately = self
                    .health
                    .as_ref()
                    .and_then(|(before_at, before)| lately(before, value, asked_at.since(*before_at)));
                self.health = Some((*asked_at, value.clone()));
            }
            // What it was is not what it is: another may lead now.
            MemberAnswer::None { .. } => (self.health, self.lately) = (None, None),
            MemberAnswer::NotAsked => {}
        }
    }
}

/// None when a counter ran backwards: the member was restarted, or somebody reset its counters.
fn lately(before: &Health, now: &Health, over_ms: i64) -> Option<Lately> {
    let grown = |before: Fired, now: Fired| {
        Some(Fired {
            changes: now.changes.checked_sub(before.changes)?,
            watches: now.watches.checked_sub(before.watches)?,
        })
    };
    Some(Lately {
        over_ms,
        deleted: grown(before.deleted, now.deleted)?,
        children: grown(before.children, now.children)?,
        changed: grown(before.changed, now.changed)?,
    })
}
