//! Rows that are known by a key.

use std::marker::PhantomData;

use leptos::prelude::*;

use super::part::part_of;
use super::shown::Shown;
use crate::erase::erase;

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
    rows_in_parts(items, key, move |item| item.part(T::clone, move |item| row(item.clone())))
}

/// Draws each item once; what changes in it are texts and parts of it. For rows of which a little changes all the time.
pub(crate) fn rows_in_parts<T: Clone + PartialEq + Send + Sync + 'static>(
    items: Memo<Vec<T>>,
    key: fn(&T) -> &str,
    row: impl Fn(Item<T>) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let keys = move || items.with(|items| items.iter().map(|item| key(item).to_owned()).collect());
    let find =
        move |name: String| items.with(|items| items.iter().find(|item| key(item) == name).cloned().map(Shown::new));
    erased(Box::new(keys), Callback::new(find), Callback::new(move |shown| row(Item { shown, of: PhantomData })))
}

/// Compiled once for all kinds of rows.
fn erased(
    keys: Box<dyn Fn() -> Vec<String> + Send + Sync>,
    find: Callback<String, Option<Shown>>,
    row: Callback<Memo<Option<Shown>>, AnyView>,
) -> AnyView {
    let keys = Memo::new(move |_| keys());
    // What is gone is drawn as it was until its row is taken away.
    let child = move |key: String| {
        row.run(Memo::new(move |last: Option<&Option<Shown>>| {
            find.run(key.clone()).or_else(|| last.cloned().flatten())
        }))
    };
    let each = move || {
        keep_focus();
        keys.get()
    };
    erase(leptos::prelude::view! { <For each=each key=String::clone children=child /> })
}

/// An item of a list, as it is now.
pub(crate) struct Item<T> {
    shown: Memo<Option<Shown>>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Item<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Item<T> {}

impl<T: PartialEq + Send + Sync + 'static> Item<T> {
    /// What of it never changes.
    pub(crate) fn fixed<R: Default>(self, of: impl FnOnce(&T) -> R) -> R {
        self.shown.with_untracked(|shown| shown.as_ref().and_then(Shown::get).map(of)).unwrap_or_default()
    }

    /// A text of it: what an element says, or an attribute that is left out for None.
    pub(crate) fn text(self, of: impl Fn(&T) -> Option<String> + Send + Sync + 'static) -> Signal<Option<String>> {
        Signal::derive(move || self.shown.with(|shown| shown.as_ref().and_then(Shown::get).and_then(&of)))
    }

    /// A part of it as an item of its own: whatever reads that is not run again when something else of this one changed.
    pub(crate) fn narrowed<P: PartialEq + Send + Sync + 'static>(
        self,
        of: impl Fn(&T) -> P + Send + Sync + 'static,
    ) -> Item<P> {
        let of = move |shown: &Shown| shown.get().map(|item| Shown::new(of(item)));
        Item { shown: narrowed(self.shown, Box::new(of)), of: PhantomData }
    }

    /// A part of it, drawn anew only when that part changed.
    pub(crate) fn part<P: PartialEq + Send + Sync + 'static>(
        self,
        of: impl Fn(&T) -> P + Send + Sync + 'static,
        draw: impl Fn(&P) -> AnyView + Send + 'static,
    ) -> AnyView {
        part_of(move || self.shown.with(|shown| shown.as_ref().and_then(Shown::get).map(&of)), draw)
    }
}

/// What is taken of an item.
type Narrow = Box<dyn Fn(&Shown) -> Option<Shown> + Send + Sync>;

/// Compiled once for all kinds of items.
fn narrowed(shown: Memo<Option<Shown>>, of: Narrow) -> Memo<Option<Shown>> {
    Memo::new(move |_| shown.with(|shown| shown.as_ref().and_then(&of)))
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
