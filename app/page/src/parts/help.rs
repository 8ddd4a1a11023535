//! The keys, in a dialog.

use super::words;
use crate::erase::{effect, view};
use leptos::html::Dialog;
use leptos::prelude::*;

/// Whether the dialog is open; a context of every page.
#[derive(Clone, Copy)]
pub(crate) struct HelpOpen(pub(crate) RwSignal<bool>);

impl HelpOpen {
    pub(crate) fn of_app() -> Self {
        use_context().unwrap_or_else(|| Self(RwSignal::new(false)))
    }
}

#[component]
pub(super) fn HelpButton() -> AnyView {
    let HelpOpen(open) = HelpOpen::of_app();
    view! {
        <button class="tool needs-script" type="button" data-testid="help-open" aria-haspopup="dialog" on:click=move |_| open.set(true)>
            "Keys " <kbd class="kbd">"?"</kbd>
        </button>
    }
}

#[component]
pub(super) fn Help() -> AnyView {
    let HelpOpen(open) = HelpOpen::of_app();
    let dialog = NodeRef::<Dialog>::new();
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match (open.get(), dialog.open()) {
            // Fails only for a dialog that is open in another way, which this page never does.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    let rows = words::KEYS.map(|(key, text)| {
        view! {
            <div class="help-row">
                <dt><kbd class="kbd">{key}</kbd></dt>
                <dd>{text}</dd>
            </div>
        }
    });
    view! {
        <dialog class="help" data-testid="help" aria-labelledby="help-title" node_ref=dialog on:close=move |_| open.set(false)>
            <h2 class="help-title" id="help-title">"Keys"</h2>
            <dl class="help-list">{rows}</dl>
            <p class="quiet">
                "A filter finds text in path, recipe, verdict, holder and session id; "
                <code>"!text"</code> " leaves out. Rows keep their places while the pointer is on them or one is chosen."
            </p>
            <p><a href="/help" rel="external">"What the words on the page mean"</a></p>
            <form method="dialog">
                <button class="tool">"Close"</button>
            </form>
        </dialog>
    }
}
