//! Many ensembles: a tile each, the worst first, with filters by label, verdict and name. Drawn by the server alone; it
//! changes when it is loaded again.

#[cfg(test)]
mod tests;
mod tile;
mod words;

use crate::erase::view;
use leptos::prelude::*;

use super::ServerPage;
use crate::format::count;
use crate::parts::{Chip, hidden_fields, stamp, text_field, tool_link};
use lockscope_view::{Fleet, FleetQuery, Verdict};

#[derive(Clone, Debug, Default)]
pub struct FleetView {
    pub query: FleetQuery,
    pub fleet: Fleet,
    pub now_ms: i64,
}

pub fn fleet_page(plain: &ServerPage<'_>, of: &FleetView) -> String {
    super::page(plain, "Fleet", "fleet", of.now_ms, || {
        let tiles = of.fleet.ensembles.iter().map(|tile| tile::tile(of, tile)).collect_view();
        let list = if of.fleet.ensembles.is_empty() {
            view! { <p class="empty" data-testid="fleet-empty">{words::no_tile(of.fleet.all)}</p> }
        } else {
            view! { <ul class="fleet-tiles" data-testid="fleet-tiles">{tiles}</ul> }
        };
        view! {
            <h1 class="page-title">"Fleet"</h1>
            <p class="quiet audit-lead" data-testid="fleet-lead">{words::lead(&of.fleet)} " " {words::AS_OF} " " {stamp(of.now_ms)} "."</p>
            {search()}
            {filters(of)}
            {verdicts(of)}
            {labels(of)}
            {list}
            {pages(of)}
        }
    })
}

/// Locks of all ensembles, by the page that finds everything.
fn search() -> AnyView {
    view! {
        <form class="filters find-form" method="get" action="/find" role="search" aria-label=words::SEARCH>
            <label class="field">
                <span class="field-name">{words::LOCK}</span>
                <input class="filter-input" type="text" name="q" autocomplete="off" placeholder=words::LOCK_EXAMPLE />
            </label>
            <button class="tool" type="submit">{words::SEARCH}</button>
        </form>
    }
}

fn filters(of: &FleetView) -> AnyView {
    let mut kept = vec![("label".to_owned(), labels_text(&of.query)), ("verdict".to_owned(), verdict_text(&of.query))];
    kept.retain(|(_, value)| !value.is_empty());
    view! {
        <form class="filters audit-filter" method="get" action="/fleet" role="search" aria-label=words::FILTER>
            {text_field("q", words::NAME, &of.query.q, None)}
            {hidden_fields(&kept)}
            <button class="tool" type="submit">{words::FILTER}</button>
            {of.is_filtered().then(|| view! { <a class="tool" href="/fleet" data-testid="fleet-all">{words::ALL}</a> })}
        </form>
    }
}

/// Which verdicts are the worst of some ensemble, as links.
fn verdicts(of: &FleetView) -> AnyView {
    let mut verdicts = of.fleet.verdicts.clone();
    if let Some(chosen) = of.query.verdict.filter(|chosen| verdicts.iter().all(|(verdict, _)| verdict != chosen)) {
        verdicts.push((chosen, 0));
    }
    let link = |(verdict, number): (Verdict, u32)| {
        let is_chosen = of.query.verdict == Some(verdict);
        let href =
            FleetView::address(&FleetQuery { verdict: (!is_chosen).then_some(verdict), offset: 0, ..of.query.clone() });
        view! {
            <li>
                <a class="fleet-way" href=href aria-current=is_chosen.then_some("true")>
                    <Chip verdict=verdict /> {count(number)}
                </a>
            </li>
        }
    };
    let links = verdicts.into_iter().map(link).collect_view();
    view! { <ul class="fleet-ways" data-testid="fleet-verdicts" aria-label=words::BY_VERDICT>{links}</ul> }
}

fn labels(of: &FleetView) -> Option<AnyView> {
    let link = |label: &lockscope_view::LabelCount| {
        let pair = (label.key.clone(), label.value.clone());
        let is_chosen = of.query.labels.contains(&pair);
        view! {
            <li>
                <a class="fleet-way" href=of.toggled(&pair) aria-current=is_chosen.then_some("true")>
                    <span class="fleet-label">{words::label(&pair.0, &pair.1)}</span> {count(label.ensembles)}
                </a>
            </li>
        }
    };
    let links = of.fleet.labels.iter().map(link).collect_view();
    let more = (of.fleet.labels_left_out > 0)
        .then(|| view! { <li class="quiet">{words::more_labels(of.fleet.labels_left_out)}</li> });
    (!of.fleet.labels.is_empty()).then(|| {
        view! { <ul class="fleet-ways" data-testid="fleet-labels" aria-label=words::BY_LABEL>{links}{more}</ul> }
    })
}

fn pages(of: &FleetView) -> Option<AnyView> {
    let Fleet { total, offset, ensembles, .. } = &of.fleet;
    let shown = u32::try_from(ensembles.len()).unwrap_or(u32::MAX);
    let limit = of.query.limit.max(1);
    let at = |offset: u32| FleetView::address(&FleetQuery { offset, ..of.query.clone() });
    let before = (*offset > 0).then(|| at(offset.saturating_sub(limit)));
    let after = (offset.saturating_add(shown) < *total).then(|| at(offset.saturating_add(limit)));
    (before.is_some() || after.is_some()).then(|| {
        view! {
            <nav class="audit-ways" aria-label=words::PAGES>
                {tool_link(&before.unwrap_or_default(), words::BEFORE)}
                <span class="quiet" data-testid="fleet-range">{words::range(*offset, shown, *total)}</span>
                {tool_link(&after.unwrap_or_default(), words::AFTER)}
            </nav>
        }
    })
}

fn labels_text(query: &FleetQuery) -> String {
    let pairs: Vec<String> = query.labels.iter().map(|(key, value)| format!("{key}:{value}")).collect();
    pairs.join(",")
}

fn verdict_text(query: &FleetQuery) -> String {
    query.verdict.map(|verdict| verdict.name().to_owned()).unwrap_or_default()
}

impl FleetView {
    fn is_filtered(&self) -> bool {
        !(self.query.q.is_empty() && self.query.labels.is_empty() && self.query.verdict.is_none())
    }

    fn address(query: &FleetQuery) -> String {
        let offset = if query.offset > 0 { query.offset.to_string() } else { String::new() };
        let pairs = [
            ("q", query.q.clone()),
            ("label", labels_text(query)),
            ("verdict", verdict_text(query)),
            ("offset", offset),
        ];
        let mut text = form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(pairs.into_iter().filter(|(_, value)| !value.is_empty()));
        let text = text.finish();
        if text.is_empty() { "/fleet".to_owned() } else { format!("/fleet?{text}") }
    }

    /// The same page with a label more, or less where it was chosen.
    fn toggled(&self, pair: &(String, String)) -> String {
        let mut labels = self.query.labels.clone();
        let before = labels.len();
        labels.retain(|label| label != pair);
        if labels.len() == before {
            labels.push(pair.clone());
        }
        Self::address(&FleetQuery { labels, offset: 0, ..self.query.clone() })
    }
}
