//! The graph: boxes for sessions, lines for waits, from left to right. It can be dragged, and zoomed by wheel, keys and
//! buttons; a box can be chosen.

use leptos::ev::{KeyboardEvent, PointerEvent, WheelEvent};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::WaitsState;
use super::table::name_of;
use crate::ui::charts::layers::{BOX_HEIGHT, BOX_WIDTH, layout};
use crate::ui::format::{middle, plural, visible};
use crate::wire::{SessionId, Waits};

/// Lines whose lock is named; more would only hide each other.
const NAMED_MAX: usize = 40;
/// Room around the drawing.
const MARGIN: f64 = 24.0;
/// Smallest and largest height of the view, in pixels.
const HEIGHT: (f64, f64) = (140.0, 600.0);
/// Smallest and largest magnification.
const ZOOM: (f64, f64) = (0.1, 4.0);

/// A session, with all that is drawn of it.
#[derive(Clone, Debug, PartialEq)]
struct Card {
    session: SessionId,
    x: f64,
    y: f64,
    name: String,
    text: String,
    in_cycle: bool,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    from: SessionId,
    to: SessionId,
    path: String,
    at: (f64, f64),
    lock: String,
    in_cycle: bool,
}

/// What is drawn. It holds no ages, so it changes only when somebody begins or stops to wait.
#[derive(Clone, Debug, Default, PartialEq)]
struct Drawing {
    boxes: Vec<Card>,
    lines: Vec<Line>,
    width: f64,
    height: f64,
}

fn draw(waits: &Waits) -> Drawing {
    let layers: Vec<u32> = waits.nodes.iter().map(|node| node.layer).collect();
    let at = |session: SessionId| waits.nodes.iter().position(|node| node.session_id == session);
    let known: Vec<_> = waits.edges.iter().filter_map(|edge| Some((edge, (at(edge.from)?, at(edge.to)?)))).collect();
    let ends: Vec<(usize, usize)> = known.iter().map(|(_, ends)| *ends).collect();
    let laid = layout(&layers, &ends);
    let boxes = waits.nodes.iter().zip(&laid.boxes).map(|(node, (x, y))| Card {
        session: node.session_id,
        x: *x,
        y: *y,
        name: middle(&name_of(waits, node.session_id), 20),
        text: format!("holds {}, waits for {}", node.holds.len(), node.waits.len()),
        in_cycle: node.in_cycle,
    });
    let is_named = known.len() <= NAMED_MAX;
    let mut named = Vec::new();
    let lines = known.iter().zip(laid.lines).zip(laid.middles).map(|(((edge, _), path), at)| Line {
        from: edge.from,
        to: edge.to,
        path,
        at,
        // Of many lines of one lock to one session the first tells the name of all.
        lock: if (is_named || edge.in_cycle) && !named.contains(&(edge.to, &edge.lock)) {
            named.push((edge.to, &edge.lock));
            middle(&visible(&edge.lock), 24)
        } else {
            String::new()
        },
        in_cycle: edge.in_cycle,
    });
    Drawing { boxes: boxes.collect(), lines: lines.collect(), width: laid.width, height: laid.height }
}

/// Which part of the drawing is seen: its left upper corner, and the magnification. None: all of it.
type Sight = Option<(f64, f64, f64)>;

/// The graph.
#[component]
pub(super) fn Graph(state: WaitsState) -> impl IntoView {
    let drawing = Memo::new(move |_| state.waits.with(draw));
    let sight = RwSignal::new(Sight::None);
    let dragged_from = StoredValue::new(None::<(i32, i32)>);
    let view_box = move || {
        let (width, height) = drawing.with(|drawing| (drawing.width + 2.0 * MARGIN, drawing.height + 2.0 * MARGIN));
        let (x, y, zoom) = sight.get().unwrap_or((-MARGIN, -MARGIN, 1.0));
        format!("{x:.1} {y:.1} {:.1} {:.1}", width / zoom, height / zoom)
    };
    let zoom_by = move |factor: f64| {
        let (width, height) = drawing.with_untracked(|drawing| (drawing.width + 2.0 * MARGIN, drawing.height + 2.0 * MARGIN));
        let (x, y, zoom) = sight.get_untracked().unwrap_or((-MARGIN, -MARGIN, 1.0));
        let next = (zoom * factor).clamp(ZOOM.0, ZOOM.1);
        // Around the middle of what is seen.
        let shift = (1.0 / zoom - 1.0 / next) / 2.0;
        sight.set(Some((x + width * shift, y + height * shift, next)));
    };
    let move_by = move |dx: f64, dy: f64| {
        let (x, y, zoom) = sight.get_untracked().unwrap_or((-MARGIN, -MARGIN, 1.0));
        sight.set(Some((x + dx / zoom, y + dy / zoom, zoom)));
    };
    let on_wheel = move |event: WheelEvent| {
        // Without a modifier the wheel scrolls the page, as everywhere.
        if event.ctrl_key() || event.meta_key() {
            event.prevent_default();
            zoom_by(if event.delta_y() < 0.0 { 1.2 } else { 1.0 / 1.2 });
        }
    };
    let on_move = move |event: PointerEvent| {
        if let Some((x, y)) = dragged_from.get_value().filter(|_| event.buttons() == 1) {
            move_by(f64::from(x - event.client_x()), f64::from(y - event.client_y()));
            dragged_from.set_value(Some((event.client_x(), event.client_y())));
        }
    };
    let on_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "+" => zoom_by(1.25),
            "-" => zoom_by(0.8),
            "0" => sight.set(None),
            "ArrowLeft" => move_by(-60.0, 0.0),
            "ArrowRight" => move_by(60.0, 0.0),
            "ArrowUp" => move_by(0.0, -60.0),
            "ArrowDown" => move_by(0.0, 60.0),
            _ => return,
        }
        event.prevent_default();
    };
    let summary = move || {
        drawing.with(|drawing| {
            format!("{} wait for each other; the table below tells the same.", plural(drawing.boxes.len() as u64, "session", "sessions"))
        })
    };
    view! {
        <section class="graph dims" aria-label="Graph of waiting">
            <div class="graph-tools">
                <span class="quiet">"From right to left: waits for. Drag to move."</span>
                <button class="tool" type="button" on:click=move |_| zoom_by(1.25)>"Larger"</button>
                <button class="tool" type="button" on:click=move |_| zoom_by(0.8)>"Smaller"</button>
                <button class="tool" type="button" on:click=move |_| sight.set(None)>"All"</button>
            </div>
            <svg
                class="graph-view"
                viewBox=view_box
                height=move || drawing.with(|drawing| (drawing.height + 2.0 * MARGIN).clamp(HEIGHT.0, HEIGHT.1))
                role="group"
                tabindex="0"
                aria-label=summary
                data-testid="graph"
                on:wheel=on_wheel
                on:pointerdown=move |event| dragged_from.set_value(Some((event.client_x(), event.client_y())))
                on:pointermove=on_move
                on:pointerup=move |_| dragged_from.set_value(None)
                on:pointerleave=move |_| dragged_from.set_value(None)
                on:keydown=on_key
            >
                <defs>
                    <Tip id="tip" />
                    <Tip id="tip-bad" />
                </defs>
                <For each=move || drawing.get().lines key=|line| (line.from, line.to, line.path.clone(), line.lock.clone(), line.in_cycle) let(line)>
                    <DrawnLine state=state line=line />
                </For>
                <For each=move || drawing.get().boxes key=|node| (node.session, node.x as i64, node.y as i64, node.text.clone(), node.name.clone(), node.in_cycle) let(node)>
                    <DrawnBox state=state node=node />
                </For>
            </svg>
        </section>
    }
}

/// The head of an arrow.
#[component]
fn Tip(id: &'static str) -> impl IntoView {
    view! {
        <marker id=id viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0 0L8 4L0 8z" />
        </marker>
    }
}

#[component]
fn DrawnLine(state: WaitsState, line: Line) -> impl IntoView {
    let is_dim = move || state.chosen.get().is_some_and(|chosen| chosen != line.from && chosen != line.to).then_some("true");
    view! {
        <g class="graph-line" data-cycle=line.in_cycle.then_some("true") data-dim=is_dim>
            <path d=line.path marker-end=if line.in_cycle { "url(#tip-bad)" } else { "url(#tip)" } />
            <text x=line.at.0 y=line.at.1 - 4.0 text-anchor="middle">{line.lock}</text>
        </g>
    }
}

#[component]
fn DrawnBox(state: WaitsState, node: Card) -> impl IntoView {
    let navigate = use_navigate();
    let session = node.session;
    let choose = move || {
        let is_chosen = state.chosen.get_untracked() == Some(session);
        let address = if is_chosen { "/waits".to_owned() } else { format!("/waits?session={session}") };
        navigate(&address, NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() });
    };
    let by_key = choose.clone();
    let is_chosen = move || if state.chosen.get() == Some(session) { "true" } else { "false" };
    let name = format!("{}: {}{}", node.name, node.text, if node.in_cycle { ", in a deadlock" } else { "" });
    view! {
        <g
            class="graph-box"
            role="button"
            tabindex="0"
            aria-label=name
            aria-pressed=is_chosen
            data-cycle=node.in_cycle.then_some("true")
            transform=format!("translate({:.0} {:.0})", node.x, node.y)
            on:click=move |_| choose()
            on:keydown=move |event| {
                if matches!(event.key().as_str(), "Enter" | " ") {
                    event.prevent_default();
                    by_key();
                }
            }
        >
            <rect width=BOX_WIDTH height=BOX_HEIGHT rx="8" />
            <text class="graph-name" x="12" y="19">{node.name}</text>
            <text class="graph-text" x="12" y="35">{if node.in_cycle { format!("▲ {}", node.text) } else { node.text }}</text>
        </g>
    }
}
