//! What the one member says when it is asked of itself: who is connected, what sessions own and when they run out, who
//! watches what.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::evidence::{
    Connection, Expiry, Fired, Health, MemberAnswer, MemberRole, Report, Round, SessionTable, WatchTable,
};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::world::{Session, World};

/// The member's address, and its version.
const MEMBER: &str = "zk-1:2181";
const VERSION: &str = "3.9.3";
/// Its tick: sessions run out on a whole one.
const TICK_MS: i64 = 500;
/// Its running clock began so long before the hour's first instant that no expiry is negative.
const RUNS_MS: i64 = 40 * 3_600_000;
/// Between the question and what the answer is of.
const ASKED_MS: i64 = 30;
/// Packets that a client sends within a third of its time-out.
const PACKETS: i64 = 4;

impl World {
    /// A round of answers; with the table of watches when that is asked for.
    pub(super) fn answer(&mut self, boot_ms: i64, with_watches: bool) {
        let asked_at = TimeMs(self.now_ms - ASKED_MS);
        let ok = |value| MemberAnswer::Ok { asked_at, value };
        let watches = match with_watches {
            true => MemberAnswer::Ok { asked_at, value: self.watch_table() },
            false => MemberAnswer::NotAsked,
        };
        let report = Report {
            member: MEMBER.into(),
            number: None,
            by: "AdminServer http://zk-1:8080".into(),
            is_down: false,
            connections: ok(self.connections(boot_ms - RUNS_MS)),
            sessions: MemberAnswer::Ok { asked_at, value: self.session_table(boot_ms - RUNS_MS) },
            watches,
            health: MemberAnswer::Ok { asked_at, value: self.health() },
        };
        self.observed(Observation::Evidence(Box::new(Round { reports: vec![report] })));
    }

    fn connections(&self, boot_ms: i64) -> Vec<Connection> {
        let connected = self.sessions.iter().filter(|(_, session)| session.cut_ms.is_none());
        let connection = |(id, session): (&SessionId, &Session)| {
            let heard_ms = heard_ms(*id, session, self.now_ms);
            let packets = (heard_ms - session.since_ms) * PACKETS * 3 / session.timeout_ms;
            Connection {
                session: *id,
                address: session.address.clone(),
                timeout_ms: session.timeout_ms,
                established_ms: Some(session.since_ms),
                answered_ms: Some(heard_ms - boot_ms),
                received: u64::try_from(packets).ok(),
                last_operation: Some("PING".into()),
            }
        };
        connected.map(connection).collect()
    }

    fn session_table(&self, boot_ms: i64) -> SessionTable {
        let expiry = |(id, session): (&SessionId, &Session)| {
            (*id, Expiry::Running(ends_ms(*id, session, self.now_ms) / TICK_MS * TICK_MS - boot_ms))
        };
        let mut ephemerals: BTreeMap<SessionId, Vec<Box<str>>> = BTreeMap::new();
        for (path, owner) in self.znodes.iter().filter_map(|(path, znode)| Some((path, znode.owner?))) {
            ephemerals.entry(owner).or_default().push(path.as_str().into());
        }
        SessionTable { expiries: self.sessions.iter().map(expiry).collect(), ephemerals, ..SessionTable::default() }
    }

    fn watch_table(&self) -> WatchTable {
        let sessions = |by: &BTreeMap<usize, SessionId>| by.values().copied().collect::<BTreeSet<_>>();
        let by_path = self.watches.iter().map(|(path, by)| (path.as_str().into(), sessions(by).into_iter().collect()));
        WatchTable { by_path: by_path.collect() }
    }

    fn health(&self) -> Health {
        let connections = self.sessions.values().filter(|session| session.cut_ms.is_none()).count();
        let ephemerals = self.znodes.values().filter(|znode| znode.owner.is_some()).count();
        let (changes, watches) = self.fired;
        Health {
            role: Some(MemberRole::Standalone),
            version: Some(VERSION.into()),
            zxid: Some(self.zxid()),
            watches: Some(self.watches.values().map(BTreeMap::len).sum::<usize>() as u64),
            connections: Some(connections as u64),
            ephemerals: Some(ephemerals as u64),
            outstanding: Some(0),
            tick_ms: Some(TICK_MS),
            deleted: Fired { changes, watches },
            ..Health::default()
        }
    }
}

/// When the member last heard of a client: each pings after a third of its time-out, and not all of them at once.
fn heard_ms(id: SessionId, session: &Session, now_ms: i64) -> i64 {
    let every_ms = session.timeout_ms / 3;
    let until_ms = session.cut_ms.unwrap_or(now_ms);
    (until_ms - (until_ms + (id.0 & 0xffff) * 137).rem_euclid(every_ms.max(1))).max(session.since_ms)
}

/// When a session runs out if its client stays silent: on a whole tick.
pub(super) fn ends_ms(id: SessionId, session: &Session, now_ms: i64) -> i64 {
    ((heard_ms(id, session, now_ms) + session.timeout_ms) / TICK_MS + 1) * TICK_MS
}
