//! Where the boxes and lines of a layered drawing go. Pure arithmetic: who waits for nobody stands at the left, whoever
//! waits for them to their right, and so on; a crowded layer folds into several columns.

use std::collections::BTreeMap;

pub(crate) const BOX_WIDTH: f64 = 176.0;
pub(crate) const BOX_HEIGHT: f64 = 44.0;
/// Room between columns of different layers, for the lines.
const GAP_X: f64 = 164.0;
/// Room between the columns that one layer folds into.
const FOLD_X: f64 = 16.0;
const GAP_Y: f64 = 16.0;
/// Boxes above each other before a layer folds.
const ROWS_MAX: usize = 14;
/// Room between what is not connected.
const APART: f64 = 56.0;
/// Width from which on a group goes into the next row.
const WIDTH_MAX: f64 = 1_180.0;
const BOW: f64 = 44.0;
/// How far a line that passes over other boxes is lifted.
const LIFT: f64 = 34.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// Left upper corner of each box, in the order of the nodes.
    pub(crate) boxes: Vec<(f64, f64)>,
    /// Each line as an SVG path, in the order of the edges.
    pub(crate) lines: Vec<String>,
    pub(crate) middles: Vec<(f64, f64)>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Lays out nodes, given the layer of each, and edges from one node to another by their indices. What is not connected
/// stands apart, in rows, in the order of the nodes.
pub(crate) fn layout(layers: &[u32], edges: &[(usize, usize)]) -> Layout {
    let mut boxes = vec![(0.0, 0.0); layers.len()];
    let (mut left, mut top, mut row_height, mut width) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for group in groups(layers.len(), edges) {
        let size = lay_group(&group, layers, edges, &mut boxes);
        if left > 0.0 && left + size.0 > WIDTH_MAX {
            (left, top, row_height) = (0.0, top + row_height + APART, 0.0);
        }
        for node in &group {
            if let Some(spot) = boxes.get_mut(*node) {
                *spot = (spot.0 + left, spot.1 + top);
            }
        }
        row_height = row_height.max(size.1);
        width = width.max(left + size.0);
        left += size.0 + APART;
    }
    let ends = |(from, to): &(usize, usize)| {
        (boxes.get(*from).copied().unwrap_or_default(), boxes.get(*to).copied().unwrap_or_default())
    };
    let layer = |node: usize| layers.get(node).copied().unwrap_or(0);
    let draw = |edge: &(usize, usize)| {
        if layer(edge.0).abs_diff(layer(edge.1)) > 1 { arch(ends(edge)) } else { line(ends(edge)) }
    };
    let drawn: Vec<(String, (f64, f64))> = edges.iter().map(draw).collect();
    let (lines, middles) = drawn.into_iter().unzip();
    Layout { lines, middles, width, height: top + row_height, boxes }
}

/// Nodes that hang together.
fn groups(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut first: Vec<usize> = (0..nodes).collect();
    // Each pass hands the smallest number on over every edge; long chains are rare, and bounded by the number of nodes.
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for (from, to) in edges {
            let Some(least) = first.get(*from).copied().into_iter().chain(first.get(*to).copied()).min() else {
                continue;
            };
            for end in [*from, *to] {
                if let Some(own) = first.get_mut(end).filter(|own| **own != least) {
                    *own = least;
                    is_settled = false;
                }
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, first) in first.into_iter().enumerate() {
        groups.entry(first).or_default().push(node);
    }
    groups.into_values().collect()
}

/// Lays out one group at the left upper corner; its size.
fn lay_group(group: &[usize], layers: &[u32], edges: &[(usize, usize)], boxes: &mut [(f64, f64)]) -> (f64, f64) {
    let mut by_layer: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for node in group {
        by_layer.entry(layers.get(*node).copied().unwrap_or(0)).or_default().push(*node);
    }
    let tallest = by_layer.values().map(|nodes| nodes.len().min(ROWS_MAX)).max().unwrap_or(0);
    let height = (tallest as f64) * (BOX_HEIGHT + GAP_Y) - GAP_Y;
    let mut left = 0.0;
    for nodes in by_layer.values_mut() {
        order(nodes, boxes, edges);
        let rows = nodes.len().min(ROWS_MAX);
        let top = (height - (rows as f64) * (BOX_HEIGHT + GAP_Y) + GAP_Y) / 2.0;
        for (place, node) in nodes.iter().enumerate() {
            let (column, row) = ((place / ROWS_MAX) as f64, (place % ROWS_MAX) as f64);
            if let Some(spot) = boxes.get_mut(*node) {
                *spot = (left + column * (BOX_WIDTH + FOLD_X), top + row * (BOX_HEIGHT + GAP_Y));
            }
        }
        left += nodes.len().div_ceil(ROWS_MAX) as f64 * (BOX_WIDTH + FOLD_X) - FOLD_X + GAP_X;
    }
    ((left - GAP_X).max(0.0), height.max(0.0))
}

/// By the mean height of those they wait for, so that few lines cross; equals keep their order.
fn order(nodes: &mut [usize], boxes: &[(f64, f64)], edges: &[(usize, usize)]) {
    let height = |node: usize| {
        let tops: Vec<f64> = edges
            .iter()
            .filter(|(from, _)| *from == node)
            .filter_map(|(_, to)| boxes.get(*to))
            .map(|(_, y)| *y)
            .collect();
        if tops.is_empty() { 0.0 } else { tops.iter().sum::<f64>() / tops.len() as f64 }
    };
    let mut keyed: Vec<(f64, usize)> = nodes.iter().map(|node| (height(*node), *node)).collect();
    keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
    nodes.iter_mut().zip(keyed).for_each(|(slot, (_, node))| *slot = node);
}

/// From a waiter's side to the side of whoever it waits for. Lines to the left and lines to the right touch a box at
/// different heights, so that both ways of a circle can be seen.
fn line(((from_x, from_y), (to_x, to_y)): ((f64, f64), (f64, f64))) -> (String, (f64, f64)) {
    let leftwards = to_x < from_x;
    let at = if leftwards { 0.34 } else { 0.7 };
    let (y1, y2) = (from_y + BOX_HEIGHT * at, to_y + BOX_HEIGHT * at);
    let (x1, x2, bow1, bow2) = if leftwards {
        (from_x, to_x + BOX_WIDTH, -BOW, BOW)
    } else if to_x > from_x {
        (from_x + BOX_WIDTH, to_x, BOW, -BOW)
    } else {
        (from_x + BOX_WIDTH, to_x + BOX_WIDTH, BOW, BOW)
    };
    let path = format!("M{x1:.0} {y1:.0}C{:.0} {y1:.0} {:.0} {y2:.0} {x2:.0} {y2:.0}", x1 + bow1, x2 + bow2);
    (path, ((x1 + x2) / 2.0 + (bow1 + bow2) * 0.375, (y1 + y2) / 2.0))
}

/// Over the boxes between, from the top of one to the top of the other.
fn arch(((from_x, from_y), (to_x, to_y)): ((f64, f64), (f64, f64))) -> (String, (f64, f64)) {
    let (x1, x2) = (from_x + BOX_WIDTH / 2.0, to_x + BOX_WIDTH / 2.0);
    let top = from_y.min(to_y) - LIFT;
    let path = format!("M{x1:.0} {from_y:.0}C{x1:.0} {top:.0} {x2:.0} {top:.0} {x2:.0} {to_y:.0}");
    (path, ((x1 + x2) / 2.0, (from_y + to_y) / 8.0 + top * 0.75))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_stands_to_the_right_of_whom_it_waits_for() {
        let drawn = layout(&[0, 1, 1], &[(1, 0), (2, 0)]);
        assert!(drawn.boxes[1].0 >= drawn.boxes[0].0 + BOX_WIDTH + GAP_X);
        assert_eq!(drawn.boxes[1].0, drawn.boxes[2].0);
        assert!(drawn.boxes[1].1 + BOX_HEIGHT < drawn.boxes[2].1);
        assert_eq!(drawn.lines.len(), 2);
    }

    #[test]
    fn both_ways_of_a_circle_are_apart() {
        let drawn = layout(&[0, 1], &[(1, 0), (0, 1)]);
        assert_ne!(drawn.middles[0].1, drawn.middles[1].1);
    }

    #[test]
    fn a_line_over_a_layer_passes_above_its_boxes() {
        let drawn = layout(&[0, 1, 2], &[(0, 1), (1, 2), (2, 0)]);
        assert!(drawn.middles[2].1 < 0.0 && drawn.middles[0].1 > 0.0);
    }

    #[test]
    fn a_crowd_folds_and_nothing_overlaps() {
        let layers: Vec<u32> = (0..300).map(|at| u32::from(at > 0)).collect();
        let edges: Vec<(usize, usize)> = (1..300).map(|at| (at, 0)).collect();
        let drawn = layout(&layers, &edges);
        assert_eq!(groups(4, &[(0, 2), (3, 1)]), [[0, 2], [1, 3]]);
        assert!(drawn.height <= ROWS_MAX as f64 * (BOX_HEIGHT + GAP_Y));
        let mut boxes: Vec<(i64, i64)> = drawn.boxes.iter().map(|(x, y)| (*x as i64, *y as i64)).collect();
        boxes.sort_unstable();
        boxes.dedup();
        assert_eq!(boxes.len(), 300);
        assert_eq!(layout(&[], &[]), Layout::default());
    }
}
