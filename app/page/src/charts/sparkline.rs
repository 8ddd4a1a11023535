//! The queue's depth over the last minutes, as an area without axes.

use std::fmt::Write as _;

use crate::erase::view;
use leptos::prelude::*;

use super::words;
use crate::live::Live;
use crate::parts::Piece::Attribute;
use crate::parts::{Markup, filled};
use lockscope_view::Depth;

const WIDTH: u32 = 96;
const HEIGHT: u32 = 20;
const BASE: &str = "M0 19.5H96";
/// Slices of a full history; a shorter one is drawn at the right end.
const SLICES: usize = 48;

/// Outline of the area, and its upper edge alone. Both empty without data.
fn outline(depth: &[u16]) -> (String, String) {
    let Some(peak) = depth.iter().max().filter(|_| depth.len() > 1) else { return (String::new(), String::new()) };
    // In tenths.
    let peak = i64::from((*peak).max(4));
    let (width, height, slices) = (i64::from(WIDTH) * 10, i64::from(HEIGHT) * 10, SLICES as i64 - 1);
    let x = |at: usize| width - (width * (depth.len() - 1 - at) as i64 + slices / 2) / slices;
    let mut edge = String::new();
    for (at, value) in depth.iter().enumerate() {
        let y = height - 10 - ((height - 20) * i64::from(*value) + peak / 2) / peak;
        edge.push(if at == 0 { 'M' } else { 'L' });
        for (tenths, end) in [(x(at), " "), (y, "")] {
            // Writing to a String cannot fail.
            let _ = write!(edge, "{}.{}{end}", tenths / 10, tenths % 10);
        }
    }
    let left = x(0);
    let area = format!("{edge}V{HEIGHT}H{}.{}Z", left / 10, left % 10);
    (area, edge)
}

/// The chart. It moves to the left with the clock, and is drawn anew only when that looks different.
#[component]
pub(crate) fn Sparkline(#[prop(into)] depth: Signal<Depth>) -> AnyView {
    let live = Live::of_app();
    let chart = Memo::new(move |_| depth.with(|depth| sparkline_markup(depth, live.now_ms()).into_string()));
    view! { <span class="contents" inner_html=move || chart.get()></span> }
}

/// The chart as it is now. It says its last and its largest number to those who can't see it.
pub(crate) fn sparkline_markup(depth: &Depth, now_ms: i64) -> Markup {
    let slices = depth.slices(now_ms, SLICES);
    let (area, edge) = outline(&slices);
    Markup::fill(
        r#"<svg class="spark" viewBox="0 0 96 20" width="96" height="20" role="img" preserveAspectRatio="none"{}><path class="spark-base"{}></path><path class="spark-area"{}></path><path class="spark-edge"{}></path></svg>"#,
        &[
            Attribute("aria-label", Some(&words::depth(&slices))),
            Attribute("d", Some(BASE)),
            Attribute("d", filled(&area).map(String::as_str)),
            Attribute("d", filled(&edge).map(String::as_str)),
        ],
    )
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
