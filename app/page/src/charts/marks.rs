//! Signs of series, distinguished by their shape as well as by their colour, and steps of axes. Pure geometry.

use std::fmt::Write as _;

use crate::erase::view;
use leptos::prelude::*;

use crate::parts::filled;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
}

impl Mark {
    pub(crate) fn draw(self, (x, y): (f64, f64), radius: f64, out: &mut String) {
        let r = radius;
        // Writing to a String cannot fail.
        let _ = match self {
            Self::Circle => write!(out, "M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z", x - r, d = 2.0 * r),
            Self::Square => write!(out, "M{:.1} {:.1}h{d}v{d}h-{d}z", x - r, y - r, d = 2.0 * r),
            Self::Triangle => write!(out, "M{x:.1} {:.1}l{:.1} {:.1}h-{:.1}z", y - r * 1.2, r * 1.2, r * 2.1, r * 2.4),
            Self::Diamond => write!(out, "M{x:.1} {:.1}l{r} {q}l-{r} {q}l-{r} -{q}z", y - r * 1.3, q = r * 1.3),
        };
    }
}

#[component]
pub(crate) fn Sign(lane: &'static str, mark: Mark) -> AnyView {
    let mut shape = String::new();
    mark.draw((7.0, 7.0), 4.5, &mut shape);
    view! {
        <svg class="chart-sign" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" data-lane=lane>
            <path class="chart-mark" d=shape></path>
        </svg>
    }
}

/// A text at a place. `anchor` is `start`, `middle` or `end`.
#[component]
pub(crate) fn Label(class: &'static str, at: (f64, f64), anchor: &'static str, text: String) -> AnyView {
    let (x, y) = (format!("{:.1}", at.0), format!("{:.1}", at.1));
    view! { <text class=class x=x y=y text-anchor=anchor>{text}</text> }
}

/// A shape; of a series, or of the chart itself.
#[component]
pub(crate) fn Shape(class: &'static str, #[prop(optional)] lane: Option<&'static str>, d: String) -> AnyView {
    view! { <path class=class data-lane=lane d=filled(d)></path> }
}

/// Round numbers from 0 to `most`, at most six steps.
pub(crate) fn steps(most: u32) -> Vec<u32> {
    let units = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u32.pow(power)));
    let unit = units.into_iter().find(|unit| most / unit <= 6).unwrap_or(most.max(1));
    (0..=most / unit).map(|at| at * unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        assert_eq!(steps(8), [0, 2, 4, 6, 8]);
        assert_eq!(steps(49), [0, 10, 20, 30, 40]);
        assert_eq!(steps(500), [0, 100, 200, 300, 400, 500]);
        assert_eq!(steps(0), [0]);
        assert!(steps(u32::MAX).len() <= 7);
    }

    #[test]
    fn every_shape_is_its_own() {
        let drawn = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond].map(|mark| {
            let mut out = String::new();
            mark.draw((5.0, 5.0), 2.0, &mut out);
            out
        });
        assert_eq!(drawn[1], "M3.0 3.0h4v4h-4z");
        assert!(drawn.iter().enumerate().all(|(at, one)| drawn.iter().skip(at + 1).all(|other| one != other)));
    }
}
