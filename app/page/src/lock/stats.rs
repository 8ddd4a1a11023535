//! Percentiles and past holders.

use leptos::prelude::*;

use super::{LockState, words};
use crate::erase::{dynamic, erase, view};
use crate::format::{count, duration, middle, visible};
use crate::parts::{Columns, Instant, Keyed, Section, Table, part, rows, session_url};
use lockscope_view::{HoldEnd, LockHead, PastHolder};

const TIMES: Columns = &[("Time", ""), ("Median", "table-number"), ("99th percentile", "table-number")];
const PAST: Columns = &[
    ("Who", ""),
    ("Session", ""),
    ("Client", ""),
    ("Held for", "table-number"),
    ("Until", "table-number"),
    ("Woken by it", "table-number"),
    ("How it ended", ""),
];

/// What was counted since this server watches, and the last holders.
#[component]
pub(super) fn Stats(state: LockState) -> AnyView {
    let times = |head: &LockHead| {
        [(head.stats.hold_p50_ms, head.stats.hold_p99_ms), (head.stats.wait_p50_ms, head.stats.wait_p99_ms)]
    };
    let past = Memo::new(move |_| state.head.with(|head| head.as_ref().map(past_rows).unwrap_or_default()));
    let is_empty = Memo::new(move |_| past.with(Vec::is_empty));
    view! {
        <div class="sides past-sides">
            <Section id="stats-title" title="Since Lockscope started">
                {part(state.head, times, |[hold, wait]| table(*hold, *wait))}
                <p class="quiet">{part(state.head, |head| words::counted(&head.stats), |text| erase(text.clone()))}</p>
            </Section>
            <Section id="past-title" title="Previous holders">
                {dynamic(move || past_holders(is_empty.get(), past))}
            </Section>
        </div>
    }
}

/// Median and 99th percentile, in milliseconds.
type Percentiles = (Option<i64>, Option<i64>);

fn table(hold: Percentiles, wait: Percentiles) -> AnyView {
    let time = |ms: Option<i64>| view! { <td class="table-number">{ms.map_or("–".to_owned(), duration)}</td> };
    let row = |name: &'static str, (median, most): Percentiles| view! { <tr><th scope="row">{name}</th>{time(median)}{time(most)}</tr> };
    view! { <Table class="table" columns=TIMES rows=vec![row(words::HOLD, hold), row(words::WAIT, wait)] /> }
}

/// The last holders, newest first.
fn past_holders(is_empty: bool, past: Memo<Vec<Keyed<PastHolder>>>) -> AnyView {
    if is_empty {
        return view! { <p class="quiet">"No hold has ended yet."</p> };
    }
    view! { <Table class="table" columns=PAST rows=rows(past, |row| &row.key, past_row) /> }
}

/// Past holders, known by their znodes and ends wherever newer ones push them.
fn past_rows(head: &LockHead) -> Vec<Keyed<PastHolder>> {
    let row = |holder: &PastHolder| {
        let key = format!("{} {}", holder.node, holder.until_ms);
        Keyed { key, ensemble: head.row.ensemble.clone(), item: holder.clone() }
    };
    head.past.iter().map(row).collect()
}

fn past_row(Keyed { ensemble, item: holder, .. }: Keyed<PastHolder>) -> AnyView {
    let name = visible(holder.label.as_deref().unwrap_or(&holder.node));
    let sign = if holder.is_lower_bound { "≥ " } else { "" };
    let session = match holder.session_id {
        Some(id) => view! { <a class="mono id" href=session_url(&ensemble, id)>{id.to_string()}</a> },
        None => erase(words::NOT_KNOWN),
    };
    view! {
        <tr data-how=holder.how.name()>
            <td title=visible(&holder.node)>{middle(&name, 36)}</td>
            <td>{session}</td>
            <td class="mono">{holder.address.as_deref().map_or("–".to_owned(), visible)}</td>
            <td class="table-number">{format!("{sign}{}", duration(holder.until_ms - holder.from_ms))}</td>
            <td class="table-number"><Instant at_ms=holder.until_ms /></td>
            <td class="table-number">{holder.woke.map_or("–".to_owned(), count)}</td>
            <td class="past-end">{end(&holder)}</td>
        </tr>
    }
}

/// How a hold ended; who may read the audit log is led to the record of a forced release.
fn end(holder: &PastHolder) -> AnyView {
    let by = match (holder.how, &holder.released_by) {
        (HoldEnd::Forced, Some(by)) => middle(&visible(by), 36),
        (how, _) => return erase(words::end(how)),
    };
    let record = holder.record.map(|id| {
        // The audit page begins with the newest below a number.
        let href = format!("/audit?before={}#r{id}", id.saturating_add(1));
        view! { ", " <a href=href rel="external">{words::record(id)}</a> }
    });
    view! { "released by " <bdi>{by}</bdi> {record} }
}
