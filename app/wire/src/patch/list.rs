//! Lists whose elements have no keys: what happened last comes first, and what is too old goes at the end.

use serde::{Deserialize, Serialize};

use super::{Part, Patched};

/// What turns one list into another.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct ListPatch<T, P> {
    /// New elements at the beginning.
    pub front: Vec<T>,
    /// Behind them so many of the old elements, from the first.
    pub kept: u32,
    /// Those of them that changed, with their index in the old list.
    pub changed: Vec<(u32, P)>,
    /// New elements at the end.
    pub back: Vec<T>,
}

impl<T: Part> Patched for Vec<T> {
    type Patch = ListPatch<T, T::Patch>;

    fn patch_to(&self, next: &Self) -> Option<Self::Patch> {
        if self == next {
            return None;
        }
        let first = self.first();
        let front = first.and_then(|first| next.iter().position(|element| element == first)).unwrap_or(0);
        let (front, rest) = next.split_at_checked(front).unwrap_or((&[], next));
        let kept = self.len().min(rest.len());
        let pairs = (0..).zip(self.iter().zip(rest));
        let changed = pairs.filter_map(|(at, (old, new))| old.patch_to(new).map(|patch| (at, patch))).collect();
        let back = rest.get(kept..).unwrap_or_default().to_vec();
        // A longer list than that does not fit into any frame.
        let kept = u32::try_from(kept).unwrap_or(u32::MAX);
        Some(ListPatch { front: front.to_vec(), kept, changed, back })
    }

    fn apply_patch(&mut self, patch: Self::Patch) {
        self.truncate(patch.kept as usize);
        for (at, change) in patch.changed {
            if let Some(element) = self.get_mut(at as usize) {
                element.apply_patch(change);
            }
        }
        self.splice(..0, patch.front);
        self.extend(patch.back);
    }
}
