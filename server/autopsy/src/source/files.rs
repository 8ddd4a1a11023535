//! The files of a member: which there are, in the order of their transactions.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Where ZooKeeper keeps them below its data directory.
const FOLDER: &str = "version-2";
/// Entries of a directory that are looked at. Overflow policy: it is refused.
const ENTRIES_MAX: usize = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogFile {
    /// Its first transaction, by its name.
    pub first_zxid: i64,
    pub path: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnapshotFile {
    /// Everything up to this transaction is in it, by its name.
    pub zxid: i64,
    pub path: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberFiles {
    /// What was named.
    pub directory: PathBuf,
    /// Its logs, the oldest first.
    pub logs: Vec<LogFile>,
    /// Its snapshots, the oldest first.
    pub snapshots: Vec<SnapshotFile>,
}

impl MemberFiles {
    /// Looks for them in a data directory or its `version-2`, or both: logs may have a directory of their own.
    ///
    /// # Errors
    /// The directory can't be read.
    pub fn find(directory: &Path) -> io::Result<Self> {
        let mut found = Self { directory: directory.to_owned(), ..Self::default() };
        found.take(directory)?;
        let below = directory.join(FOLDER);
        if below.is_dir() {
            found.take(&below)?;
        }
        found.logs.sort_unstable();
        found.snapshots.sort_unstable();
        Ok(found)
    }

    pub fn is_empty(&self) -> bool {
        self.logs.is_empty() && self.snapshots.is_empty()
    }

    fn take(&mut self, directory: &Path) -> io::Result<()> {
        for (at, entry) in fs::read_dir(directory)?.enumerate() {
            if at >= ENTRIES_MAX {
                return Err(io::Error::other(format!("more than {ENTRIES_MAX} files are in it")));
            }
            let path = entry?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if let Some(first_zxid) = number(name, "log.") {
                self.logs.push(LogFile { first_zxid, path });
            } else if let Some(zxid) = number(name, "snapshot.") {
                self.snapshots.push(SnapshotFile { zxid, path });
            }
        }
        Ok(())
    }
}

/// The number behind a name's beginning; only names that ZooKeeper gives, or who archived what it wrote.
fn number(name: &str, begin: &str) -> Option<i64> {
    let rest = name.strip_prefix(begin)?;
    let hex = rest.strip_suffix(".gz").or_else(|| rest.strip_suffix(".snappy")).unwrap_or(rest);
    let is_plain = !hex.is_empty() && hex.len() <= 16 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_plain.then(|| u64::from_str_radix(hex, 16).ok().map(u64::cast_signed)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_zookeeper_gives_are_files_of_a_member() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join(FOLDER);
        fs::create_dir(&below).unwrap();
        for name in [
            "log.2",
            "log.1f",
            "snapshot.0",
            "snapshot.1e",
            "snapshot.20.gz",
            "log.gz",
            "log.30.gz",
            "acceptedEpoch",
            "log.-1",
        ] {
            fs::write(below.join(name), "").unwrap();
        }
        for named in [folder.path(), &below] {
            let found = MemberFiles::find(named).unwrap();
            assert_eq!(found.logs.iter().map(|log| log.first_zxid).collect::<Vec<_>>(), [2, 0x1f, 0x30]);
            assert_eq!(found.snapshots.iter().map(|file| file.zxid).collect::<Vec<_>>(), [0, 0x1e, 0x20]);
        }
        assert!(MemberFiles::find(&folder.path().join("missing")).is_err());
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert!(MemberFiles::find(&folder.path().join("empty")).unwrap().is_empty());
    }
}
