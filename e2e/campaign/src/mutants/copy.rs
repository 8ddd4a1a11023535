//! The copy of the sources that is changed: a folder of its own, so that nobody's work is touched. A file is written only
//! where it differs, so that cargo compiles again what differs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What cargo needs of the sources; tests read documents. Without `.cargo`: the copy is below the sources, so theirs holds.
const PARTS: [&str; 9] =
    ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "app", "docs", "e2e", "server", "public", "style"];

/// The copy.
#[derive(Debug)]
pub(super) struct Copy {
    folder: PathBuf,
}

impl Copy {
    /// Makes it, or brings it up to date, in the sources' target folder.
    pub(super) fn of(root: &Path) -> Result<Self, String> {
        let copy = Self { folder: root.join("target/mutants") };
        copy.fill(root)
            .map_err(|error| format!("the sources can't be copied to {}: {error}", copy.folder.display()))?;
        Ok(copy)
    }

    pub(super) fn sources(&self) -> PathBuf {
        self.folder.join("sources")
    }

    pub(super) fn target(&self) -> PathBuf {
        self.folder.join("target")
    }

    /// Puts another text in a file's place, and gives the one before.
    pub(super) fn change(&self, file: &str, text: &str) -> Result<String, String> {
        let path = self.sources().join(file);
        let failed = |error| format!("{}: {error}", path.display());
        let before = fs::read_to_string(&path).map_err(failed)?;
        fs::write(&path, text).map_err(failed)?;
        Ok(before)
    }

    fn fill(&self, root: &Path) -> IoResult<()> {
        let tracked = tracked(root)?;
        let sources = self.sources();
        fs::create_dir_all(&sources)?;
        remove_others(&sources, &sources, &tracked)?;
        for file in &tracked {
            let (text, to) = (fs::read(root.join(file))?, sources.join(file));
            if fs::read(&to).is_ok_and(|there| there == text) {
                continue;
            }
            to.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&to, text)?;
        }
        Ok(())
    }
}

/// Files that git knows, and that are there.
fn tracked(root: &Path) -> IoResult<BTreeSet<PathBuf>> {
    let listed = Command::new("git").args(["ls-files", "-z", "--"]).args(PARTS).current_dir(root).output()?;
    if !listed.status.success() {
        return Err(Error::new(ErrorKind::NotFound, String::from_utf8_lossy(&listed.stderr).into_owned()));
    }
    let names = String::from_utf8_lossy(&listed.stdout);
    Ok(names.split('\0').filter(|name| !name.is_empty() && root.join(name).is_file()).map(PathBuf::from).collect())
}

/// What was removed or renamed since the last time would be compiled still.
fn remove_others(folder: &Path, sources: &Path, tracked: &BTreeSet<PathBuf>) -> IoResult<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, sources, tracked)?;
        } else if path.strip_prefix(sources).is_ok_and(|name| !tracked.contains(name)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
