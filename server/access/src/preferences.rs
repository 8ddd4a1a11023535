//! What people keep of how the page is shown: a small file for each, found by how they show who they are and by their
//! name. Nobody's is another's, and none is needed: what can't be read is moved aside.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lockscope_view::{Preferences, SignedBy};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::file;
use lockscope_audit::Actor;
use lockscope_runtime::clock::{self, Clock};
use lockscope_runtime::rate::RateLimit;

const FOLDER: &str = "preferences";
/// People whose preferences are kept; beyond it those go that were not used for the longest time.
const PERSONS_MAX: usize = 1_000;
/// What nobody used for so long is removed.
const UNUSED_MAX: Duration = Duration::from_secs(400 * 86_400);
/// That they are used is noted at most this often.
const NOTED_EVERY: Duration = Duration::from_secs(86_400);
/// A larger file is not one of ours.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Reads and writes at once; a volume that hangs holds up no more threads.
const AT_ONCE_MAX: usize = 2;
/// Longest wait for the volume.
const ANSWER_MAX: Duration = Duration::from_secs(3);
/// How often one person may change something: for long, and at once.
const CHANGES_A_SECOND: u32 = 1;
const CHANGES_AT_ONCE: u32 = 30;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreferencesError {
    /// There is nobody they could belong to.
    #[error("nobody is signed in, so your browser keeps pins and views; sign in to have them everywhere")]
    Nobody,
    #[error("this server keeps nothing, so your browser keeps pins and views; start it with --data-dir DIR")]
    NoDirectory,
    #[error("they were changed meanwhile, and are at revision {0}; read them again, and change those")]
    Changed(u64),
    #[error("too many changes; wait a moment")]
    TooOften(Duration),
    #[error("{0}")]
    Wrong(String),
    #[error("preferences can't be kept now ({0}); look at the server's data directory, and try again")]
    Disk(String),
}

#[derive(Serialize, Deserialize)]
struct Record {
    by: SignedBy,
    name: String,
    #[serde(flatten)]
    preferences: Preferences,
}

/// All files; cheap to clone.
#[derive(Clone)]
pub(super) struct PreferenceStore {
    /// None: nothing is kept.
    folder: Option<Arc<Folder>>,
    at_once: Arc<Semaphore>,
    changes: Arc<Mutex<RateLimit<String>>>,
}

struct Folder {
    dir: PathBuf,
    clock: Clock,
    /// Held while one is compared and replaced.
    edit: Mutex<()>,
}

impl PreferenceStore {
    pub(super) fn new(data_dir: Option<&Path>, clock: &Clock) -> Self {
        let folder = data_dir.map(|dir| Folder { dir: dir.join(FOLDER), clock: clock.clone(), edit: Mutex::default() });
        Self {
            folder: folder.map(Arc::new),
            at_once: Arc::new(Semaphore::new(AT_ONCE_MAX)),
            changes: Arc::new(Mutex::new(RateLimit::new(CHANGES_A_SECOND, CHANGES_AT_ONCE))),
        }
    }

    pub(super) async fn read(&self, actor: &Actor) -> Result<Preferences, PreferencesError> {
        let (by, name) = owner(actor)?;
        self.run(move |folder| folder.read(by, &name)).await
    }

    /// Keeps something else, where it is a change of what is kept.
    pub(super) async fn replace(&self, actor: &Actor, next: Preferences) -> Result<Preferences, PreferencesError> {
        let (by, name) = owner(actor)?;
        next.check().map_err(PreferencesError::Wrong)?;
        let taken = {
            let mut changes = self.changes.lock();
            changes.take(&format!("{by} {name}"), 1, clock::instant())
        };
        taken.map_err(PreferencesError::TooOften)?;
        self.run(move |folder| folder.replace(by, &name, next)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, PreferencesError> + Send + 'static,
    ) -> Result<T, PreferencesError> {
        let folder = self.folder.clone().ok_or(PreferencesError::NoDirectory)?;
        let slow = || PreferencesError::Disk("the data directory does not answer".to_owned());
        let place = self.at_once.clone();
        let done = async {
            let place = place.acquire_owned().await.map_err(|_| slow())?;
            let work = move || {
                let _place = place;
                work(&folder)
            };
            tokio::task::spawn_blocking(work).await.map_err(|_| slow())?
        };
        tokio::time::timeout(ANSWER_MAX, done).await.unwrap_or_else(|_| Err(slow()))
    }
}

impl Folder {
    fn read(&self, by: SignedBy, name: &str) -> Result<Preferences, PreferencesError> {
        let path = self.dir.join(file_name(by, name));
        let kept = self.kept(&path, by, name)?;
        self.note_use(&path);
        Ok(kept)
    }

    fn replace(&self, by: SignedBy, name: &str, next: Preferences) -> Result<Preferences, PreferencesError> {
        let _edit = self.edit.lock();
        let path = self.dir.join(file_name(by, name));
        let kept = self.kept(&path, by, name)?;
        if kept.revision != next.revision {
            return Err(PreferencesError::Changed(kept.revision));
        }
        file::create_dir(&self.dir).map_err(disk)?;
        if kept.revision == 0 {
            self.make_room().map_err(disk)?;
        }
        let preferences = Preferences { revision: kept.revision + 1, ..next };
        let record = Record { by, name: name.to_owned(), preferences };
        let text = serde_json::to_vec(&record).map_err(|error| disk(error.into()))?;
        file::replace(&self.dir, &path, &text).map_err(disk)?;
        // A clock of a test is not the disk's.
        self.touch(&path);
        Ok(record.preferences)
    }

    /// What is kept of somebody; nothing where there is no file, or one that is not ours.
    fn kept(&self, path: &Path, by: SignedBy, name: &str) -> Result<Preferences, PreferencesError> {
        let meta = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Preferences::default()),
            found => found.map_err(disk)?,
        };
        let text =
            if meta.len() > FILE_BYTES_MAX { String::new() } else { fs::read_to_string(path).unwrap_or_default() };
        match serde_json::from_str::<Record>(&text) {
            Ok(record) if record.by == by && record.name == name && record.preferences.check().is_ok() => {
                Ok(record.preferences)
            }
            _ => {
                let aside = path.with_extension("damaged");
                fs::rename(path, &aside).map_err(disk)?;
                tracing::error!(
                    "the preferences in {} are damaged; they were moved to {}",
                    path.display(),
                    aside.display()
                );
                Ok(Preferences::default())
            }
        }
    }

    /// Removes what nobody used for long, and makes a place for one more.
    fn make_room(&self) -> io::Result<()> {
        let now = self.now();
        let mut used: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            // Gone meanwhile: an account was removed.
            let Ok(at) = entry.metadata().and_then(|meta| meta.modified()) else { continue };
            used.push((at, entry.path()));
        }
        used.sort_unstable();
        let extra = (used.len() + 1).saturating_sub(PERSONS_MAX);
        for (at, (used_at, path)) in used.iter().enumerate() {
            let is_unused = now.duration_since(*used_at).is_ok_and(|unused| unused > UNUSED_MAX);
            if at < extra || is_unused {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Notes that they are used. Where that fails they only go earlier.
    fn note_use(&self, path: &Path) {
        let Ok(used_at) = fs::metadata(path).and_then(|meta| meta.modified()) else { return };
        if self.now().duration_since(used_at).is_ok_and(|unused| unused > NOTED_EVERY) {
            self.touch(path);
        }
    }

    fn touch(&self, path: &Path) {
        // Where it can't be noted, they only go earlier.
        let _ = File::options().append(true).open(path).and_then(|file| file.set_modified(self.now()));
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(self.clock.now_ms()).unwrap_or(0))
    }
}

/// Removes what somebody kept, with their account.
pub(super) fn forget(data_dir: &Path, by: SignedBy, name: &str) {
    let path = data_dir.join(FOLDER).join(file_name(by, name));
    for path in [path.with_extension("damaged"), path] {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::error!("{} can't be removed ({error}); remove it by hand", path.display());
            }
            Ok(()) | Err(_) => {}
        }
    }
}

fn owner(actor: &Actor) -> Result<(SignedBy, String), PreferencesError> {
    match actor.by {
        SignedBy::Nobody => Err(PreferencesError::Nobody),
        by => Ok((by, actor.name.clone())),
    }
}

/// Of the hash, since a name may be anything.
fn file_name(by: SignedBy, name: &str) -> String {
    format!("{}.json", hex::encode(Sha256::digest(format!("{by} {name}").as_bytes())))
}

fn disk(error: io::Error) -> PreferencesError {
    PreferencesError::Disk(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const DAY_MS: i64 = 86_400_000;

    fn folder(dir: &Path, clock: &Clock) -> Folder {
        Folder { dir: dir.join(FOLDER), clock: clock.clone(), edit: Mutex::default() }
    }

    fn pins(revision: u64, pins: &[&str]) -> Preferences {
        Preferences { revision, pins: pins.iter().map(|pin| (*pin).to_owned()).collect(), views: Vec::new() }
    }

    #[test]
    fn each_has_their_own_and_nobody_overwrites_what_they_did_not_read() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Clock::manual(DAY_MS));
        let folder = folder(dir.path(), &clock);
        assert_eq!(folder.read(SignedBy::Password, "ada"), Ok(Preferences::default()));
        assert_eq!(folder.replace(SignedBy::Password, "ada", pins(0, &["/a"])), Ok(pins(1, &["/a"])));
        let other = folder.replace(SignedBy::Password, "ada", pins(0, &["/b"]));
        assert_eq!(other, Err(PreferencesError::Changed(1)));
        assert_eq!(folder.replace(SignedBy::Password, "ada", pins(1, &["/a", "/b"])), Ok(pins(2, &["/a", "/b"])));
        for (by, name) in [(SignedBy::Token, "ada"), (SignedBy::Password, "Ada"), (SignedBy::Password, "../ada")] {
            assert_eq!(folder.read(by, name), Ok(Preferences::default()), "{by} {name}");
        }
        let path = folder.dir.join(file_name(SignedBy::Password, "ada"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder.dir), mode(&path)), (0o700, 0o600));
        forget(dir.path(), SignedBy::Password, "ada");
        assert_eq!(folder.read(SignedBy::Password, "ada"), Ok(Preferences::default()));
        forget(dir.path(), SignedBy::Password, "nobody");
    }

    #[test]
    fn what_is_damaged_or_of_somebody_else_is_moved_aside() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Clock::manual(DAY_MS));
        let folder = folder(dir.path(), &clock);
        folder.replace(SignedBy::Token, "ci", pins(0, &["/a"])).unwrap();
        folder.replace(SignedBy::Token, "other", pins(0, &["/secret"])).unwrap();
        let path = |name: &str| folder.dir.join(file_name(SignedBy::Token, name));
        for text in ["{", "\u{0}\u{1}", &"x".repeat(300_000), &fs::read_to_string(path("other")).unwrap()] {
            fs::write(path("ci"), text).unwrap();
            assert_eq!(folder.read(SignedBy::Token, "ci"), Ok(Preferences::default()));
            assert_eq!(fs::read_to_string(path("ci").with_extension("damaged")).unwrap(), text);
            assert!(folder.replace(SignedBy::Token, "ci", pins(0, &["/b"])).is_ok());
        }
    }

    #[test]
    fn what_nobody_used_for_long_goes_and_there_are_never_more_than_so_many() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Clock::manual(DAY_MS));
        let folder = folder(dir.path(), &clock);
        let count = || fs::read_dir(&folder.dir).unwrap().count();
        folder.replace(SignedBy::Proxy, "gone", pins(0, &["/a"])).unwrap();
        folder.replace(SignedBy::Proxy, "back", pins(0, &["/b"])).unwrap();
        clock.set_ms(301 * DAY_MS);
        assert_eq!(folder.read(SignedBy::Proxy, "back"), Ok(pins(1, &["/b"])));
        clock.set_ms(501 * DAY_MS);
        folder.replace(SignedBy::Proxy, "new", pins(0, &[])).unwrap();
        assert_eq!((folder.read(SignedBy::Proxy, "gone").unwrap().revision, count()), (0, 2));
        assert_eq!(folder.read(SignedBy::Proxy, "back"), Ok(pins(1, &["/b"])));
        (0..PERSONS_MAX).for_each(|at| fs::write(folder.dir.join(format!("{at}.json")), "{}").unwrap());
        folder.replace(SignedBy::Proxy, "last", pins(0, &["/c"])).unwrap();
        assert_eq!((count(), folder.read(SignedBy::Proxy, "last")), (PERSONS_MAX, Ok(pins(1, &["/c"]))));
    }
}
