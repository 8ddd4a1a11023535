//! Who made others wait: what the waits of a range are charged to, as a table, with what its numbers mean.

mod table;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub(super) use words::length;

pub use view::{BlameFigures, BlameLinks, BlameView, Blamed, RangeWay};

use crate::erase::{erase, view};
use crate::exact::Exact;
use leptos::prelude::*;
use lockscope_view::past::{Missing, Unanswered};

use super::ServerPage;
use crate::format::{middle, visible};
use crate::parts::{Section, filled, numbers_way, stamp};
use table::table;

/// Longest text in a cell; the whole is in its title.
const NAME_CHARS: usize = 48;
/// Gaps in words; of more, the newest.
const GAPS_LISTED_MAX: usize = 5;

pub fn blame_page(plain: &ServerPage<'_>, of: &BlameView) -> String {
    super::page(plain, "Who made others wait", "waits", 0, || {
        let then = of.at_ms.map(|at_ms| {
            view! { <p class="quiet" data-testid="blame-at">{words::AS_OF}<strong>{stamp(at_ms)}</strong></p> }
        });
        let rest = match &of.found {
            Blamed::Off => view! { <p class="empty" data-testid="blame-off">{words::HISTORY_OFF}</p> },
            Blamed::Refused(why) => {
                view! { <p class="notice" role="alert" data-testid="blame-refused">{words::refused(why)}</p> }
            }
            Blamed::Found(figures) => found(of, figures),
        };
        view! {
            <h1 class="page-title">"Who made others wait"</h1>
            {then}
            {ranges(of)}
            {form(of)}
            {rest}
        }
    })
}

fn ranges(of: &BlameView) -> AnyView {
    let way = |way: &RangeWay| {
        let current = way.is_chosen.then_some("true");
        view! { <a class="tool ot-way" href=way.url.clone() aria-current=current>{words::length(way.length)}</a> }
    };
    view! {
        <div class="ot-tools">
            <nav class="ot-ways" aria-label="Range" data-testid="blame-ranges">{of.ways.iter().map(way).collect_view()}</nav>
        </div>
    }
}

fn form(of: &BlameView) -> AnyView {
    let option = |value: String, text: String, is_chosen: bool| {
        view! { <option value=Exact(value) selected=is_chosen.then_some("selected")>{text}</option> }
    };
    let offered = of.offered.iter().map(|by| option(by.name().to_owned(), words::by(*by).to_owned(), of.by == *by));
    let ensembles = (!of.ensembles.is_empty()).then(|| {
        let names = of.ensembles.iter().map(|name| option(name.clone(), visible(name), of.ensemble == *name));
        view! {
            <label class="field">
                <span class="field-name">"Ensemble"</span>
                <select class="select" name="ensemble">{names.collect_view()}</select>
            </label>
        }
    });
    let hidden = of
        .hidden
        .iter()
        .map(|(name, value)| view! { <input type="hidden" name=name.clone() value=Exact(value.clone()) /> });
    view! {
        <form class="filters audit-filter" method="get" action="/blame" role="search">
            <label class="field">
                <span class="field-name">"Charged to"</span>
                <select class="select" name="by">{offered.collect_view()}</select>
            </label>
            <label class="field">
                <span class="field-name">"Lock"</span>
                <input class="filter-input" type="text" name="path" value=filled(visible(&of.path)) placeholder="all" autocomplete="off" />
            </label>
            {ensembles}
            {hidden.collect_view()}
            <button class="tool" type="submit">"Show"</button>
        </form>
    }
}

fn found(of: &BlameView, figures: &BlameFigures) -> AnyView {
    let coverage = coverage(of, figures);
    if figures.blame.waits_ms == 0 && figures.blame.rows.is_empty() {
        let (from_ms, to_ms) = of.range_ms;
        let is_known = known(figures, to_ms - from_ms) > 0.0;
        return view! {
            <p class="empty" data-testid="blame-none">{words::nobody(is_known)}</p>
            {coverage}
        };
    }
    view! {
        {lead(of, figures)}
        {coverage}
        {table(of, figures)}
        {left_out(of, figures)}
        <nav class="audit-ways" aria-label="Ways on">
            <a class="tool" href=of.differs.clone() data-testid="differs-link">"What differs"</a>
            <a class="tool" href=of.csv.clone() rel="external" download data-testid="blame-csv">"CSV"</a>
            <a class="tool" href=of.json.clone() rel="external" target="_blank" data-testid="blame-json">"JSON"</a>
            {numbers_way()}
        </nav>
        {meanings(figures)}
    }
}

/// Who made others wait most.
fn lead(of: &BlameView, figures: &BlameFigures) -> AnyView {
    let first = figures.blame.rows.first().filter(|row| figures.charged(row) > 0);
    let inner = match first {
        None => erase(words::nobody_charged(figures)),
        Some(row) => {
            let (before, after) = words::most(of.by, figures.charged(row), row.share, figures);
            let whole = visible(&row.key);
            view! { {before}<bdi title=whole.clone()>{middle(&whole, NAME_CHARS)}</bdi>{after} }
        }
    };
    view! { <p class="waits-lead dims" data-testid="blame-lead">{inner}</p> }
}

/// How much of a range is known, from 0 to 1.
fn known(figures: &BlameFigures, length_ms: i64) -> f64 {
    let missing_ms: i64 = figures.missing.iter().map(|gap| gap.to_ms - gap.from_ms).sum();
    1.0 - (missing_ms as f64 / length_ms.max(1) as f64).clamp(0.0, 1.0)
}

fn coverage(of: &BlameView, figures: &BlameFigures) -> AnyView {
    let (from_ms, to_ms) = of.range_ms;
    let gap = |gap: &Missing| {
        view! { <li>{stamp(gap.from_ms)}{words::gap(gap.to_ms - gap.from_ms, &gap.why)}</li> }
    };
    let newest = figures.missing.iter().rev().take(GAPS_LISTED_MAX).map(gap).collect_view();
    let more = words::more_gaps(figures.missing.len().saturating_sub(GAPS_LISTED_MAX));
    let gaps = (!figures.missing.is_empty()).then(|| {
        view! {
            <ul class="ot-gaps bullets quiet" data-testid="blame-gaps" aria-label="Not recorded">
                {newest}
                {more.map(|text| view! { <li>{text}</li> })}
            </ul>
        }
    });
    let unanswered = Unanswered::list(&figures.blame.unanswered);
    let unanswered = (!unanswered.is_empty()).then(|| {
        view! { <p class="notice" role="status" data-testid="blame-unanswered">{words::not_included(&unanswered)}</p> }
    });
    view! {
        {unanswered}
        <p class="quiet audit-lead" data-testid="blame-range">
            {stamp(from_ms)}" to "{stamp(to_ms)}". "{words::coverage(known(figures, to_ms - from_ms))}
        </p>
        {gaps}
    }
}

fn left_out(of: &BlameView, figures: &BlameFigures) -> Option<AnyView> {
    let left_out = figures.blame.total.saturating_sub(figures.blame.rows.len());
    (left_out > 0).then(|| {
        view! { <p class="quiet audit-lead" data-testid="blame-more">{words::left_out(left_out)}" "<a href=of.all.clone()>"Show more"</a></p> }
    })
}

fn meanings(figures: &BlameFigures) -> AnyView {
    let one = |(term, text): (&'static str, String)| view! { <dt>{term}</dt><dd>{text}</dd> };
    let all = words::meanings(figures).into_iter().map(one).collect_view();
    view! {
        <Section id="meanings" title="What the numbers are">
            <dl class="pairs blame-meanings">{all}</dl>
        </Section>
    }
}
