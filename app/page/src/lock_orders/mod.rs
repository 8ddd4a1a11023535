//! In which order locks are taken: a section of the page of waits that the server draws alone, as markup. The page's code
//! has an empty element for it, which a script of the document fills in (`script`) and fetches anew each minute.

#[cfg(feature = "ssr")]
mod script;
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
pub(crate) use script::script;
#[cfg(feature = "ssr")]
pub use section::lock_orders_markup;

/// The element: markup, of which the page knows no more than where it is.
pub(crate) fn lock_orders() -> AnyView {
    #[cfg(feature = "ssr")]
    let markup = ["<lock-orders>", &section::initial(), "</lock-orders>"].concat();
    #[cfg(not(feature = "ssr"))]
    let markup = "<lock-orders></lock-orders>";
    erase(InertElement::new(markup))
}
