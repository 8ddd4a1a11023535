//! Words that explain themselves: a link to the built-in help, and where there is code, the same in place. The page's
//! one listener for clicks finds them by `data-explain`.

use leptos::prelude::*;

use super::erase::{erase, view};
use super::parts::Chip;
use lockscope_view::Verdict;
use lockscope_view::guide::anchor;

/// A word with its explanation; `of` is its anchor on the page `/help`.
pub(crate) fn explained(of: String, word: AnyView) -> AnyView {
    let href = format!("/help#{of}");
    view! { <a class="explain" href=href rel="external" data-explain=of>{word}</a> }
}

/// A word that is explained as a term, by the term's name in its anchor.
pub(crate) fn explained_term(term: &str, word: &'static str) -> AnyView {
    explained(format!("term-{term}"), erase(word))
}

pub(crate) fn explained_verdict(verdict: Verdict) -> AnyView {
    explained(anchor("verdict", verdict.name()), view! { <Chip verdict=verdict /> })
}

#[cfg(feature = "hydrate")]
pub(crate) use in_place::listen;

#[cfg(feature = "hydrate")]
mod in_place {
    use std::cell::Cell;

    use js_sys::{Function, Reflect};
    use leptos::html::Div;
    use leptos::mount::mount_to_body;
    use leptos::prelude::*;
    use lockscope_view::guide::Explanation;
    use wasm_bindgen::{JsCast as _, JsValue};
    use wasm_bindgen_futures::spawn_local;
    use web_sys::{Element, HtmlElement};

    use crate::browser::closest;
    use crate::compact;
    use crate::erase::{dynamic, view};
    use crate::split::{SplitLoaderError, wasm_split};

    /// As wide as the style sheet makes it, px.
    const WIDTH_PX: f64 = 384.0;
    const MARGIN_PX: f64 = 12.0;

    thread_local! {
        /// The box of this document, once it was wanted.
        static BOX: Cell<Option<Explain>> = const { Cell::new(None) };
    }

    #[derive(Clone, Copy)]
    struct Explain {
        node: NodeRef<Div>,
        shown: RwSignal<Option<(String, Explanation)>>,
    }

    /// Listens as long as the page lives.
    pub(crate) fn listen() {
        window_event_listener(leptos::ev::click, |event| {
            let is_plain = !event.ctrl_key() && !event.meta_key() && !event.shift_key();
            let Some(word) = closest(event.target(), "[data-explain]").filter(|_| is_plain) else { return };
            let Some(of) = word.get_attribute("data-explain") else { return };
            event.prevent_default();
            // A lock's row is a link as well.
            event.stop_propagation();
            spawn_local(async move {
                if explain(&word, &of).await.is_none() {
                    // What can't be explained here can be read there.
                    let _ = window().location().set_href(&format!("/help#{of}"));
                }
            });
        });
    }

    /// None where there is no answer, or no code that shows it.
    async fn explain(word: &Element, of: &str) -> Option<()> {
        let found = compact::get::<Explanation>(&format!("/help/explain?of={of}")).await.ok()?;
        show(word, of.to_owned(), found).await.ok()
    }

    #[wasm_split(dialogs, wasm_split_path = leptos::wasm_split, fallible)]
    fn show(word: &Element, of: String, found: Explanation) -> Result<(), SplitLoaderError> {
        if BOX.get().is_none() {
            mount_to_body(|| {
                let explain = Explain { node: NodeRef::new(), shown: RwSignal::new(None) };
                BOX.set(Some(explain));
                view! { <ExplainBox explain=explain /> }
            });
        }
        let Some(explain) = BOX.get() else { return Ok(()) };
        explain.shown.set(Some((of, found)));
        let place = word.get_bounding_client_rect();
        let within = word.closest("dialog").ok().flatten();
        request_animation_frame(move || {
            let Some(node) = explain.node.get_untracked() else { return };
            let node: HtmlElement = node.unchecked_into();
            // What is outside of an open dialog can't be reached.
            let around = within.clone().or_else(|| document().body().map(Into::into));
            // An element of ours goes anywhere.
            let _ = around.map(|around| around.append_child(&node));
            // A browser without popovers has the link.
            let _ = call(&node, "showPopover");
            let screen = |size: Result<JsValue, JsValue>| size.ok().and_then(|px| px.as_f64()).unwrap_or(800.0);
            let (wide, high) = (screen(window().inner_width()), screen(window().inner_height()));
            let left = place.left().min(wide - WIDTH_PX.min(wide - 2.0 * MARGIN_PX) - MARGIN_PX).max(MARGIN_PX);
            let height = node.get_bounding_client_rect().height();
            let below = place.bottom() + 6.0;
            let top = if below + height > high { (place.top() - height - 6.0).max(MARGIN_PX) } else { below };
            let style = web_sys::HtmlElement::style(&node);
            // Properties of ours.
            let _ = (
                style.set_property("left", &format!("{}px", left as i64)),
                style.set_property("top", &format!("{}px", top as i64)),
            );
            let _ = node.focus();
        });
        Ok(())
    }

    fn call(node: &HtmlElement, name: &str) -> Result<JsValue, JsValue> {
        Reflect::get(node, &name.into())?.dyn_into::<Function>()?.call0(node)
    }

    #[component]
    fn ExplainBox(explain: Explain) -> AnyView {
        let content = move || {
            explain.shown.get().map(|(of, found)| {
                let steps = found.steps.into_iter().map(|step| view! { <li>{step}</li> }).collect_view();
                let cause =
                    (!found.cause.is_empty()).then(|| view! { <p><strong>"Usual cause: "</strong>{found.cause}</p> });
                view! {
                    <h2 class="explain-title">{found.title}" "<span class="quiet">{found.kind}</span></h2>
                    <p>{found.says}</p>
                    {cause}
                    <ol class="guide-steps">{steps}</ol>
                    <p><a href=format!("/help#{of}") rel="external">"More in the help"</a></p>
                }
            })
        };
        view! {
            <div class="explain-box" popover="auto" role="dialog" aria-label="Explanation" tabindex="-1" data-testid="explanation" node_ref=explain.node>
                {dynamic(content)}
            </div>
        }
    }
}
