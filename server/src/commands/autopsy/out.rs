//! Where the rebuilt history goes: nowhere, into a directory, or into one file that is whole from its first moment on.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use lockscope_autopsy::{Autopsy, Coverage};
use lockscope_history::historian::HistoryHandle;
use tempfile::{NamedTempFile, TempPath};

use super::leftovers;
use crate::config::ConfigError;
use crate::error::RunError;

/// How the name of a file ends that the history is written to; any other name is that of a directory.
const FILE_END: &str = "db";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Out {
    /// It is removed in the end.
    Temporary,
    /// A directory, as a server has it.
    Directory(PathBuf),
    File(PathBuf),
}

impl Out {
    /// As it was named, and can be made; never among the logs.
    pub(super) fn new(named: Option<&Path>, logs: &[PathBuf]) -> Result<Self, ConfigError> {
        let Some(named) = named else { return Ok(Self::Temporary) };
        let (shown, is_file) = (named.display(), named.extension() == Some(OsStr::new(FILE_END)));
        if is_file && named.symlink_metadata().is_ok() {
            return Err(ConfigError(format!("--out {shown} exists already; name a file that does not, or remove it")));
        }
        if named.is_file() {
            return Err(ConfigError(format!(
                "--out {shown} is a file; name a directory, or a new file that ends in .{FILE_END}"
            )));
        }
        if let Some(logs) = logs.iter().find(|logs| is_inside(named, logs)) {
            return Err(ConfigError(format!(
                "--out {shown} is in {}, which is only read; name a place outside of it",
                logs.display()
            )));
        }
        if !is_file {
            return Ok(Self::Directory(named.to_owned()));
        }
        leftovers::remove(folder(named));
        // Known before hours are spent on reading. This one never has a name.
        tempfile::tempfile_in(folder(named)).map_err(|error| unwritable(named, &error))?;
        Ok(Self::File(named.to_owned()))
    }
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a path is in a directory, or would be once it is made.
fn is_inside(path: &Path, directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    let there = path
        .ancestors()
        .find_map(|part| if part.as_os_str().is_empty() { Path::new(".") } else { part }.canonicalize().ok());
    there.is_some_and(|there| there.starts_with(directory))
}

fn unwritable(file: &Path, error: &io::Error) -> ConfigError {
    let remedy = match error.kind() {
        io::ErrorKind::AlreadyExists => "name a file that does not exist, or remove it",
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "make its directory first, or name another",
        _ => "name a file in a directory that can be written, where there is room",
    };
    ConfigError(format!("--out {} can't be written ({error}); {remedy}", file.display()))
}

/// Writes a history as one file that only its user may read. It has another name until it is whole; whoever stops waiting
/// removes it, and what a killed process left is removed by the next one.
pub(super) async fn write(autopsy: &Autopsy, to: &Path) -> Result<(), RunError> {
    let part = tempfile::Builder::new().prefix(&leftovers::prefix(std::process::id())).tempfile_in(folder(to));
    let (file, name): (File, TempPath) = part.map(NamedTempFile::into_parts).map_err(|error| unwritable(to, &error))?;
    let (history, coverage) = (autopsy.history.clone(), autopsy.report.coverage.clone());
    let filled = tokio::task::spawn_blocking(move || fill(&history, &coverage, file)).await;
    filled.map_err(|error| RunError::Internal(format!("the history could not be written: {error}")))?.map_err(
        |error| match error {
            FillError::Bundle(why) => RunError::Unavailable(why),
            FillError::File(error) => unwritable(to, &error).into(),
        },
    )?;
    name.persist_noclobber(to).map_err(|error| unwritable(to, &error.error))?;
    Ok(())
}

enum FillError {
    Bundle(String),
    File(io::Error),
}

fn fill(history: &HistoryHandle, coverage: &Coverage, mut file: File) -> Result<(), FillError> {
    let mut bundle =
        lockscope_autopsy::bundle(history, coverage).map_err(|error| FillError::Bundle(error.to_string()))?;
    io::copy(&mut bundle, &mut file).map_err(FillError::File)?;
    file.sync_all().map_err(FillError::File)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn refused(named: &Path, logs: &[PathBuf]) -> String {
        Out::new(Some(named), logs).map_err(|error| error.to_string()).unwrap_err()
    }

    #[test]
    fn what_is_there_stays_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let there = place.path().join("there.db");
        fs::write(&there, "something").unwrap();
        let why = refused(&there, &[]);
        assert!(why.contains("there.db exists already; name a file that does not, or remove it"), "{why}");
        std::os::unix::fs::symlink(place.path().join("nowhere"), place.path().join("link.db")).unwrap();
        assert!(refused(&place.path().join("link.db"), &[]).contains("exists already"));
        fs::create_dir(place.path().join("folder.db")).unwrap();
        assert!(refused(&place.path().join("folder.db"), &[]).contains("exists already"));
        fs::write(place.path().join("plain"), "something").unwrap();
        assert!(refused(&place.path().join("plain"), &[]).contains("is a file; name a directory, or a new file"));
        assert_eq!(fs::read(&there).unwrap(), b"something");
    }

    #[test]
    fn it_has_to_have_a_place_and_that_is_not_among_the_logs() {
        let place = tempfile::tempdir().unwrap();
        let logs = place.path().join("data");
        fs::create_dir_all(logs.join("version-2")).unwrap();
        std::os::unix::fs::symlink(&logs, place.path().join("link")).unwrap();
        let all = [logs.clone()];
        for inside in ["data/out.db", "data/version-2/out.db", "link/out.db", "data/out", "data/new/out"] {
            let why = refused(&place.path().join(inside), &all);
            assert!(why.contains("is only read; name a place outside of it"), "{inside}: {why}");
        }
        let why = refused(&place.path().join("missing/out.db"), &all);
        assert!(why.contains("can't be written") && why.contains("make its directory first"), "{why}");
        let out = place.path().join("out.db");
        assert_eq!(Out::new(Some(&out), &all), Ok(Out::File(out.clone())));
        assert!(!out.exists(), "it comes to be when it is whole");
        let out = place.path().join("database");
        assert_eq!(Out::new(Some(&out), &all), Ok(Out::Directory(out.clone())));
        assert_eq!(Out::new(None, &all), Ok(Out::Temporary));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing is left");
    }
}
