//! The flight recorder: what happened lately, in order, for whoever comes when it is over.

use std::collections::VecDeque;

use super::Observatory;
use crate::change::{Change, Event, EventRecord};
use crate::root::{RootId, RootState};
use crate::time::TimeMs;

/// What is kept of an ensemble; the oldest go first.
pub const RECORDED_MAX: usize = 8_192;

/// The newest of what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventLog {
    pub(super) last: u64,
    pub(super) ring: VecDeque<EventRecord>,
    pub(super) roots: Vec<Option<RootState>>,
}

impl EventLog {
    /// The number of the newest; 0 before anything happened.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// All that is kept with a greater number, in order.
    pub fn after(&self, number: u64) -> impl DoubleEndedIterator<Item = &EventRecord> {
        let first = self.ring.front().map_or(0, |first| first.number);
        let skipped = usize::try_from(number.saturating_add(1).saturating_sub(first)).unwrap_or(usize::MAX);
        self.ring.range(skipped.min(self.ring.len())..)
    }

    /// How many with a greater number are kept no more.
    pub fn lost_after(&self, number: u64) -> u64 {
        self.ring.front().map_or(0, |first| first.number.saturating_sub(number.saturating_add(1)))
    }

    fn note(&mut self, at: TimeMs, what: Event) {
        self.last += 1;
        if self.ring.len() == RECORDED_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(EventRecord { number: self.last, at, what });
    }

    /// Whether a root is in another state than it was when this was asked last.
    fn differs(&mut self, root: RootId, state: RootState) -> bool {
        let at = root.0 as usize;
        if self.roots.len() <= at {
            self.roots.resize(at + 1, None);
        }
        self.roots.get_mut(at).is_some_and(|known| known.replace(state) != Some(state))
    }
}

impl Observatory {
    /// What happened lately.
    pub fn recorder(&self) -> &EventLog {
        &self.recorder
    }

    pub(super) fn record(&mut self, now: TimeMs, changes: &[Change], is_first_look: bool) {
        for change in changes {
            match change {
                // Too small, or reported otherwise.
                Change::EvidenceChanged | Change::LockTouched { .. } => {}
                Change::RootChanged(root) => {
                    let (state, ..) = self.root_state(*root, now);
                    if self.recorder.differs(*root, state) {
                        self.recorder.note(now, Event::Root(*root, state));
                    }
                }
                _ if is_first_look => {}
                change => self.recorder.note(now, Event::Changed(change.clone())),
            }
        }
    }
}
