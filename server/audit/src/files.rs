//! The files of a log: what they are called, and how they are made so that nobody else reads them.
//!
//! `audit.log` is written; when it is full it becomes `audit-<number of its first record>.log` and the chain goes on in
//! a new one. `audit.head` names the end, `audit.lock` is held by the server that writes, and `audit.log.torn-<n>` is
//! what a crash left of a line.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::AuditError;

/// The file that is written.
pub const LOG: &str = "audit.log";
/// Where the chain ends.
pub const HEAD: &str = "audit.head";
const LOCK: &str = "audit.lock";
/// For the owner only.
const MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;
/// Bytes of a small file at most; it has about a hundred.
const SMALL_BYTES_MAX: u64 = 1_024;
/// Torn ends that are kept before somebody has to look at them.
const TORN_MAX: u32 = 1_000;

/// What a full file is called; the digits make names sort like records.
pub fn full_name(first_id: u64) -> String {
    format!("audit-{first_id:012}.log")
}

pub(super) fn first_id_of(name: &str) -> Option<u64> {
    let id = name.strip_prefix("audit-")?.strip_suffix(".log")?.parse().ok()?;
    (full_name(id) == name).then_some(id)
}

pub(super) fn failed(what: &str, path: &Path, error: &io::Error) -> AuditError {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on that disk",
        io::ErrorKind::FileTooLarge => "raise the limit on the size of files",
        io::ErrorKind::ReadOnlyFilesystem => "make that disk writable, or name another directory with --data-dir",
        io::ErrorKind::PermissionDenied => {
            "let the user that runs Lockscope read and write there, or name another directory with --data-dir"
        }
        io::ErrorKind::NotFound => "put it back, or start Lockscope again",
        _ => "look at that disk",
    };
    AuditError(format!("the audit record {} can't be {what} ({error}); {remedy}", path.display()))
}

pub(super) fn make_dir(dir: &Path) -> Result<(), AuditError> {
    DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir).map_err(|error| {
        AuditError(format!(
            "--data-dir {} can't be made ({error}); name a directory in which Lockscope may write",
            dir.display()
        ))
    })
}

/// Takes the directory for one server. The lock ends with the file handle, also when the process is killed.
pub(super) fn take(dir: &Path) -> Result<File, AuditError> {
    let path = dir.join(LOCK);
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(MODE).open(&path);
    let file = file.map_err(|error| failed("locked", &path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(AuditError(format!(
            "the audit record in {} is written by another Lockscope; stop that one, or name another directory with --data-dir",
            dir.display()
        ))),
        Err(std::fs::TryLockError::Error(error)) => Err(failed("locked", &path, &error)),
    }
}

/// Opens the file that is written, at its end.
pub(super) fn open_log(dir: &Path) -> io::Result<File> {
    let path = dir.join(LOG);
    let is_new = !path.try_exists()?;
    let file = OpenOptions::new().create(true).append(true).read(true).mode(MODE).open(&path)?;
    if file.metadata()?.permissions().mode() & 0o777 != MODE {
        file.set_permissions(std::fs::Permissions::from_mode(MODE))?;
    }
    if is_new {
        sync_dir(dir)?;
    }
    Ok(file)
}

/// Makes names in a directory durable.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// What a small file holds, of which no more is read than it can have; None when there is none.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => io::Read::read_to_end(&mut io::Read::take(file, SMALL_BYTES_MAX), &mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(bytes))
}

/// Writes a small file so that there is the old one or the new one, and never half of one.
pub(super) fn replace(dir: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let new = dir.join(format!("{name}.new"));
    let written = (|| {
        let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(MODE).open(&new)?;
        io::Write::write_all(&mut file, text)?;
        file.sync_data()?;
        std::fs::rename(&new, dir.join(name))
    })();
    if written.is_err() {
        // It may hold the room that is missing. What can't be removed is written over the next time.
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// Keeps what a crash left of a line, and gives the file it is in.
pub(super) fn keep_torn(dir: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1..=TORN_MAX {
        let path = dir.join(format!("{LOG}.torn-{number}"));
        match OpenOptions::new().create_new(true).write(true).mode(MODE).open(&path) {
            Ok(mut file) => {
                io::Write::write_all(&mut file, bytes)?;
                file.sync_all()?;
                sync_dir(dir)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{TORN_MAX} torn ends are kept already; move them away")))
}
