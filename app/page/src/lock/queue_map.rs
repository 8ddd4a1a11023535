//! Beside a long queue: all of it as a strip, with what is on screen, who in it is dead, and where one's own application
//! stands. The strip is a slider that scrolls the list.

use leptos::ev::{KeyboardEvent, PointerEvent, SubmitEvent};
use leptos::html::{Div, Input};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::LockState;
use crate::address::use_pairs;
use crate::charts::{STRIP_SIZE, along, strip_paths};
use crate::erase::{dynamic, view};
use crate::format::{count, duration, middle, plural, visible};
use crate::live::{Viewport, scroll_to_row};
use crate::split::{SplitLoaderError, split_view, wasm_split};
use lockscope_wire::{LockQuery, QueueMap, QueueMapQuery, View};

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
    Effect::new(move |_| {
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
    Effect::new(move |_| {
        let remembered = || storage()?.get_item(KEY).ok().flatten();
        chosen.set(app.get().or_else(remembered).unwrap_or_default().chars().take(APP_CHARS).collect());
    });
    Effect::new(move |_| {
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
                        {dynamic(move || map.with(|map| map.as_ref().and_then(what_is_unknown)).map(|text| view! { <p class="quiet">{text}</p> }))}
                    </div>
                </aside>
            }
        })
    })
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
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
            let one = |(liveness, path): &(lockscope_wire::Liveness, String)| {
                view! { <path data-liveness=liveness.name() d=path.clone()></path> }
            };
            paths.iter().map(one).collect_view()
        })
    };
    let says = move || {
        let (Viewport { start, end }, total) = (shown(), list.total.get());
        format!("rows {} to {} of {}", count(start + 1), count(end.min(total)), count(total))
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
        let title = (all as usize > listed).then(|| format!("Leads to the first {listed} of them"));
        let says = format!("Dead in line: {} ▸", count(all));
        (all > 0).then(|| {
            view! { <button class="tool" type="button" data-testid="dead-in-line" title=title on:click=go>{says}</button> }
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
        if let Some(storage) = storage() {
            // Fails only for a full or forbidden storage; then the choice lasts as long as the page.
            let _ = if app.is_empty() { storage.remove_item(KEY) } else { storage.set_item(KEY, &app) };
        }
        let url = query.with_value(|query| query.to_url_with_app(&app));
        navigate(&url, NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() });
        chosen.set(app);
    };
    let says = Memo::new(move |_| {
        let now_ms = live.now_ms();
        // Until the answer for another one is there, none is shown.
        let is_of = |map: &&QueueMap| !map.app.is_empty() && chosen.with(|app| *app == map.app);
        map.with(|map| map.as_ref().filter(is_of).map(|map| place_words(map, now_ms)))
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

/// Where it stands and when its turn may come, with how that is known; nothing of when where no rate is known.
fn place_words(map: &QueueMap, now_ms: i64) -> String {
    let Some(place) = map.place else {
        let of = if map.mapped < map.total { format!(" among the first {}", count(map.mapped)) } else { String::new() };
        return format!("No waiter of {}{of}.", middle(&visible(&map.app), 40));
    };
    let at = format!("#{}", count(place.position));
    if !map.state.is_current() {
        return format!("{at}, when this was last known.");
    }
    let Some(hand_overs) = map.hand_overs else {
        return format!("{at}; how long that takes is not known yet.");
    };
    let (rate, takes) = (hand_overs.in_1000_s(now_ms), rounded(hand_overs.time_for_ms(place.ahead, now_ms)));
    format!(
        "{at}, at {} ≈ {takes} (by the last {})",
        rate_words(rate),
        plural(hand_overs.count.into(), "hand-over", "hand-overs")
    )
}

/// Hand-overs in a thousand seconds, in words.
fn rate_words(in_1000_s: i64) -> String {
    match in_1000_s {
        1_000.. => format!("{}.{} hand-overs/s", in_1000_s / 1_000, in_1000_s % 1_000 / 100),
        _ => format!("{}.{} hand-overs/min", in_1000_s * 60 / 1_000, in_1000_s * 60 % 1_000 / 100),
    }
}

/// An estimate says no more than it knows: minutes without seconds, seconds without tenths.
fn rounded(ms: i64) -> String {
    match ms {
        ..60_000 => format!("{} s", ms.div_euclid(1_000).max(1)),
        60_000..3_600_000 => format!("{} min", (ms + 30_000) / 60_000),
        _ => duration(ms),
    }
}

/// Of how many it is not known whether they are alive, and how many were not looked at.
fn what_is_unknown(map: &QueueMap) -> Option<String> {
    let unknown: u32 = map.slices.iter().map(|slice| slice.unknown).sum();
    let beyond = map.total.saturating_sub(map.mapped);
    match (unknown, beyond) {
        (0, 0) => None,
        (0, _) => Some(format!("The last {} are not looked at.", count(beyond))),
        (_, 0) => Some(format!("Liveness unknown: {}.", count(unknown))),
        _ => Some(format!("Liveness unknown: {}. The last {} are not looked at.", count(unknown), count(beyond))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::{HandOvers, QueuePlace, QueueSlice, RootState};

    fn map() -> QueueMap {
        QueueMap {
            state: RootState::Live,
            total: 10_001,
            mapped: 10_001,
            per_slice: 42,
            slices: vec![QueueSlice::default()],
            dead_count: 0,
            dead: Vec::new(),
            hand_overs: Some(HandOvers { count: 12, since_ms: 0, until_ms: 10_000 }),
            place: Some(QueuePlace { position: 812, ahead: 812 }),
            app: "report".to_owned(),
        }
    }

    #[test]
    fn a_place_has_an_estimate_only_where_the_rate_is_known() {
        let told = |map: &QueueMap| place_words(map, 10_000);
        assert_eq!(told(&map()), "#812, at 1.2 hand-overs/s ≈ 11 min (by the last 12 hand-overs)");
        assert_eq!(told(&QueueMap { hand_overs: None, ..map() }), "#812; how long that takes is not known yet.");
        assert_eq!(told(&QueueMap { state: RootState::Stale, ..map() }), "#812, when this was last known.");
        assert_eq!(told(&QueueMap { place: None, ..map() }), "No waiter of report.");
        let first = QueueMap { place: None, mapped: 10_000, app: "a\u{202e}b".to_owned(), ..map() };
        assert_eq!(place_words(&first, 1), "No waiter of a␥b among the first 10\u{202f}000.");
        assert!(place_words(&map(), 600_000).starts_with("#812, at 1.2 hand-overs/min"), "it stands still");
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert_eq!(what_is_unknown(&map()), None);
        let slices = vec![QueueSlice { unknown: 3, ..QueueSlice::default() }];
        let told = what_is_unknown(&QueueMap { slices, mapped: 10_000, ..map() });
        assert_eq!(told.as_deref(), Some("Liveness unknown: 3. The last 1 are not looked at."));
    }
}
