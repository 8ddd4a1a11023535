//! The one who writes: chains records, makes them durable, and takes back what could not be written whole.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::chain::{self, ChainHead, LINE_BYTES_MAX};
use super::read::ReverseLines;
use super::verify::{self, Segment};
use super::{AuditError, Entry, files, head};
use lockscope_runtime::clock::Clock;

/// Owns the file that is written.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) dir: PathBuf,
    pub(super) clock: Clock,
    pub(super) rotate_bytes: u64,
    pub(super) file: File,
    /// The file, as far as it has whole lines.
    pub(super) segment: Segment,
    pub(super) tip: ChainHead,
    /// More than whole lines may be in the file, by us.
    pub(super) is_dirty: bool,
    /// What has to be recorded before anything else.
    pub(super) pending: Option<Entry>,
    /// Held as long as this lives.
    pub(super) _lock: File,
}

pub(super) struct WrittenBatch {
    pub(super) tip: ChainHead,
    /// The number of the first entry that was given.
    pub(super) first_id: u64,
    /// The file that is written now.
    pub(super) segment: Segment,
}

impl Writer {
    /// Writes entries, one record each and in this order: all of them durable, or none.
    pub(super) fn write(&mut self, entries: Vec<Entry>) -> Result<WrittenBatch, AuditError> {
        self.heal()?;
        self.rotate()?;
        let path = self.segment.path.clone();
        let at_ms = self.clock.now_ms();
        let mut tip = self.tip.clone();
        let mut text = Vec::new();
        let first_id = tip.id + 1 + u64::from(self.pending.is_some());
        for entry in self.pending.iter().cloned().chain(entries) {
            let (line, next) = chain::link(&tip, entry.into_record(at_ms)).map_err(AuditError)?;
            text.extend_from_slice(&line);
            text.push(b'\n');
            tip = next;
        }
        self.is_dirty = true;
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        let written = written.map_err(|error| files::failed("written", &path, &error));
        let headed = written.and_then(|()| {
            head::write(&self.dir, &tip).map_err(|error| files::failed("written", &self.dir.join(files::HEAD), &error))
        });
        if let Err(error) = headed {
            // What can't be taken back now is taken back before the next record.
            let _ = self.take_back();
            return Err(error);
        }
        self.is_dirty = false;
        self.pending = None;
        self.segment.bytes += text.len() as u64;
        self.tip = tip.clone();
        Ok(WrittenBatch { tip, first_id, segment: self.segment.clone() })
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.segment.bytes)?;
        self.is_dirty = false;
        Ok(())
    }

    /// Makes sure that the file at the path is ours and ends where our chain ends.
    fn heal(&mut self) -> Result<(), AuditError> {
        let path = self.segment.path.clone();
        let failed = |error: io::Error| files::failed("written", &path, &error);
        let there = std::fs::metadata(&path).map_err(failed)?;
        let ours = self.file.metadata().map_err(failed)?;
        if (there.dev(), there.ino()) != (ours.dev(), ours.ino()) {
            self.adopt()?;
        }
        let bytes = self.file.metadata().map_err(failed)?.len();
        if bytes > self.segment.bytes && self.is_dirty {
            return self.take_back().map_err(failed);
        }
        if bytes == self.segment.bytes {
            return Ok(());
        }
        Err(AuditError(format!(
            "the audit record {} has {bytes} bytes and not {}: something else wrote to it or cut it; put it back as it was, or start Lockscope again after `lockscope audit verify`",
            path.display(),
            self.segment.bytes
        )))
    }

    /// Goes on in another file at the path, when it ends exactly where ours does.
    fn adopt(&mut self) -> Result<(), AuditError> {
        let path = self.segment.path.clone();
        let failed = |error: io::Error| files::failed("written", &path, &error);
        let file = files::open_log(&self.dir).map_err(failed)?;
        let is_same = file.metadata().map_err(failed)?.len() == self.segment.bytes && {
            let line =
                ReverseLines::new(file.try_clone().map_err(failed)?, self.segment.bytes).previous().map_err(failed)?;
            line.is_none_or(|line| verify::ends_with(&self.tip, &line))
        };
        if !is_same {
            return Err(AuditError(format!(
                "the audit record {} is another file than before; put the right one back, or start Lockscope again",
                path.display()
            )));
        }
        self.file = file;
        Ok(())
    }

    /// Begins a new file when this one is full.
    fn rotate(&mut self) -> Result<(), AuditError> {
        if self.segment.bytes < self.rotate_bytes.max(1) {
            return Ok(());
        }
        let (path, full) = (self.segment.path.clone(), self.dir.join(files::full_name(self.segment.first_id)));
        let failed = |error: io::Error| files::failed("continued in a new file", &path, &error);
        std::fs::rename(&path, &full).map_err(failed)?;
        match files::open_log(&self.dir) {
            Ok(file) => self.file = file,
            Err(error) => {
                // Back, so that the next try finds everything as it was.
                let _ = std::fs::rename(&full, &path);
                return Err(failed(error));
            }
        }
        self.segment = Segment { path, first_id: self.tip.id + 1, bytes: 0 };
        Ok(())
    }
}

pub(super) fn torn_end(file: &File, whole: u64, torn: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(torn).unwrap_or(LINE_BYTES_MAX).min(LINE_BYTES_MAX)];
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, whole)?;
    Ok(bytes)
}
