//! How some waits differ from the rest: a map of waits to choose from, and what those that are chosen have in common.

mod bars;
mod heat;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub use view::{ChosenWaits, DiffersFigures, DiffersView, WaitsCell, WaitsRow};

use crate::erase::view;
use leptos::prelude::*;

use super::ServerPage;
use super::waits::found_or_why;
use crate::parts::{marked, stamp};

pub fn differs_page(plain: &ServerPage<'_>, of: &DiffersView) -> String {
    super::page(plain, "What differs", "waits", 0, || {
        view! {
            <h1 class="page-title">"What differs"</h1>
            {of.filter.ranges("differs-ranges")}
            {form(of)}
            {found_or_why("differs", &of.found, |figures| found(of, figures))}
        }
    })
}

fn form(of: &DiffersView) -> AnyView {
    let ends = [("from", of.filter.range_ms.0), ("to", of.filter.range_ms.1)]
        .map(|(name, at_ms)| view! { <input type="hidden" name=name value=at_ms.to_string() /> });
    let ChosenWaits { joined_ms, min_wait_ms, max_wait_ms, is_part } = of.chosen;
    let number = |name: &'static str, label: &'static str, value: Option<i64>| {
        let value = value.filter(|_| is_part).map(|value| value.to_string());
        view! {
            <label class="field">
                <span class="field-name">{label}</span>
                <input class="filter-input" type="number" min="0" name=name value=value autocomplete="off" />
            </label>
        }
    };
    view! {
        <form class="filters audit-filter" method="get" action="/differs" role="search" data-testid="differs-form">
            {of.filter.fields()}
            {ends.into_iter().collect_view()}
            {number("sel_from", "Joined from, ms since 1970", Some(joined_ms.0))}
            {number("sel_to", "before", Some(joined_ms.1))}
            {number("min_wait_ms", "Waited at least, ms", Some(min_wait_ms))}
            {number("max_wait_ms", "less than, ms", max_wait_ms)}
            <button class="tool" type="submit">"Select"</button>
        </form>
    }
}

fn found(of: &DiffersView, figures: &DiffersFigures) -> AnyView {
    let coverage = coverage(of, figures);
    if figures.differs.selected + figures.differs.others == 0 {
        return view! {
            <p class="empty" data-testid="differs-none">{words::nobody(figures.differs.coverage.part)}</p>
            {coverage}
        };
    }
    let sides = match (figures.differs.selected, figures.differs.others) {
        (0, _) => view! { <p class="empty" data-testid="differs-nothing">{words::NONE_SELECTED}</p> },
        (_, 0) => view! { <p class="empty" data-testid="differs-all">{words::ALL_SELECTED}</p> },
        _ => bars::dimensions(&figures.differs),
    };
    let whole = of.chosen.is_part.then(|| view! { <a class="tool" href=of.whole.clone()>"Select nothing"</a> });
    view! {
        <p class="waits-lead dims" data-testid="differs-lead">{words::selected(&figures.differs, &of.chosen)}{marked(words::SELECTED)}"."</p>
        {coverage}
        {heat::map(figures)}
        {of.filter.ways_on(whole, "differs-csv", "differs-json")}
        {sides}
    }
}

fn coverage(of: &DiffersView, figures: &DiffersFigures) -> AnyView {
    let (from_ms, to_ms) = of.filter.range_ms;
    let sampled = (figures.differs.is_sampled == Some(true)).then(|| view! { <li>{words::SAMPLED}</li> });
    let without = words::without_wait(figures.differs.without_wait).map(|text| view! { <li>{text}</li> });
    let later = figures.differs.left_before_ms.map(|at_ms| {
        view! { <li>"There was no time to look for those that left after "{stamp(at_ms)}"."</li> }
    });
    let is_more = sampled.is_some() || without.is_some() || later.is_some();
    let list = is_more.then(|| {
        view! { <ul class="bullets quiet" data-testid="differs-missing">{sampled}{without}{later}</ul> }
    });
    view! {
        <p class="quiet audit-lead" data-testid="differs-range">
            {stamp(from_ms)}" to "{stamp(to_ms)}". "{words::coverage(figures.differs.coverage.part)}
        </p>
        {list}
    }
}
