//! What the parts of the board share.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::order::Order;
use crate::address::{borrowed, pairs, use_pairs};
use crate::live::{Live, Viewport};
use lockscope_wire::{BoardQuery, LockRow, Window};

/// A row in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Index in the whole list.
    pub(super) at: u32,
    /// The key of its row.
    pub(super) key: String,
}

/// A row as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    /// Index in the whole list.
    pub(super) at: u32,
    /// The lock, as it was last seen.
    pub(super) row: LockRow,
    /// It is no longer among those sent.
    pub(super) is_away: bool,
    /// It is the one chosen by keyboard.
    pub(super) is_chosen: bool,
}

/// The board's state; copied into its parts.
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
    order: StoredValue<Order>,
    order_version: RwSignal<u32>,
    go: Callback<BoardQuery>,
}

impl BoardState {
    pub(super) fn new(live: Live) -> Self {
        let address = use_pairs();
        let parsed = Memo::new(move |_| address.with(|pairs| read_address(pairs)));
        let query = Memo::new(move |_| parsed.with(|(query, _)| query.clone()));
        let mistake = Memo::new(move |_| parsed.with(|(_, mistake)| mistake.clone()));
        let navigate = use_navigate();
        let go = Callback::new(move |query: BoardQuery| {
            navigate(
                &format!("/{}", query.to_url_query()),
                NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() },
            );
        });
        // A bare address takes up the taste of before; what an address says is what is shown.
        Effect::new(move |_| {
            if let Some(query) = remembered().filter(|_| address.with_untracked(Vec::is_empty)) {
                go.run(query);
            }
        });
        Self {
            live,
            query,
            mistake,
            chosen: RwSignal::new(None),
            is_pointed_at: RwSignal::new(false),
            has_focus: RwSignal::new(false),
            order: StoredValue::new(Order::default()),
            order_version: RwSignal::new(0),
            go,
        }
    }

    /// Changes the address, and with it what is shown.
    pub(super) fn change(self, change: impl FnOnce(&mut BoardQuery)) {
        let mut query = self.query.get_untracked();
        change(&mut query);
        if query != self.query.get_untracked() {
            self.let_go();
            remember(&query);
            self.go.run(query);
        }
    }

    /// The address of the same board with something changed.
    pub(super) fn link(self, change: impl FnOnce(&mut BoardQuery)) -> String {
        let mut query = self.query.get();
        change(&mut query);
        format!("/{}", query.to_url_query())
    }

    /// True while rows must not move.
    pub(super) fn is_held(self) -> bool {
        self.is_pointed_at.get() || self.has_focus.get() || self.chosen.with(Option::is_some)
    }

    /// The same, without a subscription.
    pub(super) fn is_held_untracked(self) -> bool {
        untrack(move || self.is_held())
    }

    /// Pins or frees the order when that changes.
    pub(super) fn hold(self, held: bool) {
        self.live.board_untracked(|board| {
            self.order.update_value(|order| if held { order.pin(&board.window) } else { order.release() });
        });
        self.order_version.update(|version| *version += 1);
    }

    /// Forgets what was pinned.
    pub(super) fn let_go(self) {
        self.chosen.set(None);
        self.order.update_value(Order::release);
        self.order_version.update(|version| *version += 1);
    }

    /// The rows to draw.
    pub(super) fn drawn(self, shown: Viewport) -> Vec<Drawn> {
        let chosen = self.chosen.get().map(|slot| slot.key).unwrap_or_default();
        let drawn = self.with_order(|order, window| {
            let one = |at: u32| {
                let key = order.key_at(window, at)?;
                let sent = window.rows.iter().find(|row| row.key == key);
                let row = sent.or_else(|| order.remembered(&key))?.clone();
                Some(Drawn { at, row, is_away: sent.is_none(), is_chosen: key == chosen })
            };
            (shown.start..shown.end.min(order.total(window))).filter_map(one).collect()
        });
        drawn.unwrap_or_default()
    }

    /// The row in a place.
    pub(super) fn slot(self, at: u32) -> Option<Slot> {
        self.with_order(|order, window| order.key_at(window, at).map(|key| Slot { at, key })).flatten()
    }

    /// Rows in the whole list; None before the first data.
    pub(super) fn total(self) -> Option<u32> {
        self.with_order(|order, window| order.total(window))
    }

    /// True when a new order waits to be applied.
    pub(super) fn order_differs(self) -> bool {
        self.with_order(|order, window| order.differs(window)).unwrap_or(false)
    }

    fn with_order<R>(self, read: impl FnOnce(&Order, &Window<LockRow>) -> R) -> Option<R> {
        self.order_version.track();
        self.live.board(|board| {
            self.order.update_value(|order| order.follow(&board.window));
            self.order.with_value(|order| read(order, &board.window))
        })
    }
}

fn read_address(pairs: &[(String, String)]) -> (BoardQuery, Option<String>) {
    match BoardQuery::from_pairs(borrowed(pairs)) {
        Ok(query) => (query, None),
        Err(error) => (BoardQuery::default(), Some(error.to_string())),
    }
}

/// Where order and grouping are kept: taste, not part of what somebody else is shown.
const KEY: &str = "lockscope.board";

fn remember(query: &BoardQuery) {
    let taste = BoardQuery { sort: query.sort, group: query.group, ..BoardQuery::default() }.to_url_query();
    if let Some(storage) = window().local_storage().ok().flatten() {
        // Fails only where storing is forbidden; then it lasts as long as the address.
        let _ = storage.set_item(KEY, &taste);
    }
}

fn remembered() -> Option<BoardQuery> {
    let taste = window().local_storage().ok().flatten()?.get_item(KEY).ok().flatten()?;
    let query = BoardQuery::from_pairs(borrowed(&pairs(&taste))).ok()?;
    Some(query).filter(|query| *query != BoardQuery::default())
}
