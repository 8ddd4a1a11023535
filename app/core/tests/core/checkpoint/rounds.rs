//! Rounds of answers from members: some answer, some don't, some differ.

use lockscope_core::evidence::{
    Connection, Expiry, Fired, Health, MemberAnswer, MemberRole, Report, Round, SessionTable, Trouble, WatchTable,
};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use proptest::prelude::*;

const TIMEOUT_MS: i64 = 6_000;

/// What a round is like; a bit a member and question.
#[derive(Clone, Debug)]
pub(super) struct RoundKind {
    members: usize,
    /// Who answers what; else it says why not, or is not asked.
    answers: u16,
    /// Which sessions are listed.
    sessions: u8,
    /// How long ago each was answered.
    silent_ms: i64,
    /// Which member leaves out the first ephemeral.
    differs: usize,
}

impl RoundKind {
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let answers = prop_oneof![3 => Just(u16::MAX), 2 => any::<u16>()];
        (1..4_usize, answers, any::<u8>(), 0..12_000_i64, 0..8_usize).prop_map(
            |(members, answers, sessions, silent_ms, differs)| Self { members, answers, sessions, silent_ms, differs },
        )
    }

    fn answer<T>(&self, member: usize, question: usize, asked_at: TimeMs, value: T) -> MemberAnswer<T> {
        if self.answers & (1 << (4 * member + question)) != 0 {
            return MemberAnswer::Ok { asked_at, value };
        }
        match (self.answers >> 12) & 1 {
            0 => MemberAnswer::NotAsked,
            _ => MemberAnswer::None { trouble: Trouble::Denied, remedy: "4lw.commands.whitelist=*".into() },
        }
    }
}

/// The answers at an instant, of an ensemble with these ephemerals.
pub(super) fn round(kind: &RoundKind, now: i64, owned: &[(String, i64)]) -> Round {
    Round { reports: (0..kind.members).map(|member| report(kind, member, now, owned)).collect() }
}

fn report(kind: &RoundKind, member: usize, now: i64, owned: &[(String, i64)]) -> Report {
    let asked_at = TimeMs(now - 2 - i64::try_from(member).unwrap());
    let running_ms = now - 900_000;
    let listed = |session: &i64| kind.sessions & (1 << (session % 8)) != 0;
    let own = |session: &i64| usize::try_from(*session).unwrap() % kind.members == member;
    let mut sessions: Vec<i64> = owned.iter().map(|(_, owner)| *owner).chain([99]).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let connection = |session: &i64| Connection {
        session: SessionId(*session),
        address: format!("10.0.0.{session}:4000").into(),
        timeout_ms: TIMEOUT_MS,
        established_ms: (session % 2 == 0).then_some(now - 50_000),
        answered_ms: (session % 3 != 0).then_some(running_ms - kind.silent_ms),
        received: Some(u64::try_from(now / 20_000).unwrap()),
        last_operation: (session % 2 == 0).then(|| "PING".into()),
    };
    let connections = sessions.iter().filter(|session| own(session) && listed(session)).map(connection).collect();
    let mut table = SessionTable::default();
    for (at, (path, owner)) in owned.iter().enumerate() {
        if at > 0 || kind.differs != member {
            table.ephemerals.entry(SessionId(*owner)).or_default().push(path.as_str().into());
        }
        let ends = if kind.differs.is_multiple_of(2) { running_ms + 4_000 } else { (now / 10_000) * 10_000 - 897_000 };
        if member == 0 {
            table.expiries.insert(
                SessionId(*owner),
                if owner % 2 == 0 { Expiry::Running(ends) } else { Expiry::QuarterHour(ends.rem_euclid(900_000)) },
            );
        } else {
            table.timeouts_ms.insert(SessionId(*owner), TIMEOUT_MS);
        }
    }
    let watchers = |at: usize| [1, 2, 99].map(|more| SessionId(i64::try_from(at % 4).unwrap() + more)).to_vec();
    let by_path = owned.iter().enumerate().map(|(at, (path, _))| (path.as_str().into(), watchers(at))).collect();
    let zxid = Some(Zxid(100 + now / 1_000 - i64::try_from(member).unwrap()));
    let fired = Fired { changes: u64::try_from(now / 5_000).unwrap(), watches: u64::from(kind.sessions) };
    let health = Health {
        role: Some(if member == 0 { MemberRole::Leader } else { MemberRole::Follower }),
        version: Some("3.9.4".into()),
        zxid,
        tick_ms: Some(2_000),
        deleted: fired,
        packets: Some((1, 2)),
        ..Health::default()
    };
    Report {
        member: format!("10.1.0.{member}:2181").into(),
        number: Some(i64::try_from(member).unwrap()),
        by: if kind.differs == 7 { "" } else { "four-letter words" }.into(),
        is_down: kind.answers & (1 << (4 * member)) == 0 && kind.differs == 6,
        connections: kind.answer(member, 0, asked_at, connections),
        sessions: kind.answer(member, 1, asked_at, table),
        watches: kind.answer(member, 2, asked_at, WatchTable { by_path }),
        health: kind.answer(member, 3, asked_at, health),
    }
}
