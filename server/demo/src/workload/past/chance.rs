//! Chance that can be repeated: the same seed gives the same numbers, on every machine and with every version.

use std::ops::Range;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number of a range; its start where that is empty.
    pub(super) fn within(&mut self, range: &Range<u64>) -> i64 {
        let value = range.start + self.next() % range.end.saturating_sub(range.start).max(1);
        i64::try_from(value).unwrap_or(i64::MAX)
    }

    /// What makes a name one of its own.
    pub(super) fn wide(&mut self) -> u128 {
        (u128::from(self.next()) << 64) | u128::from(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_within_the_range() {
        let of = |seed: u64| {
            let mut chance = Chance::new(seed);
            (0..100).map(|_| chance.within(&(3..9))).collect::<Vec<_>>()
        };
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        assert!(of(7).iter().all(|value| (3..9).contains(value)));
        assert_eq!(Chance::new(1).within(&(0..0)), 0);
    }
}
