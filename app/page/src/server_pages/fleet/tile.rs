//! One ensemble's tile.

use crate::erase::view;
use leptos::prelude::*;

use super::{FleetView, words};
use crate::format::visible;
use crate::parts::{Chip, Tag, stamp};
use lockscope_view::{EnsembleTag, FleetTile};

pub(super) fn tile(of: &FleetView, tile: &FleetTile) -> AnyView {
    let name = visible(&tile.name);
    let shown = match tile.color {
        Some(color) => view! { <Tag of=Some(EnsembleTag { name: tile.name.clone(), color }) /> },
        None => view! { <span>{name.clone()}</span> },
    };
    let ensemble: String = form_urlencoded::byte_serialize(tile.name.as_bytes()).collect();
    let href = format!("/?ensemble={ensemble}");
    let worst = match tile.worst {
        Some(worst) => view! { <Chip verdict=worst /> },
        None => view! { <span class="quiet">{words::no_verdict(tile)}</span> },
    };
    // The worst one has its own mark above.
    let others = tile.verdicts.iter().filter(|(verdict, _)| Some(*verdict) > Some(lockscope_view::Verdict::Unknown));
    let others: Vec<String> = others.map(|(verdict, count)| words::locks_that_are(*verdict, *count)).collect();
    let others = (!others.is_empty()).then(|| view! { <p class="fleet-bad">{others.join(", ")}</p> });
    let link = (!tile.is_live).then(|| {
        view! {
            <p class="fleet-link">
                {words::link(tile.link)} " " {stamp(tile.since_ms)}
                {(!tile.why.is_empty()).then(|| view! { <span class="quiet">": " {visible(&tile.why)}</span> })}
            </p>
        }
    });
    let oldest = tile.oldest_wait_at_ms.map(|at_ms| words::oldest(of.now_ms.saturating_sub(at_ms)));
    let label = |(key, value): (&String, &String)| {
        let pair = (key.clone(), value.clone());
        view! { <li><a class="fleet-label" href=of.toggled(&pair)>{words::label(key, value)}</a></li> }
    };
    let labels = tile.labels.iter().map(label).collect_view();
    let labels = (!tile.labels.is_empty()).then(|| view! { <ul class="fleet-labels">{labels}</ul> });
    view! {
        <li class="fleet-tile" data-verdict=tile.worst.map(lockscope_view::Verdict::name) data-live=(!tile.is_live).then_some("no") data-name=name.clone()>
            <div class="fleet-head"><h2 class="fleet-name"><a href=href>{shown}</a></h2>{worst}</div>
            <p class="fleet-counts">{words::counts(tile)}{oldest}</p>
            {others}
            {link}
            {labels}
        </li>
    }
}
