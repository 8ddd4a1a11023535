//! Texts: names that differ in the middle, sentences that differ in a name.

use serde::{Deserialize, Serialize};

use super::Patched;

/// What turns one text into another.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPatch {
    /// Bytes that it keeps of its beginning.
    pub start: u32,
    /// Bytes that it keeps of its end.
    pub end: u32,
    /// What stands between them.
    pub middle: String,
}

impl Patched for String {
    type Patch = TextPatch;

    fn patch_to(&self, next: &Self) -> Option<TextPatch> {
        if self == next {
            return None;
        }
        let both = |at: usize| self.is_char_boundary(at) && next.is_char_boundary(at);
        let mut start = self.bytes().zip(next.bytes()).take_while(|(old, new)| old == new).count();
        while !both(start) {
            start -= 1;
        }
        let (old_rest, new_rest) = (self.get(start..).unwrap_or_default(), next.get(start..).unwrap_or_default());
        let same_end = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(|(old, new)| old == new);
        let mut end = same_end.count();
        while !old_rest.is_char_boundary(old_rest.len() - end) || !new_rest.is_char_boundary(new_rest.len() - end) {
            end -= 1;
        }
        let middle = new_rest.get(..new_rest.len() - end).unwrap_or_default().to_owned();
        let count = |bytes: usize| u32::try_from(bytes).ok();
        // A text of 4 GiB is sent whole.
        let kept = count(start).zip(count(end));
        Some(kept.map_or_else(
            || TextPatch { start: 0, end: 0, middle: next.clone() },
            |(start, end)| TextPatch { start, end, middle },
        ))
    }

    fn apply_patch(&mut self, patch: TextPatch) {
        let start = self.get(..patch.start as usize).unwrap_or_default();
        let end = self.len().checked_sub(patch.end as usize).and_then(|at| self.get(at..)).unwrap_or_default();
        *self = [start, &patch.middle, end].concat();
    }
}
