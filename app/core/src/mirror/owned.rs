//! Which session owns which znodes: an index over one believed tree. Sixteen bytes a numbered znode, whose name it
//! does not hold: the number finds it. Znodes without a number are held by name, since a directory may have many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::child::ChildKey;
use crate::znode::SessionId;

/// What finds a znode in its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKey<'a> {
    /// Its sequence number; several may share one where a counter is stuck.
    Number(i32),
    /// Its name; it has no number.
    Name(&'a str),
}

/// The index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owned {
    /// How many znodes by session, directory and sequence number (unsigned, in order of creation): more than one where
    /// a counter is stuck.
    numbered: BTreeMap<(SessionId, u32, u32), u32>,
    /// Znodes without a number, by session, directory and name.
    plain: BTreeSet<(SessionId, u32, Box<str>)>,
    paths: BTreeMap<u32, Arc<str>>,
    next: u32,
}

impl Owned {
    /// A number for a directory.
    pub(super) fn name(&mut self, path: &Arc<str>) -> u32 {
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        self.paths.insert(id, Arc::clone(path));
        id
    }

    /// Nothing is owned; the next directory gets this number.
    pub(super) fn with_next(next: u32) -> Self {
        Self { next, ..Self::default() }
    }

    /// The number that the next directory gets.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// A directory has this number.
    pub(super) fn name_as(&mut self, id: u32, path: &Arc<str>) {
        self.paths.insert(id, Arc::clone(path));
    }

    /// A directory is gone.
    pub(super) fn forget(&mut self, directory: u32) {
        self.paths.remove(&directory);
    }

    /// A session owns one more znode.
    pub(super) fn add(&mut self, owner: Option<SessionId>, directory: u32, key: &ChildKey) {
        let Some(session) = owner else { return };
        match key.number() {
            Some(number) => *self.numbered.entry((session, directory, number.cast_unsigned())).or_default() += 1,
            None => {
                self.plain.insert((session, directory, key.name().into()));
            }
        }
    }

    /// A session owns one less.
    pub(super) fn remove(&mut self, owner: Option<SessionId>, directory: u32, key: &ChildKey) {
        let Some(session) = owner else { return };
        let Some(number) = key.number() else {
            self.plain.remove(&(session, directory, key.name().into()));
            return;
        };
        let place = (session, directory, number.cast_unsigned());
        if let Some(count) = self.numbered.get_mut(&place) {
            *count -= 1;
            if *count == 0 {
                self.numbered.remove(&place);
            }
        }
    }

    /// Every session from one on, with how many znodes it owns.
    pub(super) fn sessions(&self, from: SessionId) -> impl Iterator<Item = (SessionId, u32)> {
        let numbered = self.numbered.range((from, 0, 0)..).map(|((session, ..), count)| (*session, *count));
        let plain = self.plain.range((from, 0, Box::default())..).map(|(session, ..)| (*session, 1));
        let (mut numbered, mut plain) = (numbered.peekable(), plain.peekable());
        std::iter::from_fn(move || {
            let heads = [numbered.peek(), plain.peek()];
            let session = heads.into_iter().flatten().map(|(session, _)| *session).min()?;
            let mut count = 0;
            while let Some((_, more)) = numbered.next_if(|(next, _)| *next == session) {
                count += more;
            }
            while plain.next_if(|(next, _)| *next == session).is_some() {
                count += 1;
            }
            Some((session, count))
        })
    }

    /// How many znodes a session owns; looks no further than at this many places of each kind.
    pub(super) fn count(&self, session: SessionId, places_max: usize) -> u32 {
        let numbered: u32 = self.numbers_of(session).take(places_max).map(|(_, count)| count).sum();
        numbered + u32::try_from(self.names_of(session).take(places_max).count()).unwrap_or(u32::MAX)
    }

    /// Directory and place of each znode a session owns; places that several share come once.
    pub(super) fn places(&self, session: SessionId) -> impl Iterator<Item = (&Arc<str>, NodeKey<'_>)> {
        let numbered = self
            .numbers_of(session)
            .map(|((_, directory, number), _)| (directory, NodeKey::Number(number.cast_signed())));
        let plain = self.names_of(session).map(|(_, directory, name)| (directory, NodeKey::Name(name)));
        numbered.chain(plain).filter_map(|(directory, place)| Some((self.paths.get(directory)?, place)))
    }

    /// The same within one directory.
    pub(super) fn places_in(&self, session: SessionId, directory: u32) -> impl Iterator<Item = NodeKey<'_>> {
        let numbered = self.numbered.range((session, directory, 0)..=(session, directory, u32::MAX));
        let plain = self.plain.range((session, directory, Box::default())..);
        let plain = plain.take_while(move |(owner, place, _)| (*owner, *place) == (session, directory));
        numbered
            .map(|((.., number), _)| NodeKey::Number(number.cast_signed()))
            .chain(plain.map(|(.., name)| NodeKey::Name(name)))
    }

    /// Packs the maps, which grew one by one.
    pub(super) fn pack(&mut self) {
        self.numbered = std::mem::take(&mut self.numbered).into_iter().collect();
        self.plain = std::mem::take(&mut self.plain).into_iter().collect();
    }

    fn numbers_of(&self, session: SessionId) -> impl Iterator<Item = (&(SessionId, u32, u32), &u32)> {
        self.numbered.range((session, 0, 0)..=(session, u32::MAX, u32::MAX))
    }

    fn names_of(&self, session: SessionId) -> impl Iterator<Item = &(SessionId, u32, Box<str>)> {
        self.plain.range((session, 0, Box::default())..).take_while(move |(owner, ..)| *owner == session)
    }
}
