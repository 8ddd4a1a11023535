//! What one lane's clients do, as figures. Pure: moments are microseconds that the caller passes.

use std::collections::BTreeSet;

use lockscope_view::LAB_POINTS_MAX;

use super::figures::Latencies;

/// Where one client is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Seat {
    #[default]
    Opening,
    /// Between two rounds.
    Away,
    /// It queues up, or was woken and looks again.
    Coming,
    /// It waits; its watch is set.
    Waiting,
    Holding,
    /// It believes that it holds, and does not.
    Believing,
    /// It receives nothing.
    Paused,
    /// It gave up, and its znode stayed.
    GaveUp,
    /// Cut off for good.
    Killed,
    /// It lost its connection or its session and takes no part any more.
    Lost,
    Done,
}

#[derive(Clone, Copy, Debug, Default)]
struct Client {
    seat: Seat,
    /// It has not queued again since the last release, which will wake it.
    is_stale: bool,
    was_woken: bool,
    /// The release that woke it last.
    woken_by: Option<u64>,
    began_us: u64,
    /// Its place in the order of coming.
    key: Option<u64>,
    /// Number of its znode, where znodes are numbered.
    number: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Clients whose session is not open or that have not come for their round.
    pub(super) absent: u32,
    /// Clients that look whether they hold, or are about to be woken.
    pub(super) unsettled: u32,
    pub(super) waiting: u32,
    pub(super) holding: u32,
    pub(super) acquisitions: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    wakes_all: bool,
    clients: Vec<Client>,
    comers: BTreeSet<(u64, u32)>,
    next_key: u64,
    progress: Progress,
    counted_from_us: Option<u64>,
    released_us: Option<u64>,
    /// Those that wait were counted at this release, and events are counted from here.
    open_release: Option<(u32, u64)>,
    stride: u64,
    pub(super) releases: u64,
    pub(super) woken: u32,
    pub(super) wasted: u64,
    pub(super) inversions: u64,
    pub(super) broken: u64,
    pub(super) per_release: Vec<(u32, u32)>,
    pub(super) handoffs: Latencies,
    pub(super) waits: Latencies,
}

impl Tally {
    /// So many clients, all opening. `wakes_all`: a release wakes everybody who waits.
    pub(super) fn new(clients: u32, wakes_all: bool) -> Self {
        Self {
            wakes_all,
            clients: (0..clients).map(|_| Client::default()).collect(),
            progress: Progress { absent: clients, ..Progress::default() },
            stride: 1,
            ..Self::default()
        }
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// One letter a client.
    pub(super) fn seats(&self) -> String {
        self.clients.iter().map(|client| letter(client, self.releases)).collect()
    }

    /// The first client for which this holds.
    pub(super) fn find(&self, seat: Seat) -> Option<u32> {
        let at = self.clients.iter().position(|client| client.seat == seat)?;
        u32::try_from(at).ok()
    }

    /// The number of a client's znode, where znodes are numbered: of the one that it made last.
    pub(super) fn number(&self, client: u32) -> Option<u64> {
        self.at(client)?.number
    }

    pub(super) fn seat(&self, client: u32) -> Option<Seat> {
        self.at(client).map(|one| one.seat)
    }

    /// Who waits with so many others that wait before it, or the last where there are fewer.
    pub(super) fn waiter_behind(&self, others: usize) -> Option<u32> {
        let waits = |client: &u32| self.seat(*client) == Some(Seat::Waiting);
        self.comers.iter().map(|(_, client)| *client).filter(waits).take(others.saturating_add(1)).last()
    }

    /// Waits are counted from here.
    pub(super) fn count_from(&mut self, now_us: u64) {
        self.counted_from_us = Some(now_us);
    }

    /// A client sits down somewhere. Who leaves the queue for good no longer counts as having come.
    pub(super) fn sit(&mut self, client: u32, seat: Seat) {
        self.change(client, |one| {
            one.seat = seat;
            one.is_stale = false;
        });
        if matches!(seat, Seat::GaveUp | Seat::Killed | Seat::Lost | Seat::Done | Seat::Away) {
            self.forget(client);
        }
    }

    /// It comes for a round.
    pub(super) fn comes(&mut self, client: u32, now_us: u64) {
        self.change(client, |one| {
            one.seat = Seat::Coming;
            one.began_us = now_us;
            one.was_woken = false;
        });
    }

    /// It is in the queue: as the number says, where znodes are numbered, else as the answers came.
    pub(super) fn came(&mut self, client: u32, number: Option<u64>) {
        let next = self.next_key;
        let Some(one) = self.at_mut(client).filter(|one| one.key.is_none()) else { return };
        let key = number.unwrap_or(next);
        (one.key, one.number) = (Some(key), number);
        self.next_key += 1;
        self.comers.insert((key, client));
    }

    /// It waits; its watch is set.
    pub(super) fn queued(&mut self, client: u32) {
        self.came(client, None);
        if self.at(client).is_some_and(|one| one.was_woken) {
            self.wasted += 1;
        }
        self.change(client, |one| {
            one.seat = Seat::Waiting;
            one.is_stale = false;
            one.was_woken = false;
        });
    }

    pub(super) fn woken(&mut self, client: u32) {
        self.woken = self.woken.saturating_add(1);
        let releases = self.releases;
        self.change(client, |one| {
            one.seat = Seat::Coming;
            one.was_woken = true;
            one.woken_by = Some(releases);
        });
    }

    pub(super) fn holds(&mut self, client: u32, now_us: u64) {
        self.came(client, None);
        self.progress.acquisitions += 1;
        if let Some(released_us) = self.released_us.take() {
            self.handoffs.record(now_us.saturating_sub(released_us));
        }
        if let Some((one, from_us)) = self.at(client).zip(self.counted_from_us) {
            let wait_us = now_us.saturating_sub(one.began_us.max(from_us));
            self.waits.record(wait_us);
        }
        if let Some(key) = self.at(client).and_then(|one| one.key) {
            let before = self.comers.range(..(key, client)).count();
            self.inversions += u64::try_from(before).unwrap_or(u64::MAX);
        }
        self.forget(client);
        self.change(client, |one| {
            one.seat = Seat::Holding;
            one.is_stale = false;
            one.was_woken = false;
        });
    }

    /// It is about to delete its znode; `events` is the lane's count until now.
    pub(super) fn releases(&mut self, client: u32, now_us: u64, events: u64) {
        self.close_release(events);
        self.open_release = Some((self.progress.waiting, events));
        self.released_us = (self.progress.waiting > 0).then_some(now_us);
        self.releases += 1;
        self.woken = 0;
        self.change(client, |one| one.seat = Seat::Away);
        if self.wakes_all {
            for one in self.clients.iter_mut().filter(|one| one.seat == Seat::Waiting && !one.is_stale) {
                one.is_stale = true;
                self.progress.unsettled += 1;
            }
        }
    }

    /// The events of the last release are all there.
    pub(super) fn close_release(&mut self, events: u64) {
        let Some((waiting, from)) = self.open_release.take() else { return };
        if self.releases.saturating_sub(1).is_multiple_of(self.stride) {
            self.per_release.push((waiting, u32::try_from(events.saturating_sub(from)).unwrap_or(u32::MAX)));
        }
        if self.per_release.len() > LAB_POINTS_MAX {
            let mut at = 0_usize;
            self.per_release.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride *= 2;
        }
    }

    fn at(&self, client: u32) -> Option<&Client> {
        self.clients.get(usize::try_from(client).ok()?)
    }

    fn at_mut(&mut self, client: u32) -> Option<&mut Client> {
        self.clients.get_mut(usize::try_from(client).ok()?)
    }

    fn forget(&mut self, client: u32) {
        if let Some(key) = self.at_mut(client).and_then(|one| one.key.take()) {
            self.comers.remove(&(key, client));
        }
    }

    /// Changes a client and keeps the numbers of all.
    fn change(&mut self, client: u32, change: impl FnOnce(&mut Client)) {
        let Some(one) = self.at_mut(client) else { return };
        let before = counted(one);
        change(one);
        let after = counted(one);
        let apply = |all: &mut u32, before: bool, after: bool| {
            *all = (*all + u32::from(after)).saturating_sub(u32::from(before))
        };
        apply(&mut self.progress.absent, before.0, after.0);
        apply(&mut self.progress.unsettled, before.1, after.1);
        apply(&mut self.progress.waiting, before.2, after.2);
        apply(&mut self.progress.holding, before.3, after.3);
    }
}

/// Whether it is absent, unsettled, waits, holds. Who was woken still waits for the lock.
fn counted(one: &Client) -> (bool, bool, bool, bool) {
    let is_coming = one.seat == Seat::Coming;
    let waits = one.seat == Seat::Waiting;
    let is_absent = matches!(one.seat, Seat::Opening | Seat::Away);
    (is_absent, is_coming || waits && one.is_stale, is_coming || waits, one.seat == Seat::Holding)
}

fn letter(client: &Client, releases: u64) -> char {
    match client.seat {
        Seat::Opening => 'o',
        Seat::Away => '.',
        Seat::Coming | Seat::Waiting if releases > 0 && client.woken_by == Some(releases) => 'k',
        Seat::Coming | Seat::Waiting => 'w',
        Seat::Holding => 'h',
        Seat::Believing => 'b',
        Seat::Paused => 'p',
        Seat::GaveUp => 'g',
        Seat::Killed => 'x',
        Seat::Lost => 'l',
        Seat::Done => 'd',
    }
}

#[cfg(test)]
mod tests;
