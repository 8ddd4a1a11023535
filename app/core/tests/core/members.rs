//! What members report, for stories: who is connected, which sessions there are, who watches what.

use lockscope_core::evidence::{
    Connection, Expiry, Health, MemberAnswer, MemberRole, Report, Round, SessionTable, Trouble, WatchTable,
};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use crate::language::Story;

pub(super) const TIMEOUT_MS: i64 = 6_000;

/// What one member says at a time.
pub(super) struct Member {
    pub(super) report: Report,
    at: TimeMs,
    running_ms: i64,
}

/// `m1` asked at `at`; its running clock shows 1,000,000 less than ours.
pub(super) fn member(name: &str, at: i64) -> Member {
    let none = || Trouble::Off;
    let report = Report {
        member: name.into(),
        number: None,
        by: "four-letter words".into(),
        is_down: false,
        connections: MemberAnswer::None { trouble: none(), remedy: "".into() },
        sessions: MemberAnswer::NotAsked,
        watches: MemberAnswer::NotAsked,
        health: MemberAnswer::NotAsked,
    };
    Member { report, at: TimeMs(at), running_ms: at - 1_000_000 }
}

impl Member {
    /// Connections: session and how long ago it was answered.
    pub(super) fn connected(mut self, sessions: &[(i64, i64)]) -> Self {
        let connection = |(session, ago_ms): &(i64, i64)| Connection {
            session: SessionId(*session),
            address: format!("10.0.0.{session}:4000").into(),
            timeout_ms: TIMEOUT_MS,
            established_ms: None,
            answered_ms: Some(self.running_ms - ago_ms),
            received: None,
            last_operation: None,
        };
        self.report.connections =
            MemberAnswer::Ok { asked_at: self.at, value: sessions.iter().map(connection).collect() };
        self
    }

    /// Sessions: when each runs out, in ms from now, and its one znode.
    pub(super) fn sessions(mut self, sessions: &[(i64, i64, &str)]) -> Self {
        let mut table = SessionTable::default();
        for (session, left_ms, path) in sessions {
            table.expiries.insert(SessionId(*session), Expiry::Running(self.running_ms + left_ms));
            table.ephemerals.insert(SessionId(*session), vec![(*path).into()]);
        }
        self.report.sessions = MemberAnswer::Ok { asked_at: self.at, value: table };
        self
    }

    pub(super) fn table(&mut self) -> &mut SessionTable {
        let MemberAnswer::Ok { value, .. } = &mut self.report.sessions else { panic!("it says something of sessions") };
        value
    }

    /// What a session owns that is none.
    pub(super) fn owns(mut self, session: i64, path: &str) -> Self {
        self.table().ephemerals.insert(SessionId(session), vec![path.into()]);
        self
    }

    pub(super) fn role(self, role: MemberRole) -> Self {
        self.health(Health { role: Some(role), ..Health::default() })
    }

    pub(super) fn health(mut self, value: Health) -> Self {
        self.report.health = MemberAnswer::Ok { asked_at: self.at, value };
        self
    }

    pub(super) fn unasked(mut self) -> Self {
        self.report.connections = MemberAnswer::NotAsked;
        self
    }

    pub(super) fn round(self) -> Round {
        Round { reports: vec![self.report] }
    }

    pub(super) fn watches(mut self, watches: &[(&str, &[i64])]) -> Self {
        let by_path = watches
            .iter()
            .map(|(path, by)| ((*path).into(), by.iter().map(|session| SessionId(*session)).collect()))
            .collect();
        self.report.watches = MemberAnswer::Ok { asked_at: self.at, value: WatchTable { by_path } };
        self
    }
}

pub(super) fn ask(story: &mut Story, members: Vec<Member>) {
    let now = members.iter().map(|member| member.at).max().unwrap();
    story.now = now.0;
    let round = Round { reports: members.into_iter().map(|member| member.report).collect() };
    story.changes.extend(story.observatory.apply(now, Observation::Evidence(Box::new(round))));
    story.observatory.apply(now, Observation::Synced { sent_at: now });
}

/// Session a (10) holds, b (11) and c (12) wait.
pub(super) fn queue() -> Story {
    let mut story = Story::new(&["/l"]);
    story.tell(
        "1000000 sync /l
        1000000 node /l created=3
        1000000 node /l/_c_11111111-1111-1111-1111-111111111111-lock-0000000000 owner=a data=one
        1000000 node /l/_c_22222222-2222-2222-2222-222222222222-lock-0000000001 owner=b data=two
        1000000 node /l/_c_33333333-3333-3333-3333-333333333333-lock-0000000002 owner=c data=three
        1000000 end /l",
    );
    story
}

pub(super) const FIRST: &str = "/l/_c_11111111-1111-1111-1111-111111111111-lock-0000000000";
pub(super) const SECOND: &str = "/l/_c_22222222-2222-2222-2222-222222222222-lock-0000000001";
