//! What the picture of a lock over time shows, in words: who held, a table of its pieces, and what happened.

use leptos::prelude::*;

use super::view::{OverTimeView, What};
use super::words;
use crate::charts::over_time::{HUES, hue_name};
use crate::erase::{erase, view};
use crate::format::{count, date, middle, visible};
use crate::parts::{Columns, table_of, verdict_word};
use lockscope_view::past::Point;

const PIECES: Columns = &[
    (words::BEGINS, ""),
    (words::WORST, ""),
    (words::HELD_LONGEST, ""),
    (words::ACQUIRED_TIMES, "table-number"),
    (words::GAVE_UP, "table-number"),
    (words::MOST_WAITING, "table-number"),
    (words::WAIT_TIMES, "table-number"),
    (words::HOLD_TIMES, "table-number"),
];
const NAME_CHARS: usize = 40;
/// Clients of the legend: those that have a colour of their own.
const LEGEND_MAX: usize = HUES as usize;
/// Gaps in words; of more, the newest.
const GAPS_LISTED_MAX: usize = 5;

/// An instant that the page's script shows on the clock of whoever looks.
pub(super) fn instant(at_ms: i64) -> AnyView {
    let utc = date(at_ms);
    let text = utc.trim_end_matches(" UTC").to_owned();
    let machine = text.replacen(' ', "T", 1) + "Z";
    view! { <time datetime=machine title=utc data-ms=at_ms data-cut="0,19">{text}</time> }
}

pub(super) fn legend(view: &OverTimeView, hues: &[Option<u8>]) -> AnyView {
    let (from_ms, to_ms) = view.range_ms;
    let client = |(client, hue): (&super::view::ClientShare, &Option<u8>)| {
        let name = visible(&client.name);
        view! {
            <li class="ot-client" title=name.clone()>
                {swatch(*hue)}
                <bdi class="ot-client-name">{middle(&name, NAME_CHARS)}</bdi>
                " "<span class="quiet">{words::share(client.held_ms, to_ms - from_ms)}</span>
            </li>
        }
    };
    let shown = view.clients.iter().zip(hues).take(LEGEND_MAX).map(client).collect_view();
    let rest = view.clients.len().saturating_sub(LEGEND_MAX) + view.clients_left_out;
    let rest = (rest > 0).then(|| {
        view! {
            <li class="ot-client">
                {swatch(None)}
                <span class="quiet">{words::more_clients(rest)}</span>
            </li>
        }
    });
    if view.clients.is_empty() {
        return erase(());
    }
    view! { <ul class="ot-legend" aria-label="Who held, for how long">{shown}{rest}</ul> }
}

/// A client's colour, or that of all who have none.
fn swatch(hue: Option<u8>) -> AnyView {
    view! { <svg class="ot-swatch" viewBox="0 0 12 12" aria-hidden="true"><rect class="ot-bar" data-hue=hue_name(hue) width="12" height="12" rx="2" /></svg> }
}

pub(super) fn pieces(view: &OverTimeView) -> AnyView {
    let row = |piece: &Point| {
        let holder = piece.client.and_then(|at| view.clients.get(at)).map(|client| visible(&client.name));
        view! {
            <tr>
                <td>{instant(piece.at_ms)}</td>
                <td>{verdict_word(piece.worst)}</td>
                <td>{holder.map_or("–".to_owned(), |name| middle(&name, NAME_CHARS))}</td>
                <td class="table-number">{count(piece.acquired)}</td>
                <td class="table-number">{count(piece.gave_up)}</td>
                <td class="table-number">{count(piece.depth_max)}</td>
                <td class="table-number">{words::percentiles(piece.wait_ms)}</td>
                <td class="table-number">{words::percentiles(piece.hold_ms)}</td>
            </tr>
        }
    };
    let rows: Vec<AnyView> = view.pieces.iter().map(row).collect();
    view! {
        <details class="fold ot-table" data-testid="ot-table">
            <summary>"The same as a table"</summary>
            <p class="quiet">"A piece in which nothing happened has no row."</p>
            {table_of("table", None, PIECES, erase(rows))}
        </details>
    }
}

pub(super) fn gaps(view: &OverTimeView) -> AnyView {
    let gap = |gap: &super::view::Missing| {
        view! { <li>{instant(gap.from_ms)}": "{words::gap(gap.to_ms - gap.from_ms, &visible(&gap.why))}</li> }
    };
    let (newest, count) = (view.gaps.iter().rev().take(GAPS_LISTED_MAX), view.gaps.len());
    if count == 0 {
        return erase(());
    }
    let more =
        (count > GAPS_LISTED_MAX).then(|| view! { <li class="quiet">{words::more_gaps(count - GAPS_LISTED_MAX)}</li> });
    view! {
        <ul class="ot-gaps bullets" data-testid="ot-gaps" aria-label="Not recorded">
            {newest.map(gap).collect_view()}
            {more}
        </ul>
    }
}

pub(super) fn happened(view: &OverTimeView) -> AnyView {
    let rows: Vec<AnyView> = view.happened.iter().map(|one| row(view, one)).collect();
    let list = if rows.is_empty() {
        view! { <p class="quiet">{words::NOTHING_LISTED}</p> }
    } else {
        view! {
            // What scrolls must be reachable by keyboard.
            <div class="ot-events" tabindex="0" role="group" aria-labelledby="happened-title">
                <ol data-testid="ot-events">{rows}</ol>
            </div>
        }
    };
    let left_out = words::left_out(view.holds_left_out, view.has_more_facts).map(|text| {
        let (from_ms, to_ms) = view.range_ms;
        let url = view.choice.url().replacen("/lock?", "", 1);
        let of = url.split("&range=").next().and_then(|url| url.split("&from=").next()).unwrap_or_default();
        let href = format!("/api/v1/history/holds?{of}&from={from_ms}&to={to_ms}&limit=1000");
        view! { <p class="quiet">{text}" "<a href=href rel="external" target="_blank">{words::THE_REST}</a></p> }
    });
    view! {
        <h3 class="part-title ot-title" id="happened-title">"What happened here"</h3>
        {list}
        {left_out}
    }
}

fn row(view: &OverTimeView, one: &What) -> AnyView {
    let (severity, who) = match one {
        What::Fact(mark) => (mark.severity, None),
        What::Hold(hold) => (u8::from(hold.how == "forced"), Some(hold.who())),
        What::Gap(_) => (1, None),
    };
    let who = who.map(|name| {
        let name = visible(name);
        view! { <bdi class="ot-who" title=name.clone()>{middle(&name, NAME_CHARS)}</bdi>" " }
    });
    let at_ms = one.at_ms();
    let is_kept = view.kept_from_ms.is_some_and(|from_ms| from_ms <= at_ms) && at_ms < view.now_ms;
    let time = if is_kept {
        let href = view.choice.at(at_ms, view.range_ms).url();
        view! { <a href=href rel="external">{instant(at_ms)}</a> }
    } else {
        instant(at_ms)
    };
    view! {
        <li class="ot-event" data-severity=severity>
            {time}
            <span class="ot-kind">{words::kind(one)}</span>
            <span class="ot-says">{who}{words::happened(one)}</span>
        </li>
    }
}
