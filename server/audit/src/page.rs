//! A page of records: read backwards from the end, filtered, within a bound on what is read for it.

use std::io;
use std::path::Path;

use lockscope_view::{AuditRecord, Within};

use super::read::{self, ReverseLines};
use super::records::{LIMIT_MAX, PageQuery};
use super::verify::Segment;

/// Bytes that are read for one page; a filter that matches little gets an answer with `next_before` then.
pub(super) const SCAN_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Records, newest first, and from where to go on.
pub(super) struct PageRead {
    pub(super) records: Vec<AuditRecord>,
    pub(super) next_before: Option<u64>,
}

pub(super) fn find(dir: &Path, segments: &[Segment], query: &PageQuery) -> io::Result<PageRead> {
    let limit = query.limit.min(LIMIT_MAX);
    let before = query.before.unwrap_or(u64::MAX);
    let after = query.after.unwrap_or_default();
    let mut records = Vec::new();
    let mut scanned = 0_u64;
    for segment in segments.iter().rev().filter(|segment| segment.first_id < before && segment.bytes > 0) {
        let file = read::open(dir, segment)?;
        let end = if before == u64::MAX { segment.bytes } else { read::offset_of(&file, segment.bytes, before)? };
        let mut lines = ReverseLines::new(file, end);
        while let Some(line) = lines.previous()? {
            let record: AuditRecord = serde_json::from_slice(&line).map_err(|error| {
                let why = format!("a line is not a record of this version ({error}); run `lockscope audit verify`");
                io::Error::new(io::ErrorKind::InvalidData, why)
            })?;
            let id = record.id;
            if id <= after {
                return Ok(PageRead { records, next_before: None });
            }
            scanned += line.len() as u64 + 1;
            if matches(query, &record) {
                records.push(record);
            }
            if (records.len() >= limit || scanned >= SCAN_BYTES_MAX) && id > after + 1 {
                return Ok(PageRead { records, next_before: Some(id) });
            }
        }
    }
    Ok(PageRead { records, next_before: None })
}

fn matches(query: &PageQuery, record: &AuditRecord) -> bool {
    query.kind.is_none_or(|kind| record.kind == kind)
        && query.actor.as_ref().is_none_or(|actor| record.actor == *actor)
        && query.lock.as_ref().is_none_or(|lock| record.lock.as_ref() == Some(lock))
        && is_inside(&query.scope, record)
}

/// Whether a record is about a place inside. What is about no place (who signed in, and from where) is for those who
/// may see everything.
fn is_inside(scope: &Within, record: &AuditRecord) -> bool {
    if record.ensemble.is_none() && record.lock.is_none() && record.path.is_none() {
        return scope.is_everywhere();
    }
    let places = [&record.lock, &record.path];
    record.ensemble.as_ref().is_none_or(|ensemble| scope.covers_ensemble(ensemble))
        && places.into_iter().flatten().all(|path| scope.covers_path(path))
}
