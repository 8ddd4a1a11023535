//! What is odd about the ensemble as a whole: leaks that no single lock shows (F19).

use super::Observatory;
use crate::finding::{Code, Finding, PATHS_MAX, Severity};
use crate::mirror::Directory;
use crate::sentence::{Oddity, oddity_sentence};
use crate::time::TimeMs;

impl Observatory {
    /// Leaks, and time-outs that don't suit, as of now. Walks every directory and session once: asked only while somebody
    /// looks.
    pub fn oddities(&self, now: TimeMs) -> Vec<Finding> {
        let limits = &self.settings.limits;
        let is_on = |code: Code| !limits.off.contains(&code);
        let empty = self.empty_locks().filter(|_| is_on(Code::EmptyLocks));
        let hoards = self.session_hoards().filter(|_| is_on(Code::SessionHoards));
        let timeouts = self.timeout_findings(now).filter(|finding| is_on(finding.code));
        empty.into_iter().chain(hoards).chain(timeouts).collect()
    }

    /// Lock directories that were used and are empty: each costs memory on every member, and nobody deletes them.
    fn empty_locks(&self) -> Option<Finding> {
        let used = |directory: &Directory| {
            directory.is_empty() && directory.stat.is_some_and(|stat| stat.children == 0 && stat.creates_ever > 0)
        };
        let paths = || {
            self.roots
                .iter()
                .flat_map(|view| view.mirror.directories())
                .filter(|(_, directory)| used(directory))
                .map(|(path, _)| path)
        };
        let number = paths().count();
        (number >= self.settings.limits.empty_locks as usize).then(|| Finding {
            code: Code::EmptyLocks,
            severity: Severity::Warning,
            text: oddity_sentence(&Oddity::EmptyLocks { count: number }).into(),
            paths: paths().take(PATHS_MAX).map(|path| (**path).into()).collect(),
            since: self.link_since,
        })
    }

    /// Sessions that own a great many znodes: all go at once when the session ends.
    fn session_hoards(&self) -> Option<Finding> {
        let mut hoards: Vec<_> =
            self.sessions().into_iter().filter(|(_, count)| *count >= self.settings.limits.hoard_znodes).collect();
        hoards.sort_by_key(|(session, count)| (std::cmp::Reverse(*count), *session));
        let (session, count) = hoards.first()?;
        let oddity = Oddity::Hoard { session: *session, znodes: *count, more: hoards.len() - 1 };
        Some(Finding {
            code: Code::SessionHoards,
            severity: Severity::Warning,
            text: oddity_sentence(&oddity).into(),
            paths: Vec::new(),
            since: self.link_since,
        })
    }
}
