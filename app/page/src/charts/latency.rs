//! How long hand-offs took: for each lane a hill over one logarithmic axis that they share, with the median and the
//! 99th percentile marked.

use crate::erase::view;
use leptos::prelude::*;

use super::marks::{Label, Shape};
use super::words;

const WIDTH: f64 = 480.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 8.0;
const ROW: f64 = 84.0;
/// Of a row, for its words.
const WORDS: f64 = 26.0;
const HEAD: f64 = 18.0;
const FOOT: f64 = 30.0;
/// Slices a decade.
const SLICES: f64 = 10.0;
/// Where nothing is known yet: 0.1 ms to 1 s.
const SPAN_US: (f64, f64) = (100.0, 1_000_000.0);

pub(crate) struct HandOffCurve<'a> {
    /// Its name, which chooses its colour.
    pub(crate) lane: &'static str,
    pub(crate) title: &'static str,
    pub(crate) words: String,
    /// [upper bound in µs, count], rising.
    pub(crate) buckets: &'a [(u64, u64)],
    /// Median, µs; None without values.
    pub(crate) p50_us: Option<f64>,
    /// 99th percentile, µs; None without values.
    pub(crate) p99_us: Option<f64>,
}

/// The axis: whole decades around everything there is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    first: f64,
    last: f64,
}

impl Axis {
    fn around(hills: &[HandOffCurve<'_>]) -> Self {
        let values = || {
            hills
                .iter()
                .flat_map(|hill| hill.buckets)
                .filter(|(_, count)| *count > 0)
                .map(|(us, _)| (*us).max(1) as f64)
        };
        let least = values().fold(f64::INFINITY, f64::min);
        let marked = hills.iter().filter_map(|hill| hill.p99_us).fold(0.0, f64::max);
        let most = values().fold(0.0, f64::max).max(marked);
        let (least, most) = if most > 0.0 { (least, most) } else { SPAN_US };
        // The smallest bucket begins below its bound.
        let first = (least * 0.9).log10().floor();
        Self { first, last: most.log10().ceil().max(first + 1.0) }
    }

    fn x(self, us: f64) -> f64 {
        let part = (us.max(1.0).log10() - self.first) / (self.last - self.first);
        LEFT + (WIDTH - LEFT - RIGHT) * part.clamp(0.0, 1.0)
    }

    fn slices(self) -> usize {
        ((self.last - self.first) * SLICES).round() as usize
    }

    /// How much is in each slice.
    fn filled(self, buckets: &[(u64, u64)]) -> Vec<u64> {
        let mut out = vec![0; self.slices()];
        for (us, count) in buckets {
            // The last slice takes its upper bound too.
            let at = (((*us).max(1) as f64).log10() - self.first) * SLICES;
            let at = (at.floor().max(0.0) as usize).min(out.len().saturating_sub(1));
            if let Some(slice) = out.get_mut(at) {
                *slice += count;
            }
        }
        out
    }
}

pub(crate) fn latency(hills: &[HandOffCurve<'_>]) -> AnyView {
    let axis = Axis::around(hills);
    let bottom = HEAD + ROW * hills.len() as f64;
    let view = format!("0 0 {WIDTH} {}", bottom + FOOT);
    let words = words::latency(hills.iter().map(|hill| (hill.title, &*hill.words)));
    let drawn =
        hills.iter().enumerate().map(|(row, hill)| drawn(axis, hill, HEAD + ROW * (row + 1) as f64)).collect_view();
    view! { <svg class="chart" viewBox=view role="img" aria-label=words>{frame(axis, bottom)}{drawn}</svg> }
}

fn frame(axis: Axis, bottom: f64) -> AnyView {
    let (mut grid, mut fine, mut texts) = (String::new(), String::new(), Vec::new());
    for power in axis.first as i32..=axis.last as i32 {
        let us = 10_f64.powi(power);
        let x = axis.x(us);
        grid.push_str(&format!("M{x:.1} {HEAD}V{bottom}"));
        let anchor = if power == axis.first as i32 {
            "start"
        } else if power == axis.last as i32 {
            "end"
        } else {
            "middle"
        };
        texts.push(view! { <Label class="chart-text" at=(x, bottom + 16.0) anchor=anchor text=words::tick(us) /> });
        for digit in 2..10 {
            let x = axis.x(us * f64::from(digit));
            if power < axis.last as i32 {
                fine.push_str(&format!("M{x:.1} {:.1}V{bottom}", bottom - 4.0));
            }
        }
    }
    view! {
        <Shape class="chart-grid" d=grid />
        <Shape class="chart-grid" d=fine />
        {texts}
        <Label class="chart-name" at=(LEFT, 12.0) anchor="start" text=words::SHARES.to_owned() />
    }
}

/// One hill, standing on `bottom`.
fn drawn(axis: Axis, hill: &HandOffCurve<'_>, bottom: f64) -> AnyView {
    let filled = axis.filled(hill.buckets);
    let most = filled.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = (WIDTH - LEFT - RIGHT) / filled.len().max(1) as f64;
    let mut d = format!("M{LEFT} {bottom}");
    for (at, count) in filled.iter().enumerate() {
        let top = bottom - (ROW - WORDS - 6.0) * *count as f64 / most;
        d.push_str(&format!("V{top:.1}H{:.1}", LEFT + step * (at + 1) as f64));
    }
    d.push_str(&format!("V{bottom}"));
    let top = bottom - ROW + WORDS;
    let at = |us: Option<f64>| us.map(|us| format!("M{:.1} {top:.1}V{bottom}", axis.x(us))).unwrap_or_default();
    let base = format!("M{LEFT} {bottom}H{}", WIDTH - RIGHT);
    let words_y = bottom - ROW + 19.0;
    view! {
        <Shape class="chart-hill" lane=hill.lane d=if hill.buckets.is_empty() { String::new() } else { d } />
        <Shape class="chart-base" d=base />
        <Shape class="chart-p50" lane=hill.lane d=at(hill.p50_us) />
        <Shape class="chart-p99" lane=hill.lane d=at(hill.p99_us) />
        <Label class="chart-lane" at=(LEFT + 4.0, words_y) anchor="start" text=hill.title.to_owned() />
        <Label class="chart-text" at=(WIDTH - RIGHT - 4.0, words_y) anchor="end" text=hill.words.clone() />
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hill(buckets: &[(u64, u64)]) -> HandOffCurve<'_> {
        HandOffCurve {
            lane: "predecessor",
            title: "Predecessor",
            words: "p50 1 ms".to_owned(),
            buckets,
            p50_us: Some(1_000.0),
            p99_us: Some(5_000.0),
        }
    }

    #[test]
    fn the_axis_has_whole_decades_around_all_values() {
        assert_eq!(Axis::around(&[hill(&[(700, 3), (5_200, 1)])]), Axis { first: 2.0, last: 4.0 });
        assert_eq!(Axis::around(&[]), Axis { first: 1.0, last: 6.0 });
        assert_eq!(Axis::around(&[hill(&[(1_000, 1)])]), Axis { first: 2.0, last: 4.0 });
    }

    #[test]
    fn nothing_falls_between_the_slices() {
        let axis = Axis { first: 2.0, last: 4.0 };
        let filled = axis.filled(&[(0, 1), (100, 2), (999, 3), (10_000, 4), (1_000_000, 5)]);
        assert_eq!((filled.len(), filled.iter().sum::<u64>()), (20, 15));
        assert_eq!((filled[0], filled[9], filled[19]), (3, 3, 9));
    }

    #[test]
    fn a_lane_without_hand_offs_keeps_its_place() {
        let html = latency(&[HandOffCurve { p50_us: None, p99_us: None, ..hill(&[]) }, hill(&[(900, 2)])]).to_html();
        assert!(html.contains("viewBox=\"0 0 480 216\"") && !html.contains("NaN") && !html.contains("inf"));
    }
}
