//! What is odd about the ensemble as a whole: leaks that no single lock shows (F19).

use super::Observatory;
use crate::finding::{Code, Finding, PATHS_MAX, Severity};
use crate::mirror::Directory;
use crate::observation::RootId;
use crate::recipe::Shape;
use crate::sentence::{Oddity, oddity_sentence};
use crate::time::TimeMs;

/// Znodes of a root that are no locks, from which on it is reported.
const PLAIN_ZNODES_MIN: u64 = 1_000_000;

impl Observatory {
    /// Leaks, and time-outs that don't suit, as of now. Walks every directory and session once: asked only while somebody
    /// looks.
    pub fn oddities(&self, now: TimeMs) -> Vec<Finding> {
        let limits = &self.settings.limits;
        let is_on = |code: Code| !limits.off.contains(&code);
        let empty = self.empty_locks().filter(|_| is_on(Code::EmptyLocks));
        let hoards = self.session_hoards().filter(|_| is_on(Code::SessionHoards));
        let timeouts = self.timeout_findings(now).filter(|finding| is_on(finding.code));
        let many = self.many_znodes(PLAIN_ZNODES_MIN).filter(|_| is_on(Code::ManyZnodes));
        empty.into_iter().chain(hoards).chain(timeouts).chain(many).collect()
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
            since: self.state.link_since,
        })
    }

    /// A root with very many znodes that are no locks: they cost memory, time to read and a watch event each.
    fn many_znodes(&self, least: u64) -> Option<Finding> {
        let mut in_locks = vec![0; self.roots.len()];
        for (_, lock) in self.locks.iter() {
            let Some(sum) = in_locks.get_mut(lock.root.0 as usize) else { continue };
            *sum += match lock.recognition.shape {
                // What lies beside it is not its own.
                Shape::Alone | Shape::Gate => 1,
                _ => [Some(&lock.parts.main), lock.parts.second.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|part| 1 + self.directory(lock.root, part).map_or(0, |directory| directory.len() as u64))
                    .sum(),
            };
        }
        let plain =
            self.roots.iter().zip(in_locks).map(|(view, locks)| (view.mirror.nodes().saturating_sub(locks), view));
        let (plain, view) = plain.filter(|(plain, _)| *plain >= least).max_by_key(|(plain, _)| *plain)?;
        let oddity = Oddity::ManyZnodes { root: view.path.to_string(), plain, all: view.mirror.nodes() };
        Some(Finding {
            code: Code::ManyZnodes,
            severity: Severity::Warning,
            text: oddity_sentence(&oddity).into(),
            paths: vec![view.path.clone()],
            since: self.state.link_since,
        })
    }

    fn directory(&self, root: RootId, path: &str) -> Option<&Directory> {
        self.roots.get(root.0 as usize)?.mirror.directory(path)
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
            since: self.state.link_since,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Observation;
    use crate::settings::Settings;
    use crate::time::TimeMs;
    use crate::znode::{Facts, SessionId, Zxid};

    #[test]
    fn what_is_no_lock_is_counted_and_what_is_one_is_not() {
        let roots = vec!["/locks".into(), "/".into()];
        let mut observatory = Observatory::new(Settings { roots, ..Settings::default() }, TimeMs(0));
        let mut read = |root: u32, path: &str, owner: Option<i64>, czxid: i64| {
            let (mzxid, pzxid, owner) = (Zxid(czxid), Zxid(czxid), owner.map(SessionId));
            let (ctime_ms, version, cversion, children, payload_bytes) = (0, 0, 0, 0, 0);
            let payload = Some(Box::default());
            let czxid = Zxid(czxid);
            let facts =
                Facts { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, owner, payload, payload_bytes };
            let (root, path, facts) = (RootId(root), path.into(), Box::new(facts));
            observatory.apply(TimeMs(1), Observation::NodeRead { root, path, facts, unreadable: false });
        };
        for number in 0..20 {
            read(0, &format!("/locks/a/lock-{number:010}"), Some(7), 2 + number);
        }
        for number in 0..10 {
            read(1, &format!("/data/x-{number}y"), None, 100 + number);
        }
        assert_eq!(observatory.locks().count(), 1);
        let found = observatory.many_znodes(3).expect("ten are no locks");
        assert_eq!((found.code, &*found.paths[0]), (Code::ManyZnodes, "/"));
        assert!(found.text.starts_with("1") && found.text.contains("znodes below / are no locks"), "{}", found.text);
        assert_eq!(observatory.many_znodes(13), None);
    }
}
