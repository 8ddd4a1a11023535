//! Which lock a directory or znode belongs to, and what the directory is recognised as.

use std::sync::Arc;

use super::Observatory;
use super::holders::Seen;
use crate::assessment::AssessedLock;
use crate::change::Change;
use crate::configured::configured;
use crate::lock::{Lock, lock_paths};
use crate::mirror::{Child, Mirror};
use crate::observation::RootId;
use crate::recipe::recognise::{self, Found};
use crate::recipe::{NodeRole, Recipe, Recognition, Shape, is_mark, rule};
use crate::time::TimeMs;
use crate::znode::split_path;

impl Observatory {
    pub(super) fn child(&self, root: RootId, parent: &str, name: &str) -> Option<&Child> {
        self.roots.get(root.0 as usize)?.mirror.directory(parent)?.child(name).map(|(_, child)| child)
    }

    /// The lock that has a part at a directory.
    pub(super) fn lock_at(&self, directory: &str) -> Option<&AssessedLock> {
        let own = self.locks.get(directory).filter(|lock| !lock.is_alone() && lock.parts.hold(directory));
        own.or_else(|| {
            lock_paths(directory).find_map(|home| self.locks.get(&home).filter(|lock| lock.parts.hold(directory)))
        })
    }

    pub(super) fn child_counts(&self, lock: &Lock, directory: &str, name: &str) -> bool {
        let child = self.mirror_of(lock).and_then(|mirror| mirror.directory(directory)?.child(name));
        child.is_some_and(|(key, child)| lock.counts(directory, key, child))
    }

    /// The lock a znode belongs to, recognised now if it was not before.
    pub(super) fn lock_for(
        &mut self,
        now: TimeMs,
        root: RootId,
        path: &str,
        is_news: bool,
        out: &mut Vec<Change>,
    ) -> Option<Arc<str>> {
        let (parent, name) = split_path(path)?;
        if is_news
            && let Some(recognition) = self.recognise_alone(root, path, parent, name)
            && self.lock_at(parent).is_none_or(|lock| lock.recognition.shape != Shape::LeaderElection)
        {
            self.appear_alone(now, Lock::new(path.into(), root, recognition), Seen::Watched, out);
        }
        if let Some(own) = self.locks.get(path).filter(|lock| lock.is_alone()) {
            return Some(Arc::clone(&own.path));
        }
        // A barrier that gets children is none.
        if self.locks.get(parent).is_some_and(|lock| lock.recognition.shape == Shape::Gate) {
            self.vanish(now, parent, out);
        }
        if is_news {
            self.recognise_directory(now, root, parent, is_mark(name), out);
        }
        self.lock_at(parent).map(|lock| Arc::clone(&lock.path))
    }

    fn recognise_alone(&self, root: RootId, path: &str, parent: &str, name: &str) -> Option<Recognition> {
        let mirror = &self.roots.get(root.0 as usize)?.mirror;
        self.find_alone(mirror, path, parent, name, mirror.directory(parent)?.child(name)?.1)
    }

    /// What a znode of its own is, by its name and by the configuration.
    pub(super) fn find_alone(
        &self,
        mirror: &Mirror,
        path: &str,
        parent: &str,
        name: &str,
        child: &Child,
    ) -> Option<Recognition> {
        match recognise::recognise_alone(mirror, parent, name, child) {
            Some(found) => self.as_configured(path, found),
            None => recognise::recognise_configured_alone(mirror, parent, name, child, self.configured_alone(path)?),
        }
    }

    /// Follows the names of a directory's children; where the names show nothing, the last recognition stays.
    fn recognise_directory(
        &mut self,
        now: TimeMs,
        root: RootId,
        path: &str,
        is_marked_now: bool,
        out: &mut Vec<Change>,
    ) {
        if path == "/" {
            return;
        }
        let Some(mirror) = self.roots.get(root.0 as usize).map(|view| &view.mirror) else { return };
        let kinds = mirror.directory(path).map(|directory| (recognise::leading_rule(directory), directory.kinds()));
        let known =
            self.lock_at(path).filter(|lock| lock.gone_since.is_none()).map(|lock| (lock.recognition.rule, lock.kinds));
        let Some((leading, kinds)) = kinds else { return };
        if known == Some((leading, kinds)) && !is_marked_now {
            return;
        }
        let Some(found) = self.find(mirror, &path.into()) else { return };
        self.become_found(now, root, found, Seen::Watched, out);
        if let Some(home) = self.lock_at(path).map(|lock| Arc::clone(&lock.path))
            && let Some(lock) = self.locks.get_mut(&home)
        {
            lock.kinds = kinds;
        }
    }

    /// Takes on what was found at a place.
    pub(super) fn become_found(&mut self, now: TimeMs, root: RootId, found: Found, seen: Seen, out: &mut Vec<Change>) {
        // A part of a known lock stays one, even while its neighbours are gone (Curator's are containers).
        if self.lock_at(&found.home).is_some_and(|lock| lock.path != found.home) {
            return;
        }
        match self.locks.get_mut(&found.home) {
            Some(lock) if lock.is_alone() => {}
            Some(lock) => {
                lock.gone_since = None;
                let is_other = lock.recognition != found.recognition && !stays(lock, &found.recognition);
                if is_other {
                    lock.become_known_as(found.recognition);
                }
                self.index.note(lock);
                if is_other {
                    self.absorb(now, &found.home, out);
                }
            }
            None => self.appear(now, Lock::new(found.home, root, found.recognition), seen, out),
        }
    }

    /// What a directory is, by its names and by the configuration.
    pub(super) fn find(&self, mirror: &Mirror, path: &Arc<str>) -> Option<Found> {
        match recognise::recognise(mirror, path) {
            Some(Found { home, recognition }) => {
                Some(Found { recognition: self.as_configured(&home, recognition)?, home })
            }
            None => {
                let found = recognise::recognise_configured(mirror.directory(path)?, self.configured_recipe(path)?)?;
                Some(Found { home: Arc::clone(path), recognition: self.as_configured(path, found)? })
            }
        }
    }

    /// The configuration says something of paths, whatever names say.
    pub(super) fn is_told_of_paths(&self) -> bool {
        !self.settings.configured.is_empty() || !self.settings.limits.must_be_held.is_empty()
    }

    /// The same of this znode, as far as it may be a lock of its own: only where kinds of locks are configured can any be.
    pub(super) fn is_told_of(&self, path: &str) -> bool {
        !self.settings.configured.is_empty() || self.settings.limits.must_be_there(path)
    }

    /// What a znode of its own is that no name tells: one that must be held is a lock.
    fn configured_alone(&self, path: &str) -> Option<Recipe> {
        let required = || self.settings.limits.must_be_there(path).then_some(Recipe::SingleNodeMutex);
        self.configured_recipe(path).or_else(required)
    }

    pub(super) fn configured_recipe(&self, path: &str) -> Option<Recipe> {
        configured(&self.settings.configured, path)?.recipe
    }

    /// The configuration goes before names; None when it says that this is no lock.
    pub(super) fn as_configured(&self, path: &str, mut found: Recognition) -> Option<Recognition> {
        found.configured_max = self.configured_max(path);
        match self.configured_recipe(path) {
            None => Some(found),
            Some(Recipe::Unknown) => None,
            Some(recipe) => Some(found.configured_as(recipe)),
        }
    }

    /// How many the configuration says a lock admits.
    pub fn configured_max(&self, path: &str) -> Option<u32> {
        configured(&self.settings.configured, path).and_then(|entry| entry.max)
    }
}

/// What was seen of a lock before is not unlearned: a read/write lock of kazoo's has only writers for a while, and is
/// not distinguishable from a mutex then; neither is the guard of a lease that is being renewed.
fn stays(lock: &Lock, found: &Recognition) -> bool {
    let dialect = |recognition: &Recognition| recognition.rule.map(|id| rule(id).dialect);
    let only_writers = lock.recognition.recipe == Recipe::ReadWrite && found.recipe == Recipe::SequentialMutex;
    let is_guard = lock.recognition.rule.is_some_and(|id| rule(id).role == NodeRole::Timed)
        && found.recipe == Recipe::SequentialMutex;
    is_guard || (only_writers && dialect(&lock.recognition) == dialect(found))
}
