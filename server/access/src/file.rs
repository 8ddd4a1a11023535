//! Small files in the data directory: read whole, replaced whole, never seen half written. Knows nothing of what is in
//! them.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::AccessError;

/// A larger file is not one of ours.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// What distinguishes one state of a file from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    len: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// The state of a file now; None when there is none, or it can't be read.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|meta| Self {
            len: meta.len(),
            inode: meta.ino(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}

/// Reads a list; an absent file is an empty one.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, AccessError> {
    let fault = |why: String, remedy: &str| AccessError(format!("{} {why}; {remedy}", path.display()));
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(|error| {
            fault(format!("can't be read ({error})"), "give the file to the user that Lockscope runs as")
        })?,
    };
    let meta = file.metadata().map_err(|error| fault(format!("can't be read ({error})"), "check the disk"))?;
    check(&meta).map_err(|(why, remedy)| fault(why, &remedy.replace("FILE", &path.display().to_string())))?;
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| {
        fault(format!("can't be read ({error})"), "restore it from a copy, or remove it and make its entries anew")
    })?;
    // What serde says may quote the file, and hashes are in it.
    let place = |error: serde_json::Error| {
        format!("is not what Lockscope wrote (line {}, column {})", error.line(), error.column())
    };
    serde_json::from_str(&text)
        .map_err(|error| fault(place(error), "restore it from a copy, or remove it and make its entries anew"))
}

fn check(meta: &Metadata) -> Result<(), (String, &'static str)> {
    if !meta.is_file() {
        return Err(("is no file".to_owned(), "move it away"));
    }
    if meta.len() > FILE_BYTES_MAX {
        return Err((format!("has {} bytes", meta.len()), "restore it from a copy"));
    }
    if meta.mode() & OTHERS_WRITE != 0 {
        return Err(("may be written by others, who could let themselves in".to_owned(), "run `chmod 600 FILE`"));
    }
    Ok(())
}

/// Changes a list under a lock, so that two commands at once lose nothing, and replaces the file in one step that
/// survives a loss of power.
pub(super) fn edit<T, R>(
    dir: &Path,
    name: &str,
    change: impl FnOnce(&mut Vec<T>) -> Result<R, AccessError>,
) -> Result<R, AccessError>
where
    T: Serialize + DeserializeOwned,
{
    let fault = |error: io::Error| {
        AccessError(format!("{name} in {} can't be written ({error}); choose another --data-dir", dir.display()))
    };
    create_dir(dir).map_err(fault)?;
    let guard = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(dir.join(format!("{name}.lock")))
        .map_err(fault)?;
    guard.lock().map_err(fault)?;
    let path = dir.join(name);
    let mut list = read(&path)?;
    let result = change(&mut list)?;
    let text = serde_json::to_vec_pretty(&list).map_err(|error| fault(error.into()))?;
    replace(dir, &path, &text).map_err(fault)?;
    Ok(result)
}

/// The directory, for its owner only.
pub(super) fn create_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Replaces a file in one step that survives a loss of power; for its owner only.
pub(super) fn replace(dir: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    // Made with mode 0600.
    let mut fresh = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    fresh.write_all(text)?;
    fresh.write_all(b"\n")?;
    fresh.as_file().sync_all()?;
    fresh.persist(path).map_err(|error| error.error)?;
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn push(dir: &Path, value: u32) -> Result<(), AccessError> {
        edit(dir, "list.json", |list: &mut Vec<u32>| {
            list.push(value);
            Ok(())
        })
    }

    #[test]
    fn edits_at_once_lose_nothing_and_the_file_is_private() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("a/b");
        std::thread::scope(|scope| {
            for at in 0..8 {
                let dir = &dir;
                scope.spawn(move || (0..10).for_each(|step| push(dir, at * 10 + step).unwrap()));
            }
        });
        let mut list: Vec<u32> = read(&dir.join("list.json")).unwrap();
        list.sort_unstable();
        assert_eq!(list, (0..80).collect::<Vec<_>>());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join("list.json"))), (0o700, 0o600));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2, "only the file and its lock are left");
    }

    #[test]
    fn what_others_may_write_or_is_no_list_is_refused_without_being_quoted() {
        let dir = tempfile::tempdir().unwrap();
        push(dir.path(), 1).unwrap();
        let path = dir.path().join("list.json");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).unwrap();
        assert!(read::<u32>(&path).unwrap_err().0.contains("may be written by others"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "[\"canary\"]").unwrap();
        let error = read::<u32>(&path).unwrap_err().0;
        assert!(error.contains("is not what Lockscope wrote (line 1") && !error.contains("canary"), "{error}");
        assert!(push(dir.path(), 2).is_err(), "what can't be read is not overwritten");
    }
}
