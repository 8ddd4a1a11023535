//! What the members said of themselves and of sessions.

use lockscope_core::evidence::{
    ClientState, DisputeSuspect, Disputed, Lately, Liveness, Member, ReportedEnd, RunningClock, RunsOut, SessionRecord,
    Source, WatchTable,
};
use lockscope_core::recollection::{MembersRecollection, WatchesRecollection};

use super::super::CodecError;
use super::super::coded::{Coded, coded_enum, coded_struct};
use super::super::tables::{Reader, Writer};

coded_enum!(Liveness { Connected = 0, Silent = 1, Disconnected = 2, Unknown = 3 });
coded_struct!(RunsOut { at, is_told });
coded_struct!(ClientState { address, member, liveness, runs_out });
coded_struct!(ReportedEnd { expiry, since, asked_at });
coded_struct!(SessionRecord {
    address,
    member,
    timeout_ms,
    connected_since,
    last_operation,
    heard_at,
    listed_at,
    seen_at,
    gone_since,
    runs_out,
    end,
    received,
    round,
    told,
});
coded_struct!(Lately { over_ms, deleted, children, changed });
coded_struct!(RunningClock { least });
coded_struct!(Member { number, by, is_down, connections, sessions, watches, how, health, lately, running });
coded_struct!(Disputed { session, on, late });
coded_struct!(DisputeSuspect { session, on, newest });
coded_struct!(MembersRecollection { members, suspects, disputed, rounds, complete_at, is_fresh, vouched_at });
coded_struct!(WatchTable { by_path });
coded_struct!(WatchesRecollection { member, asked_at, table });

impl Coded for Source {
    fn put(&self, out: &mut Writer) {
        match self {
            Self::NotAsked => out.byte(0),
            Self::Ok { asked_at } => {
                out.byte(1);
                asked_at.put(out);
            }
            Self::None { trouble, remedy } => {
                out.byte(2);
                trouble.put(out);
                remedy.put(out);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        match from.bytes.byte()? {
            0 => Ok(Self::NotAsked),
            1 => Ok(Self::Ok { asked_at: Coded::take(from)? }),
            2 => Ok(Self::None { trouble: Coded::take(from)?, remedy: Coded::take(from)? }),
            _ => Err(CodecError::Malformed("unknown Source")),
        }
    }
}
