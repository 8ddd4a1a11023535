//! Incidents: when something was wrong with which locks, because of whom, the newest first.

mod brush;

use crate::erase::view;
use leptos::prelude::*;

use super::{ServerPage, words};
use crate::format::{duration, visible};
use crate::parts::{
    Chip, Columns, ensemble_field, marked, marked_table, numbers_way, option, select_field, shortened, stamp,
    text_field,
};
use lockscope_view::Verdict;
use lockscope_view::past::{Incident, Incidents};

/// Longest text in a cell; the whole is in its title.
const CELL_CHARS: usize = 60;
/// Pieces of the picture above the list.
pub const PIECES: usize = 96;
const HEIGHT: usize = 40;

#[derive(Clone, Debug, Default)]
pub struct IncidentsView {
    /// A text that is in each.
    pub q: String,
    /// Only those that lasted so long.
    pub min_ms: i64,
    /// Addresses of equal parts of the range, in order; none where they would be too short.
    pub zooms: Vec<String>,
    /// The ensemble that is shown; empty where there is only one.
    pub ensemble: String,
    /// Ensembles to choose from; none where there is one.
    pub ensembles: Vec<String>,
    pub from_ms: i64,
    pub to_ms: i64,
    /// Ranges to choose from: what they are called, their address, and whether it is the one that is shown.
    pub ranges: Vec<(&'static str, String, bool)>,
    pub found: Incidents,
    pub refused: Option<String>,
    /// The instant at which it is looked at.
    pub now_ms: i64,
    /// Address of an incident's page, without its id.
    pub url: String,
    pub json_url: String,
    pub csv_url: String,
}

pub(super) const BEGAN: &str = "Began";
const BECAUSE_OF: &str = "Because of";
pub(super) const LASTED: &str = "Lasted";
const WAITED: &str = "Waited in all";
pub(super) const HOW: &str = "How it ended";
const COLUMNS: Columns = &[
    (BEGAN, ""),
    ("What", ""),
    ("Lock", ""),
    (BECAUSE_OF, ""),
    (LASTED, "table-number"),
    (WAITED, "table-number"),
    (HOW, ""),
];

pub fn incidents_page(plain: &ServerPage<'_>, of: &IncidentsView) -> String {
    super::page(plain, "Incidents", "events", of.to_ms, || {
        let rows = of.found.incidents.iter().map(|one| row(of, one)).collect_view();
        let list = match &of.refused {
            Some(why) => view! { <p class="notice" role="alert">{visible(why)}</p> },
            None if of.found.incidents.is_empty() => {
                view! { <p class="empty">{words::no_incident(!of.q.is_empty() || of.min_ms > 0, of.found.coverage.part)}</p> }
            }
            None => marked_table("incidents", COLUMNS, rows.into_any()),
        };
        let left_out = (of.found.left_out > 0).then(|| {
            view! { <p class="quiet">{words::incidents_left_out(of.found.left_out)}</p> }
        });
        view! {
            <h1 class="page-title">"Incidents"</h1>
            <p class="quiet audit-lead">{words::INCIDENTS_LEAD}</p>
            {filter(of)}
            {(of.refused.is_none() && of.found.coverage.part < 1.0).then(|| view! { <p class="quiet" data-testid="incidents-known">{words::part_known(of.found.coverage.part)}</p> })}
            {picture(of)}
            {(!of.zooms.is_empty() && !of.found.incidents.is_empty()).then(|| brush::script(plain))}
            {list}
            {(!of.found.incidents.is_empty() && of.refused.is_none()).then(below)}
            {left_out}
            <nav class="audit-ways" aria-label="More">
                <a class="tool" href="/events">"Events"</a>
                {numbers_way()}
                <a class="tool" href=of.csv_url.clone() rel="external" download data-testid="incidents-csv">"CSV"</a>
                <a class="tool" href=of.json_url.clone()>"JSON"</a>
            </nav>
        }
    })
}

/// What the numbers below others are.
fn below() -> AnyView {
    view! {
        <p class="quiet" data-testid="incidents-below">
            {words::BELOW_LOCK}{marked(words::OTHER_LOCKS)}{words::BELOW_AND}{marked(words::SEEN_BEFORE)}{words::BELOW_WAITING}{marked(words::WHO_WAITED)}"."
        </p>
    }
}

fn filter(of: &IncidentsView) -> AnyView {
    let range = |(name, url, is_shown): &(&'static str, String, bool)| {
        view! { <a class="tool" href=url.clone() aria-current=is_shown.then_some("true")>{*name}</a> }
    };
    view! {
        <form class="filters audit-filter" method="get" action="/incidents" role="search">
            {text_field("q", words::LOCK_OR_WHO, &of.q, None)}
            {select_field("min_ms", words::AT_LEAST, lengths(of.min_ms))}
            {ensemble_field(&of.ensembles, &of.ensemble, None)}
            <input type="hidden" name="from" value=of.from_ms.to_string() />
            <input type="hidden" name="to" value=of.to_ms.to_string() />
            <button class="tool" type="submit">"Show"</button>
            <span class="incident-ranges" role="group" aria-label="Range">{of.ranges.iter().map(range).collect_view()}</span>
        </form>
    }
}

/// How long they lasted at least, to choose from; what was asked for is among them.
fn lengths(chosen_ms: i64) -> AnyView {
    let mut all: Vec<i64> = vec![0, 1_000, 10_000, 60_000, 600_000, chosen_ms];
    all.sort_unstable();
    all.dedup();
    let length = |ms: i64| {
        let name = if ms == 0 { words::ANY_LENGTH.to_owned() } else { duration(ms) };
        option(&ms.to_string(), name, ms == chosen_ms)
    };
    all.into_iter().map(length).collect_view().into_any()
}

/// When it was how bad: a bar for each incident, as high as it is bad, over the whole range.
fn picture(of: &IncidentsView) -> Option<AnyView> {
    let span = of.to_ms - of.from_ms;
    if of.found.incidents.is_empty() || span <= 0 {
        return None;
    }
    let bars = bars(of).into_iter().map(|bar| {
        let (height, verdict) = (bar.height(), bar.worst.name());
        view! { <rect class="incident-bar" data-verdict=verdict x=bar.piece.to_string() y=(HEIGHT - height).to_string() width=bar.pieces.to_string() height=height.to_string()></rect> }
    });
    let parts = of.zooms.len().max(1);
    let zooms = of.zooms.iter().enumerate().map(|(part, url)| {
        let (x, end) = (part * PIECES / parts, (part + 1) * PIECES / parts);
        view! {
            <a class="incident-zoom" href=url.clone() tabindex="-1"><rect x=x.to_string() y="0" width=(end - x).to_string() height=HEIGHT.to_string()></rect></a>
        }
    });
    Some(view! {
        <div class="incident-picture" title=(!of.zooms.is_empty()).then_some(words::ZOOM)>
            <svg viewBox=format!("0 0 {PIECES} {HEIGHT}") preserveAspectRatio="none" aria-hidden="true">{bars.collect_view()}{zooms.collect_view()}{(!of.zooms.is_empty()).then(brush::brush)}</svg>
            <div class="incident-axis quiet">{stamp(of.from_ms)}{stamp(of.to_ms)}</div>
        </div>
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bar {
    piece: usize,
    pieces: usize,
    worst: Verdict,
}

impl Bar {
    /// The worst is as high as there is room.
    fn height(self) -> usize {
        match self.worst {
            Verdict::Free | Verdict::Healthy | Verdict::Unknown => 4,
            Verdict::Slow | Verdict::Expiring | Verdict::MaybeDeadlocked => 16,
            Verdict::NobodyHome | Verdict::Orphan | Verdict::Stuck => 28,
            Verdict::DoubleOwner | Verdict::Deadlocked => HEIGHT,
        }
    }
}

/// The bars, those first that are high.
fn bars(of: &IncidentsView) -> Vec<Bar> {
    let span = (of.to_ms - of.from_ms).max(1);
    let piece =
        |at_ms: i64| usize::try_from((at_ms - of.from_ms).max(0) * PIECES as i64 / span).unwrap_or(0).min(PIECES - 1);
    let bar = |row: &Incident| {
        let (first, last) = (piece(row.from_at_ms), piece(row.from_at_ms + row.lasted_ms(of.now_ms)));
        let worst = if row.finding.is_some() { Verdict::Slow } else { row.worst };
        Bar { piece: first, pieces: last - first + 1, worst }
    };
    let mut bars: Vec<Bar> = of.found.incidents.iter().map(bar).collect();
    bars.sort_by_key(|bar| std::cmp::Reverse((bar.height(), bar.pieces)));
    bars
}

fn row(list: &IncidentsView, of: &Incident) -> AnyView {
    let text = |text: &str| shortened(text, CELL_CHARS);
    let others = of.locks.len().saturating_sub(1);
    let others = (others > 0).then(|| view! { <div class="quiet">{words::and_others(others)}</div> });
    let before = (of.seen_before > 0).then(|| view! { <div class="quiet">{words::seen_before(of.seen_before)}</div> });
    let least = if of.is_lower_bound { "≥ " } else { "" };
    let waited = (of.victims > 0).then(|| {
        view! {
            <span>{format!("{least}{}", duration(of.waiting_ms))}</span>
            " "
            <div class="quiet">{words::waiters(of.victims)}</div>
        }
    });
    let (is_over, url) = (of.to_at_ms.is_some(), format!("{}{}", list.url, of.id));
    let ended = if of.is_seen_now == Some(false) { words::NOT_SEEN } else { words::ended(of.ended_by) };
    view! {
        <tr data-is-over=is_over.to_string()>
            <td><a href=url.clone() title=visible(&of.sentence)>{stamp(of.from_at_ms)}</a></td>
            <td>{what(of.worst, of.finding.as_deref())}</td>
            <td class="audit-where"><a href=url><code>{text(&of.root_lock)}</code></a>{others}{before}</td>
            <td class="audit-where">{of.root.as_ref().map(|root| text(root))}</td>
            <td class="table-number" data-name="lasted">{duration(of.lasted_ms(list.now_ms))}</td>
            <td class="table-number" data-name=(of.victims > 0).then_some("waited")>{waited}</td>
            <td>{ended}{of.forced_by.as_ref().map(|by| view! { <div class="quiet">{words::by(&visible(by))}</div> })}</td>
        </tr>
    }
}

/// What was wrong: a verdict, or a finding.
pub(super) fn what(worst: Verdict, finding: Option<&str>) -> AnyView {
    match finding {
        Some(code) => view! { <span class="chip" data-verdict="slow">{code.replace('_', " ")}</span> },
        None => view! { <Chip verdict=worst /> }.into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incident(from_at_ms: i64, lasted_ms: i64, worst: Verdict) -> Incident {
        Incident { from_at_ms, to_at_ms: Some(from_at_ms + lasted_ms), worst, ..Incident::default() }
    }

    #[test]
    fn a_bar_is_where_its_incident_was_and_as_high_as_it_was_bad() {
        let incidents = vec![
            incident(0, 10, Verdict::Slow),
            incident(500, 5_000, Verdict::Deadlocked),
            incident(990, 0, Verdict::Stuck),
        ];
        let found = Incidents { incidents, ..Incidents::default() };
        let of = IncidentsView { from_ms: 0, to_ms: 1_000, found, ..IncidentsView::default() };
        let drawn: Vec<_> = bars(&of).into_iter().map(|bar| (bar.piece, bar.pieces, bar.height())).collect();
        assert_eq!(drawn, [(48, 48, 40), (95, 1, 28), (0, 1, 16)]);
    }
}
