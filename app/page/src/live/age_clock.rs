//! When ages move on. A page has many, and all of them are drawn in seconds: each moves about when its own second is over,
//! a quarter of them with each look at the clock, so that no task draws all at once.

use leptos::prelude::*;

use crate::follow::follow;

const SECOND_MS: i64 = 1_000;
const PARTS: i64 = 4;
const PART_MS: i64 = SECOND_MS / PARTS;

#[derive(Clone, Copy)]
pub(super) struct AgeClock {
    now_ms: StoredValue<i64>,
    /// For each part of a second when the ages that began in it had stepped last.
    stepped: [RwSignal<i64>; PARTS as usize],
}

impl AgeClock {
    pub(super) fn new() -> Self {
        Self { now_ms: StoredValue::new(0), stepped: [(); PARTS as usize].map(|()| RwSignal::new(0)) }
    }

    pub(super) fn go_on(self, now_ms: i64) {
        self.now_ms.set_value(now_ms);
        for (part, stepped) in (0..).zip(self.stepped) {
            let at_ms = last_step(part, now_ms);
            if stepped.get_untracked() != at_ms {
                stepped.set(at_ms);
            }
        }
    }

    pub(super) fn now_untracked_ms(self) -> i64 {
        self.now_ms.get_value()
    }

    /// The clock for what began then; followed by whoever reads it.
    pub(super) fn now_ms(self, since_ms: i64) -> i64 {
        if let Some(stepped) = usize::try_from(part_of(since_ms)).ok().and_then(|part| self.stepped.get(part)) {
            follow(*stepped);
        }
        self.now_ms.get_value()
    }
}

/// An instant of each part of a second: with the clock for it all ages step that began in the same part.
#[cfg(feature = "hydrate")]
pub(crate) const STEPS_MS: [i64; PARTS as usize] = [0, PART_MS, 2 * PART_MS, 3 * PART_MS];

#[cfg(feature = "hydrate")]
pub(crate) fn step_at_once(one_ms: i64, other_ms: i64) -> bool {
    part_of(one_ms) == part_of(other_ms)
}

fn part_of(at_ms: i64) -> i64 {
    at_ms.rem_euclid(SECOND_MS) / PART_MS
}

/// When all that began in a part of a second had stepped last.
fn last_step(part: i64, now_ms: i64) -> i64 {
    let end_ms = (part + 1) * PART_MS;
    now_ms.saturating_sub(end_ms).div_euclid(SECOND_MS) * SECOND_MS + end_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_steps_once_a_second_and_never_early() {
        for since_ms in [0, 1, 249, 250, 600, 999, -1] {
            let part = part_of(since_ms);
            let steps: Vec<i64> = (10_001..13_001).map(|now_ms| last_step(part, now_ms)).collect();
            assert_eq!(steps.windows(2).filter(|pair| pair[0] != pair[1]).count(), 3, "{since_ms}");
            for now_ms in 10_001..13_001 {
                let late_ms = (last_step(part, now_ms) - since_ms).rem_euclid(SECOND_MS);
                assert!((1..=PART_MS).contains(&late_ms), "{since_ms}: {late_ms} ms after its second is over");
            }
        }
    }

    #[test]
    fn each_look_moves_a_quarter() {
        let owner = Owner::new();
        owner.set();
        let clock = AgeClock::new();
        clock.go_on(10_010);
        for look in 1..40 {
            let before = clock.stepped.map(|stepped| stepped.get_untracked());
            clock.go_on(10_010 + look * 250);
            let moved = clock.stepped.iter().zip(before).filter(|(stepped, before)| stepped.get_untracked() != *before);
            assert_eq!(moved.count(), 1);
        }
        assert_eq!(clock.now_ms(7), 10_010 + 39 * 250);
    }
}
