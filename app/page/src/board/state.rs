//! What the parts of the board share.

use std::sync::Arc;

use leptos::prelude::*;

use crate::erase::effect;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate};

use super::kept::Kept;
use super::order::Order;
use super::remembered::{remember, remembered};
use crate::address::{borrowed, use_pairs};
use crate::live::{Live, Viewport};
use crate::parts::{Arrivals, Place};
use lockscope_view::{BoardQuery, LockRow, Preferences, Window};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Index in the whole list.
    pub(super) at: u32,
    pub(super) key: String,
}

#[derive(Clone, Debug)]
pub(super) struct Drawn {
    /// Index in the whole list.
    pub(super) at: u32,
    /// The lock, as it was last seen; another one once it changed.
    pub(super) row: Arc<LockRow>,
    /// It is no longer among those sent.
    pub(super) is_away: bool,
    pub(super) is_chosen: bool,
    /// It stands before all others.
    pub(super) is_pinned: bool,
}

impl PartialEq for Drawn {
    fn eq(&self, other: &Self) -> bool {
        let marks = |drawn: &Self| (drawn.at, drawn.is_away, drawn.is_chosen, drawn.is_pinned);
        Arc::ptr_eq(&self.row, &other.row) && marks(self) == marks(other)
    }
}

#[derive(Clone, Copy)]
pub(super) struct BoardState {
    pub(super) live: Live,
    /// What the address asks for.
    pub(super) query: Memo<BoardQuery>,
    /// Why the address could not be understood.
    pub(super) mistake: Memo<Option<String>>,
    /// The row chosen by keyboard.
    pub(super) chosen: RwSignal<Option<Slot>>,
    pub(super) is_pointed_at: RwSignal<bool>,
    pub(super) has_focus: RwSignal<bool>,
    pub(super) kept: Kept,
    order: StoredValue<Order>,
    order_version: RwSignal<u32>,
    /// The versions of the live data and of the order at which the order followed last.
    followed: StoredValue<Option<(u64, u32)>>,
    /// Goes to a query, in place of where we are or behind it.
    go: Callback<(BoardQuery, bool)>,
}

impl BoardState {
    pub(super) fn new(live: Live) -> Self {
        let address = use_pairs();
        let parsed = Memo::new(move |_| address.with(|pairs| read_address(pairs)));
        let query = Memo::new(move |_| parsed.with(|(query, _)| query.clone()));
        let mistake = Memo::new(move |_| parsed.with(|(_, mistake)| mistake.clone()));
        let navigate = use_navigate();
        let go = Callback::new(move |(query, replace): (BoardQuery, bool)| {
            navigate(
                &format!("/{}", query.to_url_query()),
                NavigateOptions { replace, scroll: false, ..NavigateOptions::default() },
            );
        });
        let kept = Kept::open();
        // A bare address takes up the taste of before; what an address says is what is shown.
        let was_bare = StoredValue::new(false);
        effect(move || {
            was_bare.set_value(address.with_untracked(Vec::is_empty));
            if let Some(query) = remembered().filter(|_| was_bare.get_value()) {
                go.run((query, true));
            }
        });
        // Its pins are the server's once that has said which.
        Effect::new(move |has_said: Option<bool>| {
            let Some(pins) = kept.pins_of_server() else { return false };
            let query = query.get_untracked();
            if has_said != Some(true) && was_bare.get_value() && query.pins != pins {
                go.run((BoardQuery { pins, ..query }, true));
            }
            true
        });
        Self {
            live,
            query,
            mistake,
            chosen: RwSignal::new(None),
            is_pointed_at: RwSignal::new(false),
            has_focus: RwSignal::new(false),
            kept,
            order: StoredValue::new(Order::default()),
            order_version: RwSignal::new(0),
            followed: StoredValue::new(None),
            go,
        }
    }

    /// Changes the address, and with it what is shown.
    pub(super) fn change(self, change: impl FnOnce(&mut BoardQuery)) {
        let mut query = self.query.get_untracked();
        change(&mut query);
        if query != self.query.get_untracked() {
            self.let_go();
            remember(&query, self.kept.is_by_server.get_untracked());
            // Going back leads to what was there before the filter, not through each of its letters.
            let is_typing_on = self.query.with_untracked(|old| !old.q.is_empty() && old.q != query.q);
            self.go.run((query, is_typing_on));
        }
    }

    /// Pins a row, or lets it go; beyond what one board keeps the first pin goes.
    pub(super) fn toggle_pin(self, key: &str) {
        let is_pinned = self.query.with_untracked(|query| query.pins.iter().all(|pin| pin != key));
        let pin = key.to_owned();
        self.kept.change(move |kept| kept.pin(&pin, is_pinned));
        self.change(|query| {
            let mut pins = Preferences { pins: std::mem::take(&mut query.pins), ..Preferences::default() };
            pins.pin(key, is_pinned);
            query.pins = pins.pins;
        });
    }

    /// The address of the same board with something changed.
    pub(super) fn link(self, change: impl FnOnce(&mut BoardQuery)) -> String {
        let mut query = self.query.get();
        change(&mut query);
        format!("/{}", query.to_url_query())
    }

    /// Comes back to where somebody stood, and remembers it for the next time.
    pub(super) fn remember_place(self) {
        let arrivals = Arrivals::of_app();
        let returned = StoredValue::new(None);
        effect(move || returned.set_value(arrivals.returned_to(&untrack(move || self.link(|_| {})))));
        effect(move || {
            if self.total().unwrap_or_default() == 0 {
                return;
            }
            let Some(place) = returned.try_update_value(Option::take).flatten() else { return };
            let Place { scroll_px, chosen } = place;
            // By then the list has its height.
            request_animation_frame(move || {
                window().scroll_to_with_x_and_y(0.0, scroll_px);
                self.chosen.try_set(chosen.map(|(at, key)| Slot { at, key }));
            });
        });
        // On the way out the address is the next page's already: from then on nothing is remembered.
        let pathname = use_location().pathname;
        let note = move || {
            if pathname.try_get_untracked().as_deref() != Some("/") {
                return;
            }
            let chosen = self.chosen.try_get_untracked().flatten().map(|slot| (slot.at, slot.key));
            let place = Place { scroll_px: window().scroll_y().unwrap_or_default(), chosen };
            arrivals.leave(untrack(move || self.link(|_| {})), place);
        };
        Effect::new(move |was_noted: Option<bool>| {
            self.chosen.track();
            // What is there at first is what somebody may return to.
            if was_noted.is_some() {
                note();
            }
            true
        });
        effect(move || {
            let on_scroll = window_event_listener(leptos::ev::scroll, move |_| note());
            on_cleanup(move || on_scroll.remove());
        });
    }

    /// True while rows must not move.
    pub(super) fn is_held(self) -> bool {
        self.is_pointed_at.get() || self.has_focus.get() || self.chosen.with(Option::is_some)
    }

    pub(super) fn hold(self, is_held: bool) {
        self.order.update_value(|order| order.hold(is_held));
        self.order_version.update(|version| *version += 1);
    }

    pub(super) fn apply_order(self) {
        let now_ms = self.now_ms();
        self.live.board_untracked(|board| self.order.update_value(|order| order.pin(&board.window, now_ms)));
        self.order_version.update(|version| *version += 1);
    }

    /// Forgets what was pinned and chosen.
    pub(super) fn let_go(self) {
        self.chosen.set(None);
        let now_ms = self.now_ms();
        self.order.update_value(|order| order.reset(now_ms));
        self.order_version.update(|version| *version += 1);
    }

    /// The clock that orders rest by, without a subscription.
    fn now_ms(self) -> i64 {
        untrack(move || self.live.now_ms())
    }

    /// Looks whether rows may move by now: nothing may have changed since they might not.
    pub(super) fn look_at_order(self) {
        let now_ms = self.live.now_ms();
        let sort = self.query.with_untracked(|query| query.sort);
        let mut moved = false;
        self.live.board_untracked(|board| {
            self.order.update_value(|order| {
                let differed = order.differs(&board.window);
                order.follow(&board.window, now_ms, sort);
                moved = differed && !order.differs(&board.window);
            });
        });
        if moved {
            self.order_version.update(|version| *version += 1);
        }
    }

    pub(super) fn drawn(self, shown: Viewport) -> Vec<Drawn> {
        let chosen = self.chosen.get().map(|slot| slot.key).unwrap_or_default();
        let pins = self.query.with(|query| query.pins.clone());
        let drawn = self.with_order(|order, window| {
            let one = |at: u32| {
                let key = order.key_at(at)?;
                let row = order.remembered(key)?.clone();
                let is_pinned = pins.iter().any(|pin| pin == key);
                Some(Drawn { at, row, is_away: !is_sent(window, at, key), is_chosen: key == chosen, is_pinned })
            };
            (shown.start..shown.end.min(order.total(window))).filter_map(one).collect()
        });
        let drawn: Vec<Drawn> = drawn.unwrap_or_default();
        let first = drawn.first().map_or(shown.start, |drawn| drawn.at);
        self.live.has_all_rows(shown.is_within(first, drawn.len(), self.total().unwrap_or_default()));
        drawn
    }

    pub(super) fn slot(self, at: u32) -> Option<Slot> {
        self.with_order(|order, _| order.key_at(at).map(|key| Slot { at, key: key.to_owned() })).flatten()
    }

    /// Rows in the whole list; None before the first data.
    pub(super) fn total(self) -> Option<u32> {
        self.with_order(|order, window| order.total(window))
    }

    pub(super) fn order_differs(self) -> bool {
        self.with_order(|order, window| order.awaits_apply(window)).unwrap_or(false)
    }

    fn with_order<R>(self, read: impl FnOnce(&Order, &Window<LockRow>) -> R) -> Option<R> {
        self.order_version.track();
        self.live.board(|board| {
            // Of several readers of one state the first is enough.
            let state = (self.live.version_untracked(), self.order_version.get_untracked());
            if self.followed.get_value() != Some(state) {
                self.followed.set_value(Some(state));
                let (now_ms, sort) = (self.now_ms(), untrack(move || self.query.with(|query| query.sort)));
                self.order.update_value(|order| order.follow(&board.window, now_ms, sort));
            }
            self.order.with_value(|order| read(order, &board.window))
        })
    }
}

/// Whether a row is among those sent: mostly in its place.
fn is_sent(window: &Window<LockRow>, at: u32, key: &str) -> bool {
    let is_it = |row: &LockRow| row.key == key;
    let in_place = at.checked_sub(window.offset).and_then(|at| window.rows.get(at as usize));
    in_place.is_some_and(is_it) || window.rows.iter().any(is_it)
}

fn read_address(pairs: &[(String, String)]) -> (BoardQuery, Option<String>) {
    match BoardQuery::from_pairs(borrowed(pairs)) {
        Ok(query) => (query, None),
        Err(error) => (BoardQuery::default(), Some(error.to_string())),
    }
}
