//! A page of the past: the same page, drawn by the server over the model as it was, with a band in place of the link's
//! line. It has none of the page's code: nothing moves in it, and nothing can be ordered from it.

#[cfg(feature = "ssr")]
mod band;
#[cfg(feature = "ssr")]
mod words;

#[cfg(feature = "ssr")]
pub(crate) use band::{SCRIPT, band, no_moment};

/// Whether the past is shown. Never in the browser, which takes over nothing of it.
pub(crate) fn is_shown() -> bool {
    mark().is_some()
}

/// What a page of the past says where a live one has the state of its link; None on a live page.
pub(crate) fn mark() -> Option<&'static str> {
    #[cfg(feature = "ssr")]
    let mark = leptos::prelude::use_context::<crate::ports::PastView>().map(|_| words::AS_IT_WAS);
    #[cfg(not(feature = "ssr"))]
    let mark = None;
    mark
}
