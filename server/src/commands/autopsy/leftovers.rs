//! Temporary directories and files that killed processes left behind: removed by the next one.

use std::fs;
use std::path::Path;

const PREFIX: &str = "lockscope-autopsy-";

/// How the name of what a process makes for itself begins.
pub(super) fn prefix(process: u32) -> String {
    format!("{PREFIX}{process}-")
}

/// Removes those of processes that are gone. Only where the system says which processes there are.
pub(super) fn remove(folder: &Path) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
            // Somebody else's can't be removed, and is no harm.
            let path = entry.path();
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_belongs_to_nobody_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: String| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (own, other) = (make(format!("{}x", prefix(std::process::id()))), make("lockscope-autopsy-x-y".to_owned()));
        let left = make(format!("{}x", prefix(u32::MAX)));
        let part = folder.path().join(format!("{}y", prefix(u32::MAX)));
        fs::write(&part, "half").unwrap();
        remove(folder.path());
        assert!(own.exists() && other.exists() && !left.exists() && !part.exists());
    }
}
