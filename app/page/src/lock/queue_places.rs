//! Where the contenders of a queue stand, beside their rows: rows move, and what is written of places stands still.

use std::time::Duration;

use leptos::html::Div;
use leptos::prelude::*;

use super::queue::Slot;
use crate::erase::view;
use crate::live::Places;
use crate::parts::{Item, mark, rows_in_turn};

/// Which row of the whole table it is; the head is the first.
pub(super) fn row_index(slot: &Slot) -> String {
    (slot.at + 2).to_string()
}

/// Writes where rows stand for those who can't see it. All rows change with each hand-off, and none is seen to: so all are
/// written in one go and in a task of its own, after what is seen.
pub(super) fn tell_places(list: NodeRef<Div>, slots: Memo<Vec<Slot>>) {
    let is_due = StoredValue::new(false);
    let tell = move || {
        // By then the list may be gone.
        if is_due.try_update_value(|is_due| *is_due = false).is_none() {
            return;
        }
        let Some(lane) = list.get_untracked().and_then(|list| list.first_element_child()) else { return };
        let mut next = lane.first_element_child();
        slots.with_untracked(|slots| {
            for slot in slots {
                let Some(row) = next.take() else { return };
                next = row.next_element_sibling();
                // Rows that are not drawn yet tell again.
                if row.get_attribute("data-key").as_deref() == Some(slot.key()) {
                    put(&row, "aria-rowindex", &row_index(slot));
                    row.first_element_child().into_iter().for_each(|cell| put(&cell, "aria-label", &slot.place));
                }
            }
        });
    };
    Effect::new(move |_| {
        slots.track();
        if is_due.try_update_value(|is_due| !std::mem::replace(is_due, true)) == Some(true) {
            set_timeout(tell, Duration::ZERO);
        }
    });
}

fn put(element: &web_sys::Element, name: &str, value: &str) {
    if element.get_attribute(name).as_deref() != Some(value) {
        // Fails only for a name that is none.
        let _ = element.set_attribute(name, value);
    }
}

/// A place in the list, as it is written beside whoever stands there.
#[derive(Clone, Debug, PartialEq)]
struct Mark {
    at: u32,
    key: String,
    place: String,
    is_held: bool,
}

/// The places, in a column of their own that stands still while rows move up beneath it: a hand-off then changes no text
/// of those who stay. Who can't see it reads the cells of the rows.
pub(super) fn column(slots: Memo<Vec<Slot>>, places: Places) -> AnyView {
    let of = |slot: &Slot| Mark {
        at: slot.at,
        key: slot.at.to_string(),
        place: slot.place.clone(),
        is_held: slot.is_holder(),
    };
    let marks = Memo::new(move |_| slots.with(|slots| slots.iter().map(of).collect::<Vec<_>>()));
    let one = move |item: Item<Mark>| {
        view! {
            <span
                data-held=item.text(|at| mark(at.is_held).map(str::to_owned))
                prop:style=item.text(move |mark| places.style(mark.at.into()))
            >
                {item.text(|mark| Some(mark.place.clone()))}
            </span>
        }
    };
    view! { <div class="queue-places" aria-hidden="true">{rows_in_turn(marks, |mark| &mark.key, |_| &(), move |item, _| one(item))}</div> }
}
