//! What the session holds and waits for, and its history.

use super::words::happened;
use crate::format::{clock, middle, plural, visible};
use crate::html::Html;
use crate::parts::{chip, role_word};
use lockscope_wire::{ContenderRole, LockQuery, SessionEvent, SessionLockRow, SessionPage, SessionQuery};

/// Longest names in a table; the whole is in the title and on the lock's page.
const LOCK_CHARS: usize = 56;
const NODE_CHARS: usize = 36;

/// The table of znodes in locks.
pub(super) fn spots(page: &SessionPage, query: &SessionQuery, now_ms: i64) -> Html {
    let total = page.spots.total;
    let title = if total == 0 { "No locks now".to_owned() } else { format!("In {}", plural(total.into(), "place", "places")) };
    let mut parts = vec![Html::of("h2", &[("class", "part-title"), ("id", "spots-title")], &title)];
    if total == 0 {
        parts.push(Html::of("p", &[("class", "quiet"), ("data-testid", "owns-nothing")], "It holds no lock and waits for none."));
    } else {
        let columns = [("Lock", ""), ("Verdict", ""), ("Does", ""), ("For", "table-number"), ("Znode", "sess-wide"), ("Recipe", "sess-wide")];
        let rows = page.spots.rows.iter().map(|spot| spot_row(&page.row.ensemble, spot, now_ms)).collect();
        parts.push(Html::table("table sess-table dims", "", &columns, rows));
        parts.push(more(query, total));
    }
    Html::tag("section", &[("class", "part"), ("aria-labelledby", "spots-title")], Html::all(parts))
}

/// Links to the rows before and after those shown.
fn more(query: &SessionQuery, total: u32) -> Html {
    let link = |offset: u32, text: &str| {
        let base = SessionQuery { offset: 0, ..query.clone() }.to_url();
        Html::of("a", &[("class", "pager-link"), ("href", &format!("{base}&offset={offset}"))], text)
    };
    let mut links = Vec::new();
    if query.offset > 0 {
        links.push(link(query.offset.saturating_sub(query.limit), "Previous"));
    }
    if query.offset + query.limit < total {
        links.push(link(query.offset + query.limit, "Next"));
    }
    if links.is_empty() { Html::default() } else { Html::tag("nav", &[("class", "pager"), ("aria-label", "More of its locks")], Html::all(links)) }
}

fn spot_row(ensemble: &str, spot: &SessionLockRow, now_ms: i64) -> Html {
    let contender = &spot.contender;
    let since_ms = contender.holding_since_ms.or(contender.waiting_since_ms);
    let holds = if contender.role == ContenderRole::Holder { "true" } else { "" };
    let cells = vec![
        Html::tag("td", &[], lock_link(ensemble, &spot.lock)),
        Html::tag("td", &[], chip(spot.verdict)),
        Html::of("td", &[("class", "sess-does"), ("data-holds", holds)], role_word(contender)),
        Html::tag("td", &[("class", "table-number")], Html::age(since_ms, contender.holding_is_lower_bound, now_ms)),
        node_cell(contender.node.as_deref().unwrap_or("no znode")),
        Html::of("td", &[("class", "quiet sess-wide")], &spot.recipe_label),
    ];
    let key = visible(&contender.path);
    Html::tag("tr", &[("data-key", &key), ("data-spot", &contender.path), ("data-role", contender.role.name())], Html::all(cells))
}

fn node_cell(node: &str) -> Html {
    let node = visible(node);
    Html::tag("td", &[("class", "mono sess-wide"), ("title", &node)], Html::of("bdi", &[], &middle(&node, NODE_CHARS)))
}

/// What happened to it, newest first.
pub(super) fn history(page: &SessionPage) -> Html {
    let mut parts = vec![Html::of("h2", &[("class", "part-title"), ("id", "history-title")], "What happened")];
    if page.history.is_empty() {
        parts.push(Html::of("p", &[("class", "quiet")], "Nothing changed since Lockscope watches."));
    } else {
        let columns = [("When", ""), ("What", ""), ("Lock", ""), ("Znode", "sess-wide")];
        let rows = page.history.iter().map(|event| event_row(&page.row.ensemble, event)).collect();
        parts.push(Html::table("table sess-table dims", "history", &columns, rows));
    }
    Html::tag("section", &[("class", "part"), ("aria-labelledby", "history-title")], Html::all(parts))
}

fn event_row(ensemble: &str, event: &SessionEvent) -> Html {
    let key = format!("{} {} {}", event.at_ms, event.what.name(), event.node);
    let cells = vec![
        Html::of("td", &[], &clock(event.at_ms)),
        Html::of("td", &[("data-happened", event.what.name())], happened(event.what)),
        Html::tag("td", &[], lock_link(ensemble, &event.lock)),
        node_cell(&event.node),
    ];
    Html::tag("tr", &[("data-key", &key)], Html::all(cells))
}

fn lock_link(ensemble: &str, path: &str) -> Html {
    let href = LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() }.to_url();
    Html::link("mono sess-lock", &href, path, &middle(&visible(path), LOCK_CHARS))
}
