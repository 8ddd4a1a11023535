//! Sections of pages that the server draws alone, as markup. The page's code has an element for each, of which it knows no
//! more than where it is: so it takes over what the server put inside as it is, and that costs it nothing. A script of the
//! document fills an element where it is empty, and fetches it anew.

use leptos::prelude::AnyView;
use leptos::tachys::html::InertElement;

use crate::erase::erase;
#[cfg(feature = "ssr")]
use crate::{cluster, lock_orders, over_time, session_timeout, time_to_lock};
use lockscope_view::LockQuery;

/// The element of a section; `inside`: what a document has of it at first.
fn section(open: &str, inside: &str, close: &str) -> AnyView {
    erase(InertElement::new([open, inside, close].concat()))
}

/// Which servers watch the same. On a page of the past it stays empty.
pub(crate) fn cluster_section() -> AnyView {
    section("<cluster-replicas>", "", "</cluster-replicas>")
}

/// In which order locks are taken.
pub(crate) fn lock_orders_section() -> AnyView {
    #[cfg(feature = "ssr")]
    let inside = lock_orders::initial();
    #[cfg(not(feature = "ssr"))]
    let inside = "";
    section("<lock-orders>", inside.as_ref(), "</lock-orders>")
}

/// A lock over time, and what happened there. It is in the document where its address chooses a range or a moment.
pub(crate) fn over_time_section(query: &LockQuery) -> AnyView {
    #[cfg(feature = "ssr")]
    let inside = over_time::initial(query);
    #[cfg(not(feature = "ssr"))]
    let (inside, _) = ("", query);
    section("<over-time id=\"over-time\" tabindex=\"-1\">", inside.as_ref(), "</over-time>")
}

/// Whether a session's time-out suits its client.
pub(crate) fn session_timeout_section() -> AnyView {
    #[cfg(feature = "ssr")]
    let inside = session_timeout::initial();
    #[cfg(not(feature = "ssr"))]
    let inside = "";
    section("<session-timeout>", inside.as_ref(), "</session-timeout>")
}

/// How long the waiters of a lock still have to wait. A document has what the model alone knows, so that nothing moves when
/// what was recorded is known as well.
pub(crate) fn time_to_lock_section() -> AnyView {
    #[cfg(feature = "ssr")]
    let inside = time_to_lock::initial();
    #[cfg(not(feature = "ssr"))]
    let inside = "";
    section("<time-to-lock>", inside.as_ref(), "</time-to-lock>")
}

/// What sections do in a browser.
#[cfg(feature = "ssr")]
pub(crate) fn scripts() -> String {
    let all = [
        over_time::script(),
        lock_orders::script(),
        time_to_lock::script(),
        session_timeout::script(),
        cluster::script(),
    ];
    all.concat()
}
