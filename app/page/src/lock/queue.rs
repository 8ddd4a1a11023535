//! Every contender in queue order; of a long queue only the rows on screen are drawn.

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;

use super::queue_map::{List, is_long, queue_map};
use super::{LockState, words};
use crate::copy::CopyButton;
use crate::erase::{dynamic, erase, view};
use crate::exact::Exact;
use crate::explain::explained_term;
use crate::format::{middle, visible};
use crate::live::{FETCH_ROWS, OpenView, Places, Viewport, use_fetch, use_places, use_viewport};
use crate::parts::{Age, Item, LivenessChip, OnlyOn, filled, hold_least, mark, rows_in_two, session_url, wait_least};
use crate::release::ReleaseButton;
use lockscope_wire::{Contender, ContenderRole, Edge, Liveness, LockQuery, View};

/// Longest name of a znode on a row; the whole is in its title.
const NODE_CHARS: usize = 40;

#[derive(Clone, Debug, PartialEq)]
struct Slot {
    /// Index in the whole list.
    at: u32,
    /// Its place in words.
    place: String,
    still: Still,
}

/// What of a row stays as it is when the first of the queue goes.
#[derive(Clone, Debug, PartialEq)]
struct Still {
    /// Where its row stands in the lane that all rows move up with.
    in_lane: i64,
    known: Known,
}

/// A contender as it was sent, shared by all who look at it until more of it changes than its place.
#[derive(Clone, Debug)]
struct Known(Arc<(String, Contender)>);

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Known {
    fn key(&self) -> &str {
        &self.0.0
    }

    fn contender(&self) -> &Contender {
        &self.0.1
    }

    /// Of whoever did not change nothing is copied again: who goes first moves all behind, and changes nothing else of them.
    fn new(contender: &Contender, before: &[Slot]) -> Self {
        let known = before.iter().map(|slot| &slot.still.known).find(|known| known.contender().is_but_moved(contender));
        known.cloned().unwrap_or_else(|| {
            let key = format!("{} {:?}", contender.path, contender.session_id);
            Self(Arc::new((key, contender.clone())))
        })
    }
}

impl Still {
    fn contender(&self) -> &Contender {
        self.known.contender()
    }
}

/// The lane is moved back to its beginning when it moved by so many rows: browsers place nothing farther than some
/// millions of pixels.
const LANE_ROWS_MAX: i64 = 20_000;

/// How far the lane of rows moved up.
fn moved_up(slots: &[Slot]) -> i64 {
    slots.first().map_or(0, |slot| slot.still.in_lane - i64::from(slot.at))
}

/// Rows in their lane. `before` are those that were shown: as many as can stay where they are in it do, since all of them are moved
/// by moving the lane.
fn in_lane<'a>(rows: impl Iterator<Item = (u32, &'a Contender)>, before: &[Slot]) -> Vec<Slot> {
    let known: Vec<(u32, &Contender, Known)> =
        rows.map(|(at, contender)| (at, contender, Known::new(contender, before))).collect();
    let stays = |(at, _, known): &(u32, &Contender, Known)| {
        let slot = before.iter().find(|slot| slot.still.known.key() == known.key())?;
        Some(slot.still.in_lane - i64::from(*at)).filter(|rows| rows.abs() <= LANE_ROWS_MAX)
    };
    let moved_up = known.iter().find_map(stays).unwrap_or(0);
    let slot = |(at, contender, known): (u32, &Contender, Known)| {
        let is_holder = contender.role == ContenderRole::Holder;
        let place = if is_holder { words::HOLDS.to_owned() } else { contender.position.to_string() };
        Slot { at, place, still: Still { in_lane: i64::from(at) + moved_up, known } }
    };
    known.into_iter().map(slot).collect()
}

/// The table.
#[component]
pub(super) fn Queue(
    state: LockState,
    /// The open view.
    opened: OpenView,
    /// What it looks at.
    query: LockQuery,
) -> AnyView {
    let body = NodeRef::<Div>::new();
    let total =
        Memo::new(move |_| state.live.lock(|page| page.map_or(0, |page| page.window.total)).unwrap_or_default());
    let total_rows = Signal::derive(move || total.get());
    let shown = use_viewport(body, query.offset, total_rows);
    let slots =
        Memo::new(move |before: Option<&Vec<Slot>>| slots(state, shown.get(), before.map_or(&[], |before| before)));
    let moved_up = Memo::new(move |_| slots.with(|slots| moved_up(slots)));
    let places = use_places(body, total_rows);
    let ensemble = StoredValue::new(query.ensemble.clone());
    let map_query = query.clone();
    let offset = query.offset;
    let look_at = move |offset| opened.look_at(View::Lock(LockQuery { offset, limit: FETCH_ROWS, ..query.clone() }));
    use_fetch(shown, offset, total_rows, Callback::new(look_at));
    let is_folded = Memo::new(move |_| state.has_chain());
    let hidden = Memo::new(move |_| state.head.with(|head| head.as_ref().map_or(0, |head| head.hidden_waiters)));
    view! {
        <section class="part" id="contenders" aria-labelledby="queue-title" data-long=move || mark(is_long(total.get()))>
            <h2 class="part-title" id="queue-title">{move || words::contenders(total.get())}</h2>
            <div class="hidden-waiters">{dynamic(move || hidden_waiters(hidden.get()))}</div>
            // The chain shows the same people; without scripts and on paper the table is there all the same.
            <details class="queue-fold" hidden=move || !is_folded.get() data-testid="queue-fold">
                <summary>"As a table"</summary>
            </details>
            {queue_map(state, List { body, shown, total }, map_query)}
            <div class="board queue" role="table" aria-labelledby="queue-title" aria-rowcount=move || total.get() + 1>
                <div class="board-head" role="rowgroup">
                    <div class="queue-row" role="row" aria-rowindex="1">
                        <span class="cell" role="columnheader">"Place"</span>
                        <span class="cell" role="columnheader">"Node"</span>
                        <span class="cell cell-number" role="columnheader">"Sequence"</span>
                        <span class="cell" role="columnheader">"Session"</span>
                        <span class="cell cell-number" role="columnheader">"For"</span>
                        <span class="cell" role="columnheader">"Waits for"</span>
                        <span class="cell" role="columnheader">{explained_term("liveness", words::LIVENESS)}</span>
                    </div>
                </div>
                <div class="queue-body" role="rowgroup" data-placed=move || mark(places.are_set()) node_ref=body>
                    <div class="lane" role="presentation" prop:style=move || places.style(-moved_up.get())>
                        {rows_in_two(slots, |slot| slot.still.known.key(), |slot| &slot.still, move |item, still| row(item, still, ensemble, places))}
                    </div>
                </div>
            </div>
        </section>
    }
}

/// How many wait without a znode; nothing for none.
fn hidden_waiters(number: u32) -> Option<AnyView> {
    (number > 0).then(|| view! { <p class="quiet" data-testid="hidden-waiters">{words::hidden_waiters(number)}</p> })
}

fn slots(state: LockState, shown: Viewport, before: &[Slot]) -> Vec<Slot> {
    let found = state.live.lock(|page| {
        let window = &page?.window;
        let rows = (window.offset..).zip(&window.rows).filter(|(at, _)| (shown.start..shown.end).contains(at));
        Some(in_lane(rows, before))
    });
    found.flatten().unwrap_or_default()
}

/// A row; each part of it is drawn anew only when it changed. Most keep all but their place when the first goes: what
/// else they show is not even looked at then.
fn row(item: Item<Slot>, still: Item<Still>, ensemble: StoredValue<String>, places: Places) -> AnyView {
    let (key, path, node) = still.fixed(|Still { known, .. }| {
        (known.key().to_owned(), known.contender().path.clone(), known.contender().node.clone())
    });
    let name = node.clone().unwrap_or_default();
    view! {
        <div
            class="queue-row contender"
            role="row"
            data-key=Exact(key)
            data-node=filled(name).map(Exact)
            data-role=still.text(|still| Some(still.contender().role.name().to_owned()))
            data-hidden=still.text(|still| mark(is_hidden(still.contender())).map(str::to_owned))
            aria-rowindex=item.text(|slot| Some((slot.at + 2).to_string()))
            prop:style=still.text(move |still| places.style(still.in_lane))
        >
            <span class="cell queue-place" role="cell">{item.text(|slot| Some(slot.place.clone()))}</span>
            {still.part(|still| named(still.contender()), move |contender| ensemble.with_value(|ensemble| names(contender, ensemble)))}
            <span class="cell cell-number queue-time" role="cell" data-col="time">{still.part(|still| since(still.contender()), time)}</span>
            <span class="cell queue-waits" role="cell" data-col="waits-for" title=still.text(|still| waits_title(still.contender()))>
                {still.part(|still| still.contender().waits_for.clone(), |edges| erase(edges.first().map(|edge| waits_for(edge, edges.len()))))}
            </span>
            <span class="cell queue-alive" role="cell" data-col="liveness">
                {still.part(|still| (still.contender().liveness, still.contender().runs_out), |(liveness, end)| view! { <LivenessChip liveness=*liveness end=*end /> })}
                <ReleaseButton node=node path=path />
            </span>
        </div>
    }
}

/// What of a contender its name and its session show.
fn named(contender: &Contender) -> Contender {
    Contender {
        position: 0,
        role: ContenderRole::Waiter,
        client: None,
        liveness: Liveness::Unknown,
        runs_out: None,
        data: None,
        created_at_ms: None,
        waiting_since_ms: None,
        holding_since_ms: None,
        // Without a znode it is named after what it waits for.
        waits_for: if contender.node.is_some() { Vec::new() } else { contender.waits_for.clone() },
        ..contender.clone()
    }
}

/// Since when it holds or waits, and why that may be longer.
fn since(contender: &Contender) -> (Option<i64>, Option<&'static str>) {
    match contender.holding_since_ms {
        Some(since_ms) => (Some(since_ms), hold_least(contender.holding_is_lower_bound)),
        None => (contender.waiting_since_ms, wait_least(contender.waiting_is_lower_bound)),
    }
}

fn time((since_ms, least): &(Option<i64>, Option<&'static str>)) -> AnyView {
    view! { <Age since_ms=*since_ms least=*least /> }
}

fn waits_title(contender: &Contender) -> Option<String> {
    contender.waits_for.first().map(|edge| format!("{}, {}", visible(&edge.to), words::evidence(edge.evidence)))
}

/// Who it is: the cells that stay as they are while a contender moves up.
fn names(contender: &Contender, ensemble: &str) -> AnyView {
    let name = contender.node.as_deref().map(visible).unwrap_or_default();
    let href = contender.session_id.map(|session| session_url(ensemble, session));
    let label = contender.label.as_deref().map(|label| middle(&visible(label), 36));
    let copy = contender.node.as_ref().map(|_| view! { <CopyButton text=contender.path.clone() what="znode path" /> });
    view! {
        <span class="cell queue-node" role="cell" data-col="node" title=filled(name)>
            <bdi class="queue-name">{node(contender)}</bdi>
            {copy}
            <OnlyOn members=contender.only_on.clone() />
        </span>
        <span class="cell cell-number queue-sequence" role="cell" data-col="sequence">
            {contender.sequence.map(|sequence| sequence.to_string())}
        </span>
        <span class="cell queue-session" role="cell" data-col="session">
            <a class="queue-id" href=href>{words::session(contender)}</a>
            " "
            <span class="queue-label">{label}</span>
        </span>
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

/// The last name of a path.
fn last_name(path: &str) -> String {
    visible(path.rsplit('/').next().unwrap_or(path))
}

/// A mark for how it is known, then the znode waited for.
fn waits_for(edge: &Edge, edges: usize) -> AnyView {
    let name = middle(&last_name(&edge.to), 30);
    let name = if edges > 1 { words::and_more(&name, edges - 1) } else { name };
    view! {
        <span class="how" data-evidence=edge.evidence.name()></span>
        <bdi>{name}</bdi>
        <span class="sr-only">{format!(", {}", words::evidence(edge.evidence))}</span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::samples::holder;

    fn queue(from: u32, numbers: std::ops::Range<u32>) -> Vec<(u32, Contender)> {
        let contender = |number: u32| Contender {
            path: format!("/order/lock-{number:010}"),
            position: number - from,
            role: if number == from { ContenderRole::Holder } else { ContenderRole::Waiter },
            ..holder()
        };
        numbers.map(|number| (number - from, contender(number))).collect()
    }

    fn drawn(queue: &[(u32, Contender)], before: &[Slot]) -> Vec<Slot> {
        in_lane(queue.iter().map(|(at, contender)| (*at, contender)), before)
    }

    fn lane(slots: &[Slot]) -> Vec<i64> {
        slots.iter().map(|slot| slot.still.in_lane).collect()
    }

    #[test]
    fn who_moves_up_stays_where_it_is_in_the_lane() {
        let first = drawn(&queue(0, 3..6), &[]);
        assert_eq!((lane(&first), moved_up(&first)), (vec![3, 4, 5], 0));
        let next = drawn(&queue(1, 3..7), &first);
        assert_eq!((lane(&next), moved_up(&next)), (vec![3, 4, 5, 6], 1));
        assert_eq!(next.iter().map(|slot| slot.at).collect::<Vec<_>>(), [2, 3, 4, 5]);
        assert!(first.iter().zip(&next).all(|(one, other)| one.still == other.still));
    }

    #[test]
    fn whoever_is_shown_stands_in_its_place() {
        let first = drawn(&queue(0, 3..9), &[]);
        let mut gone = queue(0, 3..9);
        gone.remove(2);
        let gone: Vec<_> = (3..).zip(gone).map(|(at, (_, contender))| (at, contender)).collect();
        for slots in [drawn(&gone, &first), drawn(&queue(0, 50..60), &first), drawn(&queue(2, 3..9), &first)] {
            let moved_up = moved_up(&slots);
            assert!(slots.iter().all(|slot| slot.still.in_lane - moved_up == i64::from(slot.at)), "{slots:?}");
        }
    }

    #[test]
    fn whoever_changed_is_known_anew() {
        let mut rows = queue(0, 3..6);
        let first = drawn(&rows, &[]);
        rows[1].1.label = Some("worker-7".to_owned());
        let next = drawn(&rows, &first);
        let is_same: Vec<bool> = first.iter().zip(&next).map(|(one, other)| one == other).collect();
        assert_eq!(is_same, [true, false, true]);
        assert_eq!(next[1].still.contender().label.as_deref(), Some("worker-7"));
    }

    #[test]
    fn the_lane_goes_back_to_its_beginning_before_it_is_too_long() {
        let mut slots = drawn(&queue(0, 40_000..40_003), &[]);
        for from in 1..=30_000 {
            slots = drawn(&queue(from, 40_000..40_003), &slots);
            assert!(moved_up(&slots).abs() <= LANE_ROWS_MAX);
        }
        assert_eq!(moved_up(&slots), 30_000 - LANE_ROWS_MAX - 1);
    }
}
