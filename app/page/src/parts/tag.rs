//! The name of an ensemble, in its colour. The only colour on the page that is no state: it must not be missed.

use leptos::prelude::*;

use crate::erase::{dynamic, erase, view};

use super::Piece::{Attribute, Text};
use super::{Markup, words};
use crate::format::{clock, visible};
use crate::live::Live;
use lockscope_view::{AsOf, EnsembleTag};

/// The badge; nothing where the only ensemble has no name.
#[component]
pub(crate) fn Tag(of: Option<EnsembleTag>) -> AnyView {
    erase(of.map(|tag| {
        view! {
            <span class="ens" data-color=tag.color.name() title=words::ensemble(&tag.name)>{visible(&tag.name)}</span>
        }
    }))
}

pub(crate) fn tag_markup(tag: &EnsembleTag) -> Markup {
    Markup::fill(
        r#"<span class="ens"{}{}>{}</span>"#,
        &[
            Attribute("data-color", Some(tag.color.name())),
            Attribute("title", Some(&words::ensemble(&tag.name))),
            Text(&visible(&tag.name)),
        ],
    )
}

/// The stripe above the page, its badge, and for paper the time.
#[component]
pub(super) fn PageEnsemble(#[prop(into)] as_of: Signal<Option<AsOf>>) -> AnyView {
    let live = Live::of_app();
    let tag = Memo::new(move |_| as_of.with(|as_of| as_of.as_ref().and_then(|as_of| as_of.ensemble.clone())));
    let color = move || tag.with(|tag| tag.as_ref().map(|tag| tag.color.name()));
    view! {
        <span class="ens-stripe" data-color=color aria-hidden="true"></span>
        {dynamic(move || view! { <Tag of=tag.get() /> })}
        <span class="print-head">{move || clock(live.now_ms())}</span>
    }
}
