//! The header of every page: name, navigation, tools, and who looks.

use crate::erase::{dynamic, view};
use leptos::prelude::*;

use super::brand::{Brand, FindLink};
use super::current_user::current_user_line;
use super::theme::ThemeSwitch;
use crate::current_user::CurrentUser;
use crate::live::Live;

#[component]
pub(crate) fn Header<P: IntoView + 'static, T: IntoView + 'static>(
    /// Which entry of the navigation is the current one.
    here: &'static str,
    visitor: CurrentUser,
    /// Whose locks the page shows.
    place: P,
    /// Switches that need the page's code. They come first: the others keep their places where these are not.
    tools: T,
    /// Whether the page has a script that switches the theme.
    #[prop(default = true)]
    has_theme: bool,
) -> AnyView {
    let live = Live::of_app();
    let has_left = move || live.sign_in_ended_ms().is_some();
    let mark = move |name: &'static str| (here == name).then_some("page");
    let may_audit = visitor.0.as_ref().is_some_and(|person| person.may_audit);
    let audit = move || {
        ((may_audit && !has_left()) || here == "audit").then(|| {
            view! { <a class="nav-link" href="/audit" rel="external" aria-current=mark("audit")>"Audit"</a> }
        })
    };
    let has_fleet = visitor.0.as_ref().is_some_and(|person| person.has_fleet);
    let fleet = (has_fleet || here == "fleet").then(|| {
        view! { <a class="nav-link" href="/fleet" rel="external" aria-current=mark("fleet")>"Fleet"</a> }
    });
    let who = move || current_user_line(&visitor, has_left());
    view! {
        <header class="top">
            <Brand />
            <div class="top-place">{place}</div>
            <nav class="nav" aria-label="Pages">
                <a class="nav-link" href="/" aria-current=mark("board")>"Board"</a>
                {fleet}
                <a class="nav-link" href="/waits" aria-current=mark("waits")>"Waits"</a>
                <a class="nav-link" href="/sessions" aria-current=mark("sessions")>"Sessions"</a>
                <a class="nav-link" href="/events" rel="external" aria-current=mark("events")>"Events"</a>
                <a class="nav-link" href="/alerts" rel="external" aria-current=mark("alerts")>"Alerts"</a>
                <a class="nav-link" href="/lab" rel="external" aria-current=mark("lab")>"Lab"</a>
                <a class="nav-link" href="/status" aria-current=mark("status")>"Status"</a>
                {dynamic(audit)}
            </nav>
            <div class="top-tools">
                {tools}
                <FindLink />
                {has_theme.then(|| view! { <ThemeSwitch /> })}
                <div class="visitor">{dynamic(who)}</div>
            </div>
        </header>
    }
}

/// Leads past the header, for the keyboard.
#[component]
pub(crate) fn Skip() -> AnyView {
    view! { <a class="skip" href="#main">"Skip to content"</a> }
}
