//! The header of every page: name, navigation, tools, and who looks.

use crate::erase::view;
use leptos::prelude::*;

use super::brand::{Brand, FindLink};
use super::current_user::CurrentUserLine;
use crate::current_user::CurrentUser;

/// What the page is, in one line.
#[component]
pub(crate) fn Header<P: IntoView + 'static, T: IntoView + 'static>(
    /// Which entry of the navigation is the current one.
    here: &'static str,
    /// Who looks.
    visitor: CurrentUser,
    /// Whose locks the page shows.
    place: P,
    /// Switches that need the page's code.
    tools: T,
) -> AnyView {
    let mark = move |name: &'static str| (here == name).then_some("page");
    let may_audit = visitor.0.as_ref().is_some_and(|person| person.may_audit);
    let audit = (may_audit || here == "audit").then(|| {
        view! { <a class="nav-link" href="/audit" rel="external" aria-current=mark("audit")>"Audit"</a> }
    });
    view! {
        <header class="top">
            <Brand />
            <div class="top-place">{place}</div>
            <nav class="nav" aria-label="Pages">
                <a class="nav-link" href="/" aria-current=mark("board")>"Board"</a>
                <a class="nav-link" href="/waits" aria-current=mark("waits")>"Waits"</a>
                <a class="nav-link" href="/sessions" aria-current=mark("sessions")>"Sessions"</a>
                <a class="nav-link" href="/lab" rel="external" aria-current=mark("lab")>"Lab"</a>
                <a class="nav-link" href="/status" aria-current=mark("status")>"Status"</a>
                {audit}
            </nav>
            <div class="top-tools">
                <FindLink />
                {tools}
                <div class="visitor"><CurrentUserLine visitor=visitor /></div>
            </div>
        </header>
    }
}

/// Leads past the header, for the keyboard.
#[component]
pub(crate) fn Skip() -> AnyView {
    view! { <a class="skip" href="#main">"To the content"</a> }
}
