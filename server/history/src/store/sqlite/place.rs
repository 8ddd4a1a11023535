//! Where the files of a recording are.

use std::ops::Range;
use std::path::{Path, PathBuf};

use lockscope_core::time::TimeMs;

use super::files::{self, Day};
use super::schema::Content;
use super::{SqliteStore, days_in};
use crate::store::day::DAY_MS;
use crate::store::{Gap, GapReason, StoreError};

#[derive(Debug)]
pub(super) enum Place {
    /// Two files a day.
    Directory(PathBuf),
    /// One file, which nobody writes.
    Bundle(PathBuf),
}

impl SqliteStore {
    pub(super) fn path(&self, day: Day, content: Content) -> PathBuf {
        match &self.place {
            Place::Directory(directory) => directory.join(day.file_name(content)),
            Place::Bundle(file) => file.clone(),
        }
    }

    /// The files of rows that may have some of a range, in order.
    pub(super) fn row_files(&self, range: &Range<TimeMs>) -> Result<Vec<PathBuf>, StoreError> {
        let directory = match &self.place {
            Place::Directory(directory) => directory,
            Place::Bundle(file) => return Ok(vec![file.clone()]),
        };
        let (first, last) = (Day::of(range.start.0), Day::of(range.end.0));
        let days = days_in(directory, Content::Rows)?.into_iter().filter(|day| (first..=last).contains(day));
        Ok(days.map(|day| directory.join(day.file_name(Content::Rows))).collect())
    }

    /// What of a range lies in days whose file of rows is damaged, or was set aside and begun anew.
    pub(super) fn unread_days(&self, range: &Range<TimeMs>) -> Vec<Gap> {
        let Place::Directory(directory) = &self.place else { return Vec::new() };
        let damaged: Vec<(Day, i64)> = self.unread.lock().iter().map(|day| (*day, i64::MAX)).collect();
        let gap = |(day, until_ms): (Day, i64)| {
            let begins_ms = day.0.saturating_mul(DAY_MS);
            let from = TimeMs(begins_ms).max(range.start);
            let to = TimeMs(until_ms.min(begins_ms.saturating_add(DAY_MS))).min(range.end);
            (from < to).then_some(Gap { after_seq: 0, from, to, why: GapReason::Damaged })
        };
        damaged.into_iter().chain(files::rows_set_aside(directory)).filter_map(gap).collect()
    }

    /// The directory, where there is one: a bundle can't be written.
    pub(super) fn directory(&self) -> Result<&Path, StoreError> {
        match &self.place {
            Place::Directory(directory) => Ok(directory),
            Place::Bundle(file) => Err(StoreError::Denied(format!("{} is a bundle", file.display()))),
        }
    }
}
