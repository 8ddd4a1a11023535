//! How some waits differ from the rest: a map of waits to choose from, and what those that are chosen have in common.

mod bars;
mod heat;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub use view::{ChosenWaits, DiffersAnswer, DiffersFigures, DiffersView, WaitsCell, WaitsRow};

use crate::erase::view;
use crate::exact::Exact;
use leptos::prelude::*;

use super::ServerPage;
use super::blame::{RangeWay, length};
use crate::format::visible;
use crate::parts::{filled, marked, numbers_way, stamp};

pub fn differs_page(plain: &ServerPage<'_>, of: &DiffersView) -> String {
    super::page(plain, "What differs", "waits", 0, || {
        let rest = match &of.found {
            DiffersAnswer::Off => view! { <p class="empty" data-testid="differs-off">{words::HISTORY_OFF}</p> },
            DiffersAnswer::Refused(why) => {
                view! { <p class="notice" role="alert" data-testid="differs-refused">{words::refused(why)}</p> }
            }
            DiffersAnswer::Found(figures) => found(of, figures),
        };
        view! {
            <h1 class="page-title">"What differs"</h1>
            {ranges(of)}
            {form(of)}
            {rest}
        }
    })
}

fn ranges(of: &DiffersView) -> AnyView {
    let way = |way: &RangeWay| {
        let current = way.is_chosen.then_some("true");
        view! { <a class="tool ot-way" href=way.url.clone() aria-current=current>{length(way.length)}</a> }
    };
    view! {
        <div class="ot-tools">
            <nav class="ot-ways" aria-label="Range" data-testid="differs-ranges">{of.ways.iter().map(way).collect_view()}</nav>
        </div>
    }
}

fn form(of: &DiffersView) -> AnyView {
    let ensembles = (!of.ensembles.is_empty()).then(|| {
        let names = of.ensembles.iter().map(|name| {
            let is_chosen = (of.ensemble == *name).then_some("selected");
            view! { <option value=Exact(name.clone()) selected=is_chosen>{visible(name)}</option> }
        });
        view! {
            <label class="field">
                <span class="field-name">"Ensemble"</span>
                <select class="select" name="ensemble">{names.collect_view()}</select>
            </label>
        }
    });
    let ends = [("from", of.range_ms.0), ("to", of.range_ms.1)]
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
            <label class="field">
                <span class="field-name">"Lock"</span>
                <input class="filter-input" type="text" name="path" value=filled(visible(&of.path)) placeholder="all" autocomplete="off" />
            </label>
            {ensembles}
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
    view! {
        <p class="waits-lead dims" data-testid="differs-lead">{words::selected(&figures.differs, &of.chosen)}{marked(words::SELECTED)}"."</p>
        {coverage}
        {heat::map(figures)}
        <nav class="audit-ways" aria-label="Ways on">
            {of.chosen.is_part.then(|| view! { <a class="tool" href=of.whole.clone()>"Select nothing"</a> })}
            <a class="tool" href=of.csv.clone() rel="external" download data-testid="differs-csv">"CSV"</a>
            <a class="tool" href=of.json.clone() rel="external" target="_blank" data-testid="differs-json">"JSON"</a>
            {numbers_way()}
        </nav>
        {sides}
    }
}

fn coverage(of: &DiffersView, figures: &DiffersFigures) -> AnyView {
    let (from_ms, to_ms) = of.range_ms;
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
