//! The queue's depth over the last minutes, as an area without axes.

use std::fmt::Write as _;

use crate::erase::view;
use leptos::prelude::*;

use super::words;
use crate::live::Live;
use crate::parts::filled;
use lockscope_wire::Depth;

const WIDTH: u32 = 96;
const HEIGHT: u32 = 20;
/// The line that it stands on.
const BASE: &str = "M0 19.5H96";
/// Slices of a full history; a shorter one is drawn at the right end.
const SLICES: usize = 48;

/// Outline of the area, and its upper edge alone. Both empty without data.
fn outline(depth: &[u16]) -> (String, String) {
    let Some(peak) = depth.iter().max().filter(|_| depth.len() > 1) else { return (String::new(), String::new()) };
    let scale = f64::from((*peak).max(4));
    let step = f64::from(WIDTH) / (SLICES - 1) as f64;
    let left = f64::from(WIDTH) - step * (depth.len() - 1) as f64;
    let room = f64::from(HEIGHT) - 2.0;
    let mut edge = String::new();
    for (at, value) in depth.iter().enumerate() {
        let x = left + step * at as f64;
        let y = f64::from(HEIGHT) - 1.0 - room * f64::from(*value) / scale;
        // Writing to a String cannot fail.
        let _ = write!(edge, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
    }
    let area = format!("{edge}V{HEIGHT}H{left:.1}Z");
    (area, edge)
}

/// The chart. It says its last and its largest number to those who can't see it.
#[component]
pub(crate) fn Sparkline(#[prop(into)] depth: Signal<Depth>) -> AnyView {
    let live = Live::of_app();
    // It moves to the left with the clock, and is drawn anew only when that looks different.
    let slices = Memo::new(move |_| depth.with(|depth| depth.slices(live.now_ms(), SLICES)));
    let text = move || slices.with(|slices| words::depth(slices));
    let area = move || filled(slices.with(|slices| outline(slices).0));
    let edge = move || filled(slices.with(|slices| outline(slices).1));
    view! {
        <svg class="spark" viewBox="0 0 96 20" width="96" height="20" role="img" aria-label=text preserveAspectRatio="none">
            <path class="spark-base" d=BASE></path>
            <path class="spark-area" d=area></path>
            <path class="spark-edge" d=edge></path>
        </svg>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_slice_is_at_the_right_and_the_peak_at_the_top() {
        let (area, edge) = outline(&[0, 8]);
        assert!(edge.ends_with("L96.0 1.0"), "{edge}");
        assert!(area.starts_with(&edge) && area.ends_with('Z'));
        assert_eq!(outline(&[]), (String::new(), String::new()));
        assert_eq!(outline(&[3]).0, "");
    }
}
