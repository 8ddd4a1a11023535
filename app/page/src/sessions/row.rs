//! One session in the list.

use super::state::Slot;
use crate::format::{count, middle, visible};
use crate::html::Html;
use crate::parts::{chip, cycle_mark, liveness_chip, session_url, tag};
use lockscope_wire::{ROW_LOCKS_MAX, SessionRow};

/// Longest names on a row; the whole is in its title and on the session's page.
const LABEL_CHARS: usize = 120;
const LOCK_CHARS: usize = 48;
const ADDRESS_CHARS: usize = 40;

/// The row.
pub(super) fn row(slot: &Slot, now_ms: i64) -> Html {
    let row = &slot.row;
    let label = row.label.as_deref().map_or("no name".to_owned(), visible);
    let cell = |class: &str, column: &str, inner: Html| Html::tag("div", &[("class", class), ("role", "cell"), ("data-col", column)], inner);
    let number = |class: &str, column: &str, number: u32| {
        let none = if number == 0 { "true" } else { "" };
        Html::of("div", &[("class", class), ("role", "cell"), ("data-col", column), ("data-none", none)], &count(number))
    };
    let mark = row.cycle_verdict.map(chip).unwrap_or_default();
    let none = if row.label.is_none() { "true" } else { "" };
    let name = Html::of("bdi", &[("class", "sess-label"), ("data-none", none)], &middle(&label, LABEL_CHARS));
    let id = Html::of("a", &[("class", "sess-link"), ("href", &session_url(&row.ensemble, row.session_id))], &row.session_id.to_string());
    let who = [("class", "cell sess-who"), ("role", "cell"), ("data-col", "who"), ("title", &*label)];
    let whole = locks_text(row, usize::MAX);
    let locks = [("class", "cell sess-locks"), ("role", "cell"), ("data-col", "locks"), ("title", &*whole)];
    let cells = vec![
        cell("cell sess-id", "id", id),
        Html::tag("div", &who, Html::all(vec![mark, name])),
        client(row, now_ms),
        number("cell cell-number sess-holds", "holds", row.holds),
        number("cell cell-number sess-waits", "waits", row.waits),
        number("cell cell-number sess-blocks", "blocks", row.blocks),
        cell("cell cell-number sess-hold", "hold", Html::age(row.oldest_hold_at_ms, false, now_ms)),
        cell("cell cell-number sess-wait", "oldest", Html::age(row.oldest_wait_at_ms, false, now_ms)),
        number("cell cell-number sess-znodes", "znodes", row.ephemerals),
        Html::tag("div", &locks, Html::all(vec![tag(row.tag.as_ref()), Html::text(" "), Html::of("bdi", &[], &locks_text(row, LOCK_CHARS))])),
    ];
    let (at, session) = ((slot.at + 2).to_string(), row.session_id.to_string());
    let attributes = [
        ("class", "sess-row sess"),
        ("role", "row"),
        ("data-key", &*row.key),
        ("data-session", &*session),
        ("data-cycle", cycle_mark(row.cycle_verdict)),
        ("data-away", if slot.is_away { "true" } else { "" }),
        ("title", if slot.is_away { "No longer in this place" } else { "" }),
        ("aria-rowindex", &at),
    ];
    Html::tag("div", &attributes, Html::all(cells))
}

/// Whether it is heard of, and from where.
fn client(row: &SessionRow, now_ms: i64) -> Html {
    let address = row.client.as_ref().map(|client| visible(&client.address)).unwrap_or_default();
    let inner = vec![
        liveness_chip(row.liveness, row.runs_out.as_ref(), now_ms),
        Html::of("bdi", &[("class", "sess-address"), ("title", &address)], &middle(&address, ADDRESS_CHARS)),
    ];
    Html::tag("div", &[("class", "cell sess-client"), ("role", "cell"), ("data-col", "client")], Html::all(inner))
}

/// The first locks it is in.
fn locks_text(row: &SessionRow, chars: usize) -> String {
    let names: Vec<String> = row.locks.iter().map(|path| middle(&visible(path), chars)).collect();
    let more = if row.locks.len() == ROW_LOCKS_MAX && row.holds + row.waits > ROW_LOCKS_MAX as u32 { ", …" } else { "" };
    names.join(", ") + more
}
