//! A lock over time: where its pieces, bars, areas and ticks go. Pure; along the time in ten-thousandths of the width,
//! upwards in hundredths of a lane, so that one drawing fits every width.

use std::fmt::Write as _;

pub(crate) const WIDTH: i64 = 10_000;
/// The whole height of a lane.
pub(crate) const HEIGHT: i64 = 100;
/// Colours that clients have; the rest share one more.
pub(crate) const HUES: u8 = 8;
/// Rows of bars for several who hold at once; further ones are drawn over the last.
pub(crate) const ROWS_MAX: usize = 4;
/// A bar is at least so wide: what was short must be seen.
const BAR_MIN: i64 = 14;
/// What is there is at least so high.
const LEAST: i64 = 4;
const TICKS_MAX: i64 = 7;
const STEPS_S: [i64; 24] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000,
    864_000, 1_728_000, 2_592_000, 7_776_000,
];
/// Lengths of a piece, in minutes.
const GRAINS_MIN: [i64; 13] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880];

const MINUTE_MS: i64 = 60_000;

/// The time from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
}

impl Axis {
    /// Where an instant lies; what is outside lies on the edge.
    pub(crate) fn x(self, at_ms: i64) -> i64 {
        let length = i128::from((self.to_ms - self.from_ms).max(1));
        let along = i128::from(at_ms.clamp(self.from_ms, self.to_ms.max(self.from_ms)) - self.from_ms);
        (along * i128::from(WIDTH) / length) as i64
    }

    /// The left edge and the width of a bar; None outside.
    pub(crate) fn bar(self, from_ms: i64, to_ms: i64) -> Option<(i64, i64)> {
        if to_ms < self.from_ms || from_ms >= self.to_ms {
            return None;
        }
        let (left, right) = (self.x(from_ms), self.x(to_ms));
        let width = (right - left).max(BAR_MIN);
        Some((left.min(WIDTH - width), width))
    }

    /// Round instants that lie in it, and how far they are apart.
    pub(crate) fn ticks(self) -> (i64, Vec<i64>) {
        let length = (self.to_ms - self.from_ms).max(1);
        let fits = |step_s: &&i64| length / (**step_s * 1_000) < TICKS_MAX;
        let step_ms = STEPS_S.iter().find(fits).or(STEPS_S.last()).map_or(length, |step_s| step_s * 1_000);
        let first = self.from_ms.div_euclid(step_ms) + i64::from(self.from_ms.rem_euclid(step_ms) > 0);
        let ticks = (0..=TICKS_MAX).map(|at| (first + at) * step_ms).take_while(|at_ms| *at_ms <= self.to_ms);
        (step_ms, ticks.collect())
    }
}

/// A part of the width, as an attribute has it.
pub(crate) fn percent(part: i64) -> String {
    format!("{}.{:02}%", part / 100, part % 100)
}

/// The length of a piece that makes at most so many of a range.
pub(crate) fn grain_ms(range_ms: i64, pieces_max: i64) -> i64 {
    let fits = |minutes: &&i64| range_ms / (**minutes * MINUTE_MS) <= pieces_max;
    GRAINS_MIN.iter().find(fits).or(GRAINS_MIN.last()).map_or(MINUTE_MS, |minutes| minutes * MINUTE_MS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear {
        most: i64,
    },
    /// By powers of ten, from one of these to the other: times of milliseconds stand beside times of minutes.
    Powers {
        from: u32,
        to: u32,
    },
}

impl Scale {
    /// From nothing to the largest.
    pub(crate) fn linear(values: impl Iterator<Item = i64>) -> Self {
        Self::Linear { most: values.max().unwrap_or(0).max(1) }
    }

    /// Whole powers of ten around all values; None where there are none.
    pub(crate) fn powers(values: impl Iterator<Item = i64>) -> Option<Self> {
        let (least, most) =
            values.fold((i64::MAX, None), |(least, most), value| (least.min(value), most.max(Some(value))));
        let from = least.max(1).ilog10();
        let most = most?.max(1);
        let to = most.ilog10() + u32::from(10_i64.pow(most.ilog10()) < most);
        Some(Self::Powers { from, to: to.max(from + 1) })
    }

    fn height(self, value: i64) -> i64 {
        if value <= 0 {
            return 0;
        }
        let height = match self {
            Self::Linear { most } => value.saturating_mul(HEIGHT) / most.max(1),
            Self::Powers { from, to } => {
                let along = (value as f64).log10() - f64::from(from);
                (along / f64::from((to - from).max(1)) * HEIGHT as f64) as i64
            }
        };
        height.clamp(LEAST, HEIGHT)
    }
}

/// Values of pieces, each with where its piece begins; in order.
pub(crate) type Values = [(i64, i64)];

/// The area under values. A piece without one has nothing.
pub(crate) fn area(axis: Axis, grain_ms: i64, values: &Values, scale: Scale) -> String {
    let mut path = String::new();
    let mut end = None;
    for (at_ms, value) in values {
        let (left, right) = (axis.x(*at_ms), axis.x(at_ms + grain_ms));
        let top = HEIGHT - scale.height(*value);
        if right <= left {
            continue;
        }
        // Writing to a string does not fail.
        let _ = match end == Some(left) {
            true => write!(path, "V{top}H{right}"),
            false => {
                if end.is_some() {
                    let _ = write!(path, "V{HEIGHT}Z");
                }
                write!(path, "M{left} {HEIGHT}V{top}H{right}")
            }
        };
        end = Some(right);
    }
    if end.is_some() {
        let _ = write!(path, "V{HEIGHT}Z");
    }
    path
}

/// The upper edge of values alone, as a line.
pub(crate) fn edge(axis: Axis, grain_ms: i64, values: &Values, scale: Scale) -> String {
    let mut path = String::new();
    let mut end = None;
    for (at_ms, value) in values {
        let (left, right) = (axis.x(*at_ms), axis.x(at_ms + grain_ms));
        let top = HEIGHT - scale.height(*value);
        let _ = match end == Some(left) {
            true => write!(path, "V{top}H{right}"),
            false => write!(path, "M{left} {top}H{right}"),
        };
        end = Some(right);
    }
    path
}

/// The row of each bar, so that those at the same time stand below each other, and how many rows that takes. Bars are in the
/// order of their beginnings.
pub(crate) fn rows(bars: &[(i64, i64)]) -> (Vec<usize>, usize) {
    let mut ends: Vec<i64> = Vec::new();
    let row_of = |(from_ms, to_ms): &(i64, i64)| {
        let free = ends.iter().position(|end| end <= from_ms);
        let row = free.unwrap_or(ends.len()).min(ROWS_MAX - 1);
        match ends.get_mut(row) {
            Some(end) => *end = (*end).max(*to_ms),
            None => ends.push(*to_ms),
        }
        row
    };
    let of: Vec<usize> = bars.iter().map(row_of).collect();
    let count = ends.len().max(1);
    (of, count)
}

/// Parts of a lane's height, one above the other, by how much of a whole each is; together no more than all of it.
pub(crate) fn stack(parts: &[i64], whole: i64) -> Vec<(i64, i64)> {
    let sum: i64 = parts.iter().map(|part| part.max(&0)).sum();
    let whole = whole.max(sum).max(1);
    let mut low = HEIGHT;
    let place = |part: &i64| {
        let height = (part.max(&0).saturating_mul(HEIGHT) / whole).min(low);
        low -= height;
        (low, height)
    };
    parts.iter().map(place).collect()
}

/// The colours of names, the most important first: by a hash, so that a name has the same everywhere; of two that meet the
/// later takes the next that is free. None beyond as many as there are.
pub(crate) fn hues<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Option<u8>> {
    let mut taken = [false; HUES as usize];
    let hue = |name: &str| {
        let first = hash(name);
        let all = (0..HUES).map(|step| (first + step) % HUES);
        let free = all.into_iter().find(|hue| taken.get(usize::from(*hue)) == Some(&false))?;
        if let Some(place) = taken.get_mut(usize::from(free)) {
            *place = true;
        }
        Some(free)
    };
    names.map(hue).collect()
}

/// A colour's name in the style sheet.
pub(crate) fn hue_name(hue: Option<u8>) -> String {
    hue.map_or("none".to_owned(), |hue| hue.to_string())
}

/// FNV-1a.
fn hash(name: &str) -> u8 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = name.bytes().fold(0x811c_9dc5, step);
    ((hash ^ (hash >> 16)) % u32::from(HUES)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Axis = Axis { from_ms: 0, to_ms: 3_600_000 };

    #[test]
    fn what_lies_outside_is_on_the_edge_or_not_there() {
        assert_eq!((HOUR.x(-5), HOUR.x(1_800_000), HOUR.x(9_000_000)), (0, 5_000, WIDTH));
        assert_eq!(HOUR.bar(-1_000, 360_000), Some((0, 1_000)));
        assert_eq!((HOUR.bar(-9, -1), HOUR.bar(3_600_000, 3_700_000)), (None, None));
        assert_eq!(
            HOUR.bar(3_599_999, 3_599_999),
            Some((WIDTH - BAR_MIN, BAR_MIN)),
            "the shortest is seen, and inside"
        );
        assert_eq!(Axis { from_ms: 5, to_ms: 5 }.x(7), 0);
        assert_eq!((percent(1_234), percent(7), percent(WIDTH)), ("12.34%".into(), "0.07%".into(), "100.00%".into()));
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(HOUR.ticks(), (600_000, (0..=6).map(|at| at * 600_000).collect()));
        let (step_ms, ticks) = Axis { from_ms: 1_764_041_547_412, to_ms: 1_764_041_547_412 + 30 * 86_400_000 }.ticks();
        assert_eq!((step_ms, ticks.len()), (432_000_000, 6));
        assert!(ticks.iter().all(|at_ms| at_ms % step_ms == 0));
        for length_ms in [1, 999, 10_000, 61_000, 900_000, 86_400_000, 34_560_000_000] {
            assert!(Axis { from_ms: 7, to_ms: 7 + length_ms }.ticks().1.len() <= 8, "{length_ms}");
        }
    }

    #[test]
    fn a_piece_is_as_long_as_the_range_asks_for() {
        let minutes = |range_min: i64| grain_ms(range_min * MINUTE_MS, 240) / MINUTE_MS;
        assert_eq!([15, 60, 360, 1_440, 10_080, 43_200].map(minutes), [1, 1, 2, 10, 60, 180]);
    }

    #[test]
    fn areas_break_where_nothing_is_known() {
        let minute = MINUTE_MS;
        let values = [(0, 10), (minute, 5), (10 * minute, 0)];
        let scale = Scale::linear(values.iter().map(|(_, value)| *value));
        let drawn = area(HOUR, minute, &values, scale);
        assert_eq!(drawn, "M0 100V0H166V50H333V100ZM1666 100V100H1833V100Z");
        assert_eq!(edge(HOUR, minute, &values, scale), "M0 0H166V50H333M1666 100H1833");
        assert_eq!((area(HOUR, minute, &[], scale), edge(HOUR, minute, &[], scale)), (String::new(), String::new()));
    }

    #[test]
    fn times_stand_by_powers_of_ten() {
        let scale = Scale::powers([3, 40, 9_000].into_iter()).unwrap();
        assert_eq!(scale, Scale::Powers { from: 0, to: 4 });
        assert_eq!([1, 10, 100, 10_000].map(|ms| scale.height(ms)), [LEAST, 25, 50, 100]);
        assert_eq!(Scale::powers([0].into_iter()), Some(Scale::Powers { from: 0, to: 1 }));
        assert_eq!(Scale::powers(std::iter::empty()), None);
        assert!(Scale::powers([i64::MAX].into_iter()).unwrap().height(i64::MAX) <= HEIGHT);
    }

    #[test]
    fn who_holds_at_once_stands_below_each_other() {
        assert_eq!(rows(&[(0, 10), (10, 20), (15, 30), (20, 25)]), (vec![0, 0, 1, 0], 2));
        let many: Vec<(i64, i64)> = (0..9).map(|at| (at, 100)).collect();
        assert_eq!(rows(&many).1, ROWS_MAX);
        assert_eq!(rows(&[]), (vec![], 1));
        assert_eq!(stack(&[30, 20], 100), [(70, 30), (50, 20)]);
        assert_eq!(stack(&[100, 100], 100), [(50, 50), (0, 50)], "two at once share it");
    }

    #[test]
    fn a_name_keeps_its_colour_and_no_two_share_one() {
        let of = |names: &[&str]| hues(names.iter().copied());
        assert_eq!(of(&["worker-1"]), of(&["worker-1"]));
        let names: Vec<String> = (0..12).map(|at| format!("client {at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut found: Vec<u8> = of(&names).into_iter().flatten().collect();
        found.sort_unstable();
        assert_eq!(found, (0..HUES).collect::<Vec<_>>());
        assert_eq!(of(&names).first(), of(&names[..1]).first(), "those who come later take nobody's");
    }
}
