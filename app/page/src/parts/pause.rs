//! The switch that holds updates back.

use crate::erase::view;
use leptos::prelude::*;

use super::words;
use crate::live::Live;

#[component]
pub(super) fn PauseButton() -> AnyView {
    let live = Live::of_app();
    let pressed = move || if live.is_paused() { "true" } else { "false" };
    let word = move || words::pause(live.is_paused());
    view! {
        <button class="tool needs-script" type="button" data-testid="pause" aria-pressed=pressed on:click=move |_| live.toggle_pause()>
            {word} " " <kbd class="kbd">"p"</kbd>
        </button>
    }
}
