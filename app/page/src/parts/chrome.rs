//! What is around every page: name, navigation, switches, the link's line, help.

use leptos::prelude::*;

use super::banner::{LinkBanner, as_of, current};
use super::help::{Help, HelpButton};
use super::pause::PauseButton;
use super::tag::of_page;
use super::theme::ThemeSwitch;
use crate::format::{middle, visible};
use crate::html::{Html, Living};
use crate::live::Live;
use crate::tab::TabSigns;
use crate::visitor::Visitor;
use lockscope_wire::SignedBy;

/// Name and sign; leads to the board.
const BRAND: &str = "<a class=\"brand\" href=\"/\"><svg viewBox=\"0 0 32 32\" width=\"20\" height=\"20\" aria-hidden=\"true\">\
    <path class=\"brand-shackle\" d=\"M10 15v-4a6 6 0 0 1 12 0v4\"/>\
    <path class=\"brand-body\" fill-rule=\"evenodd\" d=\"M9 14h14a4 4 0 0 1 4 4v6a4 4 0 0 1-4 4h-14a4 4 0 0 1-4-4v-6a4 4 0 0 1 \
    4-4zM16 17.8a3.2 3.2 0 1 0 0 6.4a3.2 3.2 0 1 0 0-6.4z\"/></svg>Lockscope</a>";

/// Opens the palette; without scripts it leads to the page that finds.
const FIND: &str = "<a class=\"tool find-open\" href=\"/find\" rel=\"external\" data-palette aria-keyshortcuts=\"Control+K Meta+K\">\
    <svg viewBox=\"0 0 16 16\" width=\"14\" height=\"14\" aria-hidden=\"true\"><path class=\"copy-sign\" d=\"M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9zM10.2 \
    10.2l3.3 3.3\"/></svg><span class=\"find-word\">Find</span> <kbd class=\"kbd needs-script\">Ctrl K</kbd></a>";

/// The same, for pages made of text.
#[cfg(feature = "ssr")]
pub(crate) fn find_link() -> Html {
    Html::trusted(FIND)
}

/// Name and sign, for pages made of text.
#[cfg(feature = "ssr")]
pub(crate) fn brand() -> Html {
    Html::trusted(BRAND)
}

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
) -> impl IntoView {
    let live = Live::of_app();
    let is_live = Memo::new(move |_| current(live).is_live());
    let trust = move || if is_live.get() { "live" } else { "old" };
    let place = Signal::derive(move || of_page(as_of(live).as_ref(), live.now_ms_untracked()));
    let visitor = Visitor::of_app();
    let (more, person) = (audit_link(&visitor).into_string(), visitor_line(&visitor).into_string());
    let mark = move |name: &'static str| (here == name).then_some("page");
    view! {
        <TabSigns page=title />
        <a class="skip" href="#main">"To the content"</a>
        <header class="top">
            <div class="brand-place" inner_html=BRAND></div>
            <Living class="top-place" html=place />
            <nav class="nav" aria-label="Pages">
                <a class="nav-link" href="/" aria-current=mark("board")>"Board"</a>
                <a class="nav-link" href="/waits" aria-current=mark("waits")>"Waits"</a>
                <a class="nav-link" href="/sessions" aria-current=mark("sessions")>"Sessions"</a>
                <a class="nav-link" href="/lab" rel="external">"Lab"</a>
                <a class="nav-link" href="/status" aria-current=mark("status")>"Status"</a>
                <div class="nav-more" inner_html=more></div>
            </nav>
            <div class="top-tools">
                <div class="brand-place" inner_html=FIND></div>
                <PauseButton />
                <HelpButton />
                <ThemeSwitch />
                <div class="visitor" inner_html=person></div>
            </div>
        </header>
        <LinkBanner />
        <main class="main" id="main" tabindex="-1" data-trust=trust>
            {children()}
        </main>
        <Help />
    }
}

/// The way to the record, for those who may read it.
pub(crate) fn audit_link(visitor: &Visitor) -> Html {
    if !visitor.0.as_ref().is_some_and(|person| person.may_audit) {
        return Html::default();
    }
    Html::of("a", &[("class", "nav-link"), ("href", "/audit"), ("rel", "external")], "Audit")
}

/// Who is signed in, and the way in or out.
pub(crate) fn visitor_line(visitor: &Visitor) -> Html {
    let Some(person) = &visitor.0 else { return Html::default() };
    if person.by == SignedBy::Nobody {
        let sign_in = Html::of("a", &[("class", "tool"), ("href", "/sign-in"), ("rel", "external")], "Sign in");
        return if person.can_sign_in { sign_in } else { Html::default() };
    }
    let title = format!("{}, {}", visible(&person.name), person.role);
    let name = Html::tag(
        "span",
        &[("class", "visitor-name"), ("title", &title), ("data-testid", "visitor")],
        Html::all(vec![
            Html::of("bdi", &[], &middle(&visible(&person.name), 20)),
            Html::of("span", &[("class", "quiet")], &format!(" {}", person.role)),
        ]),
    );
    // A proxy signs people out, not this page.
    if person.by == SignedBy::Proxy {
        return name;
    }
    let out = Html::of("button", &[("class", "tool"), ("type", "submit")], "Sign out");
    Html::all(vec![name, Html::tag("form", &[("method", "post"), ("action", "/sign-out")], out)])
}
