//! Where somebody stands when a page comes: on its heading after a link, and where they were after going back.

use std::cell::Cell;
use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::browser::{first, focus_in_place};

/// Pages whose place is remembered; the first in order of their addresses goes first.
const PLACES_MAX: usize = 32;

/// When it is looked again whether the heading has the focus, ms after a page came.
const AGAIN_MS: [u64; 3] = [150, 500, 1_500];

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) scroll_px: f64,
    /// The row that was chosen: its index and its key.
    pub(crate) chosen: Option<(u32, String)>,
}

#[derive(Debug, Default)]
struct Known {
    has_arrived: bool,
    places: BTreeMap<String, Place>,
}

thread_local! {
    /// The browser went back or forward, and no page took notice yet.
    static IS_RETURN: Cell<bool> = const { Cell::new(false) };
}

/// Listens for going back and forward as long as the document lives. Before the router does: it draws the page at once.
#[cfg(feature = "hydrate")]
pub(crate) fn listen() {
    window_event_listener(leptos::ev::popstate, |_| IS_RETURN.set(true));
}

/// What is known of arrivals; a context of the app.
#[derive(Clone, Copy)]
pub(crate) struct Arrivals(StoredValue<Known>);

impl Arrivals {
    pub(crate) fn new() -> Self {
        Self(StoredValue::new(Known::default()))
    }

    pub(crate) fn of_app() -> Self {
        use_context().unwrap_or_else(|| Self(StoredValue::new(Known::default())))
    }

    pub(crate) fn leave(self, address: String, place: Place) {
        // The app itself may be going.
        self.0.try_update_value(|known| {
            known.places.insert(address, place);
            while known.places.len() > PLACES_MAX {
                known.places.pop_first();
            }
        });
    }

    /// Where to stand on the page at an address: None unless somebody comes back to it. A page asks once.
    pub(crate) fn returned_to(self, address: &str) -> Option<Place> {
        IS_RETURN.get().then(|| self.0.try_with_value(|known| known.places.get(address).cloned()).flatten()).flatten()
    }

    /// A page came: the focus goes to its heading, but not when the document was opened with it.
    pub(super) fn arrive(self) {
        let is_first = self.0.try_update_value(|known| !std::mem::replace(&mut known.has_arrived, true)) != Some(false);
        if is_first {
            return;
        }
        // By then the page is drawn, and a page that is returned to has taken its place.
        request_animation_frame(move || {
            request_animation_frame(move || {
                IS_RETURN.set(false);
                focus_heading();
            });
        });
        // What is drawn first may give way to what was read, and its heading with it.
        for ms in AGAIN_MS {
            set_timeout(focus_heading, std::time::Duration::from_millis(ms));
        }
    }
}

/// Gives the focus to the page's heading, unless something on the page has it, or a dialog in front of it. It is announced
/// with the page's name.
pub(crate) fn focus_heading() {
    let is_taken = document()
        .active_element()
        .is_some_and(|active| active.closest("main, dialog, [popover]").ok().flatten().is_some());
    let Some(heading) = first::<web_sys::HtmlElement>("main h1").filter(|_| !is_taken) else { return };
    // An attribute of ours: it can't fail.
    let _ = heading.set_attribute("tabindex", "-1");
    focus_in_place(&heading);
}
