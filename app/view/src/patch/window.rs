//! Windows: which rows stay in which order, what changed in them, and which are new.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Patched;
use crate::window::{Window, WindowRow};

/// A row of which single fields are sent.
pub trait PatchedRow: WindowRow + Patched {
    /// What its place alone says of it: `self` stands at `at` in the whole list.
    fn move_to(&mut self, _at: u32) {}

    /// What turns `self`, once it was moved to `at`, into `next`.
    fn patch_at(&self, _at: u32, next: &Self) -> Option<Self::Patch> {
        self.patch_to(next)
    }

    /// What a new row behind this one looks like before its own fields are known.
    #[must_use]
    fn successor(&self) -> Self {
        self.clone()
    }
}

/// What turns one window into another.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowPatch<R, P> {
    /// The new total.
    pub total: u32,
    /// The new offset.
    pub offset: u32,
    /// Where the new rows come from; None: the same rows in the same places.
    pub runs: Option<Vec<Run>>,
    /// Rows that are new or changed: how many rows after the one before in this list, and what.
    pub rows: Vec<(u32, RowPatch<R, P>)>,
}

/// Rows in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Run {
    /// Old ones.
    Kept {
        /// Index of the first in the old rows.
        from: u32,
        /// So many.
        count: u32,
    },
    /// New ones; each is in `rows`.
    New {
        /// So many.
        count: u32,
    },
}

/// What a new row is made of.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum RowPatch<R, P> {
    /// The same row as it was.
    Changed(P),
    /// The row before it in the new window.
    After(P),
    /// Nothing.
    Whole(R),
}

impl<R: PatchedRow> Patched for Window<R>
where
    R: std::fmt::Debug + Serialize + serde::de::DeserializeOwned,
{
    type Patch = WindowPatch<R, R::Patch>;

    fn patch_to(&self, next: &Self) -> Option<Self::Patch> {
        if self == next {
            return None;
        }
        let same_places = self.rows.len() == next.rows.len()
            && self.rows.iter().zip(&next.rows).all(|(old, new)| old.key() == new.key());
        let sources: Vec<Option<u32>> =
            if same_places { (0..).map(Some).take(next.rows.len()).collect() } else { self.sources(next) };
        let mut rows = Vec::new();
        let mut before: Option<&R> = None;
        let mut gap = 0;
        for ((at, row), source) in (next.offset..).zip(&next.rows).zip(&sources) {
            let old = source.and_then(|source| self.rows.get(source as usize));
            let patch = match (old, before) {
                (Some(old), _) => old.patch_at(at, row).map(RowPatch::Changed),
                (None, before) => {
                    let after = before.and_then(|before| moved(before.successor(), at).patch_to(row));
                    Some(after.map_or_else(|| RowPatch::Whole(row.clone()), RowPatch::After))
                }
            };
            if let Some(patch) = patch {
                rows.push((gap, patch));
                gap = 0;
            }
            gap += 1;
            before = Some(row);
        }
        let runs = (!same_places).then(|| runs(&sources));
        Some(WindowPatch { total: next.total, offset: next.offset, runs, rows })
    }

    /// A difference that does not fit leaves rows out rather than panics; the caller's sequence check keeps that from
    /// happening.
    fn apply_patch(&mut self, patch: Self::Patch) {
        (self.total, self.offset) = (patch.total, patch.offset);
        let mut old: Vec<Option<R>> = std::mem::take(&mut self.rows).into_iter().map(Some).collect();
        let all = [Run::Kept { from: 0, count: u32::try_from(old.len()).unwrap_or(u32::MAX) }];
        let runs = patch.runs.as_deref().unwrap_or(&all);
        let rows = patch.rows.len();
        let mut patches = Patches::new(patch.rows);
        for run in runs {
            match *run {
                Run::Kept { from, count } => {
                    let kept = old.get_mut(from as usize..).unwrap_or_default().iter_mut().take(count as usize);
                    for row in kept.filter_map(Option::take) {
                        self.push(Some(row), &mut patches);
                    }
                }
                // Each has a patch: more than there are is no difference that was ever made.
                Run::New { count } => (0..count).take(rows).for_each(|_| self.push(None, &mut patches)),
            }
        }
    }
}

/// The patches that are still to come.
struct Patches<R, P> {
    rest: std::vec::IntoIter<(u32, RowPatch<R, P>)>,
    /// In so many rows comes this one.
    next: Option<(u32, RowPatch<R, P>)>,
}

impl<R, P> Patches<R, P> {
    fn new(all: Vec<(u32, RowPatch<R, P>)>) -> Self {
        let mut rest = all.into_iter();
        Self { next: rest.next(), rest }
    }

    /// The patch of the row at hand.
    fn of_row(&mut self) -> Option<RowPatch<R, P>> {
        let (in_rows, _) = self.next.as_mut()?;
        if *in_rows > 0 {
            *in_rows -= 1;
            return None;
        }
        let (_, patch) = self.next.take()?;
        self.next = self.rest.next().map(|(gap, patch)| (gap.saturating_sub(1), patch));
        Some(patch)
    }
}

impl<R: PatchedRow> Window<R> {
    /// Where each row of the next window is in this one.
    fn sources(&self, next: &Self) -> Vec<Option<u32>> {
        let mut places: BTreeMap<&str, u32> = self.rows.iter().zip(0..).map(|(row, at)| (row.key(), at)).collect();
        next.rows.iter().map(|row| places.remove(row.key())).collect()
    }

    fn push(&mut self, old: Option<R>, patches: &mut Patches<R, R::Patch>) {
        let Ok(at) = u32::try_from(self.rows.len()) else { return };
        let at = self.offset.saturating_add(at);
        let patch = patches.of_row();
        let base = old.or_else(|| self.rows.last().map(PatchedRow::successor)).map(|row| moved(row, at));
        let row = match (base, patch) {
            (_, Some(RowPatch::Whole(row))) => Some(row),
            (base, None) => base,
            (base, Some(RowPatch::Changed(change) | RowPatch::After(change))) => base.map(|mut row| {
                row.apply_patch(change);
                row
            }),
        };
        self.rows.extend(row);
    }
}

fn moved<R: PatchedRow>(mut row: R, at: u32) -> R {
    row.move_to(at);
    row
}

fn runs(sources: &[Option<u32>]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for source in sources {
        match (runs.last_mut(), source) {
            (Some(Run::Kept { from, count }), Some(source)) if *from + *count == *source => *count += 1,
            (Some(Run::New { count }), None) => *count += 1,
            (_, Some(source)) => runs.push(Run::Kept { from: *source, count: 1 }),
            (_, None) => runs.push(Run::New { count: 1 }),
        }
    }
    runs
}
