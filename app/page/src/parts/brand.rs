//! Name and sign, and the way to what finds.

use crate::erase::view;
use leptos::prelude::*;

/// Name and sign; leads to the board.
#[component]
pub(super) fn Brand() -> AnyView {
    view! {
        <a class="brand" href="/">
            <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
                <path class="brand-shackle" d="M10 15v-4a6 6 0 0 1 12 0v4"></path>
                <path
                    class="brand-body"
                    fill-rule="evenodd"
                    d="M9 14h14a4 4 0 0 1 4 4v6a4 4 0 0 1-4 4h-14a4 4 0 0 1-4-4v-6a4 4 0 0 1 4-4zM16 17.8a3.2 3.2 0 1 0 0 6.4a3.2 3.2 0 1 0 0-6.4z"
                ></path>
            </svg>
            <span class="brand-word">"Lockscope"</span>
        </a>
    }
}

/// Opens the palette; without scripts it leads to the page that finds.
#[component]
pub(super) fn FindLink() -> AnyView {
    view! {
        <a class="tool find-open" href="/find" rel="external" data-palette="" aria-keyshortcuts="Control+K Meta+K">
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <path class="copy-sign" d="M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9zM10.2 10.2l3.3 3.3"></path>
            </svg>
            <span class="find-word">"Find"</span>
            " "
            <kbd class="kbd needs-script">"Ctrl K"</kbd>
        </a>
    }
}
