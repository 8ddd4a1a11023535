//! Where the boxes and arrows of a circle go. Pure arithmetic: the first half stands in a column at the left, from top
//! to bottom, the rest at the right, from bottom to top, and each arrow leads to the next. Two columns are legible on a
//! phone, where a round circle of names is not.

pub(crate) const BOX_WIDTH: f64 = 172.0;
pub(crate) const BOX_HEIGHT: f64 = 36.0;
/// Members that are drawn; more are a list.
pub(crate) const MEMBERS_MAX: usize = 12;
pub(crate) const LABEL_HEIGHT: f64 = 20.0;
const GAP_X: f64 = 28.0;
/// Room between two boxes above each other, for an arrow and its label.
const GAP_Y: f64 = 52.0;
/// How far the arrows at the top and at the bottom bow.
const LIFT: f64 = 48.0;
/// Room above and below the boxes for these and their labels.
const MARGIN: f64 = LIFT * 0.75 + LABEL_HEIGHT / 2.0 + 1.0;
/// Half the width, and the length, of an arrow's head.
const HEAD: (f64, f64) = (4.5, 8.0);

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ring {
    /// Left upper corner of each box.
    pub(crate) boxes: Vec<(f64, f64)>,
    /// From each box to the next.
    pub(crate) arrows: Vec<Arrow>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// An arrow as SVG paths, and the middle of its label.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Arrow {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) label: (f64, f64),
}

pub(crate) fn ring(members: usize) -> Ring {
    let left = members.div_ceil(2);
    let right = members - left;
    let step = BOX_HEIGHT + GAP_Y;
    // Where one is missing at the right, the others stand half a step lower.
    let lowered = (left - right) as f64 * step / 2.0;
    let place = |at: usize| {
        if at < left {
            (0.0, MARGIN + at as f64 * step)
        } else {
            (BOX_WIDTH + GAP_X, MARGIN + lowered + (members - 1 - at) as f64 * step)
        }
    };
    let boxes: Vec<(f64, f64)> = (0..members).map(place).collect();
    let arrow = |at: usize| {
        let next = if at + 1 == members { 0 } else { at + 1 };
        let (from, to) = (place(at), place(next));
        match (at < left, next < left) {
            (true, true) => straight(from, to),
            (false, false) => straight(from, to),
            (true, false) => bowed(from, to, BOX_HEIGHT, LIFT),
            (false, true) => bowed(from, to, 0.0, -LIFT),
        }
    };
    Ring {
        arrows: if members < 2 { Vec::new() } else { (0..members).map(arrow).collect() },
        boxes,
        width: 2.0 * BOX_WIDTH + GAP_X,
        height: left as f64 * step - GAP_Y + 2.0 * MARGIN,
    }
}

/// To the box above or below.
fn straight((x, from_y): (f64, f64), (_, to_y): (f64, f64)) -> Arrow {
    let x = x + BOX_WIDTH / 2.0;
    let (y1, y2, up) = if to_y > from_y { (from_y + BOX_HEIGHT, to_y, -1.0) } else { (from_y, to_y + BOX_HEIGHT, 1.0) };
    let end = y2 + up * HEAD.1;
    Arrow { line: format!("M{x:.1} {y1:.1}V{end:.1}"), head: head(x, y2, up), label: (x, (y1 + end) / 2.0) }
}

/// To the other column: below both boxes, or above them. `edge`: from the upper corner of a box to where it begins.
fn bowed((from_x, from_y): (f64, f64), (to_x, to_y): (f64, f64), edge: f64, lift: f64) -> Arrow {
    let (x1, x2) = (from_x + BOX_WIDTH / 2.0, to_x + BOX_WIDTH / 2.0);
    let (y1, y2) = (from_y + edge, to_y + edge);
    let end = y2 + HEAD.1 * lift.signum();
    let far = if lift > 0.0 { y1.max(y2) } else { y1.min(y2) } + lift;
    Arrow {
        line: format!("M{x1:.1} {y1:.1}C{x1:.1} {far:.1} {x2:.1} {far:.1} {x2:.1} {end:.1}"),
        head: head(x2, y2, lift.signum()),
        label: ((x1 + x2) / 2.0, (y1 + end) / 8.0 + far * 0.75),
    }
}

/// A triangle with its tip at a point; its base lies below it (`side` 1) or above it (-1).
fn head(x: f64, y: f64, side: f64) -> String {
    let (half, length) = HEAD;
    format!("M{x:.1} {y:.1}l{half} {0:.1}h-{1:.1}z", side * length, 2.0 * half)
}

/// About how wide a text of 12 px is in the font of fixed width, in pixels: for the background of a label.
pub(crate) fn label_width(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 7.25 } else { 12.5 }).sum::<f64>() + 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_stand_beside_each_other_and_each_has_an_arrow_of_its_own() {
        let drawn = ring(2);
        assert_eq!(drawn.boxes[0].1, drawn.boxes[1].1);
        assert!(drawn.boxes[0].0 + BOX_WIDTH < drawn.boxes[1].0);
        let [there, back] = &drawn.arrows[..] else { panic!("two arrows") };
        assert!(there.label.1 > drawn.boxes[0].1 + BOX_HEIGHT && back.label.1 < drawn.boxes[0].1);
    }

    #[test]
    fn everything_lies_within_and_no_label_on_a_box() {
        for members in 2..=MEMBERS_MAX {
            let drawn = ring(members);
            assert_eq!((drawn.boxes.len(), drawn.arrows.len()), (members, members));
            for (x, y) in &drawn.boxes {
                assert!(*x >= 0.0 && x + BOX_WIDTH <= drawn.width && *y >= 0.0 && y + BOX_HEIGHT <= drawn.height);
            }
            for Arrow { label: (x, y), .. } in &drawn.arrows {
                let half = LABEL_HEIGHT / 2.0;
                assert!(y - half >= 0.0 && y + half <= drawn.height, "{members}: {y} of {}", drawn.height);
                let is_on = |(left, top): &(f64, f64)| {
                    (left..=&(left + BOX_WIDTH)).contains(&x) && y + half > *top && y - half < top + BOX_HEIGHT
                };
                assert!(!drawn.boxes.iter().any(is_on), "{members}: a label at {x} {y} lies on a box");
            }
            let mut boxes: Vec<(i64, i64)> = drawn.boxes.iter().map(|(x, y)| (*x as i64, *y as i64)).collect();
            boxes.sort_unstable();
            boxes.dedup();
            assert_eq!(boxes.len(), members);
        }
    }

    #[test]
    fn one_or_none_is_no_circle() {
        assert!(ring(0).arrows.is_empty() && ring(1).arrows.is_empty());
    }
}
