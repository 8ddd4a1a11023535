//! A run that moves: drawn from the live socket in the place of what the server rendered. Browser only.

use leptos::mount::mount_to;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlElement};

use super::{LabSight, run_view, words};
use crate::erase::{dynamic, effect, view};
use crate::live::{Connection, Live};
use crate::split::{SplitLoaderError, wasm_split};
use lockscope_view::LabQuery;

/// Draws the run of this document for as long as the document is there. A chunk of its own.
#[wasm_split(lab, wasm_split_path = leptos::wasm_split, fallible)]
pub(crate) fn draw_live() -> Result<(), SplitLoaderError> {
    let Some(place) = document().get_element_by_id("lab-live").and_then(|place| place.dyn_into::<HtmlElement>().ok())
    else {
        return Ok(());
    };
    let run = place.get_attribute("data-run").unwrap_or_default();
    let sight =
        LabSight { may_run: place.has_attribute("data-may-run"), has_many: place.has_attribute("data-has-many") };
    let rendered = place.first_element_child();
    mount_to(place.clone(), move || view! { <LiveRun run=run sight=sight place=place rendered=rendered /> }).forget();
    Ok(())
}

#[component]
fn LiveRun(
    run: String,
    sight: LabSight,
    place: HtmlElement,
    /// What the server rendered: shown until the run arrives.
    rendered: Option<Element>,
) -> AnyView {
    let live = Live::new();
    provide_context(live);
    live.open(LabQuery { run }, None);
    live.start();
    let is_there = Memo::new(move |_| live.lab(|_| ()).is_some());
    let (place, rendered) = (StoredValue::new_local(place), StoredValue::new_local(rendered));
    effect(move || {
        if is_there.get() {
            rendered.update_value(|rendered| {
                if let Some(rendered) = rendered.take() {
                    rendered.remove();
                }
            });
            // For those who wait until the page moves. Setting an attribute of ours cannot fail.
            place.with_value(|place| drop(place.set_attribute("data-live", "true")));
        }
    });
    effect(move || {
        let told = match live.connection() {
            Connection::Lost => words::LOST,
            Connection::SignedOut => words::SIGNED_OUT,
            Connection::Opening | Connection::Open | Connection::Back { .. } => "",
        };
        if let Some(line) =
            document().get_element_by_id("lab-lost").filter(|line| line.text_content().as_deref() != Some(told))
        {
            line.set_text_content(Some(told));
        }
        place.with_value(|place| drop(place.set_attribute("data-link", if told.is_empty() { "live" } else { "lost" })));
    });
    dynamic(move || {
        live.lab(|run| match run {
            Some(run) => run_view(run, sight),
            None => view! { <p class="lab-lead" data-testid="lab-gone">{words::GONE}</p> },
        })
    })
}
