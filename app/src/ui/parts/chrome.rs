//! What is around every page: name, navigation, switches, the link's line, help.

use leptos::prelude::*;

use super::banner::{LinkBanner, as_of, current};
use super::help::{Help, HelpButton};
use super::pause::PauseButton;
use super::tag::of_page;
use super::theme::ThemeSwitch;
use crate::ui::html::Living;
use crate::ui::live::Live;

/// The frame of a page.
#[component]
pub(crate) fn Chrome(
    /// Which entry of the navigation is the current one.
    here: &'static str,
    /// The page.
    children: Children,
) -> impl IntoView {
    let live = Live::of_app();
    let is_live = Memo::new(move |_| current(live).is_live());
    let trust = move || if is_live.get() { "live" } else { "old" };
    let place = Signal::derive(move || of_page(as_of(live).as_ref()));
    let mark = move |name: &'static str| (here == name).then_some("page");
    view! {
        <a class="skip" href="#main">"To the content"</a>
        <header class="top">
            <a class="brand" href="/">
                <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
                    <path class="brand-shackle" d="M10 15v-4a6 6 0 0 1 12 0v4" />
                    <path class="brand-body" fill-rule="evenodd" d="M9 14h14a4 4 0 0 1 4 4v6a4 4 0 0 1-4 4h-14a4 4 0 0 1-4-4v-6a4 4 0 0 1 4-4zM16 17.8a3.2 3.2 0 1 0 0 6.4a3.2 3.2 0 1 0 0-6.4z" />
                </svg>
                "Lockscope"
            </a>
            <Living class="top-place" html=place />
            <nav class="nav" aria-label="Pages">
                <a class="nav-link" href="/" aria-current=mark("board")>"Board"</a>
                <a class="nav-link" href="/waits" aria-current=mark("waits")>"Waits"</a>
                <a class="nav-link" href="/sessions" aria-current=mark("sessions")>"Sessions"</a>
                <a class="nav-link" href="/status" aria-current=mark("status")>"Status"</a>
            </nav>
            <div class="top-tools">
                <PauseButton />
                <HelpButton />
                <ThemeSwitch />
            </div>
        </header>
        <LinkBanner />
        <main class="main" id="main" tabindex="-1" data-trust=trust>
            {children()}
        </main>
        <Help />
    }
}
