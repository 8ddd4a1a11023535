//! Percentiles and past holders.

use leptos::prelude::*;

use super::LockState;
use super::facts::section;
use crate::format::{clock, count, duration, middle, visible};
use crate::html::{Html, Living};
use crate::parts::session_url;
use lockscope_wire::{LockHead, LockStats, PastHolder};

/// What was counted since this server watches, and the last holders.
#[component]
pub(super) fn Stats(state: LockState) -> impl IntoView {
    let html = move || state.head.with(|head| head.as_ref().map(both).unwrap_or_default());
    view! { <Living class="sides past-sides" html=Signal::derive(html) /> }
}

fn both(head: &LockHead) -> Html {
    Html::all(vec![section("stats-title", "Since Lockscope watches", counted(&head.stats)), section("past-title", "Held before by", past(head))])
}

fn counted(stats: &LockStats) -> Html {
    let time = |ms: Option<i64>| ms.map_or("–".to_owned(), duration);
    let row = |name: &str, median: Option<i64>, most: Option<i64>| {
        let number = |ms: Option<i64>| Html::of("td", &[("class", "table-number")], &time(ms));
        Html::tag("tr", &[], Html::all(vec![Html::of("th", &[("scope", "row")], name), number(median), number(most)]))
    };
    let rows = vec![row("Hold", stats.hold_p50_ms, stats.hold_p99_ms), row("Wait", stats.wait_p50_ms, stats.wait_p99_ms)];
    let columns = [("Time", ""), ("Median", "table-number"), ("99th percentile", "table-number")];
    let text = format!(
        "Taken {} times; owner unknown {} times; left without holding {} times. {}",
        count(stats.acquisitions),
        count(stats.owner_unknown),
        count(stats.gave_up),
        sequence_words(stats)
    );
    Html::all(vec![Html::table("table", "", &columns, rows), Html::of("p", &[("class", "quiet")], &text)])
}

/// How much of the sequence numbers is used up.
fn sequence_words(stats: &LockStats) -> String {
    let Some(ppm) = stats.sequence_used_ppm else { return String::new() };
    let percent = match ppm {
        0 => "less than 0.0001".to_owned(),
        _ => format!("{}.{:04}", ppm / 10_000, ppm % 10_000).trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    format!("Sequence numbers used: {percent} %.")
}

/// The last holders, newest first.
fn past(head: &LockHead) -> Html {
    if head.past.is_empty() {
        return Html::of("p", &[("class", "quiet")], "No hold ended since Lockscope watches.");
    }
    let columns = [
        ("Who", ""),
        ("Session", ""),
        ("Client", ""),
        ("Held for", "table-number"),
        ("Until", "table-number"),
        ("Woke", "table-number"),
        ("How it ended", ""),
    ];
    let rows = head.past.iter().map(|holder| past_row(&head.row.ensemble, holder)).collect();
    Html::table("table", "", &columns, rows)
}

fn past_row(ensemble: &str, holder: &PastHolder) -> Html {
    let name = visible(holder.label.as_deref().unwrap_or(&holder.node));
    let sign = if holder.is_lower_bound { "≥ " } else { "" };
    let session = match holder.session_id {
        Some(id) => Html::of("a", &[("class", "mono id"), ("href", &session_url(ensemble, id))], &id.to_string()),
        None => Html::text("not known"),
    };
    let number = |text: &str| Html::of("td", &[("class", "table-number")], text);
    let cells = vec![
        Html::of("td", &[("title", &visible(&holder.node))], &middle(&name, 36)),
        Html::tag("td", &[], session),
        Html::of("td", &[("class", "mono")], holder.address.as_deref().unwrap_or("–")),
        number(&format!("{sign}{}", duration(holder.until_ms - holder.from_ms))),
        number(&clock(holder.until_ms)),
        number(&holder.woke.map_or("–".to_owned(), count)),
        Html::of("td", &[("class", "quiet")], if holder.session_ended { "its session ended" } else { "" }),
    ];
    Html::tag("tr", &[("data-key", &format!("{} {}", holder.node, holder.until_ms))], Html::all(cells))
}
