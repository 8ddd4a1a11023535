//! How many events each release caused, over how many waited: points that were measured, and the two lines of theory.

use crate::erase::view;
use leptos::prelude::*;

use super::marks::{Label, Mark, Shape, steps};
use super::words;
use crate::format::count;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 288.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 44.0;
const RADIUS: f64 = 2.6;
/// Points nearer than this to the one before are left out: they would be one blot.
const APART: f64 = 5.5;

pub(crate) struct Series<'a> {
    /// Its name, which chooses its colour.
    pub(crate) lane: &'static str,
    pub(crate) mark: Mark,
    /// [waited, events] for each release.
    pub(crate) points: &'a [(u32, u32)],
}

fn place(scale: u32, (waited, events): (u32, u32)) -> (f64, f64) {
    let part = |number: u32| f64::from(number.min(scale)) / f64::from(scale.max(1));
    (LEFT + (WIDTH - LEFT - RIGHT) * part(waited), HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part(events))
}

/// The chart. `clients`: how many contend, the end of both axes unless more happened.
pub(crate) fn releases(clients: u32, all: &[Series<'_>]) -> AnyView {
    let most =
        all.iter().flat_map(|series| series.points).map(|(waited, events)| *waited.max(events)).max().unwrap_or(0);
    let scale = most.max(clients);
    let points = |series: &Series<'_>| {
        let mut d = String::new();
        for point in apart(scale, series.points) {
            series.mark.draw(point, RADIUS, &mut d);
        }
        view! { <Shape class="chart-points" lane=series.lane d=d /> }
    };
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    view! {
        <svg class="chart" viewBox=view role="img" aria-label=words::RELEASES>
            {frame(scale)}
            {theory(scale)}
            {all.iter().map(points).collect_view()}
        </svg>
    }
}

fn frame(scale: u32) -> AnyView {
    let mut grid = String::new();
    let mut texts = Vec::new();
    for step in steps(scale) {
        let ((x, bottom), (left, y)) = (place(scale, (step, 0)), place(scale, (0, step)));
        grid.push_str(&format!("M{left:.1} {y:.1}H{:.1}", WIDTH - RIGHT));
        texts.push(view! {
            <Label class="chart-text" at=(x, bottom + 16.0) anchor="middle" text=count(step) />
            <Label class="chart-text" at=(left - 7.0, y + 4.0) anchor="end" text=count(step) />
        });
    }
    view! {
        <Shape class="chart-grid" d=grid />
        {texts}
        <Label class="chart-name" at=(WIDTH - RIGHT, HEIGHT - 6.0) anchor="end" text="clients waiting →".to_owned() />
        <Label class="chart-name" at=(4.0, 12.0) anchor="start" text="↑ watch events caused by one release".to_owned() />
    }
}

/// The two curves: everybody is woken, and one is.
fn theory(scale: u32) -> AnyView {
    let ((x0, y0), (x1, y1)) = (place(scale, (0, 0)), place(scale, (scale, scale)));
    let one = place(scale, (0, 1)).1;
    let (middle, high) = (x0 + (x1 - x0) * 0.62, y0 + (y1 - y0) * 0.62);
    view! {
        <Shape class="chart-theory" d=format!("M{x0:.1} {y0:.1}L{x1:.1} {y1:.1}M{x0:.1} {one:.1}H{x1:.1}") />
        <Label class="chart-said" at=(middle - 12.0, high - 2.0) anchor="end" text="n: all who wait".to_owned() />
        <Label class="chart-said" at=(x1, one - 9.0) anchor="end" text="1: only the next".to_owned() />
    }
}

/// Places that can be distinguished, in their order.
fn apart(scale: u32, points: &[(u32, u32)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    for point in points {
        let (x, y) = place(scale, *point);
        if out.last().is_none_or(|(x0, y0)| (x - x0).abs() + (y - y0).abs() >= APART) {
            out.push((x, y));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_where_their_numbers_say() {
        assert_eq!(place(50, (0, 0)), (LEFT, HEIGHT - BOTTOM));
        assert_eq!(place(50, (50, 50)), (WIDTH - RIGHT, TOP));
        assert_eq!(place(50, (50, 90)).1, TOP, "nothing leaves the frame");
        assert_eq!(place(0, (0, 0)), (LEFT, HEIGHT - BOTTOM));
    }

    #[test]
    fn a_crowd_of_points_is_thinned_and_never_lost() {
        let herd: Vec<(u32, u32)> = (1..=499).rev().map(|waited| (waited, waited)).collect();
        let drawn = apart(500, &herd);
        assert!(drawn.len() > 60 && drawn.len() < 200, "{}", drawn.len());
        assert_eq!(apart(500, &[(3, 1)]).len(), 1);
        let html = releases(500, &[Series { lane: "herd_lowest", mark: Mark::Diamond, points: &herd }]).to_html();
        assert!(
            html.contains("data-lane=\"herd_lowest\"") && html.contains("n: all who wait") && !html.contains("NaN")
        );
    }
}
