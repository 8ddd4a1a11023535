//! What is around every live page: the header, the link's line, help.

use crate::erase::{effect, view};
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::announce::Announcements;
use super::arrival::Arrivals;
use super::banner::{LinkBanner, as_of, current};
use super::density::DensitySwitch;
use super::header::{Header, Skip};
use super::help::{Help, HelpButton};
use super::pause::PauseButton;
use super::tag::PageEnsemble;
use super::zone::ZoneSwitch;
use crate::current_user::CurrentUser;
use crate::document_title::TitleSigns;
use crate::live::Live;
use crate::past;

#[component]
pub(crate) fn Chrome(
    /// Which entry of the navigation is the current one.
    here: &'static str,
    /// Its name in the tab's title; empty for the board.
    #[prop(into)]
    title: String,
    children: Children,
) -> AnyView {
    let live = Live::of_app();
    let is_live = Memo::new(move |_| current(live).is_live());
    let trust = move || if is_live.get() { "live" } else { "old" };
    let as_of = Signal::derive(move || as_of(live));
    let arrivals = Arrivals::of_app();
    effect(move || arrivals.arrive());
    // Of a page without code only what its own scripts do.
    let tools = if past::is_shown() {
        view! { <ZoneSwitch /> }
    } else {
        view! {
            {rewind(here)}
            <PauseButton />
            <HelpButton />
            <ZoneSwitch />
            <DensitySwitch />
        }
    };
    view! {
        <TitleSigns page=title />
        <Skip />
        <Header here=here visitor=CurrentUser::of_app() place=view! { <PageEnsemble as_of=as_of /> } tools=tools />
        <LinkBanner />
        <main class="main" id="main" tabindex="-1" data-trust=trust>
            {children()}
        </main>
        <Help />
        <Announcements />
    }
}

/// The way to the same page as it was a moment ago; only where the past is kept, on pages that can be shown of it.
fn rewind(here: &str) -> Option<AnyView> {
    let is_kept = CurrentUser::of_app().0.is_some_and(|person| person.keeps_history);
    if !is_kept || matches!(here, "" | "status") {
        return None;
    }
    let location = use_location();
    let href = move || {
        let search = location.search.get();
        let search = search.trim_start_matches('?');
        let sign = if search.is_empty() { "" } else { "&" };
        [&location.pathname.get(), "?", search, sign, "at=now"].concat()
    };
    Some(view! {
        <a class="tool" href=href rel="external" data-testid="rewind" title="Rewind: this page as it was" aria-label="Rewind: this page as it was">
            <span aria-hidden="true">"↶"</span>
            <span class="tool-word">"Rewind"</span>
        </a>
    })
}
