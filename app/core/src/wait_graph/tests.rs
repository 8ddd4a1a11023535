//! Cycles of small graphs, whatever the order and however small the steps.

use super::*;

/// Each session waits for the lock of the one it is to wait for.
fn search(starts: &[i64], edges: &[(i64, i64)], steps: usize) -> (Vec<Vec<(i64, i64)>>, usize) {
    let follow = |vertex: &Vertex, _: &mut Budget| match vertex {
        Vertex::Session(from) => edges
            .iter()
            .filter(|(one, _)| *one == from.0)
            .map(|(_, to)| Vertex::Lock(format!("/{to}").into()))
            .collect(),
        Vertex::Lock(path) => vec![Vertex::Session(SessionId(path[1..].parse().unwrap()))],
    };
    let mut search = Search::new(starts.iter().map(|session| SessionId(*session)).collect());
    let (mut found, mut rounds) = (Vec::new(), 0);
    while !search.is_over() {
        rounds += 1;
        let mut budget = Budget::new(steps);
        if search.find_components(&mut budget, follow) {
            while let Some(circle) = search.next_circle(&mut budget) {
                found.push(circle.iter().map(|(from, _, to)| (from.0, to.0)).collect());
            }
        }
    }
    (found, rounds)
}

fn found(starts: &[i64], edges: &[(i64, i64)]) -> Vec<Vec<(i64, i64)>> {
    let (found, rounds) = search(starts, edges, 1_000);
    assert_eq!(rounds, 1);
    assert_eq!(search(starts, edges, 1).0, found, "whatever the budget");
    found
}

#[test]
fn a_circle_is_told_once_and_the_same_from_everywhere() {
    assert_eq!(found(&[1], &[(1, 2), (2, 1)]), [[(1, 2), (2, 1)]]);
    assert_eq!(found(&[2], &[(1, 2), (2, 1)]), [[(1, 2), (2, 1)]]);
    assert_eq!(found(&[1, 2], &[(1, 2), (2, 1)]), [[(1, 2), (2, 1)]]);
    assert_eq!(found(&[9], &[(9, 2), (1, 2), (2, 1)]), [[(1, 2), (2, 1)]], "one that only leads there finds it, too");
    assert!(found(&[1], &[(1, 1)]).is_empty(), "whoever waits for itself may serve many threads");
    assert!(found(&[1], &[(1, 2), (2, 3)]).is_empty());
    assert!(found(&[1], &[]).is_empty());
}

#[test]
fn every_wait_that_is_in_a_circle_gets_into_one() {
    let edges = [(1, 2), (2, 3), (3, 1), (2, 4), (4, 1)];
    assert_eq!(found(&[3], &edges), [[(1, 2), (2, 3), (3, 1)], [(1, 2), (2, 4), (4, 1)]]);
}

#[test]
fn small_components_come_first() {
    let edges = [(1, 2), (2, 3), (3, 1), (3, 8), (8, 9), (9, 8)];
    assert_eq!(found(&[1], &edges), [vec![(8, 9), (9, 8)], vec![(1, 2), (2, 3), (3, 1)]]);
}

#[test]
fn a_large_component_costs_as_much_as_it_is_large() {
    let edges: Vec<(i64, i64)> =
        (0..300).flat_map(|from| (1..=40).map(move |by| (from, (from + by * 7) % 300))).collect();
    let steps = 2 * (edges.len() + 600) + CIRCLES_MAX * (edges.len() + 1);
    let (circles, rounds) = search(&[0], &edges, steps);
    assert_eq!((circles.len(), rounds), (CIRCLES_MAX, 1));
}
