//! What crosses the relays of a lane, counted. Owns the counters; must not know where the frames come from.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of one lane; all its relays share one.
#[derive(Debug, Default)]
pub struct Meter {
    create: AtomicU64,
    delete: AtomicU64,
    children: AtomicU64,
    exists: AtomicU64,
    data: AtomicU64,
    ping: AtomicU64,
    other: AtomicU64,
    events: AtomicU64,
    packets_in: AtomicU64,
    packets_out: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

/// What a meter showed at one moment. In is to the clients, out is from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests to create, those that failed included.
    pub create: u64,
    pub delete: u64,
    pub children: u64,
    pub exists: u64,
    /// Reads of data.
    pub data: u64,
    pub ping: u64,
    /// Every other request; opening and closing sessions are among them.
    pub other: u64,
    pub events: u64,
    /// Frames to the clients: replies and events.
    pub packets_in: u64,
    /// Frames from the clients: requests.
    pub packets_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Create,
    Delete,
    Children,
    Exists,
    Data,
    Ping,
    Other,
}

impl Kind {
    pub(super) fn of(opcode: i32) -> Self {
        match opcode {
            1 | 15 | 19 | 21 => Self::Create,
            2 => Self::Delete,
            3 => Self::Exists,
            4 => Self::Data,
            8 | 12 => Self::Children,
            11 => Self::Ping,
            _ => Self::Other,
        }
    }
}

fn one(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Meter {
    /// What it shows now. Counters are read one after the other while frames go on, so they are exact only in a pause.
    pub fn snapshot(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            create: read(&self.create),
            delete: read(&self.delete),
            children: read(&self.children),
            exists: read(&self.exists),
            data: read(&self.data),
            ping: read(&self.ping),
            other: read(&self.other),
            events: read(&self.events),
            packets_in: read(&self.packets_in),
            packets_out: read(&self.packets_out),
            bytes_in: read(&self.bytes_in),
            bytes_out: read(&self.bytes_out),
        }
    }

    pub(super) fn request(&self, kind: Kind) {
        one(&self.packets_out);
        one(match kind {
            Kind::Create => &self.create,
            Kind::Delete => &self.delete,
            Kind::Children => &self.children,
            Kind::Exists => &self.exists,
            Kind::Data => &self.data,
            Kind::Ping => &self.ping,
            Kind::Other => &self.other,
        });
    }

    pub(super) fn reply(&self, is_event: bool) {
        one(&self.packets_in);
        if is_event {
            one(&self.events);
        }
    }

    pub(super) fn bytes_in(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn bytes_out(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
