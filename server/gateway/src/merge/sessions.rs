//! Lists of sessions put together.

use std::cmp::Reverse;

use feed::worse;
use lockscope_wire::{
    SessionGroup, SessionGroupRow, SessionRow, SessionSort, Sessions, SessionsHead, SessionsQuery, Verdict, Window,
};

/// Two in one, in no order yet.
pub(super) fn joined(one: Sessions, other: Sessions) -> Sessions {
    let (head, more) = (one.head, other.head);
    let head = SessionsHead {
        as_of: worse(head.as_of, more.as_of),
        sessions: head.sessions.saturating_add(more.sessions),
        holding: head.holding.saturating_add(more.holding),
        waiting: head.waiting.saturating_add(more.waiting),
    };
    let mut rows = one.window.rows;
    rows.extend(other.window.rows);
    let total = one.window.total.saturating_add(other.window.total);
    let window = Window { total, offset: 0, rows };
    Sessions { head, window, groups: groups(one.groups, other.groups) }
}

/// A host or an application may have sessions in several ensembles.
fn groups(one: Window<SessionGroupRow>, other: Window<SessionGroupRow>) -> Window<SessionGroupRow> {
    let (mut rows, mut total) = (one.rows, one.total.saturating_add(other.total));
    for more in other.rows {
        let Some(row) = rows.iter_mut().find(|row| row.name == more.name) else {
            rows.push(more);
            continue;
        };
        total = total.saturating_sub(1);
        row.sessions = row.sessions.saturating_add(more.sessions);
        row.holds = row.holds.saturating_add(more.holds);
        row.waits = row.waits.saturating_add(more.waits);
        row.blocks = row.blocks.saturating_add(more.blocks);
        row.oldest_hold_at_ms = row.oldest_hold_at_ms.into_iter().chain(more.oldest_hold_at_ms).min();
        row.oldest_wait_at_ms = row.oldest_wait_at_ms.into_iter().chain(more.oldest_wait_at_ms).min();
        row.cycle_verdict = row.cycle_verdict.max(more.cycle_verdict);
    }
    Window { total, offset: 0, rows }
}

/// The window that was asked for.
pub(super) fn finished(sessions: Sessions, query: &SessionsQuery) -> Sessions {
    let Sessions { head, mut window, mut groups } = sessions;
    // Those of one replica are in order already, and the sort is stable: equals stay in it.
    window.rows.sort_by_key(|row| of_row(row, query.sort));
    groups.rows.sort_by_key(|row| of_group(row, query.sort));
    let (window, groups) =
        if query.group == SessionGroup::Session { (cut(window, query), groups) } else { (window, cut(groups, query)) };
    Sessions { head, window, groups }
}

fn cut<T>(window: Window<T>, query: &SessionsQuery) -> Window<T> {
    let rows = window.rows.into_iter().skip(query.offset as usize).take(query.limit as usize).collect();
    Window { total: window.total, offset: query.offset, rows }
}

type Order = (Reverse<Option<Verdict>>, i64);

fn of_row(row: &SessionRow, sort: SessionSort) -> Order {
    let key = match sort {
        SessionSort::Worst => return (Reverse(row.cycle_verdict), -i64::from(row.blocks)),
        SessionSort::Blocks => -i64::from(row.blocks),
        SessionSort::Holds => -i64::from(row.holds),
        SessionSort::OldestWait => row.oldest_wait_at_ms.unwrap_or(i64::MAX),
        SessionSort::Ephemerals => -i64::from(row.ephemerals),
        SessionSort::Id => 0,
    };
    (Reverse(None), key)
}

fn of_group(row: &SessionGroupRow, sort: SessionSort) -> Order {
    let key = match sort {
        SessionSort::Worst => return (Reverse(row.cycle_verdict), -i64::from(row.blocks)),
        SessionSort::Blocks => -i64::from(row.blocks),
        SessionSort::Holds => -i64::from(row.holds),
        SessionSort::OldestWait => row.oldest_wait_at_ms.unwrap_or(i64::MAX),
        SessionSort::Ephemerals => -i64::from(row.sessions),
        SessionSort::Id => 0,
    };
    (Reverse(None), key)
}
