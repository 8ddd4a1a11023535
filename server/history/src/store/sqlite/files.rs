//! The files of an ensemble: their names, and who may read them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) use super::super::day::{DAY_MS, Day};
use rustix::fs::OFlags;

use super::schema::Content;
use crate::store::StoreError;

/// Letters of an ensemble's name in the name of its directory; of a longer one the rest is a hash.
const NAME_MAX: usize = 80;
const CHUNKS: &str = ".db";
const ROWS: &str = ".rows.db";

impl Day {
    pub(super) fn file_name(self, content: Content) -> String {
        let (year, month, day) = self.date();
        format!("{year:04}-{month:02}-{day:02}{}", end(content))
    }

    /// The day of a file, by its name alone.
    pub(super) fn of_file(name: &str, content: Content) -> Option<Self> {
        let date = name.strip_suffix(end(content))?;
        let mut parts = date.rsplitn(3, '-').map(|part| part.parse::<i64>().ok());
        let (day, month, year) = (parts.next()??, parts.next()??, parts.next()??);
        let found = (0..=9_999).contains(&year).then(|| Self::of_date(year, month, day))?;
        // Only names that we would have given.
        (found.file_name(content) == name).then_some(found)
    }
}

fn end(content: Content) -> &'static str {
    match content {
        Content::Chunks => CHUNKS,
        Content::Rows => ROWS,
    }
}

/// The name of an ensemble as that of a directory: small letters, digits and `-_` stay, all other bytes are `%` and two
/// digits, so that no two names become one, on any file system, and none leads elsewhere.
pub(super) fn directory_name(ensemble: &str) -> String {
    let mut name = String::new();
    for byte in ensemble.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    if name.len() <= NAME_MAX && !name.is_empty() {
        return name;
    }
    // FNV-1a: a long name is told from another by all of it.
    let hash = ensemble
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    name.truncate(NAME_MAX - 20);
    format!("{name}~{hash:016x}")
}

/// How a file is called for as long as it takes to open it.
const UNNAMED: &str = ".unnamed";

/// A new file for a bundle, which only we may read.
pub(super) fn new_bundle(directory: &Path) -> Result<PathBuf, StoreError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("bundle-{}-{number}{UNNAMED}", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    made.map_err(|error| failed(&path, &error))?;
    Ok(path)
}

/// Removes what a process left that was killed while a bundle had its name still.
pub(super) fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let left = entries.filter_map(|entry| Some(entry.ok()?.path()));
    for path in left.filter(|path| path.to_string_lossy().ends_with(UNNAMED)) {
        // It is in nobody's way.
        let _ = std::fs::remove_file(path);
    }
}

/// Makes a directory that is ours alone.
pub(super) fn make_directory(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| failed(path, &error))
}

/// Takes the directory for this process; given back when the file is closed.
pub(super) fn take(directory: &Path) -> Result<File, StoreError> {
    let path = directory.join("writer");
    let file = own(&path).map_err(|error| failed(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::InUse(directory.display().to_string())),
        Err(std::fs::TryLockError::Error(error)) => Err(failed(&path, &error)),
    }
}

/// Opens a file that nobody else may read, made where it is missing. SQLite gives its files beside it the same rights. What is
/// there is never waited for, and of what has another name elsewhere the rights stay as they are.
pub(super) fn own(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.nlink() == 1 && metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Nothing but a file is opened as one, and nothing beside it either.
pub(super) fn check_regular(path: &Path) -> Result<(), StoreError> {
    let is_other = |part: &PathBuf| std::fs::symlink_metadata(part).is_ok_and(|metadata| !metadata.is_file());
    match with_companions(path).into_iter().find(is_other) {
        Some(other) => Err(StoreError::Damaged(format!("{} is no regular file", other.display()))),
        None => Ok(()),
    }
}

/// A file and what SQLite keeps beside it.
pub(super) fn with_companions(path: &Path) -> [PathBuf; 3] {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    [path.to_owned(), beside("-wal"), beside("-shm")]
}

pub(super) fn bytes(path: &Path) -> u64 {
    let of = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    with_companions(path).iter().map(of).sum()
}

/// Moves what can't be read out of the way and says why; nothing is thrown away. False: another look has done it.
pub(super) fn set_aside(path: &Path, why: &StoreError) -> Result<bool, StoreError> {
    let free = (0..1_000).map(|at| path.with_extension(format!("damaged-{at}"))).find(|path| !path.exists());
    let to = free.unwrap_or_else(|| path.with_extension("damaged"));
    match std::fs::rename(path, &to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        renamed => renamed.map_err(|error| failed(path, &error))?,
    }
    for (part, aside) in with_companions(path).into_iter().zip(with_companions(&to)).skip(1) {
        // What can't be removed is no file of SQLite's.
        let _ = std::fs::remove_file(&part).or_else(|_| std::fs::rename(&part, aside));
    }
    tracing::error!(file = %to.display(), %why, "a day of history can't be used and was set aside");
    Ok(true)
}

/// Days whose rows were set aside, and when, ms since the epoch: until then they lack what was in that file.
pub(super) fn rows_set_aside(directory: &Path) -> Vec<(Day, i64)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (date, _) = name.split_once(".rows.damaged")?;
        let day = Day::of_file(&format!("{date}{ROWS}"), Content::Rows)?;
        // A file that is renamed changes then, whenever it was written last.
        Some((day, entry.metadata().ok()?.ctime().saturating_mul(1_000).saturating_add(1_000)))
    });
    found.collect()
}

pub(super) fn failed(path: &Path, error: &io::Error) -> StoreError {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreError::Denied(text),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StoreError::Full(text)
        }
        _ => StoreError::Failed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_names() {
        for (ms, name) in [
            (0, "1970-01-01.db"),
            (-1, "1969-12-31.db"),
            (951_782_400_000, "2000-02-29.db"),
            (1_795_600_000_000, "2026-11-25.db"),
        ] {
            assert_eq!(Day::of(ms).file_name(Content::Chunks), name);
            assert_eq!(Day::of_file(name, Content::Chunks), Some(Day::of(ms)));
        }
        for day in (-100_000..400_000).step_by(17) {
            assert_eq!(Day::of_file(&Day(day).file_name(Content::Rows), Content::Rows), Some(Day(day)));
        }
        for name in
            ["2026-11-31.db", "2026-1-2.db", "x.db", "2026-11-25.db-wal", "../2026-11-25.db", "2026-11-25.rows.db"]
        {
            assert_eq!(Day::of_file(name, Content::Chunks), None, "{name}");
        }
    }

    #[test]
    fn hostile_names_stay_in_the_directory_and_apart() {
        assert_eq!(directory_name("prod-eu_1"), "prod-eu_1");
        assert_eq!(directory_name("../../etc"), "%2e%2e%2f%2e%2e%2fetc");
        let names = ["", ".", "..", "/", "A", "a", "%41", "é", "\0", "a/b", "a%2fb", "-", "\u{202e}x"];
        let long: Vec<String> = (0..3).map(|at| format!("{}{at}", "y".repeat(300))).collect();
        let all: Vec<&str> = names.into_iter().chain(long.iter().map(String::as_str)).collect();
        let made: std::collections::BTreeSet<String> =
            all.iter().map(|name| directory_name(name).to_lowercase()).collect();
        assert_eq!(made.len(), all.len());
        assert!(made.iter().all(|name| name.len() <= NAME_MAX && !name.contains(['/', '\0', '.']) && !name.is_empty()));
    }
}
