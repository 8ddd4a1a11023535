//! Contenders of one lock as rows, with what each waits for.

use app::domain::lock::{Lock, Seat, Since};
use app::domain::mirror::{Mirror, Read};
use app::wire;
use base64::Engine as _;

use super::words::wire_access;
use super::{Look, count32};

impl<'a> Look<'a> {
    /// A window of a lock's contenders, in order.
    pub(super) fn contenders(&self, lock: &'a Lock, mirror: &'a Mirror, offset: usize, limit: usize) -> impl Iterator<Item = wire::Contender> {
        let look = *self;
        let seats = lock.contenders(mirror).enumerate().skip(offset).take(limit);
        seats.map(move |(at, seat)| look.contender_with_edges(lock, mirror, at, &seat))
    }

    /// One contender with its payload and what it waits for.
    pub(super) fn contender_with_edges(&self, lock: &Lock, mirror: &Mirror, at: usize, seat: &Seat<'_>) -> wire::Contender {
        let mut row = self.contender(lock, at, seat);
        row.data = seat.child.read.as_ref().and_then(node_data);
        if row.role == wire::Role::Waiter {
            row.waits_for = lock.waits_for(mirror, seat).iter().map(edge).collect();
        }
        row
    }

    /// Those that hold and are told apart, without payloads.
    pub(super) fn holders(&self, lock: &'a Lock, mirror: &'a Mirror) -> impl Iterator<Item = wire::Contender> {
        let look = *self;
        let seats = lock.holders.iter().filter_map(move |tenure| {
            let (key, child) = lock.child_of(mirror, tenure)?;
            Some(Seat { directory: &tenure.directory, key, child })
        });
        seats.enumerate().map(move |(at, seat)| look.contender(lock, at, &seat))
    }

    fn contender(&self, lock: &Lock, at: usize, seat: &Seat<'_>) -> wire::Contender {
        let tenure = lock.tenure_of(seat);
        // Of a large group of readers or members only the first are told apart; the others stand right behind them.
        let holds = tenure.is_some() || (at < lock.standing.holders as usize && at >= app::domain::lock::HOLDERS_MAX);
        let read = seat.child.read.as_ref();
        let ephemeral = seat.child.is_owned();
        wire::Contender {
            path: seat.path(),
            node: Some(seat.key.name().to_owned()),
            sequence: seat.key.number().map(i64::from),
            position: count32(at),
            role: if holds { wire::Role::Holder } else { wire::Role::Waiter },
            access: wire_access(lock.access(seat)),
            session_id: seat.child.owner().map(|owner| wire::SessionId(owner.0)),
            ephemeral,
            client: None,
            liveness: if ephemeral == Some(false) { wire::Liveness::Persistent } else { wire::Liveness::Unknown },
            expires_at_ms: None,
            label: read.and_then(|read| app::domain::label::label_of(seat.key.name(), &read.payload)),
            data: None,
            created_at_ms: read.map(|read| self.observatory.offset().to_ours(read.ctime_ms).0),
            waiting_since_ms: (!holds).then(|| self.instant(Since::of(seat.child)).0),
            holding_since_ms: tenure.map(|tenure| tenure.since.0),
            holding_is_lower_bound: tenure.is_some_and(|tenure| tenure.is_lower_bound),
            waits_for: Vec::new(),
            czxid: read.map(|read| wire::Zxid(read.czxid.0)),
            version: read.map_or(0, |read| read.version),
        }
    }
}

fn edge(target: &app::domain::lock::Target<'_>) -> wire::Edge {
    let evidence = if target.is_shared { wire::EdgeEvidence::Shared } else { wire::EdgeEvidence::Inferred };
    wire::Edge { to: target.path(), evidence }
}

fn node_data(read: &Read) -> Option<wire::NodeData> {
    if read.payload_bytes == 0 {
        return None;
    }
    let text = std::str::from_utf8(&read.payload).ok().map(str::to_owned);
    let base64 = text.is_none().then(|| base64::engine::general_purpose::STANDARD.encode(&read.payload));
    Some(wire::NodeData { text, base64, bytes: read.payload_bytes, truncated: read.payload.len() < read.payload_bytes as usize })
}
