//! Which servers watch the same: a section of the status page that the server draws alone, as markup. The page's code has an
//! empty element for it, which a script of the document fills in (`script`) and fetches anew every five seconds.

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
pub use section::cluster_markup;

/// Every five seconds. On a page of the past it stays empty.
#[cfg(feature = "ssr")]
pub(crate) fn script() -> String {
    crate::parts::fetched_script(
        "cluster-replicas /status/cluster (?!) 5e3 /[?&]at=/.test(location.search) 1 t.firstElementChild",
        words::NOT_FETCHED,
    )
}

/// The element: markup, of which the page knows no more than where it is.
pub(crate) fn cluster() -> AnyView {
    erase(InertElement::new("<cluster-replicas></cluster-replicas>"))
}
