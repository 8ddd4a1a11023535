//! Lists whose elements have no keys: what happened last comes first, what is too old goes at either end.

use serde::{Deserialize, Serialize};

use super::{Part, Patched};

/// What turns one list into another.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct ListPatch<T, P> {
    /// New elements at the beginning.
    pub front: Vec<T>,
    /// Behind them old elements, from this one on.
    pub from: u32,
    /// So many.
    pub kept: u32,
    /// Those of them that changed: how many elements after the one before in this list, and what.
    pub changed: Vec<(u32, P)>,
    /// New elements at the end.
    pub back: Vec<Appended<T, P>>,
}

/// A new element at the end of a list.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Appended<T, P> {
    /// Made of the one before it.
    After(P),
    /// Made of nothing.
    Whole(T),
}

impl<T: Part> Patched for Vec<T> {
    type Patch = ListPatch<T, T::Patch>;

    fn patch_to(&self, next: &Self) -> Option<Self::Patch> {
        if self == next {
            return None;
        }
        let place = |list: &[T], of: Option<&T>| of.and_then(|of| list.iter().position(|element| element == of));
        // Where the first of one list stands in the other, they are the same from there on.
        let front = place(next, self.first()).unwrap_or(0);
        let from = if front == 0 { place(self, next.first()).unwrap_or(0) } else { 0 };
        let (front, rest) = next.split_at_checked(front).unwrap_or((&[], next));
        let old = self.get(from..).unwrap_or_default();
        let kept = old.len().min(rest.len());
        let (mut changed, mut gap) = (Vec::new(), 0);
        for (old, new) in old.iter().zip(rest) {
            if let Some(patch) = old.patch_to(new) {
                changed.push((gap, patch));
                gap = 0;
            }
            gap += 1;
        }
        let appended = |(at, element): (usize, &T)| {
            let before = at.checked_sub(1).and_then(|at| rest.get(at));
            let after = before.and_then(|before| before.patch_to(element));
            after.map_or_else(|| Appended::Whole(element.clone()), Appended::After)
        };
        let back = rest.iter().enumerate().skip(kept).map(appended).collect();
        // A longer list than that does not fit into any frame.
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Some(ListPatch { front: front.to_vec(), from: count(from), kept: count(kept), changed, back })
    }

    fn apply_patch(&mut self, patch: Self::Patch) {
        self.drain(..self.len().min(patch.from as usize));
        self.truncate(patch.kept as usize);
        let mut at = 0_usize;
        for (gap, change) in patch.changed {
            at = at.saturating_add(gap as usize);
            if let Some(element) = self.get_mut(at) {
                element.apply_patch(change);
            }
        }
        for appended in patch.back {
            let element = match (appended, self.last().cloned()) {
                (Appended::Whole(element), _) => element,
                (Appended::After(change), Some(mut element)) => {
                    element.apply_patch(change);
                    element
                }
                (Appended::After(_), None) => continue,
            };
            self.push(element);
        }
        self.splice(..0, patch.front);
    }
}
