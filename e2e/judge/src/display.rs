//! What stood on a screen and for how long: captures in the order of time, turned into stretches.

use std::collections::{BTreeSet, HashMap};

use crate::{Capture, Counts, Gone, Shown};

/// One lock on one socket.
#[derive(Clone, Debug)]
pub(crate) struct Track<'a> {
    pub(crate) socket: u32,
    pub(crate) lock: &'a str,
    /// What was shown of it as LIVE, in order; none overlaps another.
    pub(crate) displays: Vec<Display<'a>>,
    /// When anything was first shown of it.
    pub(crate) first_at_ms: i64,
    /// When the socket ended, or the capture.
    pub(crate) last_at_ms: i64,
}

/// A state that was shown as LIVE.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Display<'a> {
    pub(crate) what: What<'a>,
    pub(crate) from_ms: i64,
    /// Until something else was shown, or nothing as LIVE.
    pub(crate) until_ms: i64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    Shown(&'a Shown),
    Gone(&'a Gone),
}

impl What<'_> {
    /// The transaction and the instant that it claims to include.
    pub(crate) fn claims(&self) -> (i64, i64) {
        match self {
            Self::Shown(shown) => (shown.zxid, shown.true_at_ms),
            Self::Gone(gone) => (gone.zxid, 0),
        }
    }
}

/// A socket's tracks of which something stands as LIVE, and when it last received something.
#[derive(Debug, Default)]
struct Socket {
    open: BTreeSet<usize>,
    all: Vec<usize>,
    last_at_ms: i64,
}

#[derive(Debug, Default)]
struct Collector<'a> {
    tracks: Vec<Track<'a>>,
    places: HashMap<(u32, &'a str), usize>,
    sockets: HashMap<u32, Socket>,
}

/// The tracks, those of one lock side by side.
pub(crate) fn tracks<'a>(captures: &'a [Capture], counts: &mut Counts) -> Vec<Track<'a>> {
    let mut collector = Collector::default();
    for capture in captures {
        match capture {
            Capture::Shown(shown) => {
                counts.states += 1;
                let live = shown.is_live.then_some(What::Shown(shown));
                collector.show(shown.socket, &shown.lock, shown.arrived_at_ms, live);
            }
            Capture::Gone(gone) => {
                counts.states += 1;
                collector.show(gone.socket, &gone.lock, gone.arrived_at_ms, gone.is_live.then_some(What::Gone(gone)));
            }
            Capture::NotLive { socket, arrived_at_ms, lock: Some(lock) } => {
                collector.show(*socket, lock, *arrived_at_ms, None)
            }
            Capture::NotLive { socket, arrived_at_ms, lock: None } | Capture::Closed { socket, arrived_at_ms } => {
                collector.close_all(*socket, *arrived_at_ms);
            }
            Capture::Heartbeat { socket, arrived_at_ms } => _ = collector.heard(*socket, *arrived_at_ms),
            Capture::Revision(revision) => _ = collector.heard(revision.socket, revision.arrived_at_ms),
        }
    }
    collector.finish()
}

impl<'a> Collector<'a> {
    fn heard(&mut self, socket: u32, at_ms: i64) -> &mut Socket {
        let socket = self.sockets.entry(socket).or_default();
        socket.last_at_ms = socket.last_at_ms.max(at_ms);
        socket
    }

    fn show(&mut self, socket: u32, lock: &'a str, at_ms: i64, live: Option<What<'a>>) {
        let place = *self.places.entry((socket, lock)).or_insert(self.tracks.len());
        let heard = self.heard(socket, at_ms);
        let was_open = heard.open.contains(&place);
        if live.is_some() {
            heard.open.insert(place);
        } else {
            heard.open.remove(&place);
        }
        if place == self.tracks.len() {
            self.tracks.push(Track { socket, lock, displays: Vec::new(), first_at_ms: at_ms, last_at_ms: at_ms });
            self.heard(socket, at_ms).all.push(place);
        }
        let Some(track) = self.tracks.get_mut(place) else { return };
        if was_open {
            track.close(at_ms);
        }
        track.displays.extend(live.map(|what| Display { what, from_ms: at_ms, until_ms: at_ms }));
    }

    fn close_all(&mut self, socket: u32, at_ms: i64) {
        let open = std::mem::take(&mut self.heard(socket, at_ms).open);
        for place in open {
            if let Some(track) = self.tracks.get_mut(place) {
                track.close(at_ms);
            }
        }
    }

    fn finish(mut self) -> Vec<Track<'a>> {
        for socket in self.sockets.values() {
            for place in &socket.all {
                let Some(track) = self.tracks.get_mut(*place) else { continue };
                track.last_at_ms = socket.last_at_ms;
                if socket.open.contains(place) {
                    track.close(socket.last_at_ms);
                }
            }
        }
        self.tracks.sort_by_key(|track| (track.lock, track.socket));
        self.tracks
    }
}

impl Track<'_> {
    fn close(&mut self, at_ms: i64) {
        if let Some(display) = self.displays.last_mut() {
            display.until_ms = at_ms.max(display.from_ms);
        }
    }
}
