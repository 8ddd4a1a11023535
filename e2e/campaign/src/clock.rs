//! The clock of the program under test: this machine's and so much, set by Debian's `libfaketime` and read anew each time.
//! What only measures time is left alone, as a machine whose clock is set does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Steps are whole multiples of this, so that a client that runs on the machine's clock can tell them from delays.
pub const STEP_MS: i64 = 600_000;

/// The file that says how far the clock is off.
const FILE: &str = "clock";

/// A clock that may be set.
#[derive(Clone, Debug)]
pub struct Clock {
    folder: PathBuf,
    library: PathBuf,
}

impl Clock {
    /// The machine's own at first. Its file lies in this folder.
    pub fn start(folder: &Path) -> Self {
        let clock = Self { folder: folder.to_owned(), library: library() };
        clock.set(0);
        clock
    }

    /// Sets it to the machine's clock and so many steps.
    pub fn set(&self, steps: i64) {
        let (file, next) = (self.folder.join(FILE), self.folder.join("clock.next"));
        std::fs::write(&next, format!("{:+}\n", steps * STEP_MS / 1_000)).expect("the folder is ours");
        std::fs::rename(next, file).expect("the folder is ours");
    }

    /// What a program has in its environment that goes by it.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("LD_PRELOAD", self.library.clone().into()),
            ("FAKETIME_TIMESTAMP_FILE", self.folder.join(FILE).into()),
            ("FAKETIME_NO_CACHE", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
            ("NO_FAKE_STAT", "1".into()),
        ]
    }
}

/// How far a server's clock is off, by a frame of its that has arrived.
pub fn offset_ms(server_time_ms: Option<i64>, arrived_at_ms: i64) -> i64 {
    let ahead_ms = server_time_ms.map_or(0, |server_time_ms| server_time_ms - arrived_at_ms);
    (ahead_ms + STEP_MS / 2).div_euclid(STEP_MS) * STEP_MS
}

fn library() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").expect("there is /usr/lib").flatten();
    let mut found = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    found.find(|path| path.exists()).expect("libfaketime sets the clock; it is in Debian's package faketime")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_no_step() {
        assert_eq!(offset_ms(Some(1_000_000), 1_040_000), 0);
        assert_eq!(offset_ms(Some(3_600_000 - 9_000), 0), 3_600_000);
        assert_eq!(offset_ms(Some(-3_600_000 - 9_000), 0), -3_600_000);
        assert_eq!(offset_ms(None, 5), 0);
    }
}
