//! What the members said of themselves and of sessions.

use lockscope_core::evidence::{
    ClientState, Disagreement, DisputeSuspect, Disputed, Lately, Liveness, Member, ReportedEnd, RunningClock, RunsOut,
    SessionRecord, Silence, Silences, Source, WatchTable,
};
use lockscope_core::recollection::{MembersState, WatchesRecollection};

use super::super::CodecError;
use super::super::coded::{Coded, coded_enum, coded_struct};
use super::super::tables::{Reader, Writer};

coded_enum!(Liveness { Connected = 0, Silent = 1, Disconnected = 2, Unknown = 3 });
coded_struct!(RunsOut { at, is_told });
coded_struct!(ClientState { address, member, liveness, runs_out });
coded_struct!(ReportedEnd { expiry, since, asked_at });
coded_struct!(Silence { at_least_ms, at_most_ms });
coded_struct!(Silences { since, turned_at, answered_ms, present, before });
coded_struct!(Lately { over_ms, deleted, children, changed });
coded_struct!(RunningClock { least });
coded_struct!(Member { number, by, is_down, connections, sessions, watches, how, health, lately, running });
coded_struct!(Disputed { session, on, late });
coded_struct!(DisputeSuspect { session, on, newest });
coded_struct!(Disagreement { suspects, disputed });
coded_struct!(MembersState { members, disagreement, rounds, complete_at, is_fresh, vouched_at });
coded_struct!(WatchTable { by_path });
coded_struct!(WatchesRecollection { member, asked_at, table });

/// How long it was silent is said since version 4.
impl Coded for SessionRecord {
    fn put(&self, out: &mut Writer) {
        let Self {
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
            silences,
        } = self;
        address.put(out);
        member.put(out);
        timeout_ms.put(out);
        connected_since.put(out);
        last_operation.put(out);
        heard_at.put(out);
        listed_at.put(out);
        seen_at.put(out);
        gone_since.put(out);
        runs_out.put(out);
        end.put(out);
        received.put(out);
        round.put(out);
        told.put(out);
        silences.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self {
            address: Coded::take(from)?,
            member: Coded::take(from)?,
            timeout_ms: Coded::take(from)?,
            connected_since: Coded::take(from)?,
            last_operation: Coded::take(from)?,
            heard_at: Coded::take(from)?,
            listed_at: Coded::take(from)?,
            seen_at: Coded::take(from)?,
            gone_since: Coded::take(from)?,
            runs_out: Coded::take(from)?,
            end: Coded::take(from)?,
            received: Coded::take(from)?,
            round: Coded::take(from)?,
            told: Coded::take(from)?,
            silences: if from.version < 4 { Silences::default() } else { Coded::take(from)? },
        })
    }
}

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
