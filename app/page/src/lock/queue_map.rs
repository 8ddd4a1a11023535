//! Beside a long queue: all of it as a strip, with what is on screen, who in it is dead, and where one's own application
//! stands. The strip is a slider that scrolls the list.

use leptos::ev::{KeyboardEvent, PointerEvent, SubmitEvent};
use leptos::html::{Div, Input};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::{LockState, words};
use crate::address::use_pairs;
use crate::browser::{store, stored};
use crate::charts::{STRIP_SIZE, along, strip_paths};
use crate::erase::{dynamic, effect, view};
use crate::live::{Viewport, scroll_to_row};
use crate::parts::filled;
use crate::split::{SplitLoaderError, split_view, wasm_split};
use lockscope_view::{LockQuery, QueueMap, QueueMapQuery, View};

/// A shorter queue is seen without a map.
const SHORT_ROWS: u32 = 50;
const KEY: &str = "lockscope.app";
const APP_CHARS: usize = 100;

/// What the map needs of the list.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) body: NodeRef<Div>,
    pub(super) shown: RwSignal<Viewport>,
    pub(super) total: Memo<u32>,
}

impl List {
    fn jump(self, place: u32) {
        if let Some(body) = self.body.get_untracked() {
            scroll_to_row(&body, place.min(self.total.get_untracked().saturating_sub(1)));
        }
    }
}

/// Whether a queue of so many has a map.
pub(super) fn is_long(total: u32) -> bool {
    total > SHORT_ROWS
}

/// The map, whose code comes with the first long queue; nothing beside a short one. Its place is kept from the first:
/// nothing moves when it comes.
pub(super) fn queue_map(state: LockState, list: List, query: LockQuery) -> AnyView {
    // Only the browser runs effects: the server and whoever has no scripts draw no map.
    let is_wanted = RwSignal::new(false);
    effect(move || {
        let is_long = is_long(list.total.get());
        if is_wanted.get_untracked() != is_long {
            is_wanted.set(is_long);
        }
    });
    let query = StoredValue::new(query);
    let map = dynamic(move || is_wanted.get().then(|| split_view(fetch(), move || draw(state, list, query))));
    view! { <div class="queue-map-space">{map}</div> }
}

/// The map is a chunk of its own.
#[wasm_split(queue_map, wasm_split_path = leptos::wasm_split, fallible, preload(fetch))]
pub(crate) fn draw(state: LockState, list: List, query: StoredValue<LockQuery>) -> Result<AnyView, SplitLoaderError> {
    Ok(view! { <QueueMapView state=state list=list query=query /> })
}

#[component]
fn QueueMapView(state: LockState, list: List, query: StoredValue<LockQuery>) -> AnyView {
    let address = use_pairs();
    let app = Memo::new(move |_| {
        address.with(|pairs| pairs.iter().find(|(name, _)| name == "app").map(|(_, app)| app.clone()))
    });
    let chosen = RwSignal::new(String::new());
    let live = state.live;
    effect(move || {
        chosen.set(app.get().or_else(|| stored(KEY)).unwrap_or_default().chars().take(APP_CHARS).collect());
    });
    effect(move || {
        let app = chosen.get();
        let (ensemble, path) = query.with_value(|query| (query.ensemble.clone(), query.path.clone()));
        let map = View::QueueMap(QueueMapQuery { ensemble, path, app });
        live.survey((!live.is_paused()).then_some(map));
    });
    on_cleanup(move || live.survey(None));
    // Paused, and until the next one comes, the last map stays.
    let map = Memo::new(move |old: Option<&Option<QueueMap>>| {
        live.queue_map(QueueMap::clone).or_else(|| old.cloned().flatten())
    });
    let is_there = Memo::new(move |_| map.with(Option::is_some));
    dynamic(move || {
        is_there.get().then(|| {
            view! {
                <aside class="queue-map" aria-label="The whole queue" data-testid="queue-map">
                    {strip(list, map)}
                    <div class="queue-map-notes">
                        {own_place(live, map, chosen, query)}
                        {dead(list, map)}
                        {dynamic(move || map.with(|map| map.as_ref().and_then(words::what_is_unknown)).map(|text| view! { <p class="quiet">{text}</p> }))}
                    </div>
                </aside>
            }
        })
    })
}

/// The drawing, which is the slider.
fn strip(list: List, map: Memo<Option<QueueMap>>) -> AnyView {
    let bar = NodeRef::<Div>::new();
    let drag = move |event: PointerEvent| {
        if let Some(bar) = bar.get_untracked().filter(|_| event.buttons() & 1 == 1) {
            let at = bar.get_bounding_client_rect();
            let (x, y) = (f64::from(event.client_x()) - at.left(), f64::from(event.client_y()) - at.top());
            let share = if at.width() > at.height() { x / at.width() } else { y / at.height() };
            list.jump((share.clamp(0.0, 1.0) * f64::from(list.total.get_untracked())) as u32);
        }
    };
    let press = move |event: PointerEvent| {
        if let Some(bar) = bar.get_untracked() {
            // Fails only for a pointer that is gone; then there is nothing to follow.
            let _ = bar.set_pointer_capture(event.pointer_id());
        }
        drag(event);
    };
    let shown = move || list.shown.get();
    let key = move |event: KeyboardEvent| {
        let (first, total) = (shown().start, list.total.get_untracked());
        let page = (total / 20).max(1);
        let to = match event.key().as_str() {
            "ArrowDown" | "ArrowRight" => first.saturating_add(shown().end - first),
            "ArrowUp" | "ArrowLeft" => first,
            "PageDown" => shown().end.saturating_add(page),
            "PageUp" => first.saturating_sub(page),
            "Home" => 0,
            "End" => total,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        list.jump(to);
    };
    let seen = move || {
        let (Viewport { start, end }, total) = (shown(), list.total.get());
        let from = along(start, total);
        (from, along(end, total).saturating_sub(from).max(3))
    };
    let own = move || map.with(|map| map.as_ref().and_then(|map| Some(along(map.place?.position, map.total))));
    let colours = Memo::new(move |_| map.with(|map| map.as_ref().map(strip_paths).unwrap_or_default()));
    let paths = move || {
        colours.with(|paths| {
            let one = |(liveness, path): &(lockscope_view::Liveness, String)| {
                view! { <path data-liveness=liveness.name() d=path.clone()></path> }
            };
            paths.iter().map(one).collect_view()
        })
    };
    let says = move || {
        let (Viewport { start, end }, total) = (shown(), list.total.get());
        words::rows(start + 1, end.min(total), total)
    };
    let box_size = format!("0 0 {STRIP_SIZE} {STRIP_SIZE}");
    view! {
        <div
            class="queue-strip"
            role="slider"
            tabindex="0"
            aria-label="Place in the queue"
            aria-valuemin="1"
            aria-valuemax=move || list.total.get()
            aria-valuenow=move || shown().start.saturating_add(1).min(list.total.get())
            aria-valuetext=says
            node_ref=bar
            on:pointerdown=press
            on:pointermove=drag
            on:keydown=key
        >
            <svg viewBox=box_size preserveAspectRatio="none" aria-hidden="true">
                <g class="strip-turn">
                    {paths}
                    <rect class="strip-seen" x=move || seen().0 y="0" width=move || seen().1 height=STRIP_SIZE />
                    {move || own().map(|x| view! { <rect class="strip-own" x=x y="0" width="2" height=STRIP_SIZE /> })}
                </g>
            </svg>
        </div>
    }
}

/// How many in line are dead; leads from one to the next.
fn dead(list: List, map: Memo<Option<QueueMap>>) -> AnyView {
    let last = StoredValue::new(None::<u32>);
    let number =
        Memo::new(move |_| map.with(|map| map.as_ref().map_or((0, 0), |map| (map.dead_count, map.dead.len()))));
    let go = move |_| {
        let next = map.with_untracked(|map| {
            let dead = &map.as_ref()?.dead;
            let after = last.get_value();
            dead.iter().copied().find(|at| after.is_none_or(|after| *at > after)).or_else(|| dead.first().copied())
        });
        last.set_value(next);
        if let Some(next) = next {
            list.jump(next);
        }
    };
    dynamic(move || {
        let (all, listed) = number.get();
        let title = (all as usize > listed).then(|| words::leads_to(listed));
        (all > 0).then(|| {
            view! { <button class="tool" type="button" data-testid="dead-in-line" title=title on:click=go>{words::dead_in_line(all)}</button> }
        })
    })
}

/// Asks for an application or a host, and tells the place of its first waiter.
fn own_place(
    live: crate::live::Live,
    map: Memo<Option<QueueMap>>,
    chosen: RwSignal<String>,
    query: StoredValue<LockQuery>,
) -> AnyView {
    let input = NodeRef::<Input>::new();
    let navigate = use_navigate();
    let choose = move |event: SubmitEvent| {
        event.prevent_default();
        let app: String = input.get_untracked().map(|input| input.value()).unwrap_or_default();
        let app: String = app.trim().chars().take(APP_CHARS).collect();
        store(KEY, filled(&*app));
        let url = query.with_value(|query| query.to_url_with_app(&app));
        navigate(&url, NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() });
        chosen.set(app);
    };
    let says = Memo::new(move |_| {
        let now_ms = live.now_ms();
        // Until the answer for another one is there, none is shown.
        let is_of = |map: &&QueueMap| !map.app.is_empty() && chosen.with(|app| *app == map.app);
        map.with(|map| map.as_ref().filter(is_of).map(|map| words::place(map, now_ms)))
    });
    view! {
        <form class="queue-app" on:submit=choose>
            <label class="field">
                <span class="field-name">"Your app's place"</span>
                <input
                    class="filter-input"
                    type="text"
                    maxlength=APP_CHARS
                    placeholder="application or host"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || chosen.get()
                    node_ref=input
                />
            </label>
            <button class="tool" type="submit">"Show"</button>
        </form>
        {dynamic(move || says.get().map(|text| view! { <p class="queue-place-says" data-testid="app-place" role="status">{text}</p> }))}
    }
}
