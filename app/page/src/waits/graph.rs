//! The graph: boxes for sessions, lines for waits, from left to right. It can be dragged, and zoomed by wheel, keys and
//! buttons; a box can be chosen.

use leptos::ev::{KeyboardEvent, PointerEvent, WheelEvent};
use leptos::prelude::*;
use leptos::svg::Svg;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::table::name_of;
use super::{WaitsState, words};
use crate::browser::closest;
use crate::charts::layers::{BOX_HEIGHT, BOX_WIDTH, layout};
use crate::charts::ring::{LABEL_HEIGHT, label_width};
use crate::erase::{dynamic, effect, view};
use crate::format::{middle, visible};
use crate::parts::{cycle_mark, does, mark, rows};
use lockscope_view::{SessionId, Verdict, Waits};

/// Lines whose lock is named; more would only hide each other.
const NAMED_MAX: usize = 40;
/// Longest name of a lock beside its line: the line must be seen on both sides.
const NAME_CHARS: usize = 14;
const MARGIN: f64 = 36.0;
/// Below this scale names can't be read: the drawing is then shown in its own size, from its left upper corner.
const LEGIBLE: f64 = 0.75;
/// Smallest and largest height of the view, in pixels.
const HEIGHT: (f64, f64) = (140.0, 600.0);
/// Smallest and largest magnification.
const ZOOM: (f64, f64) = (0.1, 40.0);

#[derive(Clone, Debug, PartialEq)]
struct Card {
    key: String,
    session: SessionId,
    x: f64,
    y: f64,
    name: String,
    text: String,
    cycle: Option<Verdict>,
}

#[derive(Clone, Debug, PartialEq)]
struct Line {
    from: SessionId,
    to: SessionId,
    path: String,
    at: (f64, f64),
    lock: String,
    cycle: Option<Verdict>,
}

/// What is drawn. It holds no ages, so it changes only when somebody begins or stops to wait.
#[derive(Clone, Debug, Default, PartialEq)]
struct Drawing {
    boxes: Vec<Card>,
    lines: Vec<Line>,
    width: f64,
    height: f64,
}

impl Drawing {
    /// With its margins.
    fn size(&self) -> (f64, f64) {
        (self.width + 2.0 * MARGIN, self.height + 2.0 * MARGIN)
    }
}

fn draw(waits: &Waits) -> Drawing {
    let layers: Vec<u32> = waits.nodes.iter().map(|node| node.layer).collect();
    let at = |session: SessionId| waits.nodes.iter().position(|node| node.session_id == session);
    let known: Vec<_> = waits.edges.iter().filter_map(|edge| Some((edge, (at(edge.from)?, at(edge.to)?)))).collect();
    let ends: Vec<(usize, usize)> = known.iter().map(|(_, ends)| *ends).collect();
    let laid = layout(&layers, &ends);
    let boxes = waits.nodes.iter().zip(&laid.boxes).map(|(node, (x, y))| Card {
        key: format!("{} {}", node.session_id, node.ensemble),
        session: node.session_id,
        x: *x,
        y: *y,
        name: middle(&name_of(waits, node.session_id), 20),
        text: does(node.hold_count, node.wait_count),
        cycle: node.cycle_verdict,
    });
    let is_named = known.len() <= NAMED_MAX;
    let mut named = Vec::new();
    let lines = known.iter().zip(laid.lines).zip(laid.middles).map(|(((edge, _), path), at)| Line {
        from: edge.from,
        to: edge.to,
        path,
        at,
        // Of many lines of one lock to one session the first carries the name of all.
        lock: if (is_named || edge.in_cycle) && !named.contains(&(edge.to, &edge.lock)) {
            named.push((edge.to, &edge.lock));
            middle(&visible(&edge.lock), NAME_CHARS)
        } else {
            String::new()
        },
        cycle: edge.cycle_verdict,
    });
    Drawing { boxes: boxes.collect(), lines: lines.collect(), width: laid.width, height: laid.height }
}

/// Which part of the drawing is seen: its left upper corner, and the magnification. None: all of it.
type Sight = Option<(f64, f64, f64)>;

/// What is seen of all of it.
const ALL: (f64, f64, f64) = (-MARGIN, -MARGIN, 1.0);

#[component]
pub(super) fn Graph(state: WaitsState) -> AnyView {
    let drawing = Memo::new(move |_| state.waits.with(draw));
    let view = NodeRef::<Svg>::new();
    // Pixels a unit of the drawing takes when all of it is seen.
    let scale_of_all = move || {
        let Some(view) = view.get_untracked() else { return 1.0 };
        let seen = view.get_bounding_client_rect();
        let (width, height) = drawing.with_untracked(Drawing::size);
        (seen.width() / width).min(seen.height() / height)
    };
    let sight = RwSignal::new(Sight::None);
    let dragged_from = StoredValue::new(None::<(i32, i32)>);
    let view_box = move || {
        let (width, height) = drawing.with(Drawing::size);
        let (x, y, zoom) = sight.get().unwrap_or(ALL);
        format!("{x:.1} {y:.1} {:.1} {:.1}", width / zoom, height / zoom)
    };
    let zoom_by = move |factor: f64| {
        let (width, height) = drawing.with_untracked(Drawing::size);
        let (x, y, zoom) = sight.get_untracked().unwrap_or(ALL);
        let next = (zoom * factor).clamp(ZOOM.0, ZOOM.1);
        // Around the middle of what is seen.
        let shift = (1.0 / zoom - 1.0 / next) / 2.0;
        sight.set(Some((x + width * shift, y + height * shift, next)));
    };
    let move_by = move |dx: f64, dy: f64| {
        let (x, y, zoom) = sight.get_untracked().unwrap_or(ALL);
        let scale = (scale_of_all() * zoom).max(0.01);
        sight.set(Some((x + dx / scale, y + dy / scale, zoom)));
    };
    effect(move || {
        view.track();
        let scale = scale_of_all();
        if scale < LEGIBLE && scale > 0.0 {
            sight.set(Some((-MARGIN, -MARGIN, 1.0 / scale)));
        }
    });
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
    let navigate = use_navigate();
    let choose = move |target| {
        let Some(session) = session_at(target) else { return };
        let is_chosen = state.chosen.get_untracked().is_some_and(|chosen| chosen.to_string() == session);
        let address = if is_chosen { "/waits".to_owned() } else { format!("/waits?session={session}") };
        navigate(&address, NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() });
    };
    let by_key = choose.clone();
    let on_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "Enter" | " " => by_key(event.target()),
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
    let summary = move || drawing.with(|drawing| words::graph(drawing.boxes.len() as u64));
    let boxes = Memo::new(move |_| drawing.with(|drawing| drawing.boxes.clone()));
    let lines = move || {
        drawing.with(|drawing| {
            let lines = drawing.lines.iter().map(|drawn| line(drawn, state.chosen.get()));
            let names = drawing.lines.iter().filter(|drawn| !drawn.lock.is_empty()).map(line_name);
            lines.chain(names).collect_view()
        })
    };
    view! {
        <section class="graph dims" aria-label="Graph of waiting">
            <div class="graph-tools">
                <span class="quiet">"Arrows point to the holder. Drag to move."</span>
                <button class="tool" type="button" on:click=move |_| zoom_by(1.25)>"Zoom in"</button>
                <button class="tool" type="button" on:click=move |_| zoom_by(0.8)>"Zoom out"</button>
                <button class="tool" type="button" on:click=move |_| sight.set(None)>"Fit"</button>
            </div>
            <svg
                class="graph-view"
                viewBox=view_box
                preserveAspectRatio="xMinYMin meet"
                node_ref=view
                height=move || drawing.with(|drawing| format!("{:.0}", drawing.size().1.clamp(HEIGHT.0, HEIGHT.1)))
                role="group"
                tabindex="0"
                aria-label=summary
                data-testid="graph"
                on:wheel=on_wheel
                on:click=move |event| choose(event.target())
                on:pointerdown=move |event| dragged_from.set_value(Some((event.client_x(), event.client_y())))
                on:pointermove=on_move
                on:pointerup=move |_| dragged_from.set_value(None)
                on:pointerleave=move |_| dragged_from.set_value(None)
                on:keydown=on_key
            >
                <defs>{TIPS.map(tip).collect_view()}</defs>
                {dynamic(lines)}
                {rows(boxes, |card| &card.key, move |card| card_box(card, state.chosen.get()))}
            </svg>
        </section>
    }
}

const TIPS: [&str; 3] = ["tip", "tip-bad", "tip-warn"];

const TIP: &str = "M0 0L8 4L0 8z";

fn tip(id: &'static str) -> AnyView {
    view! {
        <marker id=id viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
            <path d=TIP></path>
        </marker>
    }
}

fn line(line: &Line, chosen: Option<SessionId>) -> AnyView {
    let is_dim = chosen.is_some_and(|chosen| chosen != line.from && chosen != line.to);
    let tip = match line.cycle {
        None => "url(#tip)",
        Some(Verdict::Deadlocked) => "url(#tip-bad)",
        Some(_) => "url(#tip-warn)",
    };
    view! {
        <g class="graph-line" data-cycle=cycle_mark(line.cycle) data-dim=mark(is_dim)>
            <path d=line.path.clone() marker-end=tip></path>
        </g>
    }
}

/// The name of a line's lock, on a background of its own: other lines may pass behind it.
fn line_name(line: &Line) -> AnyView {
    let width = label_width(&line.lock);
    let (x, y) = (format!("{:.1}", line.at.0), format!("{:.1}", line.at.1));
    let left = format!("{:.1}", line.at.0 - width / 2.0);
    let top = format!("{:.1}", line.at.1 - LABEL_HEIGHT / 2.0);
    view! {
        <g class="graph-name-of-lock">
            <rect x=left y=top width=format!("{width:.1}") height=format!("{LABEL_HEIGHT:.0}") rx="4"></rect>
            <text x=x y=y text-anchor="middle" dominant-baseline="central">{line.lock.clone()}</text>
        </g>
    }
}

fn card_box(card: Card, chosen: Option<SessionId>) -> AnyView {
    let name = words::card(&card.name, &card.text, card.cycle);
    let text = match card.cycle {
        None => card.text,
        Some(Verdict::Deadlocked) => format!("▲ {}", card.text),
        Some(_) => format!("△ {}", card.text),
    };
    let is_chosen = if chosen == Some(card.session) { "true" } else { "false" };
    let at = format!("translate({:.0} {:.0})", card.x, card.y);
    view! {
        <g
            class="graph-box"
            role="button"
            tabindex="0"
            data-key=card.session.to_string()
            aria-pressed=is_chosen
            data-cycle=cycle_mark(card.cycle)
            transform=at
        >
            <title>{name}</title>
            <rect width=format!("{BOX_WIDTH:.0}") height=format!("{BOX_HEIGHT:.0}") rx="8"></rect>
            <text class="graph-name" x="12" y="19">{card.name}</text>
            <text class="graph-text" x="12" y="35">{text}</text>
        </g>
    }
}

/// The session whose box an event came from.
fn session_at(target: Option<web_sys::EventTarget>) -> Option<String> {
    closest(target, ".graph-box")?.get_attribute("data-key")
}
