//! The name of an ensemble, in its colour. The only colour on the page that is no state: it must not be missed.

use crate::format::clock;
use crate::html::Html;
use lockscope_wire::{AsOf, EnsembleTag};

/// The badge; nothing where the only ensemble has no name.
pub(crate) fn tag(tag: Option<&EnsembleTag>) -> Html {
    let Some(tag) = tag else { return Html::default() };
    let title = format!("Ensemble {}", tag.name);
    Html::of("span", &[("class", "ens"), ("data-color", tag.color.name()), ("title", &title)], &tag.name)
}

/// The stripe above the page, its badge, and for paper the time.
pub(super) fn of_page(as_of: Option<&AsOf>, now_ms: i64) -> Html {
    let known = as_of.and_then(|as_of| as_of.ensemble.as_ref());
    let color = known.map_or("", |tag| tag.color.name());
    let time = Html::of("span", &[("class", "print-head"), ("data-clock", "true")], &clock(now_ms));
    Html::all(vec![Html::of("span", &[("class", "ens-stripe"), ("data-color", color), ("aria-hidden", "true")], ""), tag(known), time])
}
