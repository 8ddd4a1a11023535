//! What is around every live page: the header, the link's line, help.

use crate::erase::view;
use leptos::prelude::*;

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

/// The frame of a page.
#[component]
pub(crate) fn Chrome(
    /// Which entry of the navigation is the current one.
    here: &'static str,
    /// Its name in the tab's title; empty for the board.
    #[prop(into)]
    title: String,
    /// The page.
    children: Children,
) -> AnyView {
    let live = Live::of_app();
    let is_live = Memo::new(move |_| current(live).is_live());
    let trust = move || if is_live.get() { "live" } else { "old" };
    let as_of = Signal::derive(move || as_of(live));
    let arrivals = Arrivals::of_app();
    Effect::new(move |_| arrivals.arrive());
    let tools = view! {
        <PauseButton />
        <HelpButton />
        <ZoneSwitch />
        <DensitySwitch />
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
