//! Who holds a lock by its recipe's rule.

use super::{ContenderRef, HOLDERS_MAX, Lock, line};
use crate::mirror::{Mirror, Totals};
use crate::recipe::recognise::is_marked;
use crate::recipe::{Access, Dialect, Recipe, Shape, rule};
use crate::time::TimeMs;

/// Who holds.
#[derive(Clone, Debug, Default)]
pub struct Held<'a> {
    /// The first [`HOLDERS_MAX`], in order.
    pub contenders: Vec<ContenderRef<'a>>,
    /// Sums over all.
    pub totals: Totals,
}

impl<'a> Held<'a> {
    /// One more holds.
    pub fn push(&mut self, contender: ContenderRef<'a>) {
        self.totals.add(contender.child);
        if self.contenders.len() < HOLDERS_MAX {
            self.contenders.push(contender);
        }
    }
}

impl Lock {
    /// The lease that is only asked for: Curator's client owns the first znode of `locks/` while it waits for its
    /// newest lease to be one of few enough (`InterProcessSemaphoreV2.internalAcquire1Lease`). Nobody else makes a
    /// lease meanwhile, so one that was not read yet is taken for asked for. A lease that was seen to be held stays so.
    fn pending_lease<'a>(&'a self, mirror: &'a Mirror) -> Option<&'a str> {
        if self.recognition.shape != Shape::LeasesAndLocks {
            return None;
        }
        let first = self.contenders_in(mirror, self.parts.second.as_ref()?).next()?.child;
        let (key, newest) = mirror.directory(&self.parts.main)?.numbered().next_back()?;
        let is_pending = match (&first.read, &newest.read) {
            // Nobody but the first in the queue asks for a lease.
            (_, None) => true,
            (Some(first), Some(newest)) => {
                first.owner().is_some() && newest.owner() == first.owner() && newest.czxid > first.czxid
            }
            (None, Some(_)) => false,
        };
        let is_held = self.holders.iter().any(|hold| hold.is(&self.parts.main, key, newest));
        (is_pending && !is_held).then(|| key.name())
    }

    /// The lease that neither holds nor waits: only asked for, or run out.
    pub fn set_aside<'a>(&'a self, mirror: &'a Mirror, now: TimeMs) -> Option<&'a str> {
        self.pending_lease(mirror).or_else(|| self.lapsed_lease(mirror, now))
    }

    /// The contenders that hold now by the recipe's rule.
    pub fn holding<'a>(&'a self, mirror: &'a Mirror) -> Held<'a> {
        let mut held = Held::default();
        match self.recognition.shape {
            Shape::Line | Shape::LeaderElection => self.hold_line(mirror, &mut held),
            Shape::Fixed | Shape::Alone | Shape::Gate => {
                self.contenders_in(mirror, &self.parts.main).take(1).for_each(|contender| held.push(contender));
            }
            Shape::LeasesAndLocks | Shape::LeasesAndSibling | Shape::Group => {
                self.contenders_in(mirror, &self.parts.main).for_each(|contender| held.push(contender));
            }
            Shape::Gathering if mirror.directory(&self.parts.main).is_some_and(is_marked) => {
                self.contenders_in(mirror, &self.parts.main).for_each(|contender| held.push(contender));
            }
            Shape::TakenItems => {
                let taken = self.parts.second.iter().flat_map(|path| self.contenders_in(mirror, path));
                taken.for_each(|contender| held.push(contender));
            }
            Shape::Gathering | Shape::Items | Shape::Idle => {}
        }
        held
    }

    fn hold_line<'a>(&'a self, mirror: &'a Mirror, held: &mut Held<'a>) {
        let Some(directory) = mirror.directory(&self.parts.main) else { return };
        let contender = |(key, child)| ContenderRef { directory: &self.parts.main, key, child };
        line::each_head(&self.recognition, directory, |key, child| held.push(contender((key, child))));
        // Curator lets the session that writes read as well, wherever its reader queues (downgrade).
        let writer = held
            .contenders
            .first()
            .filter(|contender| held.totals.count == 1 && self.access(contender) == Access::Write);
        let Some(session) = writer
            .filter(|contender| self.is_curator_read_write(contender))
            .and_then(|contender| contender.child.owner())
        else {
            return;
        };
        let reads = mirror
            .owned_in(directory, session)
            .map(contender)
            .filter(|contender| self.access(contender) == Access::Read);
        reads.for_each(|contender| held.push(contender));
    }

    fn is_curator_read_write(&self, contender: &ContenderRef<'_>) -> bool {
        self.recognition.recipe == Recipe::ReadWrite
            && contender.child.rule.is_some_and(|id| rule(id).dialect == Dialect::CuratorReadWrite)
    }

    /// What a contender wants.
    pub fn access(&self, contender: &ContenderRef<'_>) -> Access {
        self.recognition.access(contender.child.rule)
    }

    /// Whether one that held goes on holding although a new look would not find it: nobody loses a lock by what
    /// others do, but a reader's right may be gone from sight (its own writer left), a counter that ran over puts
    /// newcomers in front, and those who leave a double barrier take its mark down first.
    pub fn keeps(&self, mirror: &Mirror, access: Access) -> bool {
        let wrapped = || mirror.directory(&self.parts.main).is_some_and(crate::mirror::Directory::is_wrapped);
        match self.recognition.shape {
            Shape::Line | Shape::LeaderElection => access == Access::Read || wrapped(),
            Shape::Gathering => true,
            _ => false,
        }
    }
}
