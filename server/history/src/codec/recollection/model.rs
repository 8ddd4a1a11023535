//! What belongs to no root, lock or session.

use lockscope_core::deadlock::{Cycle, CycleStep};
use lockscope_core::durations::{Durations, Ended};
use lockscope_core::history::{Counters, EndingSession};
use lockscope_core::offset::{Bounds, ClockOffset};
use lockscope_core::recollection::{ModelRecollection, ModelState};
use lockscope_core::wait_graph::{Search, SearchState, SearchVertex, Vertex};

use super::super::CodecError;
use super::super::coded::{Coded, coded_struct};
use super::super::tables::{Reader, Writer};

coded_struct!(CycleStep { from, to, lock, waiter, holder, held_since });
coded_struct!(Cycle { steps, since, victim, is_doubtful, still_since, is_certain });
coded_struct!(EndingSession { since, znodes, ran_out });
coded_struct!(Bounds { most, least });
coded_struct!(ClockOffset { published_ms, current, previous, period_ends_at, synced });
coded_struct!(Counters { events, resyncs, owner_unknown, missed });
coded_struct!(Durations { buckets, sum_ms });
coded_struct!(Ended { waits, holds, lag });
coded_struct!(SearchVertex { vertex, edges, order, low, is_open, component });
coded_struct!(SearchState {
    starts,
    vertices,
    way,
    open,
    found,
    components,
    is_sorted,
    circles_at,
    circles_found,
    covered,
});
coded_struct!(ModelState {
    link,
    link_since,
    link_why,
    session,
    cycles,
    suspects,
    search,
    reaped,
    ending_sessions,
    offset,
    unlisted,
    tables,
    zxid,
    counters,
    ended,
});
coded_struct!(ModelRecollection { state, last_event, root_states, revision, depth_slice });

impl Coded for Search {
    fn put(&self, out: &mut Writer) {
        self.state().put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        SearchState::take(from).map(Self::from)
    }
}

impl Coded for Vertex {
    fn put(&self, out: &mut Writer) {
        match self {
            Self::Session(session) => (0_u8, *session).put(out),
            Self::Lock(lock) => (1_u8, lock.clone()).put(out),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        match from.bytes.byte()? {
            0 => Ok(Self::Session(Coded::take(from)?)),
            1 => Ok(Self::Lock(Coded::take(from)?)),
            _ => Err(CodecError::Malformed("unknown Vertex")),
        }
    }
}
