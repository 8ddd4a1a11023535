//! How often a view is looked at: at once after a pause, a few times in a row without one, and for as long as it keeps
//! changing at an even pace, which is slower the more viewers each new state is sent to and the more bytes it has. Pure:
//! the time is an argument.

use std::time::{Duration, Instant};

use lockscope_view::View;

/// Time between two looks at a view that keeps changing.
const LOOK_APART: Duration = Duration::from_millis(10);
/// The same at most, however many look and however much changes.
pub(super) const LOOK_APART_MAX: Duration = Duration::from_millis(50);
/// For each viewer: sending a state takes some 30 µs of CPU, and may take a quarter of the time.
const APART_A_VIEWER: Duration = Duration::from_micros(120);
/// For each byte of a difference: a viewer is sent at most 500 KB a second.
const APART_A_BYTE: Duration = Duration::from_micros(2);
/// Looks in a row that wait for nothing; fewer where each uses up more time.
const AT_ONCE: u32 = 8;
/// Time that may be used ahead.
const AHEAD: Duration = LOOK_APART.saturating_mul(AT_ONCE - 1);

/// Between two looks that walk through a whole queue, at least: 10,000 contenders take milliseconds.
const WALK_APART: Duration = Duration::from_secs(1);

/// What a new state of a view costs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub(super) viewers: usize,
    /// So many bytes had the last difference.
    pub(super) bytes: usize,
}

/// When a view was looked at, as far as it matters for when it may be looked at again.
#[derive(Debug)]
pub(super) struct Pace {
    /// Until when its even pace is used up.
    used_until: Instant,
    /// Between two looks, at least; None where a few may follow each other at once.
    least: Option<Duration>,
}

impl Pace {
    pub(super) fn new(now: Instant, view: &View) -> Self {
        let least = matches!(view, View::QueueMap(_)).then_some(WALK_APART);
        Self { used_until: now + least.unwrap_or(LOOK_APART), least }
    }

    pub(super) fn due(&self) -> Instant {
        let ahead = if self.least.is_some() { Duration::ZERO } else { AHEAD };
        self.used_until.checked_sub(ahead).unwrap_or(self.used_until)
    }

    pub(super) fn count(&mut self, now: Instant, load: Load) {
        self.used_until = self.used_until.max(now) + load.apart().max(self.least.unwrap_or_default());
    }
}

impl Load {
    fn apart(self) -> Duration {
        let of = |each: Duration, count: usize| each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        of(APART_A_VIEWER, self.viewers).max(of(APART_A_BYTE, self.bytes)).clamp(LOOK_APART, LOOK_APART_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_runtime::clock;
    use lockscope_view::QueueMapQuery;

    const ONE: Load = Load { viewers: 1, bytes: 100 };

    /// Looks that a view gets within a second when it may always differ, and is asked for every millisecond.
    fn looks(load: Load) -> u32 {
        looks_at(&View::Status {}, load)
    }

    fn looks_at(view: &View, load: Load) -> u32 {
        let start = clock::instant();
        let mut pace = Pace::new(start, view);
        let mut looks = 0;
        for now in (0..1_000_u64).map(|ms| start + Duration::from_millis(ms)) {
            if pace.due() <= now {
                pace.count(now, load);
                looks += 1;
            }
        }
        looks
    }

    #[test]
    fn what_changes_after_a_pause_is_looked_at_at_once_and_a_few_times_in_a_row() {
        let start = clock::instant();
        let mut pace = Pace::new(start, &View::Status {});
        let later = start + Duration::from_secs(1);
        for _ in 0..AT_ONCE {
            assert!(pace.due() <= later);
            pace.count(later, ONE);
        }
        assert!(pace.due() > later, "then it waits");
        assert!(pace.due() <= later + LOOK_APART);
    }

    #[test]
    fn for_long_the_pace_is_even_and_slower_for_many_viewers_and_for_many_bytes() {
        assert!((100..=100 + AT_ONCE).contains(&looks(ONE)), "{}", looks(ONE));
        for load in [Load { viewers: 10_000, ..ONE }, Load { bytes: 1_000_000, ..ONE }] {
            assert!((20..=20 + AT_ONCE).contains(&looks(load)), "{load:?}: {}", looks(load));
        }
        for load in [Load { viewers: 200, ..ONE }, Load { bytes: 12_000, ..ONE }] {
            assert!((41..=42 + AT_ONCE).contains(&looks(load)), "{load:?}: {}", looks(load));
        }
    }

    #[test]
    fn what_walks_through_a_queue_is_looked_at_once_a_second_from_the_first_on() {
        let view = View::QueueMap(QueueMapQuery::default());
        assert_eq!(looks_at(&view, ONE), 0, "its first state is a look as well");
        let start = clock::instant();
        let mut pace = Pace::new(start, &view);
        let later = start + Duration::from_secs(9);
        assert!(pace.due() <= later);
        pace.count(later, ONE);
        assert_eq!(pace.due(), later + WALK_APART);
    }
}
