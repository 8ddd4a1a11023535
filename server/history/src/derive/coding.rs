//! How the parts of a minute are kept as bytes.
//!
//! A histogram is that of the core: each power of two of milliseconds in eight buckets, so a percentile is at most an
//! eighth above the truth. It is written as pairs of numbers of seven bits a byte, the lowest first, the eighth bit says
//! that more follow: how many empty buckets come before one, and how many durations it has. Holders are written as pairs
//! of eight bytes each, the lowest first: the session, and for how many milliseconds it held.

use lockscope_core::tally::Histogram;
use lockscope_core::znode::SessionId;

/// Holders of a minute that are kept: those who held longest.
pub const TOP_MAX: usize = 5;
/// Buckets that a histogram has at most; more are damage.
const BUCKETS_MAX: usize = 1_024;

pub fn histogram_bytes(histogram: &Histogram) -> Box<[u8]> {
    let (mut bytes, mut empty) = (Vec::new(), 0);
    for count in &histogram.buckets {
        if *count == 0 {
            empty += 1;
            continue;
        }
        push(&mut bytes, std::mem::take(&mut empty));
        push(&mut bytes, *count);
    }
    bytes.into()
}

/// Reads a histogram; what is damaged is left out.
pub fn histogram_of(bytes: &[u8]) -> Histogram {
    let mut histogram = Histogram::default();
    add(&mut histogram, bytes);
    histogram
}

/// Adds the bytes of another histogram; what is damaged is left out.
pub fn add(to: &mut Histogram, bytes: &[u8]) {
    let (mut rest, mut at) = (bytes, 0_usize);
    while let (Some(empty), Some(count)) = (pop(&mut rest), pop(&mut rest)) {
        at = at.saturating_add(empty as usize);
        if at >= BUCKETS_MAX {
            break;
        }
        if to.buckets.len() <= at {
            to.buckets.resize(at + 1, 0);
        }
        to.buckets.get_mut(at).into_iter().for_each(|bucket| *bucket = bucket.saturating_add(count));
        to.count = to.count.saturating_add(u64::from(count));
        at += 1;
    }
}

fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn pop(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0_u32, 0);
    loop {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Who held for how long, the longest first, as bytes: [`TOP_MAX`] of them. A znode that no session owns is of session 0.
pub fn top_bytes(held: &[(SessionId, i64)]) -> Box<[u8]> {
    let mut held = held.to_vec();
    held.sort_unstable_by_key(|(session, ms)| (std::cmp::Reverse(*ms), *session));
    let top = held.iter().take(TOP_MAX);
    top.flat_map(|(session, ms)| session.0.to_le_bytes().into_iter().chain(ms.to_le_bytes())).collect()
}

pub fn top_of(bytes: &[u8]) -> Vec<(SessionId, i64)> {
    let number = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).map_or(0, i64::from_le_bytes);
    let pairs = bytes.chunks_exact(16).map(|pair| pair.split_at(8));
    pairs.map(|(session, ms)| (SessionId(number(session)), number(ms))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_come_back() {
        for durations in [&[][..], &[0], &[1, 1, 7, 8, 1_000, 86_400_000, i64::MAX], &[5; 1_000]] {
            let mut histogram = Histogram::default();
            durations.iter().for_each(|ms| histogram.note(*ms));
            let bytes = histogram_bytes(&histogram);
            assert_eq!(histogram_of(&bytes), histogram, "{durations:?}");
            let mut twice = histogram.clone();
            add(&mut twice, &bytes);
            assert_eq!((twice.count(), twice.percentile(50)), (2 * histogram.count(), histogram.percentile(50)));
        }
        // Documented, and read by other programs.
        let mut histogram = Histogram::default();
        [0, 3, 3].iter().for_each(|ms| histogram.note(*ms));
        assert_eq!(&*histogram_bytes(&histogram), [0, 1, 2, 2]);
    }

    #[test]
    fn damage_takes_no_memory() {
        for bytes in [&[0xff; 40][..], &[0x80], &[0xff, 0xff, 0xff, 0xff, 0x0f, 1], &[3]] {
            assert!(histogram_of(bytes).buckets.len() <= BUCKETS_MAX);
        }
        assert_eq!(top_of(&[1; 15]), []);
    }

    #[test]
    fn the_longest_holders_come_back() {
        let held: Vec<(SessionId, i64)> = (1..8).map(|at| (SessionId(at), at * 10)).collect();
        let top = top_of(&top_bytes(&held));
        assert_eq!(top.iter().map(|(session, _)| session.0).collect::<Vec<_>>(), [7, 6, 5, 4, 3]);
        assert_eq!(top.first(), Some(&(SessionId(7), 70)));
    }
}
