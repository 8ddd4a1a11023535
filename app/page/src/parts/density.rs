//! How close rows stand: comfortable, or compact with the sentence on hover. Remembered in the browser.

use leptos::prelude::*;

use crate::browser::store;
use crate::erase::view;

const KEY: &str = "lockscope.density";

fn is_compact() -> bool {
    document().document_element().and_then(|root| root.get_attribute("data-density")).as_deref() == Some("compact")
}

/// Switches between the two. Browser only.
pub(crate) fn toggle_density() {
    let Some(root) = document().document_element() else { return };
    let compact = !is_compact();
    // Neither of these can fail.
    let _ = if compact { root.set_attribute("data-density", "compact") } else { root.remove_attribute("data-density") };
    store(KEY, compact.then_some("compact"));
    // Lists measure their rows when the window changes.
    if let Ok(event) = web_sys::Event::new("resize") {
        let _ = window().dispatch_event(&event);
    }
}

#[component]
pub(super) fn DensitySwitch() -> AnyView {
    view! {
        <button class="tool needs-script" type="button" data-testid="density" aria-label="Rows: comfortable or compact" title="Rows: comfortable or compact (d)" on:click=move |_| toggle_density()>
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <path class="theme-ring" d="M2 4h12M2 8h12M2 12h12" />
            </svg>
        </button>
    }
}
