//! Whether a session's time-out suits its client: a section of the session's page that the server draws alone, as markup.
//! The page's code has an empty element for it, which the document fills, and a script of it fetches anew (`script`).

#[cfg(feature = "ssr")]
mod section;
#[cfg(all(test, feature = "ssr"))]
mod tests;
#[cfg(feature = "ssr")]
mod words;

use leptos::prelude::AnyView;
use leptos::tachys::html::InertElement;

use crate::erase::erase;

#[cfg(feature = "ssr")]
pub use section::{SessionTimeoutMarkup, session_timeout_markup};

/// Every half a minute, and where the document had none, as on a way from another page.
#[cfg(feature = "ssr")]
pub(crate) fn script() -> String {
    crate::parts::fetched_script(
        "session-timeout /session/timeout ensemble|id|at 3e4 0 !t.firstElementChild 1",
        words::NOT_FETCHED,
    )
}

/// The element: markup, of which the page knows no more than where it is. What the server put inside stays as it is.
pub(crate) fn session_timeout() -> AnyView {
    #[cfg(feature = "ssr")]
    let markup = {
        let inside = leptos::prelude::use_context().map_or_else(String::new, |SessionTimeoutMarkup(markup)| markup);
        format!("<session-timeout>{inside}</session-timeout>")
    };
    #[cfg(not(feature = "ssr"))]
    let markup = "<session-timeout></session-timeout>";
    erase(InertElement::new(markup))
}
