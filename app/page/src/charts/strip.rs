//! A queue as a strip: one bar for each slice of it, in parts by how many of its contenders are how alive. Pure; whole
//! numbers on a square of [`SIZE`], which the style sheet stretches and turns.

use lockscope_view::{Liveness, QueueMap, QueueSlice};

/// Both sides of the square.
pub(crate) const SIZE: u32 = 240;
/// A kind that is there takes at least so much of a bar: one dead among forty must be seen.
const PART_MIN: u32 = 48;

pub(crate) fn along(place: u32, of: u32) -> u32 {
    (u64::from(place.min(of)) * u64::from(SIZE)).checked_div(u64::from(of)).unwrap_or_default() as u32
}

pub(crate) fn paths(map: &QueueMap) -> Vec<(Liveness, String)> {
    let mut paths: Vec<(Liveness, String)> = Vec::new();
    for (at, slice) in (0..).zip(&map.slices) {
        // The last may be shorter, and what was not looked at stays empty.
        let (from, to) = (at * map.per_slice, ((at + 1) * map.per_slice).min(map.mapped));
        let (from, to) = (along(from, map.total), along(to, map.total).max(along(from, map.total) + 1));
        let mut low = 0;
        for (liveness, size) in parts(slice) {
            let bar = format!("M{from} {low}H{to}V{}H{from}Z", low + size);
            low += size;
            match paths.iter_mut().find(|(kind, _)| *kind == liveness) {
                Some((_, path)) => path.push_str(&bar),
                None => paths.push((liveness, bar)),
            }
        }
    }
    paths
}

/// How much of a bar each kind takes; all of it together.
fn parts(slice: &QueueSlice) -> Vec<(Liveness, u32)> {
    let there: Vec<(Liveness, u32)> = slice.counts().into_iter().filter(|(_, count)| *count > 0).collect();
    let all: u64 = there.iter().map(|(_, count)| u64::from(*count)).sum();
    let mut left = SIZE;
    let mut parts = Vec::with_capacity(there.len());
    for (behind, (liveness, count)) in (0..there.len() as u32).rev().zip(there) {
        let share = (u64::from(count) * u64::from(SIZE)).checked_div(all).unwrap_or_default() as u32;
        let size = if behind == 0 { left } else { share.max(PART_MIN).min(left.saturating_sub(behind * PART_MIN)) };
        left -= size;
        parts.push((liveness, size));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(connected: u32, disconnected: u32, unknown: u32) -> QueueSlice {
        QueueSlice { connected, disconnected, unknown, ..QueueSlice::default() }
    }

    #[test]
    fn one_dead_among_forty_is_seen_and_every_bar_is_whole() {
        assert_eq!(parts(&slice(41, 1, 0)), [(Liveness::Disconnected, 48), (Liveness::Connected, 192)]);
        assert_eq!(parts(&slice(7, 0, 0)), [(Liveness::Connected, 240)]);
        let all = QueueSlice { connected: 1, silent: 90, disconnected: 1, persistent: 1, unknown: 1 };
        for drawn in [parts(&all), parts(&slice(1, 500, 1)), parts(&slice(0, 1, 1))] {
            assert_eq!(drawn.iter().map(|(_, size)| size).sum::<u32>(), SIZE, "{drawn:?}");
            assert!(drawn.iter().all(|(_, size)| *size > 0), "{drawn:?}");
        }
    }

    #[test]
    fn slices_stand_where_their_contenders_are() {
        let map = QueueMap {
            state: lockscope_view::RootState::Live,
            total: 480,
            mapped: 360,
            per_slice: 200,
            slices: vec![slice(200, 0, 0), slice(159, 1, 0)],
            dead_count: 1,
            dead: vec![300],
            hand_overs: None,
            place: None,
            app: String::new(),
        };
        let drawn = paths(&map);
        assert_eq!(drawn.first(), Some(&(Liveness::Connected, "M0 0H100V240H0ZM100 48H180V240H100Z".to_owned())));
        assert_eq!(drawn.get(1), Some(&(Liveness::Disconnected, "M100 0H180V48H100Z".to_owned())));
        assert_eq!((along(240, 480), along(900, 480), along(3, 0)), (120, 240, 0));
    }
}
