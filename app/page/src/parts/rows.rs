//! Rows that are known by a key.

use std::marker::PhantomData;

use leptos::prelude::*;

use super::part::part_of;
use super::shown::{Show, Shown};
use crate::erase::{dynamic, erase};

/// Draws each item. What stays keeps its element, and with it focus and selection, wherever it moves; it is drawn anew
/// only when it changed.
pub(crate) fn rows<T: Clone + PartialEq + Send + Sync + 'static>(
    // What is drawn, in its order.
    items: Memo<Vec<T>>,
    // What distinguishes an item.
    key: fn(&T) -> &str,
    // How one is drawn.
    row: impl Fn(T) -> AnyView + Copy + Send + Sync + 'static,
) -> AnyView {
    rows_in_parts(items, key, move |item| item.whole(move |item| row(item.clone())))
}

/// Draws each item once; what changes in it are texts and parts of it. For rows of which a little changes all the time.
pub(crate) fn rows_in_parts<T: Clone + PartialEq + Send + Sync + 'static>(
    items: Memo<Vec<T>>,
    key: fn(&T) -> &str,
    row: impl Fn(Item<T>) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    rows_in_two(items, key, |_| &(), move |item, _| row(item))
}

/// The same of items that have a part which seldom changes. While it is the same, whatever reads that part is not even
/// looked at.
pub(crate) fn rows_in_two<T, S>(
    items: Memo<Vec<T>>,
    key: fn(&T) -> &str,
    // The part.
    still: fn(&T) -> &S,
    row: impl Fn(Item<T>, Item<S>) -> AnyView + Send + Sync + 'static,
) -> AnyView
where
    T: Clone + PartialEq + Send + Sync + 'static,
    S: Clone + PartialEq + Send + Sync + 'static,
{
    let read: Read = Box::new(move |take| {
        items.with(|items| items.iter().for_each(|item| take(key(item), [item, still(item)])));
    });
    erased(read, Callback::new(move |[item, still]: [RwSignal<Shown>; 2]| row(Item::of(item), Item::of(still))))
}

/// Whoever takes an item's key, the item and its part that seldom changes.
type Take<'a> = &'a mut dyn FnMut(&str, [&dyn Show; 2]);

type Read = Box<dyn Fn(Take<'_>) + Send + Sync>;

/// A row that is drawn: its item, and its part that seldom changes. They are set where they differ: a memo that looks
/// whether it changed would make all that depends on it look as well, of each row for each change of one.
struct Row {
    key: String,
    shown: [ArcRwSignal<Shown>; 2],
}

impl Row {
    fn new(key: &str, items: [&dyn Show; 2]) -> Self {
        Self { key: key.to_owned(), shown: items.map(|item| ArcRwSignal::new(item.shown())) }
    }

    fn take(&self, items: [&dyn Show; 2]) {
        for (shown, item) in self.shown.iter().zip(items) {
            if !shown.with_untracked(|shown| item.is(shown)) {
                shown.set(item.shown());
            }
        }
    }
}

/// The rows that are drawn next: those of before take their items.
fn taken(before: &mut Vec<Row>, read: &Read) -> Vec<Row> {
    let mut next = Vec::with_capacity(before.len());
    read(&mut |key, items| {
        let row = match before.iter().position(|row| row.key == key) {
            Some(at) => {
                let row = before.remove(at);
                row.take(items);
                row
            }
            None => Row::new(key, items),
        };
        next.push(row);
    });
    next
}

/// Compiled once for all kinds of rows.
fn erased(read: Read, row: Callback<[RwSignal<Shown>; 2], AnyView>) -> AnyView {
    let rows = StoredValue::new(Vec::<Row>::new());
    // What is gone is drawn as it was until its row is taken away.
    let keys = Memo::new(move |_| {
        let mut before = rows.try_update_value(std::mem::take).unwrap_or_default();
        let next = taken(&mut before, &read);
        let keys: Vec<String> = next.iter().map(|row| row.key.clone()).collect();
        rows.set_value(next);
        keys
    });
    let child = move |key: String| {
        let find = |rows: &Vec<Row>| rows.iter().find(|row| row.key == key).map(|row| row.shown.clone());
        rows.with_value(find).map(|shown| row.run(shown.map(RwSignal::from)))
    };
    let each = move || {
        keep_focus();
        keys.get()
    };
    erase(leptos::prelude::view! { <For each=each key=String::clone children=child /> })
}

/// An item of a list, as it is now.
pub(crate) struct Item<T> {
    shown: RwSignal<Shown>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Item<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Item<T> {}

impl<T> Item<T> {
    fn of(shown: RwSignal<Shown>) -> Self {
        Self { shown, of: PhantomData }
    }
}

impl<T: PartialEq + Send + Sync + 'static> Item<T> {
    /// What of it never changes.
    pub(crate) fn fixed<R: Default>(self, of: impl FnOnce(&T) -> R) -> R {
        self.shown.with_untracked(|shown| shown.get().map(of)).unwrap_or_default()
    }

    /// A text of it: what an element says, or an attribute that is left out for None.
    pub(crate) fn text(self, of: impl Fn(&T) -> Option<String> + Send + Sync + 'static) -> Signal<Option<String>> {
        Signal::derive(move || self.shown.with(|shown| shown.get().and_then(&of)))
    }

    /// A part of it, drawn anew only when that part changed.
    pub(crate) fn part<P: PartialEq + Send + Sync + 'static>(
        self,
        of: impl Fn(&T) -> P + Send + Sync + 'static,
        draw: impl Fn(&P) -> AnyView + Send + 'static,
    ) -> AnyView {
        part_of(move || self.shown.with(|shown| shown.get().map(&of)), draw)
    }

    /// All of it, drawn anew whenever anything of it changed.
    fn whole(self, draw: impl Fn(&T) -> AnyView + Send + 'static) -> AnyView {
        dynamic(move || self.shown.with(|shown| shown.get().map(&draw)))
    }
}

/// Gives the focus back to what has it now, if it loses it meanwhile: Leptos takes some rows out of the document and
/// puts them in again when several new ones come before them (`tachys::view::keyed`), and an element that is taken out
/// loses the focus.
fn keep_focus() {
    #[cfg(feature = "hydrate")]
    if let Some(focused) = focused() {
        leptos::task::spawn_local(async move {
            if focused.is_connected() && self::focused().is_none() {
                let options = web_sys::FocusOptions::new();
                options.set_prevent_scroll(true);
                // Only an element that was never in a document can't be given the focus.
                let _ = focused.focus_with_options(&options);
            }
        });
    }
}

/// The element that has the focus; None for the document itself.
#[cfg(feature = "hydrate")]
fn focused() -> Option<web_sys::HtmlElement> {
    use wasm_bindgen::JsCast as _;
    let element = document().active_element()?;
    if element.tag_name() == "BODY" { None } else { element.dyn_into().ok() }
}
