//! Hashes of short keys, such as paths, several times faster than the standard library's: each eight bytes are one
//! multiplication, whose halves are folded onto each other. The key is random and never shown, so that nobody can choose
//! paths that collide; a map that only strangers' keys go into without a bound had better keep the standard library's.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map by keys that are hashed like this.
pub type KeyedMap<K, V> = HashMap<K, V, KeyedState>;

/// The key of a map, random for each.
#[derive(Clone, Copy, Debug)]
pub struct KeyedState {
    start: u64,
    factor: u64,
}

impl Default for KeyedState {
    fn default() -> Self {
        let random = RandomState::new();
        // A factor of few bits would mix little.
        Self { start: random.hash_one(0), factor: random.hash_one(1) | 0x1000_0000_0000_0001 }
    }
}

impl BuildHasher for KeyedState {
    type Hasher = KeyedHasher;

    #[inline]
    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher { state: self.start, factor: self.factor }
    }
}

/// What was hashed so far.
#[derive(Clone, Copy, Debug)]
pub struct KeyedHasher {
    state: u64,
    factor: u64,
}

impl KeyedHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.state = folded(self.state ^ word, self.factor);
    }
}

/// Both halves of a product.
#[inline]
fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Hasher for KeyedHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        // What is left has room for its length: at most seven bytes, or the last eight once more.
        let last = match bytes.last_chunk::<8>() {
            Some(_) if rest.is_empty() => 0,
            Some(last) => u64::from_le_bytes(*last),
            None => rest.iter().rev().fold(0, |last, byte| (last << 8) | u64::from(*byte)),
        };
        // So long it was: zeros behind the end are no part of it.
        self.add(last ^ ((bytes.len() as u64) << 56));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.add(u64::from(value));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.add(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    #[inline]
    fn write_i64(&mut self, value: i64) {
        self.add(value.cast_unsigned());
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The high bits choose the group of a map's places, the low ones the place.
        folded(self.state, self.factor.rotate_left(32))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn paths_that_differ_little_are_spread_evenly() {
        let state = KeyedState::default();
        let hashes: Vec<u64> =
            (0..65_536).map(|at| state.hash_one(format!("/locks/{at}/lock-{at:010}").as_str())).collect();
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), hashes.len());
        for shift in [0, 8, 24, 48, 57] {
            let mut places = vec![0_u32; 128];
            hashes.iter().for_each(|hash| places[(hash >> shift) as usize % 128] += 1);
            // 512 each, give or take six times the standard deviation.
            assert!(places.iter().all(|count| (376..=648).contains(count)), "{shift}: {places:?}");
        }
    }

    #[test]
    fn each_map_has_a_key_of_its_own_and_equal_texts_one_hash() {
        let (one, other) = (KeyedState::default(), KeyedState::default());
        assert_ne!(one.hash_one("/a"), other.hash_one("/a"));
        let (text, shared): (&str, std::sync::Arc<str>) = ("/a/b", "/a/b".into());
        assert_eq!(one.hash_one(text), one.hash_one(&*shared));
        assert_ne!(one.hash_one(""), one.hash_one("\0"));
        assert_ne!(one.hash_one(("ab", "c")), one.hash_one(("a", "bc")));
    }
}
