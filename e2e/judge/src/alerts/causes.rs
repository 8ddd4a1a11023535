//! What an alert may be about: who held, who waited and how many, each with when, from a lock's timeline.

use std::collections::HashMap;

use super::AlertWhen;
use crate::truth::{Cursor, Timeline};

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from_ms: i64,
    /// [`i64::MAX`] where it never ended.
    pub(super) until_ms: i64,
}

/// What a lock's log has.
#[derive(Debug)]
pub(super) struct Causes<'a> {
    timeline: &'a Timeline,
    holds: Vec<Span>,
    waits: Vec<Span>,
}

impl<'a> Causes<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let (mut holds, mut waits) = (Vec::new(), Vec::new());
        let mut cursor = Cursor::default();
        // Who holds, and since when.
        let mut holding: HashMap<usize, i64> = HashMap::new();
        let mut have_held: HashMap<usize, i64> = HashMap::new();
        let mut last_member = 0;
        for (at, version) in timeline.versions().iter().enumerate() {
            let now_ms = version.begins.time_ms;
            let line = timeline.seek(at, &mut cursor);
            let holders = line.get(..version.holder_count).unwrap_or_default();
            holding.retain(|member, from_ms| {
                let holds_on = holders.contains(member);
                if !holds_on {
                    holds.push(Span { from_ms: *from_ms, until_ms: now_ms });
                }
                holds_on
            });
            for member in holders {
                holding.entry(*member).or_insert(now_ms);
                have_held.entry(*member).or_insert(now_ms);
            }
            last_member = line.last().copied().map_or(last_member, |last| last_member.max(last));
        }
        holds.extend(holding.into_values().map(|from_ms| Span { from_ms, until_ms: i64::MAX }));
        for at in 0..=last_member {
            let Some(member) = timeline.member(at) else { continue };
            let left_ms = timeline.begins(member.until).time_ms;
            let until_ms = have_held.get(&at).copied().unwrap_or(left_ms);
            waits.push(Span { from_ms: timeline.begins(member.from).time_ms, until_ms });
        }
        waits.retain(|span| span.from_ms < span.until_ms);
        Self { timeline, holds, waits }
    }

    /// Each by itself, in the order of its beginning.
    pub(super) fn of(&self, when: AlertWhen) -> Vec<Span> {
        let mut spans = match when {
            AlertWhen::Held(_) => self.holds.clone(),
            AlertWhen::Waiting(_) => self.waits.clone(),
            AlertWhen::Depth(most) => self.deep(most),
        };
        spans.sort_by_key(|span| (span.from_ms, span.until_ms));
        spans
    }

    fn deep(&self, most: usize) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut from: Option<i64> = None;
        for version in self.timeline.versions() {
            let is_deep = version.count.saturating_sub(version.holder_count) > most;
            match (from, is_deep) {
                (None, true) => from = Some(version.begins.time_ms),
                (Some(from_ms), false) => {
                    spans.push(Span { from_ms, until_ms: version.begins.time_ms });
                    from = None;
                }
                (None, false) | (Some(_), true) => {}
            }
        }
        spans.extend(from.map(|from_ms| Span { from_ms, until_ms: i64::MAX }));
        spans
    }
}

/// All of them in one, where what lies so near counts as one.
pub(super) fn union(mut spans: Vec<Span>, gap_ms: i64) -> Vec<Span> {
    spans.sort_by_key(|span| span.from_ms);
    let mut all: Vec<Span> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.from_ms <= last.until_ms.saturating_add(gap_ms) => {
                last.until_ms = last.until_ms.max(span.until_ms);
            }
            Some(_) | None => all.push(span),
        }
    }
    all
}
