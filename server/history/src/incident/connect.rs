//! Which runs belong together.

use std::collections::BTreeMap;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::{Life, Run};

/// Places of one session that are compared with each other. Overflow policy: further ones connect nothing.
const PLACES_MAX: usize = 200;

#[derive(Clone, Copy, Debug)]
struct Place {
    run: usize,
    from: TimeMs,
    to: TimeMs,
    holds: bool,
}

/// The runs that belong together, as positions in `runs`: each is in one group. `lives` are those of each run's lock.
pub fn connect(runs: &[Run], lives: &[Vec<Life>], now: TimeMs) -> Vec<Vec<usize>> {
    let mut places = BTreeMap::<SessionId, Vec<Place>>::new();
    for (run, (of, lives)) in runs.iter().zip(lives).enumerate() {
        for life in lives {
            let Some(session) = life.session else { continue };
            let within = |(from, to): (TimeMs, Option<TimeMs>), holds| {
                // What goes on reaches beyond this instant: it may have begun at it.
                let end = if of.is_open() { now + 1 } else { of.until(now) };
                let (from, to) = (from.max(of.from), to.unwrap_or(now + 1).min(end));
                (from <= to).then_some(Place { run, from, to, holds })
            };
            let held = life.hold().and_then(|hold| within(hold, true));
            let waited = life.wait().and_then(|wait| within(wait, false));
            let known = places.entry(session).or_default();
            let room = PLACES_MAX.saturating_sub(known.len());
            known.extend(held.into_iter().chain(waited).take(room));
        }
    }
    let mut groups = Groups::new(runs.len());
    for of_session in places.values() {
        for held in of_session.iter().filter(|place| place.holds) {
            let meets = |other: &&Place| other.run != held.run && held.from < other.to && other.from < held.to;
            for other in of_session.iter().filter(meets) {
                let overlap = runs.get(held.run).zip(runs.get(other.run));
                if overlap.is_some_and(|(one, other)| one.overlaps(other, now)) {
                    groups.join(held.run, other.run);
                }
            }
        }
    }
    groups.all()
}

/// Disjoint groups of positions.
#[derive(Debug)]
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn first_of(&self, mut one: usize) -> usize {
        while let Some(before) = self.0.get(one).copied().filter(|before| *before != one) {
            one = before;
        }
        one
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first_of(one), self.first_of(other));
        if let Some(place) = self.0.get_mut(one.max(other)) {
            *place = one.min(other);
        }
    }

    fn all(self) -> Vec<Vec<usize>> {
        let mut groups = BTreeMap::<usize, Vec<usize>>::new();
        for one in 0..self.0.len() {
            groups.entry(self.first_of(one)).or_default().push(one);
        }
        groups.into_values().collect()
    }
}
