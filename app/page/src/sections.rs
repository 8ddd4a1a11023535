//! Sections of pages that the server draws alone, as markup. The page's code has an element for each, of which it knows no
//! more than where it is: so it takes over what the server put inside as it is, and that costs it nothing. A script of the
//! document fills an element where it is empty, and fetches it anew.

use leptos::prelude::AnyView;
use leptos::tachys::html::InertElement;

use crate::erase::erase;
#[cfg(feature = "ssr")]
use crate::{cluster, lock_orders, over_time, session_timeout, time_to_lock};
use lockscope_view::LockQuery;

#[derive(Clone, Copy)]
pub(crate) enum ServerSection<'a> {
    /// Which servers watch the same. On a page of the past it stays empty.
    Cluster,
    /// In which order locks are taken.
    LockOrders,
    /// A lock over time. It is in the document where its address chooses a range or a moment.
    OverTime(#[cfg_attr(not(feature = "ssr"), expect(dead_code, reason = "only the server draws it"))] &'a LockQuery),
    /// Whether a session's time-out suits its client.
    SessionTimeout,
    /// How long the waiters of a lock still have to wait. A document has what the model alone knows, so that nothing moves
    /// when what was recorded is known as well.
    TimeToLock,
}

impl ServerSection<'_> {
    pub(crate) fn element(self) -> AnyView {
        let (open, close) = match self {
            Self::Cluster => ("<cluster-replicas>", "</cluster-replicas>"),
            Self::LockOrders => ("<lock-orders>", "</lock-orders>"),
            Self::OverTime(_) => ("<over-time id=\"over-time\" tabindex=\"-1\">", "</over-time>"),
            Self::SessionTimeout => ("<session-timeout>", "</session-timeout>"),
            Self::TimeToLock => ("<time-to-lock>", "</time-to-lock>"),
        };
        erase(InertElement::new([open, &self.initial(), close].concat()))
    }

    /// What a document has of it at first.
    #[cfg(feature = "ssr")]
    fn initial(self) -> String {
        match self {
            Self::Cluster => String::new(),
            Self::LockOrders => lock_orders::initial(),
            Self::OverTime(query) => over_time::initial(query),
            Self::SessionTimeout => session_timeout::initial(),
            Self::TimeToLock => time_to_lock::initial(),
        }
    }

    #[cfg(not(feature = "ssr"))]
    fn initial(self) -> String {
        String::new()
    }
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
