//! A lock over time, and what happened there: a section of the lock's page that the server draws alone, as markup with a
//! picture. The page's code has an empty element for it; a script of the document fills it in (`script`), fetches it
//! anew, and zooms. Where the address of a page chooses a range or a moment, the section is in the document.

#[cfg(feature = "ssr")]
mod choice;
#[cfg(feature = "ssr")]
mod picture;
#[cfg(feature = "ssr")]
mod script;
#[cfg(feature = "ssr")]
mod section;
#[cfg(feature = "ssr")]
mod tables;
#[cfg(all(test, feature = "ssr"))]
mod tests;
#[cfg(feature = "ssr")]
mod view;
#[cfg(feature = "ssr")]
mod words;

use leptos::prelude::AnyView;
use leptos::tachys::html::InertElement;

use crate::erase::erase;
use lockscope_view::LockQuery;

#[cfg(feature = "ssr")]
pub use choice::{Choice, Former, Length, Range, WrongChoice};
#[cfg(feature = "ssr")]
pub(crate) use script::script;
#[cfg(feature = "ssr")]
pub use section::{OverTimeMarkup, over_time_markup};
#[cfg(feature = "ssr")]
pub use view::{
    BARS_MAX, Bar, CLIENTS_MAX, ClientShare, FACTS_LISTED_MAX, HOLDS_LISTED_MAX, Missing, OverTime, OverTimeView,
    PieceShares, Strip, What,
};
#[cfg(feature = "ssr")]
pub(crate) use words::{length, more_gaps};

#[cfg(feature = "ssr")]
const PIECES_MAX: i64 = 240;

#[cfg(feature = "ssr")]
pub fn piece_ms(range_ms: i64) -> i64 {
    crate::charts::over_time::grain_ms(range_ms, PIECES_MAX)
}

/// The element: markup, of which the page knows no more than where it is. So it takes over what the server put inside as
/// it is, and costs it nothing.
pub(crate) fn over_time(query: &LockQuery) -> AnyView {
    #[cfg(feature = "ssr")]
    let markup = ["<over-time id=\"over-time\" tabindex=\"-1\">", &section::initial(query), "</over-time>"].concat();
    #[cfg(not(feature = "ssr"))]
    let (markup, _) = ("<over-time id=\"over-time\" tabindex=\"-1\"></over-time>", query);
    erase(InertElement::new(markup))
}
