//! When what came is drawn: at once while it can be followed by eye, about once a second while it can't. Pure.

/// As many changes within a second as somebody can follow.
const FOLLOWED: usize = 4;
const SECOND_MS: i64 = 1_000;
/// More than that is drawn once in so long. What is shown is called live until it is two seconds old.
pub const CALM_MS: i64 = 1_250;

/// What came lately, and what was drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cadence {
    /// When the last ones came, the newest first.
    came_ms: [Option<i64>; FOLLOWED],
    drawn_ms: Option<i64>,
}

impl Cadence {
    /// Something came that is to be drawn: how long that waits.
    pub fn wait_ms(&mut self, now_ms: i64) -> i64 {
        let [.., oldest_ms] = self.came_ms;
        let is_fast = oldest_ms.is_some_and(|came_ms| now_ms - came_ms < SECOND_MS);
        self.came_ms.rotate_right(1);
        let [newest_ms, ..] = &mut self.came_ms;
        *newest_ms = Some(now_ms);
        let due_ms = self.drawn_ms.filter(|_| is_fast).map_or(now_ms, |drawn_ms| drawn_ms + CALM_MS);
        (due_ms - now_ms).clamp(0, CALM_MS)
    }

    /// All that came was drawn.
    pub fn drawn(&mut self, now_ms: i64) {
        self.drawn_ms = Some(now_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When what comes so often is drawn, while it comes for so long.
    fn drawn_ms(each_ms: i64, until_ms: i64) -> Vec<i64> {
        let (mut cadence, mut drawn, mut due_ms) = (Cadence::default(), Vec::new(), None);
        for now_ms in 0..=until_ms {
            if now_ms % each_ms == 0 {
                let wait_ms = cadence.wait_ms(now_ms);
                due_ms = due_ms.or(Some(now_ms + wait_ms));
            }
            if due_ms == Some(now_ms) {
                due_ms = None;
                cadence.drawn(now_ms);
                drawn.push(now_ms);
            }
        }
        drawn
    }

    #[test]
    fn what_can_be_followed_is_drawn_as_it_comes() {
        assert_eq!(drawn_ms(250, 3_000).len(), 13);
        assert_eq!(drawn_ms(5_000, 20_000), [0, 5_000, 10_000, 15_000, 20_000]);
    }

    #[test]
    fn what_comes_faster_is_drawn_about_once_a_second() {
        assert_eq!(drawn_ms(20, 4_000), [0, 20, 40, 60, 1_310, 2_560, 3_810]);
        assert_eq!(drawn_ms(240, 10_000).windows(2).map(|two| two[1] - two[0]).max(), Some(CALM_MS));
    }

    #[test]
    fn nothing_waits_longer_whatever_the_clock_does() {
        let mut cadence = Cadence::default();
        for now_ms in [10, 11, 12, 13, 14] {
            cadence.wait_ms(now_ms);
            cadence.drawn(now_ms);
        }
        assert_eq!(cadence.wait_ms(15), CALM_MS - 1);
        assert_eq!(cadence.wait_ms(-60_000), CALM_MS, "a clock that was set back");
        assert_eq!(cadence.wait_ms(60_000), 0);
    }
}
