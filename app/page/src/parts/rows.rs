//! Rows that are known by a key.

use std::marker::PhantomData;

use leptos::prelude::*;

use super::ordered::{Draw, Ordered};
use super::part::part_of;
use super::shown::{Show, Shown};
use crate::erase::{dynamic, erase};
use crate::exact::Exact;

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
    erased(read(items, key, |_| &()), Gone::IsTakenAway, move |[item, _]| row(Item::of(item)))
}

/// Rows of which one goes and another comes all the time: who comes takes the row of who goes, unless somebody has hold of
/// that. So nothing of a row may be fixed, it carries its key as `data-key`, and it keeps nothing that is not of its item.
/// Items have a part which seldom changes: while it is the same, whatever reads that part is not even looked at.
pub(crate) fn rows_in_turn<T, S>(
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
    erased(read(items, key, still), Gone::GivesItsRow, move |[item, still]| row(Item::of(item), Item::of(still)))
}

fn read<T, S>(items: Memo<Vec<T>>, key: fn(&T) -> &str, still: fn(&T) -> &S) -> Read
where
    T: Clone + PartialEq + Send + Sync + 'static,
    S: Clone + PartialEq + Send + Sync + 'static,
{
    Box::new(move |take| items.with(|items| items.iter().for_each(|item| take(key(item), [item, still(item)]))))
}

/// Whoever takes an item's key, the item and its part that seldom changes.
type Take<'a> = &'a mut dyn FnMut(&str, [&dyn Show; 2]);

type Read = Box<dyn Fn(Take<'_>) + Send + Sync>;

/// What becomes of the row of what is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    IsTakenAway,
    GivesItsRow,
}

/// A row that is drawn: its item, and its part that seldom changes. They are set where they differ: a memo that looks
/// whether it changed would make all that depends on it look as well, of each row for each change of one.
struct Row {
    /// Which of the views it is: it outlives its item where others get the row.
    id: u32,
    key: String,
    shown: [ArcRwSignal<Shown>; 2],
}

impl Row {
    fn take(&self, items: [&dyn Show; 2]) {
        for (shown, item) in self.shown.iter().zip(items) {
            if !shown.with_untracked(|shown| item.is(shown)) {
                shown.set(item.shown());
            }
        }
    }
}

/// The rows of a list, in its order.
#[derive(Default)]
struct Drawn {
    rows: Vec<Row>,
    ids: u32,
}

impl Drawn {
    /// Those of before take their items. `spare` leaves, of the rows whose items are gone, those that others may have.
    fn take(&mut self, read: &Read, spare: impl FnOnce(&mut Vec<Row>)) {
        let mut before: Vec<Option<Row>> = std::mem::take(&mut self.rows).into_iter().map(Some).collect();
        let mut next: Vec<Option<Row>> = Vec::with_capacity(before.len());
        // As a rule they keep their order, so each is looked for behind the last.
        let mut behind = 0;
        read(&mut |key, items| {
            let mut places = (behind..before.len()).chain(0..behind.min(before.len()));
            let is_its = |at: &usize| before.get(*at).is_some_and(|row| row.as_ref().is_some_and(|row| row.key == key));
            let row = places.find(is_its).and_then(|at| {
                behind = at + 1;
                before.get_mut(at)?.take()
            });
            if let Some(row) = &row {
                row.take(items);
            }
            next.push(row);
        });
        if next.iter().any(Option::is_none) {
            let mut gone: Vec<Row> = before.into_iter().flatten().collect();
            spare(&mut gone);
            let mut places = next.iter_mut();
            read(&mut |key, items| {
                if let Some(place @ None) = places.next() {
                    *place = Some(self.row(gone.pop(), key, items));
                }
            });
        }
        self.rows = next.into_iter().flatten().collect();
    }

    /// The row of who comes.
    fn row(&mut self, gone: Option<Row>, key: &str, items: [&dyn Show; 2]) -> Row {
        match gone {
            Some(row) => {
                row.take(items);
                Row { key: key.to_owned(), ..row }
            }
            None => {
                self.ids += 1;
                Row { id: self.ids, key: key.to_owned(), shown: items.map(|item| ArcRwSignal::new(item.shown())) }
            }
        }
    }
}

/// Compiled once for all kinds of rows.
fn erased(read: Read, gone: Gone, row: impl Fn([RwSignal<Shown>; 2]) -> AnyView + Send + Sync + 'static) -> AnyView {
    erased_row(read, gone, Callback::new(row))
}

fn erased_row(read: Read, gone: Gone, row: Callback<[RwSignal<Shown>; 2], AnyView>) -> AnyView {
    let drawn = StoredValue::new(Drawn::default());
    // What is gone is drawn as it was until its row is taken away.
    let ids = Memo::new(move |_| {
        let take = |drawn: &mut Drawn| {
            drawn.take(&read, |rows| match gone {
                Gone::IsTakenAway => rows.clear(),
                Gone::GivesItsRow => let_go(rows),
            });
            drawn.rows.iter().map(|row| row.id).collect()
        };
        drawn.try_update_value(take).unwrap_or_else(Vec::new)
    });
    let draw = Draw::new(move |id| {
        let find = |drawn: &Drawn| drawn.rows.iter().find(|row| row.id == id).map(|row| row.shown.clone());
        erase(drawn.with_value(find).map(|shown| row.run(shown.map(RwSignal::from))))
    });
    dynamic(move || {
        keep_focus();
        Ordered::new(ids.get(), draw.clone())
    })
}

/// Leaves the rows that nobody has hold of: by the focus, by a press that is under way, by an end of what is selected. Who
/// comes would be in their hands.
fn let_go(rows: &mut Vec<Row>) {
    #[cfg(feature = "hydrate")]
    {
        let held = held();
        rows.retain(|row| !held.contains(&row.key));
    }
    // A server draws once.
    #[cfg(not(feature = "hydrate"))]
    rows.clear();
}

/// The keys of rows that somebody has hold of.
#[cfg(feature = "hydrate")]
fn held() -> Vec<String> {
    use wasm_bindgen::JsCast as _;
    let mut held = Vec::new();
    let mut add = |element: Option<web_sys::Element>| {
        let row = element.and_then(|element| element.closest("[data-key]").ok().flatten());
        held.extend(row.and_then(|row| row.get_attribute("data-key")));
    };
    add(document().active_element());
    // The innermost comes last.
    if let Ok(pressed) = document().query_selector_all("[data-key]:active") {
        add(pressed.length().checked_sub(1).and_then(|last| pressed.get(last)).and_then(|row| row.dyn_into().ok()));
    }
    for node in selected_ends().into_iter().flatten().flatten() {
        add(node.parent_element());
    }
    held
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

    /// A text of it that machines read back to the letter.
    pub(crate) fn exact(self, of: impl Fn(&T) -> Option<String> + Send + Sync + 'static) -> Signal<Option<Exact>> {
        Signal::derive(move || self.shown.with(|shown| shown.get().and_then(&of)).map(Exact))
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

/// Gives the focus back to what has it now, if it loses it meanwhile: an element that is moved loses the focus.
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

/// Where what is selected begins and ends, or the one place where nothing is but somebody clicked: to ask which makes the
/// browser lay the page out. By name: the binding would have all of Leptos built with one more feature.
#[cfg(feature = "hydrate")]
fn selected_ends() -> Option<[Option<web_sys::Node>; 2]> {
    use wasm_bindgen::JsCast as _;
    let get = |of: &wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(of, &name.into()).ok();
    let selection: js_sys::Function = get(&window(), "getSelection")?.dyn_into().ok()?;
    let selection = selection.call0(&window()).ok()?;
    Some(["anchorNode", "focusNode"].map(|name| get(&selection, name)?.dyn_into().ok()))
}

/// The element that has the focus; None for the document itself.
#[cfg(feature = "hydrate")]
fn focused() -> Option<web_sys::HtmlElement> {
    use wasm_bindgen::JsCast as _;
    let element = document().active_element()?;
    if element.tag_name() == "BODY" { None } else { element.dyn_into().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(drawn: &mut Drawn, keys: &[&str], spare: fn(&mut Vec<Row>)) -> Vec<(u32, String)> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let read: Read = Box::new(move |take| keys.iter().for_each(|key| take(key, [key, &()])));
        drawn.take(&read, spare);
        let text = |row: &Row| row.shown[0].with_untracked(|shown| shown.get::<String>().cloned().unwrap_or_default());
        assert!(drawn.rows.iter().all(|row| row.key == text(row)));
        drawn.rows.iter().map(|row| (row.id, text(row))).collect()
    }

    fn drawn(rows: [(u32, &str); 3]) -> Vec<(u32, String)> {
        rows.map(|(id, text)| (id, text.to_owned())).to_vec()
    }

    #[test]
    fn who_comes_gets_the_row_of_who_goes() {
        let mut rows = Drawn::default();
        assert_eq!(take(&mut rows, &["a", "b", "c"], |_| ()), drawn([(1, "a"), (2, "b"), (3, "c")]));
        assert_eq!(take(&mut rows, &["b", "c", "d"], |_| ()), drawn([(2, "b"), (3, "c"), (1, "d")]));
        assert_eq!(take(&mut rows, &["e", "b", "c"], |_| ()), drawn([(1, "e"), (2, "b"), (3, "c")]));
        assert_eq!(take(&mut rows, &["c", "b", "e"], |_| ()), drawn([(3, "c"), (2, "b"), (1, "e")]));
    }

    #[test]
    fn nobody_gets_a_row_that_is_held() {
        let mut rows = Drawn::default();
        take(&mut rows, &["a", "b", "c"], |_| ());
        let held = |rows: &mut Vec<Row>| rows.retain(|row| row.key != "a");
        assert_eq!(take(&mut rows, &["b", "c", "d"], held), drawn([(2, "b"), (3, "c"), (4, "d")]));
        assert_eq!(take(&mut rows, &["c", "d", "a"], held), drawn([(3, "c"), (4, "d"), (2, "a")]));
    }
}
