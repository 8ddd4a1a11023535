//! Verifies the files of a log from the first record to the last, reading each line once.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::chain::{self, BrokenChain, ChainHead, LINE_BYTES_MAX, Verifier};
use super::requests::Requests;
use super::{files, head};

/// A file of the log, as far as it is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub path: PathBuf,
    /// Its first record, or the one that would be.
    pub first_id: u64,
    /// Bytes of whole lines.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedLog {
    /// Where it ends; its number is how many records there are.
    pub tip: ChainHead,
    /// The files in order; the one that is written last, if it is there.
    pub segments: Vec<Segment>,
    /// Bytes of a line that a crash cut, at the very end.
    pub torn_bytes: u64,
    /// The record with the hash that was noted elsewhere.
    pub anchored: Option<u64>,
    /// Requests without an outcome, and the latest that have one.
    pub requests: Requests,
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("there is no audit record in {dir}; name the directory that `serve` was given with --data-dir")]
    None { dir: PathBuf },
    #[error("{} is broken at {broken}", file.display())]
    Line { file: PathBuf, broken: BrokenChain },
    /// The files do not fit together, or the end is not the noted one.
    #[error("{} is broken: {why}", file.display())]
    Files { file: PathBuf, why: String },
    #[error("{} can't be read ({error}); read it as the user that runs the server", file.display())]
    Io { file: PathBuf, error: io::Error },
}

/// Verifies the log in a directory, against its head file and, if given, a hash that was noted elsewhere.
///
/// # Errors
/// Where it breaks.
pub fn verify_dir(dir: &Path, anchor: Option<&str>) -> Result<VerifiedLog, VerifyError> {
    // First the head: a server may write meanwhile, and the log is never behind it.
    let head_path = dir.join(files::HEAD);
    let head = head::read(dir).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => VerifyError::Files { file: head_path.clone(), why: error.to_string() },
        _ => VerifyError::Io { file: head_path.clone(), error },
    })?;
    let mut walk = Walk {
        verifier: Verifier::default(),
        anchor,
        head: head.as_ref(),
        anchored: None,
        is_head_met: false,
        requests: Requests::default(),
    };
    let mut segments = Vec::new();
    let mut torn_bytes = 0;
    loop {
        let first_id = walk.verifier.tip().id + 1;
        let Some((path, file, is_last)) = next_file(dir, first_id)? else { break };
        let (bytes, torn) = walk.file(&path, file)?;
        if !is_last && (torn > 0 || walk.verifier.tip().id < first_id) {
            return Err(VerifyError::Files {
                file: path,
                why: "a full file ends in the middle of a line, or is empty: it was cut".to_owned(),
            });
        }
        segments.push(Segment { path, first_id, bytes });
        torn_bytes = torn;
        if is_last {
            break;
        }
    }
    let tip = walk.verifier.tip().clone();
    check_head(head.as_ref(), &tip, walk.is_head_met, head_path, segments.is_empty(), dir)?;
    check_strays(dir, &segments, tip.id)?;
    if let Some(anchor) = anchor.filter(|_| walk.anchored.is_none()) {
        let why = format!(
            "no record has the hash {anchor}: what was noted is not in this log, so it was cut or written anew"
        );
        return Err(VerifyError::Files { file: dir.join(files::LOG), why });
    }
    Ok(VerifiedLog { tip, segments, torn_bytes, anchored: walk.anchored, requests: walk.requests })
}

/// The file that begins with a record: a full one, or the one that is written (true), or none.
fn next_file(dir: &Path, first_id: u64) -> Result<Option<(PathBuf, File, bool)>, VerifyError> {
    let full = dir.join(files::full_name(first_id));
    if let Some(file) = open(&full)? {
        return Ok(Some((full, file, false)));
    }
    let last = dir.join(files::LOG);
    let file = open(&last)?;
    // The log may have become full in between.
    if let Some(file) = open(&full)? {
        return Ok(Some((full, file, false)));
    }
    Ok(file.map(|file| (last, file, true)))
}

fn open(path: &Path) -> Result<Option<File>, VerifyError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(VerifyError::Io { file: path.to_owned(), error }),
    }
}

struct Walk<'a> {
    verifier: Verifier,
    anchor: Option<&'a str>,
    head: Option<&'a ChainHead>,
    anchored: Option<u64>,
    is_head_met: bool,
    requests: Requests,
}

impl Walk<'_> {
    /// Bytes of whole lines, and of a torn one after them.
    fn file(&mut self, path: &Path, file: File) -> Result<(u64, u64), VerifyError> {
        self.verifier = Verifier::after(self.verifier.tip().clone());
        let broken = |broken| VerifyError::Line { file: path.to_owned(), broken };
        let mut reader = BufReader::with_capacity(LINE_BYTES_MAX, file);
        let mut line = Vec::new();
        let mut bytes = 0;
        loop {
            line.clear();
            let limit = LINE_BYTES_MAX as u64 + 1;
            let read = io::Read::take(&mut reader, limit).read_until(b'\n', &mut line);
            let read = read.map_err(|error| VerifyError::Io { file: path.to_owned(), error })? as u64;
            if line.pop_if(|last| *last == b'\n').is_none() {
                if read < limit {
                    return Ok((bytes, read));
                }
                return Err(broken(self.verifier.broken_next(format!("it is longer than {LINE_BYTES_MAX} bytes"))));
            }
            self.verifier.take(&line).map_err(broken)?;
            bytes += read;
            self.note();
            self.requests.take(&line);
        }
    }

    fn note(&mut self) {
        let tip = self.verifier.tip();
        if self.anchor == Some(tip.hash.as_str()) {
            self.anchored = Some(tip.id);
        }
        self.is_head_met |= self.head == Some(tip);
    }
}

fn check_head(
    head: Option<&ChainHead>,
    tip: &ChainHead,
    is_met: bool,
    file: PathBuf,
    is_bare: bool,
    dir: &Path,
) -> Result<(), VerifyError> {
    let why = match head {
        None if is_bare => return Err(VerifyError::None { dir: dir.to_owned() }),
        // A crash between the very first record and its head.
        None if tip.id <= 1 => return Ok(()),
        None => "it is missing, so a cut at the end of the log could not be seen".to_owned(),
        Some(_) if is_met => return Ok(()),
        Some(head) if head.id > tip.id => {
            format!("it names record {} as written, and the log ends with record {}: the log was cut", head.id, tip.id)
        }
        Some(head) => {
            format!("its hash is not that of record {}: the log was written anew, or this file was changed", head.id)
        }
    };
    Err(VerifyError::Files { file, why })
}

/// Files that are named like full ones and are no part of the chain.
fn check_strays(dir: &Path, segments: &[Segment], last_id: u64) -> Result<(), VerifyError> {
    let io = |error| VerifyError::Io { file: dir.to_owned(), error };
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name();
        let Some(first_id) = name.to_str().and_then(files::first_id_of) else { continue };
        // A later one was made while this was read.
        if first_id <= last_id && !segments.iter().any(|segment| segment.path.file_name() == Some(&name)) {
            let is_last = segments.last().is_some_and(|last| last.first_id == first_id);
            if !is_last {
                return Err(VerifyError::Files {
                    file: entry.path(),
                    why: "the chain does not go through it; it was put there".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// The last line of whole ones in a file, for a look at its end.
pub(super) fn ends_with(tip: &ChainHead, line: &[u8]) -> bool {
    chain::number_of(line) == Some(tip.id) && chain::hash_at_end(line) == Some(tip.hash.as_str())
}
