//! Incidents: when something was wrong with which locks, because of whom, the newest first.

mod brush;

use crate::erase::view;
use crate::exact::Exact;
use leptos::prelude::*;

use super::{ServerPage, words};
use crate::format::{count, duration, middle, visible};
use crate::parts::{Chip, Columns, filled, marked, marked_table, numbers_way, stamp};
use lockscope_view::Verdict;

/// Longest text in a cell; the whole is in its title.
const CELL_CHARS: usize = 60;
/// Pieces of the picture above the list.
pub const PIECES: usize = 96;
const HEIGHT: usize = 40;

/// What of the list is shown, as it was asked for.
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
    /// Where the range begins.
    pub from_ms: i64,
    /// Where it ends.
    pub to_ms: i64,
    /// Ranges to choose from: what they are called, their address, and whether it is the one that is shown.
    pub ranges: Vec<(&'static str, String, bool)>,
    /// The rows, the newest first.
    pub rows: Vec<IncidentLine>,
    /// Further ones, which are older.
    pub left_out: usize,
    /// The part of the range that is known, from 0 to 1.
    pub part_known: f64,
    /// Why there is no list.
    pub refused: Option<String>,
    /// The same as JSON.
    pub json_url: String,
    /// The same as a table.
    pub csv_url: String,
}

/// A row.
#[derive(Clone, Debug)]
pub struct IncidentLine {
    /// When it began.
    pub from_ms: i64,
    /// When it ended; None while it goes on.
    pub to_ms: Option<i64>,
    /// How long it lasted, or lasts.
    pub lasted_ms: i64,
    /// The worst verdict.
    pub worst: Verdict,
    /// The finding that says what was wrong, where no verdict does.
    pub finding: Option<String>,
    /// The lock that names it.
    pub lock: String,
    /// Further locks.
    pub others: usize,
    /// Who is at its root.
    pub root: Option<String>,
    /// Sessions that waited.
    pub victims: usize,
    /// All waiting.
    pub waiting_ms: i64,
    /// There was more.
    pub is_lower_bound: bool,
    /// How it ended.
    pub ended: &'static str,
    /// Who released it.
    pub forced_by: Option<String>,
    /// How often it was so before.
    pub seen_before: usize,
    /// What happened.
    pub sentence: String,
    /// Address of its page.
    pub url: String,
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

/// The page.
pub fn incidents_page(plain: &ServerPage<'_>, of: &IncidentsView) -> String {
    super::page(plain, "Incidents", "events", of.to_ms, || {
        let rows = of.rows.iter().map(row).collect_view();
        let list = match &of.refused {
            Some(why) => view! { <p class="notice" role="alert">{visible(why)}</p> },
            None if of.rows.is_empty() => {
                view! { <p class="empty">{words::no_incident(!of.q.is_empty() || of.min_ms > 0, of.part_known)}</p> }
            }
            None => marked_table("incidents", COLUMNS, rows.into_any()),
        };
        let left_out = (of.left_out > 0).then(|| {
            view! { <p class="quiet">{words::incidents_left_out(of.left_out)}</p> }
        });
        view! {
            <h1 class="page-title">"Incidents"</h1>
            <p class="quiet audit-lead">{words::INCIDENTS_LEAD}</p>
            {filter(of)}
            {(of.refused.is_none() && of.part_known < 1.0).then(|| view! { <p class="quiet" data-testid="incidents-known">{words::part_known(of.part_known)}</p> })}
            {picture(of)}
            {(!of.zooms.is_empty() && !of.rows.is_empty()).then(|| brush::script(plain))}
            {list}
            {(!of.rows.is_empty() && of.refused.is_none()).then(below)}
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
    let option = |value: &str| {
        view! { <option value=Exact(value.to_owned()) selected=(of.ensemble == value).then_some("selected")>{visible(value)}</option> }
    };
    let ensembles = (!of.ensembles.is_empty()).then(|| {
        let names = of.ensembles.iter().map(|name| option(name)).collect_view();
        view! {
            <label class="field">
                <span class="field-name">{words::ENSEMBLE}</span>
                <select class="select" name="ensemble">{names}</select>
            </label>
        }
    });
    let range = |(name, url, is_shown): &(&'static str, String, bool)| {
        view! { <a class="tool" href=url.clone() aria-current=is_shown.then_some("true")>{*name}</a> }
    };
    view! {
        <form class="filters audit-filter" method="get" action="/incidents" role="search">
            <label class="field">
                <span class="field-name">"Lock or who"</span>
                <input class="filter-input" type="text" name="q" value=filled(visible(&of.q)) autocomplete="off" />
            </label>
            <label class="field">
                <span class="field-name">{words::AT_LEAST}</span>
                <select class="select" name="min_ms">{lengths(of.min_ms)}</select>
            </label>
            {ensembles}
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
    let option = |ms: i64| {
        let name = if ms == 0 { words::ANY_LENGTH.to_owned() } else { duration(ms) };
        view! { <option value=ms.to_string() selected=(ms == chosen_ms).then_some("selected")>{name}</option> }
    };
    all.into_iter().map(option).collect_view().into_any()
}

/// When it was how bad: a bar for each incident, as high as it is bad, over the whole range.
fn picture(of: &IncidentsView) -> Option<AnyView> {
    let span = of.to_ms - of.from_ms;
    if of.rows.is_empty() || span <= 0 {
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

/// One bar: where, and how bad.
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
    let bar = |row: &IncidentLine| {
        let (first, last) = (piece(row.from_ms), piece(row.from_ms + row.lasted_ms));
        let worst = if row.finding.is_some() { Verdict::Slow } else { row.worst };
        Bar { piece: first, pieces: last - first + 1, worst }
    };
    let mut bars: Vec<Bar> = of.rows.iter().map(bar).collect();
    bars.sort_by_key(|bar| std::cmp::Reverse((bar.height(), bar.pieces)));
    bars
}

fn row(of: &IncidentLine) -> AnyView {
    let text = |text: &str| {
        let whole = visible(text);
        view! { <bdi title=whole.clone()>{middle(&whole, CELL_CHARS)}</bdi> }
    };
    let others = (of.others > 0).then(|| view! { <div class="quiet">{words::and_others(of.others)}</div> });
    let before = (of.seen_before > 0).then(|| view! { <div class="quiet">{words::seen_before(of.seen_before)}</div> });
    let least = if of.is_lower_bound { "≥ " } else { "" };
    let waited = (of.victims > 0).then(|| {
        view! {
            <span>{format!("{least}{}", duration(of.waiting_ms))}</span>
            <div class="quiet">{words::waiters(of.victims)}</div>
        }
    });
    let is_over = of.to_ms.is_some();
    view! {
        <tr data-is-over=is_over.to_string()>
            <td><a href=of.url.clone() title=visible(&of.sentence)>{stamp(of.from_ms)}</a></td>
            <td>{what(of.worst, of.finding.as_deref())}</td>
            <td class="audit-where"><a href=of.url.clone()><code>{text(&of.lock)}</code></a>{others}{before}</td>
            <td class="audit-where">{of.root.as_ref().map(|root| text(root))}</td>
            <td class="table-number" data-name="lasted">{duration(of.lasted_ms)}</td>
            <td class="table-number" data-name=(of.victims > 0).then_some("waited")>{waited}</td>
            <td>{of.ended}{of.forced_by.as_ref().map(|by| view! { <div class="quiet">{words::by(&visible(by))}</div> })}</td>
        </tr>
    }
}

/// What was wrong: a verdict, or the name of a finding.
pub(super) fn what(worst: Verdict, finding: Option<&str>) -> AnyView {
    match finding {
        Some(name) => view! { <span class="chip" data-verdict="slow">{name.to_owned()}</span> },
        None => view! { <Chip verdict=worst /> }.into_any(),
    }
}

/// How often something was there before, as text.
pub(super) fn times(number: usize) -> String {
    count(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(from_ms: i64, lasted_ms: i64, worst: Verdict) -> IncidentLine {
        IncidentLine {
            from_ms,
            to_ms: Some(from_ms + lasted_ms),
            lasted_ms,
            worst,
            finding: None,
            lock: "/a".to_owned(),
            others: 0,
            root: None,
            victims: 0,
            waiting_ms: 0,
            is_lower_bound: false,
            ended: "let go",
            forced_by: None,
            seen_before: 0,
            sentence: String::new(),
            url: "/incident?id=1".to_owned(),
        }
    }

    #[test]
    fn a_bar_is_where_its_incident_was_and_as_high_as_it_was_bad() {
        let rows =
            vec![line(0, 10, Verdict::Slow), line(500, 5_000, Verdict::Deadlocked), line(990, 0, Verdict::Stuck)];
        let of = IncidentsView { from_ms: 0, to_ms: 1_000, rows, ..IncidentsView::default() };
        let drawn: Vec<_> = bars(&of).into_iter().map(|bar| (bar.piece, bar.pieces, bar.height())).collect();
        assert_eq!(drawn, [(48, 48, 40), (95, 1, 28), (0, 1, 16)]);
    }
}
