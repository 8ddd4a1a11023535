//! What crosses the relays of a lane, counted. Owns the counters; must not know where the frames come from.

use lockscope_view::LabRequests;
use parking_lot::Mutex;

/// What a meter showed at one moment. In is to the clients, out is from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub requests: LabRequests,
    pub events: u64,
    /// Frames to the clients: replies and events.
    pub packets_in: u64,
    /// Frames from the clients: requests.
    pub packets_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// Counts of one lane; all its relays share one.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Counts>);

/// Whether a request makes a znode.
pub(super) fn is_create(opcode: i32) -> bool {
    matches!(opcode, 1 | 15 | 19 | 21)
}

impl Meter {
    /// What it shows now.
    pub fn snapshot(&self) -> Counts {
        *self.0.lock()
    }

    /// A request; None: the one that opens a session.
    pub(super) fn request(&self, opcode: Option<i32>) {
        let mut counts = self.0.lock();
        counts.packets_out += 1;
        let requests = &mut counts.requests;
        *match opcode {
            Some(opcode) if is_create(opcode) => &mut requests.create,
            Some(2) => &mut requests.delete,
            Some(3) => &mut requests.exists,
            Some(4) => &mut requests.data,
            Some(8 | 12) => &mut requests.children,
            Some(11) => &mut requests.ping,
            Some(_) | None => &mut requests.other,
        } += 1;
    }

    pub(super) fn reply(&self, is_event: bool) {
        let mut counts = self.0.lock();
        counts.packets_in += 1;
        counts.events += u64::from(is_event);
    }

    pub(super) fn bytes_in(&self, bytes: usize) {
        self.0.lock().bytes_in += bytes as u64;
    }

    pub(super) fn bytes_out(&self, bytes: usize) {
        self.0.lock().bytes_out += bytes as u64;
    }
}
