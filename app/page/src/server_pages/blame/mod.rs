//! Who made others wait: what the waits of a range are charged to, as a table, with what its numbers mean.

mod table;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub use view::{BlameFigures, BlameLinks, BlameView};

use crate::erase::{erase, view};
use leptos::prelude::*;
use lockscope_view::past::{Missing, Unanswered};

use super::ServerPage;
use super::waits::found_or_why;
use crate::over_time::more_gaps;
use crate::parts::{Section, hidden_fields, option, select_field, shortened, stamp};
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
        view! {
            <h1 class="page-title">"Who made others wait"</h1>
            {then}
            {of.filter.ranges("blame-ranges")}
            {form(of)}
            {found_or_why("blame", &of.found, |figures| found(of, figures))}
        }
    })
}

fn form(of: &BlameView) -> AnyView {
    let offered = of.offered.iter().map(|by| option(by.name(), words::by(*by).to_owned(), of.by == *by));
    view! {
        <form class="filters audit-filter" method="get" action="/blame" role="search">
            {select_field("by", "Charged to", offered.collect_view())}
            {of.filter.fields()}
            {hidden_fields(&of.hidden)}
            <button class="tool" type="submit">"Show"</button>
        </form>
    }
}

fn found(of: &BlameView, figures: &BlameFigures) -> AnyView {
    let coverage = coverage(of, figures);
    if figures.blame.waits_ms == 0 && figures.blame.rows.is_empty() {
        let (from_ms, to_ms) = of.filter.range_ms;
        let is_known = known(figures, to_ms - from_ms) > 0.0;
        return view! {
            <p class="empty" data-testid="blame-none">{words::nobody(is_known)}</p>
            {coverage}
        };
    }
    let differs = view! { <a class="tool" href=of.differs.clone() data-testid="differs-link">"What differs"</a> };
    view! {
        {lead(of, figures)}
        {coverage}
        {table(of, figures)}
        {left_out(of, figures)}
        {of.filter.ways_on(Some(differs), "blame-csv", "blame-json")}
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
            view! { {before}{shortened(&row.key, NAME_CHARS)}{after} }
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
    let (from_ms, to_ms) = of.filter.range_ms;
    let gap = |gap: &Missing| {
        view! { <li>{stamp(gap.from_ms)}{words::gap(gap.to_ms - gap.from_ms, &gap.why)}</li> }
    };
    let newest = figures.missing.iter().rev().take(GAPS_LISTED_MAX).map(gap).collect_view();
    let more = figures.missing.len().saturating_sub(GAPS_LISTED_MAX);
    let more = (more > 0).then(|| view! { <li>{more_gaps(more)}</li> });
    let gaps = (!figures.missing.is_empty()).then(|| {
        view! {
            <ul class="ot-gaps bullets quiet" data-testid="blame-gaps" aria-label="Not recorded">
                {newest}
                {more}
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
