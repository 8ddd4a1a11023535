//! Values by path: found by hash, walked in path order. What finds one costs the same however many there are.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

/// A map whose keys are paths.
#[derive(Clone, Debug)]
pub(crate) struct PathMap<T> {
    found: HashMap<Arc<str>, u32>,
    order: BTreeMap<Arc<str>, u32>,
    slots: Vec<Option<T>>,
    vacant: Vec<u32>,
}

impl<T> Default for PathMap<T> {
    fn default() -> Self {
        Self { found: HashMap::new(), order: BTreeMap::new(), slots: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> PathMap<T> {
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.found.contains_key(path)
    }

    pub(crate) fn get(&self, path: &str) -> Option<&T> {
        self.slot(*self.found.get(path)?)
    }

    pub(crate) fn get_mut(&mut self, path: &str) -> Option<&mut T> {
        let slot = *self.found.get(path)?;
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// The path as it is shared, with its value.
    pub(crate) fn entry(&self, path: &str) -> Option<(&Arc<str>, &T)> {
        let (path, slot) = self.found.get_key_value(path)?;
        Some((path, self.slot(*slot)?))
    }

    /// Sets a value; the one that was there is dropped.
    pub(crate) fn insert(&mut self, path: Arc<str>, value: T) {
        if let Some(known) = self.get_mut(&path) {
            *known = value;
            return;
        }
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(vacant) = self.slots.get_mut(slot as usize) {
            *vacant = Some(value);
        }
        self.order.insert(Arc::clone(&path), slot);
        self.found.insert(path, slot);
    }

    pub(crate) fn remove(&mut self, path: &str) -> Option<(Arc<str>, T)> {
        let (path, slot) = self.found.remove_entry(path)?;
        self.order.remove(&path);
        self.vacant.push(slot);
        let value = self.slots.get_mut(slot as usize)?.take()?;
        Some((path, value))
    }

    pub(crate) fn pop_first(&mut self) -> Option<(Arc<str>, T)> {
        let first = Arc::clone(self.order.first_key_value()?.0);
        self.remove(&first)
    }

    /// All in path order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &T)> {
        self.order.iter().filter_map(|(path, slot)| Some((path, self.slot(*slot)?)))
    }

    /// Those behind a path, in path order.
    pub(crate) fn after<'a>(&'a self, path: &str) -> impl Iterator<Item = (&'a Arc<str>, &'a T)> + use<'a, T> {
        self.range(Bound::Excluded(path))
    }

    /// Those that begin with this text, in path order.
    pub(crate) fn starting_with<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a Arc<str>, &'a T)> {
        self.range(Bound::Included(text)).take_while(move |(path, _)| path.starts_with(text))
    }

    /// All, in no order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten()
    }

    fn range<'a>(&'a self, from: Bound<&str>) -> impl Iterator<Item = (&'a Arc<str>, &'a T)> + use<'a, T> {
        self.order.range::<str, _>((from, Bound::Unbounded)).filter_map(|(path, slot)| Some((path, self.slot(*slot)?)))
    }

    fn slot(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)?.as_ref()
    }
}
