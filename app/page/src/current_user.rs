//! Who looks at the page; the same on the server and in the browser.

use leptos::prelude::*;
use leptos::server::SharedValue;

use super::initial_view::{pack, unpack};
use super::past;
use lockscope_view::Person;

/// Who looks, as far as the server said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CurrentUser(pub(crate) Option<Person>);

impl CurrentUser {
    /// From the request on the server, from the document in the browser.
    pub(crate) fn meet() -> Self {
        let mut seen = None;
        let packed = SharedValue::new_str(|| {
            seen = use_context::<Person>();
            // Nothing is ordered from a page of the past, whoever looks.
            if let Some(person) = seen.as_mut().filter(|_| past::is_shown()) {
                person.may_release = false;
            }
            seen.as_ref().and_then(pack).unwrap_or_default()
        });
        Self(seen.or_else(|| unpack(&packed.into_inner())))
    }

    pub(crate) fn of_app() -> Self {
        use_context().unwrap_or_default()
    }

    pub(crate) fn may_release(&self) -> bool {
        self.0.as_ref().is_some_and(|person| person.may_release)
    }
}
