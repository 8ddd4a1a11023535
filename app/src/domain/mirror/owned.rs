//! Which session owns which znodes: an index over one believed tree. Sixteen bytes a znode; it holds no names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::znode::SessionId;

/// Number of a znode that has none; -1, the last number before a counter has run all the way round, is not told
/// from it and would be missed.
const NO_NUMBER: u32 = u32::MAX;

/// Session, directory, sequence number.
type Place = (SessionId, u32, u32);

/// The index.
#[derive(Clone, Debug, Default)]
pub(super) struct Owned {
    /// How many znodes at each place: more than one without numbers, and where a counter is stuck.
    places: BTreeMap<Place, u32>,
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

    /// A directory is gone.
    pub(super) fn forget(&mut self, directory: u32) {
        self.paths.remove(&directory);
    }

    /// A session owns one more znode.
    pub(super) fn add(&mut self, owner: Option<SessionId>, directory: u32, number: Option<i32>) {
        if let Some(session) = owner {
            *self.places.entry((session, directory, packed(number))).or_default() += 1;
        }
    }

    /// A session owns one less.
    pub(super) fn remove(&mut self, owner: Option<SessionId>, directory: u32, number: Option<i32>) {
        let Some(session) = owner else { return };
        let place = (session, directory, packed(number));
        if let Some(count) = self.places.get_mut(&place) {
            *count -= 1;
            if *count == 0 {
                self.places.remove(&place);
            }
        }
    }

    /// Every session, with how many znodes it owns.
    pub(super) fn sessions(&self) -> impl Iterator<Item = (SessionId, u32)> {
        let mut places = self.places.iter().map(|((session, ..), count)| (*session, *count)).peekable();
        std::iter::from_fn(move || {
            let (session, mut count) = places.next()?;
            while let Some((_, more)) = places.next_if(|(next, _)| *next == session) {
                count += more;
            }
            Some((session, count))
        })
    }

    /// How many znodes a session owns; looks no further than at this many places.
    pub(super) fn count(&self, session: SessionId, places_max: usize) -> u32 {
        self.places.range((session, 0, 0)..=(session, u32::MAX, u32::MAX)).take(places_max).map(|(_, count)| count).sum()
    }

    /// Directory and number of each znode a session owns; places that several share come once.
    pub(super) fn places(&self, session: SessionId) -> impl Iterator<Item = (&Arc<str>, Option<i32>)> {
        let places = self.places.range((session, 0, 0)..=(session, u32::MAX, u32::MAX));
        places.filter_map(|((_, directory, number), _)| Some((self.paths.get(directory)?, unpacked(*number))))
    }

    /// The same within one directory.
    pub(super) fn numbers(&self, session: SessionId, directory: u32) -> impl Iterator<Item = Option<i32>> {
        self.places.range((session, directory, 0)..=(session, directory, u32::MAX)).map(|((.., number), _)| unpacked(*number))
    }

    /// Packs a map that grew one by one.
    pub(super) fn pack(&mut self) {
        self.places = std::mem::take(&mut self.places).into_iter().collect();
    }
}

fn packed(number: Option<i32>) -> u32 {
    number.map_or(NO_NUMBER, i32::cast_unsigned)
}

fn unpacked(number: u32) -> Option<i32> {
    (number != NO_NUMBER).then(|| number.cast_signed())
}
