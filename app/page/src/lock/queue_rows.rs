//! The rows of a queue, as text. Pure.

use std::sync::Arc;

use super::words;
use crate::copy::copy_markup;
use crate::format::{middle, visible};
use crate::parts::Piece::{Attribute, Text};
use crate::parts::{
    AgeText, Lane, Markup, Piece, RowMarkup, Since, filled, hold_least, liveness_markup, mark, only_on_markup,
    session_url, wait_least,
};
use crate::release::release_markup;
use lockscope_view::{Contender, ContenderRole};

/// Longest name of a znode on a row; the whole is in its title.
const NODE_CHARS: usize = 40;
const WAITS_CHARS: usize = 30;
const LABEL_CHARS: usize = 36;
/// The lane is moved back to its beginning when it moved by so many rows: browsers place nothing farther than some
/// millions of pixels.
const LANE_ROWS_MAX: i64 = 20_000;

/// Who looks at a queue, and when.
pub(super) struct Look<'a> {
    pub(super) ensemble: &'a str,
    pub(super) may_release: bool,
    pub(super) now_ms: i64,
}

/// A row that was drawn, and whom it shows: as it was when the row was made, but for its place.
#[derive(Debug)]
pub(super) struct Known {
    contender: Arc<Contender>,
    position: u32,
    row: Arc<RowMarkup>,
}

/// Rows in their lane. `drawn` are those of before, and then these: as many as can stay where they are in the lane do, since all
/// of them are moved by moving it, and whoever did not change is not made again but for its place.
pub(super) fn lane<'a>(
    look: &Look<'_>,
    rows: impl Iterator<Item = (u32, &'a Contender)>,
    drawn: &mut Vec<Arc<Known>>,
) -> Lane {
    let rows: Vec<(u32, &Contender)> = rows.collect();
    // Few enough to look through.
    let before = |of: &Contender| drawn.iter().find(|known| is_of_same(&known.contender, of));
    let stays = |(index, contender): &(u32, &Contender)| {
        let moved_up = before(contender)?.row.at - i64::from(*index);
        Some(moved_up).filter(|rows| rows.abs() <= LANE_ROWS_MAX)
    };
    let moved_up = rows.iter().find_map(stays).unwrap_or(0);
    let next = |(index, contender): &(u32, &Contender)| {
        let place = (i64::from(*index) + moved_up, *index);
        let known = before(contender).filter(|known| is_but_moved(&known.contender, contender));
        let position = contender.position;
        let (contender, row) = match known {
            Some(known) if (known.position, known.row.at, known.row.index) == (position, place.0, place.1) => {
                return Arc::clone(known);
            }
            Some(known) => (Arc::clone(&known.contender), moved(&known.row, place_cell(contender), place)),
            None => (Arc::new((*contender).clone()), row(look, contender, place)),
        };
        Arc::new(Known { contender, position, row: Arc::new(row) })
    };
    let now: Vec<Arc<Known>> = rows.iter().map(next).collect();
    *drawn = now;
    Lane { moved_up, rows: drawn.iter().map(|known| known.row.clone()).collect() }
}

fn is_of_same(one: &Contender, other: &Contender) -> bool {
    one.session_id == other.session_id && one.path == other.path
}

/// Whether they differ in their place in the queue alone.
fn is_but_moved(one: &Contender, other: &Contender) -> bool {
    *one == Contender { position: one.position, ..other.clone() }
}

fn moved(row: &RowMarkup, place: Arc<Markup>, (at, index): (i64, u32)) -> RowMarkup {
    let cells = std::iter::once(place).chain(row.cells.iter().skip(1).cloned()).collect();
    RowMarkup { key: row.key.clone(), at, index, attributes: row.attributes.clone(), cells }
}

fn row(look: &Look<'_>, contender: &Contender, (at, index): (i64, u32)) -> RowMarkup {
    let key = format!("{} {:?}", contender.path, contender.session_id);
    let attributes = vec![
        ("class", Some("queue-row contender".to_owned())),
        ("data-key", Some(key.clone())),
        ("data-node", contender.node.clone()),
        ("data-role", Some(contender.role.name().to_owned())),
        ("data-hidden", mark(is_hidden(contender)).map(str::to_owned)),
    ];
    let sequence = contender.sequence.map(|sequence| sequence.to_string()).unwrap_or_default();
    let age = AgeText::new(since(contender), look.now_ms);
    let cells = vec![
        place_cell(contender),
        node_cell(contender),
        Arc::new(Markup::fill(
            r#"<span class="cell cell-number queue-sequence" role="cell" data-col="sequence">{}</span>"#,
            &[Text(&sequence)],
        )),
        session_cell(look, contender),
        Arc::new(Markup::fill(
            r#"<span class="cell cell-number queue-time age" role="cell" data-col="time"{}{}{}>{}</span>"#,
            &age.pieces(),
        )),
        waits_cell(contender),
        liveness_cell(look, contender),
    ];
    RowMarkup { key: key.into(), at, index, attributes: Arc::new(attributes), cells }
}

fn place_cell(contender: &Contender) -> Arc<Markup> {
    let is_holder = contender.role == ContenderRole::Holder;
    let place = if is_holder { words::HOLDS.to_owned() } else { contender.position.to_string() };
    Arc::new(Markup::fill(r#"<span class="cell queue-place" role="cell">{}</span>"#, &[Text(&place)]))
}

fn node_cell(contender: &Contender) -> Arc<Markup> {
    let name = contender.node.as_deref().map(visible).and_then(filled);
    let copy = contender.node.as_ref().map(|_| copy_markup(&contender.path, words::ZNODE_PATH)).unwrap_or_default();
    Arc::new(Markup::fill(
        r#"<span class="cell queue-node" role="cell" data-col="node"{}><bdi class="queue-name">{}</bdi>{}{}</span>"#,
        &[
            Attribute("title", name.as_deref()),
            Text(&node(contender)),
            Piece::Markup(&copy),
            Piece::Markup(&only_on_markup(&contender.only_on)),
        ],
    ))
}

fn session_cell(look: &Look<'_>, contender: &Contender) -> Arc<Markup> {
    let href = contender.session_id.map(|session| session_url(look.ensemble, session));
    let label = contender.label.as_deref().map(|label| {
        Markup::fill(r#" <span class="queue-label">{}</span>"#, &[Text(&middle(&visible(label), LABEL_CHARS))])
    });
    Arc::new(Markup::fill(
        r#"<span class="cell queue-session" role="cell" data-col="session"><a class="queue-id"{}>{}</a>{}</span>"#,
        &[
            Attribute("href", href.as_deref()),
            Text(&words::session(contender)),
            Piece::Markup(&label.unwrap_or_default()),
        ],
    ))
}

fn waits_cell(contender: &Contender) -> Arc<Markup> {
    let Some(edge) = contender.waits_for.first() else {
        let none = r#"<span class="cell queue-waits" role="cell" data-col="waits-for"></span>"#;
        return Arc::new(Markup::fill(none, &[]));
    };
    let name = middle(&last_name(&edge.to), WAITS_CHARS);
    let more = contender.waits_for.len() - 1;
    let name = if more > 0 { words::and_more(&name, more) } else { name };
    let evidence = words::evidence(edge.evidence);
    Arc::new(Markup::fill(
        r#"<span class="cell queue-waits" role="cell" data-col="waits-for"{}{}>{}<span class="sr-only">, {}</span></span>"#,
        &[
            Attribute("data-evidence", Some(edge.evidence.name())),
            Attribute("title", Some(&format!("{}, {evidence}", visible(&edge.to)))),
            Text(&name),
            Text(evidence),
        ],
    ))
}

fn liveness_cell(look: &Look<'_>, contender: &Contender) -> Arc<Markup> {
    let node = contender.node.as_deref().filter(|_| look.may_release);
    let release = node.map(|node| release_markup(node, &contender.path)).unwrap_or_default();
    Arc::new(Markup::fill(
        r#"<span class="cell queue-alive" role="cell" data-col="liveness">{}{}</span>"#,
        &[
            Piece::Markup(&liveness_markup(contender.liveness, contender.runs_out, look.now_ms)),
            Piece::Markup(&release),
        ],
    ))
}

/// Since when it holds or waits, and why that may be longer.
fn since(contender: &Contender) -> Since {
    match contender.holding_since_ms {
        Some(since_ms) => (Some(since_ms), hold_least(contender.holding_is_lower_bound)),
        None => (contender.waiting_since_ms, wait_least(contender.waiting_is_lower_bound)),
    }
}

/// It waits, and has no znode that says so.
fn is_hidden(contender: &Contender) -> bool {
    contender.node.is_none() && contender.role == ContenderRole::Waiter
}

fn node(contender: &Contender) -> String {
    match (&contender.node, contender.waits_for.first()) {
        (Some(node), _) => middle(&visible(node), NODE_CHARS),
        (None, Some(edge)) => words::watches(&middle(&last_name(&edge.to), NODE_CHARS / 2)),
        (None, None) => words::NO_ZNODE.to_owned(),
    }
}

fn last_name(path: &str) -> String {
    visible(path.rsplit('/').next().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::tests::holder;

    const LOOK: Look<'_> = Look { ensemble: "", may_release: true, now_ms: 5_000 };

    fn queue(from: u32, numbers: std::ops::Range<u32>) -> Vec<(u32, Contender)> {
        let contender = |number: u32| Contender {
            path: format!("/order/lock-{number:010}"),
            position: number - from,
            role: if number == from { ContenderRole::Holder } else { ContenderRole::Waiter },
            ..holder()
        };
        numbers.map(|number| (number - from, contender(number))).collect()
    }

    fn draw(queue: &[(u32, Contender)], drawn: &mut Vec<Arc<Known>>) -> Lane {
        lane(&LOOK, queue.iter().map(|(at, contender)| (*at, contender)), drawn)
    }

    fn places(lane: &Lane) -> Vec<i64> {
        lane.rows.iter().map(|row| row.at).collect()
    }

    #[test]
    fn who_moves_up_stays_where_it_is_in_the_lane() {
        let mut drawn = Vec::new();
        let first = draw(&queue(0, 3..6), &mut drawn);
        assert_eq!((places(&first), first.moved_up), (vec![3, 4, 5], 0));
        let next = draw(&queue(1, 3..7), &mut drawn);
        assert_eq!((places(&next), next.moved_up), (vec![3, 4, 5, 6], 1));
        let differs = |one: &RowMarkup, other: &RowMarkup| {
            one.cells.iter().zip(&other.cells).filter(|(one, other)| one != other).count()
        };
        let differ: Vec<usize> = first.rows.iter().zip(&next.rows).map(|(one, other)| differs(one, other)).collect();
        assert_eq!(differ, [1, 1, 1], "its place");
        let again = draw(&queue(1, 3..7), &mut drawn);
        assert!(next.rows.iter().zip(&again.rows).all(|(one, other)| Arc::ptr_eq(one, other)), "none moved");
    }

    #[test]
    fn whoever_is_shown_stands_in_its_place() {
        let mut drawn = Vec::new();
        draw(&queue(0, 3..9), &mut drawn);
        let mut gone = queue(0, 3..9);
        gone.remove(2);
        let gone: Vec<_> = (3..).zip(gone).map(|(at, (_, contender))| (at, contender)).collect();
        for (at, queue) in [(3_u32, gone), (50, queue(0, 50..60)), (1, queue(2, 3..9))] {
            let lane = draw(&queue, &mut drawn.clone());
            assert!(lane.rows.iter().map(|row| row.index).eq((at..).take(queue.len())));
            assert_eq!(
                lane.rows.iter().map(|row| row.at - lane.moved_up).collect::<Vec<_>>(),
                (i64::from(at)..).take(queue.len()).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn whoever_changed_is_made_anew() {
        let mut drawn = Vec::new();
        let mut rows = queue(0, 3..6);
        let first = draw(&rows, &mut drawn);
        rows[1].1.label = Some("worker-7".to_owned());
        let next = draw(&rows, &mut drawn);
        let is_same: Vec<bool> = first.rows.iter().zip(&next.rows).map(|(one, other)| one == other).collect();
        assert_eq!(is_same, [true, false, true]);
        assert!(next.rows[1].cells.iter().any(|cell| cell.as_str().contains("worker-7")));
    }

    #[test]
    fn the_lane_goes_back_to_its_beginning_before_it_is_too_long() {
        let mut drawn = Vec::new();
        let mut lane = draw(&queue(0, 40_000..40_003), &mut drawn);
        for from in 1..=30_000 {
            lane = draw(&queue(from, 40_000..40_003), &mut drawn);
            assert!(lane.moved_up.abs() <= LANE_ROWS_MAX);
        }
        assert_eq!(lane.moved_up, 30_000 - LANE_ROWS_MAX - 1);
    }

    #[test]
    fn a_row_says_who_it_is_and_what_can_be_done() {
        let who = |contender: &Contender, may_release: bool| {
            let look = Look { may_release, ..LOOK };
            let lane = lane(&look, [(0, contender)].into_iter(), &mut Vec::new());
            lane.rows[0].cells.iter().map(|cell| cell.as_str()).collect::<String>()
        };
        let holder = Contender { label: Some("<b>".to_owned()), ..holder() };
        let html = who(&holder, true);
        for part in [
            "href=\"/session?id=0x7\"",
            "&lt;b&gt;",
            "data-copy=\"/order/lock-0000000001\"",
            "data-since=\"1000\">4.0 s<",
            "data-release=",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!who(&holder, false).contains("data-release"));
    }
}
