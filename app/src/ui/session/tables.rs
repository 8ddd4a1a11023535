//! What the session holds and waits for, and its history.

use leptos::prelude::*;

use super::words::happened;
use crate::ui::at_once::any;
use crate::ui::format::{clock, middle, plural, visible};
use crate::ui::parts::{Age, VerdictChip, pager, role_word};
use crate::wire::{LockQuery, Role, SessionEvent, SessionPage, SessionQuery, SpotRow};

/// Longest names in a table; the whole is in the title and on the lock's page.
const LOCK_CHARS: usize = 56;
const NODE_CHARS: usize = 36;

/// The table of znodes in locks.
pub(super) fn spots(page: &SessionPage, query: &SessionQuery) -> impl IntoView + use<> {
    let total = page.spots.total;
    let rows: Vec<_> = page.spots.rows.iter().map(|spot| spot_row(&page.row.ensemble, spot)).collect();
    let nothing = (total == 0).then(|| view! { <p class="quiet" data-testid="owns-nothing">"It holds no lock and waits for none."</p> });
    let base = SessionQuery { offset: 0, ..query.clone() }.to_url();
    view! {
        <section class="part" aria-labelledby="spots-title">
            <h2 class="part-title" id="spots-title">{if total == 0 { "No locks now".to_owned() } else { format!("In {}", plural(total.into(), "place", "places")) }}</h2>
            {nothing}
            <div class="overflow-x-auto" hidden={total == 0}>
                <table class="table sess-table dims">
                    <thead>
                        <tr>
                            <th scope="col">"Lock"</th><th scope="col">"Verdict"</th><th scope="col">"Does"</th>
                            <th class="table-number" scope="col">"For"</th><th class="sess-wide" scope="col">"Znode"</th>
                            <th class="sess-wide" scope="col">"Recipe"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {pager("More of its locks", &base, (query.offset, query.limit, total), false)}
        </section>
    }
}

fn spot_row(ensemble: &str, spot: &SpotRow) -> AnyView {
    let contender = &spot.contender;
    let since_ms = Signal::stored(contender.holding_since_ms.or(contender.waiting_since_ms));
    let node = visible(contender.node.as_deref().unwrap_or("no znode"));
    any(view! {
        <tr data-spot=contender.path.clone() data-role=contender.role.name()>
            <td>{lock_link(ensemble, &spot.lock)}</td>
            <td><VerdictChip verdict=Signal::stored(spot.verdict) /></td>
            <td class="sess-does" data-holds={(contender.role == Role::Holder).then_some("true")}>{role_word(contender)}</td>
            <td class="table-number"><Age since_ms=since_ms at_least=Signal::stored(contender.holding_is_lower_bound) /></td>
            <td class="mono sess-wide" title=node.clone()><bdi>{middle(&node, NODE_CHARS)}</bdi></td>
            <td class="quiet sess-wide">{spot.recipe_label.clone()}</td>
        </tr>
    })
}

/// What happened to it, newest first.
pub(super) fn history(page: &SessionPage) -> impl IntoView + use<> {
    let is_empty = page.history.is_empty();
    let rows: Vec<_> = page.history.iter().map(|event| event_row(&page.row.ensemble, event)).collect();
    view! {
        <section class="part" aria-labelledby="history-title">
            <h2 class="part-title" id="history-title">"What happened"</h2>
            <p class="quiet" hidden=!is_empty>"Nothing changed since Lockscope watches."</p>
            <div class="overflow-x-auto" hidden=is_empty>
                <table class="table sess-table dims" data-testid="history">
                    <thead>
                        <tr>
                            <th scope="col">"When"</th><th scope="col">"What"</th><th scope="col">"Lock"</th><th class="sess-wide" scope="col">"Znode"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn event_row(ensemble: &str, event: &SessionEvent) -> AnyView {
    let node = visible(&event.node);
    any(view! {
        <tr>
            <td>{clock(event.at_ms)}</td>
            <td data-happened=event.what.name()>{happened(event.what)}</td>
            <td>{lock_link(ensemble, &event.lock)}</td>
            <td class="mono sess-wide" title=node.clone()><bdi>{middle(&node, NODE_CHARS)}</bdi></td>
        </tr>
    })
}

fn lock_link(ensemble: &str, path: &str) -> impl IntoView + use<> {
    let href = LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() }.to_url();
    let whole = visible(path);
    let short = middle(&whole, LOCK_CHARS);
    view! { <a class="mono sess-lock" href=href title=whole><bdi>{short}</bdi></a> }
}
