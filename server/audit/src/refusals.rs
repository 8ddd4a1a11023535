//! Refusals on their way to the record: so many a minute, and then a count. Pure.

/// Records of refusals in one minute; a flood would else push everything else out of sight.
pub const REFUSALS_A_MINUTE_MAX: u32 = 20;
const MINUTE_MS: i64 = 60_000;

/// How many there were in this minute.
#[derive(Debug, Default)]
pub struct Refusals {
    minute_began_at_ms: i64,
    told: u32,
    left_out: u64,
    all: u64,
}

impl Refusals {
    /// Counts one; true when it is to be recorded.
    pub fn count(&mut self, now_ms: i64) -> bool {
        self.all += 1;
        if self.is_over(now_ms) {
            (self.minute_began_at_ms, self.told) = (now_ms, 0);
        }
        if self.told < REFUSALS_A_MINUTE_MAX {
            self.told += 1;
            return true;
        }
        self.left_out += 1;
        false
    }

    /// How many there were since the start.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// How many were left out, once their minute is over.
    pub fn left_out(&mut self, now_ms: i64) -> Option<u64> {
        (self.left_out > 0 && self.is_over(now_ms)).then(|| std::mem::take(&mut self.left_out))
    }

    /// Counts one that is not to be recorded.
    pub fn leave_out(&mut self) {
        self.all += 1;
        self.left_out += 1;
    }

    /// How many were left out so far.
    pub fn take_left_out(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.left_out)).filter(|count| *count > 0)
    }

    fn is_over(&self, now_ms: i64) -> bool {
        !(0..MINUTE_MS).contains(&(now_ms - self.minute_began_at_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_told_once() {
        let mut refusals = Refusals::default();
        let told = (0..1_000).filter(|_| refusals.count(100_000)).count();
        assert_eq!(told, REFUSALS_A_MINUTE_MAX as usize);
        assert_eq!(refusals.left_out(159_999), None);
        assert_eq!((refusals.left_out(160_000), refusals.left_out(160_000)), (Some(980), None));
        assert!(refusals.count(160_000));
        assert_eq!(refusals.all(), 1_001);
    }
}
