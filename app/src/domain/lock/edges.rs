//! What a waiter waits for: the znodes whose going its client waits for, by the recipe's rule.

use std::sync::Arc;

use super::line::Claim;
use super::{Lock, Seat};
use crate::domain::mirror::{Child, ChildKey, Directory, Mirror};
use crate::domain::recipe::{Access, Dialect, Shape, rule};
use crate::domain::znode::join_path;

/// Znodes told that one waiter waits for; a semaphore's head waits for any of many leases.
pub const TARGETS_MAX: usize = 16;

/// A znode that somebody waits for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The directory it is in.
    pub directory: &'a Arc<str>,
    /// Its name.
    pub name: &'a str,
    /// Others wait for the same one: its going wakes them all.
    pub is_shared: bool,
}

impl Target<'_> {
    /// Full path.
    pub fn path(&self) -> String {
        join_path(self.directory, self.name)
    }
}

impl Lock {
    /// What a waiter waits for; nothing when its client waits for something that has no znode.
    pub fn waits_for<'a>(&'a self, mirror: &'a Mirror, seat: &Seat<'a>) -> Vec<Target<'a>> {
        let Some(directory) = mirror.directory(seat.directory) else { return Vec::new() };
        let one = |key: &'a ChildKey, is_shared| Target { directory: seat.directory, name: key.name(), is_shared };
        match self.recognition.shape {
            Shape::Line | Shape::Office => {
                let found = self.line_target(directory, seat);
                found.map(|(key, is_shared)| one(key, is_shared)).into_iter().collect()
            }
            Shape::LeasesAndLocks | Shape::LeasesAndSibling => {
                let ahead = directory.before(seat.key).find(|(_, child)| child.place() == seat.child.place());
                match ahead {
                    Some((key, _)) => vec![one(key, false)],
                    None => self.seats_in(mirror, &self.parts.main).take(TARGETS_MAX).map(|lease| target(&lease)).collect(),
                }
            }
            Shape::Alone => {
                let held = self.seats_in(mirror, &self.parts.main);
                held.map(|seat| Target { is_shared: true, ..target(&seat) }).collect()
            }
            Shape::Fixed | Shape::Gate | Shape::Gathering | Shape::Items | Shape::TakenItems | Shape::Group | Shape::Idle => Vec::new(),
        }
    }

    /// A waiting reader of Curator watches the first writer, so readers share it; everybody else watches the nearest
    /// znode before it that keeps it from holding.
    fn line_target<'a>(&self, directory: &'a Directory, seat: &Seat<'_>) -> Option<(&'a ChildKey, bool)> {
        let claim = |key: &ChildKey, child: &Child| Claim::of(&self.recognition, key, child);
        let own = claim(seat.key, seat.child)?;
        let blocks = |(key, child): &(&ChildKey, &Child)| claim(key, child).is_some_and(|before| before.blocks(own));
        let watches_first = own.access == Access::Read && seat.child.rule.is_some_and(|id| rule(id).dialect == Dialect::CuratorReadWrite);
        if watches_first {
            let (first, _) = directory.numbered().find(blocks)?;
            let readers = directory.census().iter().filter(|kin| rule(kin.rule).access == Access::Read).map(|kin| kin.totals.count);
            return (first < seat.key).then_some((first, readers.sum::<u32>() > 1));
        }
        // A writer watches whoever is right before it, readers as well: any kind excludes it.
        directory.before(seat.key).find(blocks).map(|(key, _)| (key, false))
    }
}

fn target<'a>(seat: &Seat<'a>) -> Target<'a> {
    Target { directory: seat.directory, name: seat.key.name(), is_shared: false }
}
