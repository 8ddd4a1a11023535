//! How long the waiters of a lock still have to wait: a section of the lock's page that the server draws alone, as markup.
//! The page's code has an empty element for it, which a script of the document fills in (`script`) and fetches anew every
//! ten seconds: such times change with the clock, and live rows do not. A document has what the model alone knows inside,
//! so that nothing moves when what was recorded is known as well.

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
pub use section::{TimeToLockMarkup, time_to_lock_first, time_to_lock_markup};

/// Every ten seconds.
#[cfg(feature = "ssr")]
pub(crate) fn script() -> String {
    crate::parts::fetched_script("time-to-lock /lock/time-to-lock ensemble|path|at 1e4 0 1 1", words::NOT_FETCHED)
}

/// The element: markup, of which the page knows no more than where it is. What the server put inside stays as it is.
pub(crate) fn time_to_lock() -> AnyView {
    #[cfg(feature = "ssr")]
    let markup = {
        let inside = leptos::prelude::use_context().map_or_else(String::new, |TimeToLockMarkup(markup)| markup);
        format!("<time-to-lock>{inside}</time-to-lock>")
    };
    #[cfg(not(feature = "ssr"))]
    let markup = "<time-to-lock></time-to-lock>";
    erase(InertElement::new(markup))
}
