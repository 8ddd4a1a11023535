//! Runs that have ended: the newest in memory, and in files when there is a directory for them, so that a link to a run
//! survives a restart.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockscope_view::LabRun;
use parking_lot::Mutex;

/// Runs that are kept in memory; the oldest goes.
pub const RUNS_MAX: usize = 20;
/// Runs that are kept as files; the oldest goes.
pub const FILES_MAX: usize = 100;
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// For the owner only.
const MODE: u32 = 0o600;
const ID_DIGITS: usize = 16;

/// Runs that have ended.
#[derive(Debug)]
pub(super) struct RunStore {
    /// Newest first.
    runs: Mutex<VecDeque<Arc<LabRun>>>,
    folder: Option<PathBuf>,
}

/// Whether this can be the id of a run, and so a name of a file.
pub(super) fn is_id(id: &str) -> bool {
    id.len() == ID_DIGITS && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl RunStore {
    /// Reads what is there. A file that can't be read is left alone.
    pub(super) fn open(directory: Option<&Path>) -> Self {
        let folder = directory.map(|directory| directory.join("lab"));
        let mut runs: Vec<LabRun> = folder
            .as_deref()
            .map(files)
            .unwrap_or_default()
            .iter()
            .take(RUNS_MAX)
            .filter_map(|path| read(path))
            .collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.ordered_at_ms));
        Self { runs: Mutex::new(runs.into_iter().map(Arc::new).collect()), folder }
    }

    /// Those in memory, newest first.
    pub(super) fn all(&self) -> Vec<Arc<LabRun>> {
        self.runs.lock().iter().cloned().collect()
    }

    /// One of them, or of the files.
    pub(super) fn get(&self, id: &str) -> Option<Arc<LabRun>> {
        if !is_id(id) {
            return None;
        }
        let kept = self.runs.lock().iter().find(|run| run.id == id).cloned();
        kept.or_else(|| Some(Arc::new(read(&self.folder.as_ref()?.join(format!("{id}.json")))?)))
    }

    pub(super) fn keep(&self, run: Arc<LabRun>) {
        {
            let mut runs = self.runs.lock();
            runs.push_front(Arc::clone(&run));
            runs.truncate(RUNS_MAX);
        }
        let Some(folder) = &self.folder else { return };
        if let Err(error) = write(folder, &run) {
            tracing::warn!(folder = %folder.display(), %error, "a finished run of the lab could not be kept as a file; its link ends with this server");
            return;
        }
        for old in files(folder).iter().skip(FILES_MAX) {
            // What can't be removed now is tried again with the next run.
            let _ = fs::remove_file(old);
        }
    }
}

/// Files of runs, newest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_run =
                path.extension().is_some_and(|extension| extension == "json") && is_id(path.file_stem()?.to_str()?);
            is_run.then_some((fs::metadata(&path).ok()?.modified().ok()?, path))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

fn read(path: &Path) -> Option<LabRun> {
    let is_fit = fs::metadata(path).is_ok_and(|told| told.is_file() && told.len() <= FILE_BYTES_MAX);
    let run: LabRun = serde_json::from_slice(&is_fit.then(|| fs::read(path).ok())??).ok()?;
    (path.file_stem()?.to_str()? == run.id).then_some(run)
}

/// There is the whole file or none.
fn write(folder: &Path, run: &LabRun) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let new = folder.join(format!("{}.json.new", run.id));
    let text = serde_json::to_vec(run)?;
    let written = (|| {
        let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(MODE).open(&new)?;
        file.write_all(&text)?;
        file.sync_data()?;
        fs::rename(&new, folder.join(format!("{}.json", run.id)))
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests;
