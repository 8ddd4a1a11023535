//! Rows that are known by a key.

use std::marker::PhantomData;

use leptos::prelude::*;
use leptos::reactive::owner::WeakOwner;
use leptos::tachys::reactive_graph::OwnedView;
use leptos::tachys::view::keyed::keyed;

use super::part::part_of;
use super::shown::{Show, Shown};
use crate::erase::{dynamic, erase};

/// An item known by a key, and the ensemble that its links lead into.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Keyed<T> {
    pub(crate) key: String,
    pub(crate) ensemble: String,
    pub(crate) item: T,
}

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
    let read: Read = Box::new(move |take| items.with(|items| items.iter().for_each(|item| take(key(item), item))));
    erased(read, Callback::new(move |item| row(Item::of(item))))
}

type Take<'a> = &'a mut dyn FnMut(&str, &dyn Show);

type Read = Box<dyn Fn(Take<'_>) + Send + Sync>;

/// A row that is drawn, and its item. That is set where it differs: a memo that looks whether it changed would make all that
/// depends on it look as well, of each row for each change of one.
struct Row {
    key: String,
    /// What the list knows it by: two of one key are two rows, and one that comes back is another one.
    number: u32,
    shown: ArcRwSignal<Shown>,
    owner: Owner,
}

impl Row {
    fn new(key: &str, number: u32, item: &dyn Show, owner: Owner) -> Self {
        Self { key: key.to_owned(), number, shown: ArcRwSignal::new(item.shown()), owner }
    }

    fn take(&self, item: &dyn Show) {
        if !self.shown.with_untracked(|shown| item.is(shown)) {
            self.shown.set(item.shown());
        }
    }
}

/// The rows that are drawn, and owners of what rows are made of.
#[derive(Default)]
struct Rows {
    drawn: Vec<Row>,
    /// Of rows that are gone, for those that come: as many as rows were ever drawn at once, twice at most. An owner
    /// remembers each child that it ever had until it is cleaned up itself: `For` makes one for each row, and would
    /// grow by each for as long as the list is there.
    free: Vec<Owner>,
    /// The number of the row that came last.
    last: u32,
}

impl Rows {
    /// Draws these next: rows of before take their items.
    fn take(&mut self, read: &Read, list: &WeakOwner) {
        let mut before = std::mem::take(&mut self.drawn);
        read(&mut |key, item| {
            let row = match before.iter().position(|row| row.key == key) {
                Some(at) => {
                    let row = before.remove(at);
                    row.take(item);
                    row
                }
                None => {
                    self.last = self.last.wrapping_add(1);
                    Row::new(key, self.last, item, self.owner(list))
                }
            };
            self.drawn.push(row);
        });
        // While what they are made of is still there: it leaves what it follows. The list is drawn anew right after this.
        for row in before {
            row.owner.cleanup();
            self.free.push(row.owner);
        }
    }

    fn owner(&mut self, list: &WeakOwner) -> Owner {
        // Without its owner the list is gone, and nothing is drawn any more.
        self.free.pop().or_else(|| list.upgrade().map(|list| list.child())).unwrap_or_default()
    }
}

/// Compiled once for all kinds of rows.
fn erased(read: Read, row: Callback<RwSignal<Shown>, AnyView>) -> AnyView {
    let rows = StoredValue::new(Rows::default());
    let list = Owner::current().unwrap_or_default().downgrade();
    let numbers = Memo::new(move |_| {
        let mut now = rows.try_update_value(std::mem::take).unwrap_or_default();
        now.take(&read, &list);
        let numbers: Vec<u32> = now.drawn.iter().map(|row| row.number).collect();
        rows.set_value(now);
        numbers
    });
    let child = move |_, number: u32| {
        let of = |row: &Row| (row.owner.clone(), row.shown.clone());
        let found = rows.with_value(|rows| rows.drawn.iter().find(|row| row.number == number).map(of));
        let (owner, shown) = found.map_or_else(|| (Owner::new(), None), |(owner, shown)| (owner, Some(shown)));
        let view = owner.with(|| shown.map(|shown| row.run(RwSignal::from(shown))));
        (drop::<usize>, OwnedView::new_with_owner(view, owner))
    };
    erase(move || {
        keep_focus();
        keyed(numbers.get(), u32::clone, child)
    })
}

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
pub(super) fn keep_focus() {
    #[cfg(feature = "hydrate")]
    if let Some(focused) = focused() {
        leptos::task::spawn_local(async move {
            if focused.is_connected() && self::focused().is_none() {
                crate::browser::focus_in_place(&focused);
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::follow::leave_with_owner;
    use leptos::reactive::computed::ArcMemo;

    /// Rows of these keys.
    fn read(keys: Vec<String>) -> Read {
        Box::new(move |take| keys.iter().for_each(|key| take(key, key)))
    }

    #[test]
    fn rows_that_come_take_the_owners_of_those_that_went() {
        let list = Owner::new_root(None);
        let (mut rows, mut owners) = (Rows::default(), BTreeSet::new());
        let left = Arc::new(AtomicUsize::new(0));
        for turn in 0..1_000 {
            rows.take(&read((turn..turn + 5).map(|at| at.to_string()).collect()), &list.downgrade());
            owners.extend(rows.drawn.iter().map(|row| row.owner.debug_id()));
            let newest = rows.drawn.last().expect("five rows are drawn");
            let left = left.clone();
            newest.owner.with(|| on_cleanup(move || _ = left.fetch_add(1, Ordering::Relaxed)));
        }
        assert_eq!(owners.len(), 6, "five rows, and one that goes as another comes");
        assert_eq!(left.load(Ordering::Relaxed), 995, "each that went was cleaned up, and none that is drawn");
    }

    #[test]
    fn two_rows_with_one_key_are_two_and_one_that_comes_back_is_another() {
        let list = Owner::new_root(None);
        let mut rows = Rows::default();
        let mut take = |keys: &[&str]| {
            rows.take(&read(keys.iter().map(|key| (*key).to_owned()).collect()), &list.downgrade());
            rows.drawn.iter().map(|row| (row.number, row.owner.debug_id())).collect::<Vec<_>>()
        };
        // Equal numbers would be one row to whoever draws them, and the row behind them none.
        let two = take(&["a", "a"]);
        let three = take(&["a", "a", "b"]);
        let numbers: BTreeSet<u32> = three.iter().map(|(number, _)| *number).collect();
        assert_eq!((numbers.len(), &three[..2]), (3, &two[..]), "and each stays what it is");
        assert_eq!(take(&["a"]), two[..1]);
        // What was drawn of it before was cleaned up: nothing in it moves any more.
        assert!(take(&[]).is_empty());
        let back = take(&["a"]);
        assert!(three.iter().all(|(number, _)| *number != back[0].0));
    }

    #[test]
    fn what_a_row_follows_forgets_it_when_it_goes() {
        let list = Owner::new_root(None);
        let outside = ArcRwSignal::new(1);
        let mut rows = Rows::default();
        rows.take(&read(vec!["a".to_owned()]), &list.downgrade());
        let runs = Arc::new(AtomicUsize::new(0));
        let row = rows.drawn.first().expect("a row is drawn").owner.clone();
        let memo = row.with(|| {
            let (outside, runs) = (outside.clone(), runs.clone());
            ArcMemo::new(move |_| {
                leave_with_owner();
                runs.fetch_add(1, Ordering::Relaxed);
                outside.get()
            })
        });
        assert_eq!(memo.get_untracked(), 1);
        outside.set(2);
        assert_eq!(memo.get_untracked(), 2, "it follows while its row is there");
        rows.take(&read(Vec::new()), &list.downgrade());
        outside.set(3);
        assert_eq!((memo.get_untracked(), runs.load(Ordering::Relaxed)), (2, 2), "it left with its row");
    }
}
