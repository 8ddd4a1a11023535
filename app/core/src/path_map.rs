//! Values by path: found by hash, walked in path order. What finds one costs the same however many there are, and what
//! was removed takes no room. What was found last is found again without a hash: one event looks up its lock and its
//! directory many times. The keys of the hash are random, so that nobody can choose paths that collide; nothing
//! that is seen from outside depends on them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::keyed_hash::KeyedMap;

/// Places beyond which the map is made smaller when most of them are empty.
const ROOMY: usize = 1_024;

/// A map whose keys are paths.
pub(crate) struct PathMap<T> {
    found: KeyedMap<Arc<str>, u32>,
    order: BTreeMap<Arc<str>, u32>,
    slots: Vec<Option<Slot<T>>>,
    vacant: Vec<u32>,
    /// Where something was found last, and before that. Only guesses: the paths there decide.
    last: [AtomicU32; 2],
}

/// A path with its value, which is behind a pointer: an empty place is small, however large a value is, and a checkpoint
/// shares them. One that is shared is copied when it changes.
struct Slot<T> {
    path: Arc<str>,
    value: Arc<T>,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self { path: Arc::clone(&self.path), value: Arc::clone(&self.value) }
    }
}

impl<T> Clone for PathMap<T> {
    fn clone(&self) -> Self {
        let Self { found, order, slots, vacant, last: _ } = self;
        Self {
            found: found.clone(),
            order: order.clone(),
            slots: slots.clone(),
            vacant: vacant.clone(),
            last: Default::default(),
        }
    }
}

impl<T> Default for PathMap<T> {
    fn default() -> Self {
        Self {
            found: KeyedMap::default(),
            order: BTreeMap::new(),
            slots: Vec::new(),
            vacant: Vec::new(),
            last: Default::default(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for PathMap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The same values at the same paths, wherever they lie.
impl<T: PartialEq> PartialEq for PathMap<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order.len() == other.order.len() && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for PathMap<T> {}

impl<T> PathMap<T> {
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.found.contains_key(path)
    }

    pub(crate) fn get(&self, path: &str) -> Option<&T> {
        self.slot(self.place(path)?)
    }

    /// Where a path is.
    fn place(&self, path: &str) -> Option<u32> {
        let [last, before] = [&self.last[0], &self.last[1]].map(|place| place.load(Ordering::Relaxed));
        let is_at = |place: u32| {
            self.slots.get(place as usize).and_then(Option::as_ref).is_some_and(|slot| *slot.path == *path)
        };
        if is_at(last) {
            return Some(last);
        }
        if is_at(before) {
            return Some(before);
        }
        let place = *self.found.get(path)?;
        self.last[1].store(last, Ordering::Relaxed);
        self.last[0].store(place, Ordering::Relaxed);
        Some(place)
    }

    /// The path as it is shared, with its value.
    pub(crate) fn entry(&self, path: &str) -> Option<(&Arc<str>, &T)> {
        let (path, slot) = self.found.get_key_value(path)?;
        Some((path, self.slot(*slot)?))
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

    /// All in path order, as they are now: what changes from here on is copied first.
    pub(crate) fn share(&self) -> Vec<(Arc<str>, Arc<T>)> {
        let slot = |slot: &u32| self.slots.get(*slot as usize)?.as_ref().map(|slot| Arc::clone(&slot.value));
        self.order.iter().filter_map(|(path, at)| Some((Arc::clone(path), slot(at)?))).collect()
    }

    fn range<'a>(&'a self, from: Bound<&str>) -> impl Iterator<Item = (&'a Arc<str>, &'a T)> + use<'a, T> {
        self.order.range::<str, _>((from, Bound::Unbounded)).filter_map(|(path, slot)| Some((path, self.slot(*slot)?)))
    }

    fn slot(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)?.as_ref().map(|slot| &*slot.value)
    }
}

impl<T: Clone> PathMap<T> {
    pub(crate) fn get_mut(&mut self, path: &str) -> Option<&mut T> {
        let place = self.place(path)?;
        self.slots.get_mut(place as usize)?.as_mut().map(|slot| Arc::make_mut(&mut slot.value))
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
            *vacant = Some(Slot { path: Arc::clone(&path), value: Arc::new(value) });
        }
        self.order.insert(Arc::clone(&path), slot);
        self.found.insert(path, slot);
    }

    pub(crate) fn remove(&mut self, path: &str) -> Option<(Arc<str>, T)> {
        let (path, slot) = self.found.remove_entry(path)?;
        self.order.remove(&path);
        self.vacant.push(slot);
        let Slot { value, path: _ } = self.slots.get_mut(slot as usize)?.take()?;
        if self.found.capacity() > ROOMY && self.found.len() < self.found.capacity() / 8 {
            self.found.shrink_to(2 * self.found.len());
        }
        if self.found.is_empty() {
            (self.slots, self.vacant) = (Vec::new(), Vec::new());
        }
        Some((path, Arc::unwrap_or_clone(value)))
    }

    pub(crate) fn pop_first(&mut self) -> Option<(Arc<str>, T)> {
        let first = Arc::clone(self.order.first_key_value()?.0);
        self.remove(&first)
    }

    /// All, in no order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten().map(|slot| Arc::make_mut(&mut slot.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(map: &PathMap<u32>) -> Vec<(String, u32)> {
        map.iter().map(|(path, value)| (path.to_string(), *value)).collect()
    }

    #[test]
    fn it_is_a_map_in_path_order_whatever_comes_and_goes() {
        let (mut map, mut model) = (PathMap::default(), BTreeMap::new());
        for turn in 0..4_000_u32 {
            let path = format!("/l/{}", turn.wrapping_mul(2_654_435_761) % 97);
            if turn % 3 == 0 {
                assert_eq!(map.remove(&path).map(|(_, value)| value), model.remove(&path));
            } else {
                map.insert(path.as_str().into(), turn);
                model.insert(path.clone(), turn);
            }
            assert_eq!((map.get(&path), map.contains(&path)), (model.get(&path), model.contains_key(&path)));
        }
        assert_eq!(text(&map), model.clone().into_iter().collect::<Vec<_>>());
        let behind: Vec<u32> = map.after("/l/5").map(|(_, value)| *value).collect();
        assert_eq!(
            behind,
            model
                .range::<str, _>((Bound::Excluded("/l/5"), Bound::Unbounded))
                .map(|(_, value)| *value)
                .collect::<Vec<_>>()
        );
        assert!(map.starting_with("/l/1").all(|(path, _)| path.starts_with("/l/1")));
        while let Some((path, value)) = map.pop_first() {
            assert_eq!(model.pop_first(), Some((path.to_string(), value)));
        }
        assert!(model.is_empty());
    }

    #[test]
    fn what_was_removed_takes_no_room() {
        let mut map = PathMap::default();
        (0..100_000_u32).for_each(|at| map.insert(format!("/l/{at}").into(), [0_u8; 64]));
        (1..100_000_u32).for_each(|at| drop(map.remove(&format!("/l/{at}"))));
        assert!(map.found.capacity() <= ROOMY && map.slots.iter().flatten().count() == 1, "{}", map.found.capacity());
        map.remove("/l/0");
        assert_eq!((map.slots.capacity(), map.vacant.capacity(), map.order.len()), (0, 0, 0));
    }
}
