//! Several logs, woven: the records of one name the heads that it saw of others. So whoever owns the disk of one log can
//! neither cut it nor write it anew behind what the others have seen. Pure but for the reading of files.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lockscope_wire::AuditKind;
use serde::Deserialize;

use super::chain::{self, ChainHead};
use super::verify::{VerifiedLog, VerifyError, verify_dir};
use super::{Entry, copy_all, files, head};

/// Begins the detail of a record of heads.
const BEGIN: &str = "heads seen: ";
/// Heads that one record names; the text of one is bounded.
pub const HEADS_A_RECORD_MAX: usize = 8;

/// A head that one log noted of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeadNote {
    /// The replica whose log it is of.
    pub replica: String,
    /// Number of the record.
    pub id: u64,
    /// Its hash.
    pub hash: String,
}

/// Why several logs are not known to be whole together.
#[derive(Debug, thiserror::Error)]
pub enum WeaveError {
    /// One of them alone is not.
    #[error(transparent)]
    One(#[from] VerifyError),
    /// One saw what is in none.
    #[error(
        "record {by_id} of {} saw the log of {} end with record {} and the hash {}, and none of the logs has that: that log was cut or written anew, or is not among those that were named", by.display(), note.replica, note.id, note.hash
    )]
    Missing {
        /// The log that saw it.
        by: PathBuf,
        /// The record in it.
        by_id: u64,
        /// What it saw.
        note: HeadNote,
    },
}

#[derive(Deserialize)]
struct Noted {
    id: u64,
    kind: AuditKind,
    detail: String,
}

/// The record of some heads.
pub fn entry_of(notes: &[HeadNote]) -> Entry {
    let one = |note: &HeadNote| format!("{}={}:{}", note.replica, note.id, note.hash);
    let notes = notes.iter().take(HEADS_A_RECORD_MAX).map(one).collect::<Vec<_>>().join(", ");
    Entry::of_server(AuditKind::HeadsSeen, format!("{BEGIN}{notes}"))
}

/// The head of the log in a directory, as its head file has it; None where there is none.
///
/// # Errors
/// The system's word, or that the file is none.
pub fn head_of(dir: &Path) -> io::Result<Option<ChainHead>> {
    if dir.join(files::LOG).exists() { head::read(dir) } else { Ok(None) }
}

/// What a line of a log noted of others, with its number.
fn noted(line: &[u8]) -> Option<(u64, Vec<HeadNote>)> {
    let Noted { id, kind, detail } = serde_json::from_slice(line).ok()?;
    if kind != AuditKind::HeadsSeen {
        return None;
    }
    let one = |text: &str| {
        let (replica, head) = text.split_once('=')?;
        let (number, hash) = head.split_once(':')?;
        let is_hash = chain::is_hash(hash);
        is_hash.then_some(HeadNote { replica: replica.to_owned(), id: number.parse().ok()?, hash: hash.to_owned() })
    };
    Some((id, detail.strip_prefix(BEGIN)?.split(", ").filter_map(one).collect()))
}

/// What lines hold: hashes by number, and what they noted.
#[derive(Debug, Default)]
struct Woven {
    heads: BTreeSet<(u64, String)>,
    notes: Vec<(u64, HeadNote)>,
    /// The beginning of a line that has not ended.
    rest: Vec<u8>,
}

impl Woven {
    fn take(&mut self, line: &[u8]) {
        if let (Some(id), Some(hash)) = (chain::number_of(line), chain::hash_at_end(line)) {
            self.heads.insert((id, hash.to_owned()));
        }
        if let Some((id, notes)) = noted(line) {
            self.notes.extend(notes.into_iter().map(|note| (id, note)));
        }
    }
}

impl Write for Woven {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.take(line.strip_suffix(b"\n").unwrap_or(&line));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first note of which no log has the head: whose it is, by position, and in which record.
fn missing(logs: &[Woven]) -> Option<(usize, u64, &HeadNote)> {
    let is_there = |note: &HeadNote| logs.iter().any(|log| log.heads.contains(&(note.id, note.hash.clone())));
    let notes = logs.iter().enumerate().flat_map(|(at, log)| log.notes.iter().map(move |(id, note)| (at, *id, note)));
    notes.into_iter().find(|(_, _, note)| !is_there(note))
}

/// Verifies the logs in some directories, each alone and then against what the others saw of it. With each, how many heads
/// it noted.
///
/// # Errors
/// Where one breaks, or what one saw and none has.
pub fn verify_dirs(dirs: &[PathBuf]) -> Result<Vec<(VerifiedLog, usize)>, WeaveError> {
    let (whole, mut logs) = read_all(dirs)?;
    if missing(&logs).is_some() {
        // Servers may write meanwhile: what one noted is in the other's log by now.
        let (_, again) = read_all(dirs)?;
        for (log, again) in logs.iter_mut().zip(again) {
            log.heads = again.heads;
        }
    }
    match missing(&logs) {
        Some((at, by_id, note)) => {
            let by = dirs.get(at).cloned().unwrap_or_default();
            Err(WeaveError::Missing { by, by_id, note: note.clone() })
        }
        None => Ok(whole.into_iter().zip(logs.iter().map(|log| log.notes.len())).collect()),
    }
}

/// Each log, verified alone, and what it holds.
fn read_all(dirs: &[PathBuf]) -> Result<(Vec<VerifiedLog>, Vec<Woven>), VerifyError> {
    let (mut whole, mut logs) = (Vec::with_capacity(dirs.len()), Vec::with_capacity(dirs.len()));
    for dir in dirs {
        let verified = verify_dir(dir, None)?;
        let mut log = Woven::default();
        copy_all(dir, &verified, &mut log).map_err(|error| VerifyError::Io { file: dir.clone(), error })?;
        whole.push(verified);
        logs.push(log);
    }
    Ok((whole, logs))
}

#[cfg(test)]
#[path = "weave_tests.rs"]
mod tests;
