//! What the parts of the list share.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::address::{borrowed, use_pairs};
use crate::live::Live;
use lockscope_view::{SessionRow, SessionsQuery};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot {
    /// Index in the whole list.
    pub(super) at: u32,
    pub(super) row: SessionRow,
    /// It is no longer in this part of the list; shown as it was last seen.
    pub(super) is_away: bool,
}

/// What is known of the list, in the order it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known {
    /// Rows in the whole list.
    pub(super) total: u32,
    /// Those that were sent.
    pub(super) slots: Vec<Slot>,
}

impl Known {
    /// The order as it was, with what is known now: values move, rows do not. Another part of the list comes as
    /// it is.
    pub(super) fn kept(self, old: &Self) -> Self {
        if self.slots.first().map(|slot| slot.at) != old.slots.first().map(|slot| slot.at) {
            return self;
        }
        let slots = old.slots.iter().map(|old| {
            let fresh = self.slots.iter().find(|slot| slot.row.key == old.row.key);
            Slot { at: old.at, is_away: fresh.is_none(), row: fresh.unwrap_or(old).row.clone() }
        });
        Self { total: old.total, slots: slots.collect() }
    }
}

#[derive(Clone, Copy)]
pub(super) struct ListState {
    pub(super) live: Live,
    /// What the address asks for.
    pub(super) query: Memo<SessionsQuery>,
    /// Why the address could not be understood.
    pub(super) mistake: Memo<Option<String>>,
    /// Somebody points at the list, so that rows must not move.
    pub(super) is_held: RwSignal<bool>,
    go: Callback<SessionsQuery>,
}

impl ListState {
    pub(super) fn new(live: Live) -> Self {
        let address = use_pairs();
        let parsed = Memo::new(move |_| address.with(|pairs| read_address(pairs)));
        let navigate = use_navigate();
        let go = Callback::new(move |query: SessionsQuery| {
            navigate(
                &address_of(&query),
                NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() },
            );
        });
        Self {
            live,
            query: Memo::new(move |_| parsed.with(|(query, _)| query.clone())),
            mistake: Memo::new(move |_| parsed.with(|(_, mistake)| mistake.clone())),
            is_held: RwSignal::new(false),
            go,
        }
    }

    /// Changes the address, and with it what is shown.
    pub(super) fn change(self, change: impl FnOnce(&mut SessionsQuery)) {
        let mut query = self.query.get_untracked();
        change(&mut query);
        if query != self.query.get_untracked() {
            self.is_held.set(false);
            self.go.run(query);
        }
    }

    pub(super) fn known(self) -> Known {
        let known = self.live.sessions(|sessions| {
            let window = &sessions.window;
            let slots =
                (window.offset..).zip(&window.rows).map(|(at, row)| Slot { at, row: row.clone(), is_away: false });
            Known { total: window.total, slots: slots.collect() }
        });
        known.unwrap_or_default()
    }
}

pub(super) fn address_of(query: &SessionsQuery) -> String {
    format!("/sessions{}", query.to_url_query())
}

fn read_address(pairs: &[(String, String)]) -> (SessionsQuery, Option<String>) {
    match SessionsQuery::from_pairs(borrowed(pairs)) {
        Ok(query) => (query, None),
        Err(error) => (SessionsQuery::default(), Some(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{Liveness, SessionId};

    fn known(offset: u32, ids: &[i64]) -> Known {
        let slot = |(at, id): (u32, &i64)| Slot { at, row: row(*id), is_away: false };
        Known { total: ids.len() as u32, slots: (offset..).zip(ids).map(slot).collect() }
    }

    fn row(id: i64) -> SessionRow {
        SessionRow {
            key: SessionId(id).to_string(),
            tag: None,
            ensemble: String::new(),
            session_id: SessionId(id),
            label: None,
            client: None,
            liveness: Liveness::Unknown,
            runs_out: None,
            holds: 0,
            waits: 0,
            ephemerals: 0,
            oldest_hold_at_ms: None,
            oldest_wait_at_ms: None,
            blocks: 0,
            locks: Vec::new(),
            in_cycle: false,
            cycle_verdict: None,
            stands_by: 0,
        }
    }

    #[test]
    fn held_rows_stay_and_their_values_move() {
        let old = known(0, &[1, 2, 3]);
        let mut fresh = known(0, &[3, 4, 1]);
        fresh.slots[0].row.holds = 7;
        let kept = fresh.kept(&old);
        let seen: Vec<_> =
            kept.slots.iter().map(|slot| (slot.at, slot.row.session_id.0, slot.is_away, slot.row.holds)).collect();
        assert_eq!(seen, [(0, 1, false, 0), (1, 2, true, 0), (2, 3, false, 7)]);
        assert_eq!(kept.total, 3);
    }

    #[test]
    fn another_part_of_the_list_comes_as_it_is() {
        let fresh = known(20, &[9]);
        assert_eq!(fresh.clone().kept(&known(0, &[1, 2])), fresh);
    }
}
