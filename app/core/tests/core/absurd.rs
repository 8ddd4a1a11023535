//! Instants that no clock ever showed, as a wrong member or server may report them: nothing overflows, and what is right
//! is right again once they are gone.

use lockscope_core::evidence::{Connection, Expiry, Health, MemberAnswer, Report, Round, SessionTable, WatchTable};
use lockscope_core::lock::Lock;
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};

const ROOT: RootId = RootId(0);
const NOW: i64 = 1_790_000_000_000;
const ABSURD: [i64; 4] = [i64::MIN, i64::MIN / 2 - 1, i64::MAX / 2 + 1, i64::MAX];

fn path(number: usize) -> Box<str> {
    format!("/l/lock-{number:010}").into()
}

fn told(number: usize, ctime_ms: i64) -> [Observation; 2] {
    let zxid = Zxid(i64::try_from(number).unwrap() + 1);
    let facts = Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(zxid.0)),
        payload: None,
        payload_bytes: 0,
    };
    let created = Observation::NodeCreated { root: ROOT, path: path(number) };
    [created, Observation::NodeRead { root: ROOT, path: path(number), facts: Box::new(facts), unreadable: false }]
}

/// A mutex with one that holds and one that waits, both with usual ctimes.
fn queue() -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(NOW));
    observatory.apply(TimeMs(NOW), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(NOW), Observation::SyncBegan { root: ROOT, why: "test".into() });
    observatory.apply(TimeMs(NOW), Observation::SyncEnded { root: ROOT });
    for observation in (0..2).flat_map(|number| told(number, NOW - 5)) {
        observatory.apply(TimeMs(NOW), observation);
    }
    observatory
}

fn lock(observatory: &Observatory) -> &Lock {
    observatory.lock("/l").unwrap()
}

/// A round whose every number is absurd. A session is on no list in every other one.
fn round(at: TimeMs, absurd: i64, is_listed: bool) -> Round {
    let connection = |session| Connection {
        session: SessionId(session),
        address: "10.0.0.1:1".into(),
        timeout_ms: absurd,
        established_ms: Some(absurd),
        answered_ms: Some(absurd.wrapping_neg()),
        received: None,
        last_operation: None,
    };
    let mut table = SessionTable::default();
    table.expiries.insert(SessionId(1), Expiry::QuarterHour(absurd));
    table.expiries.insert(SessionId(2), Expiry::Running(absurd));
    table.timeouts_ms.insert(SessionId(1), absurd);
    let connections = if is_listed { vec![connection(1), connection(2)] } else { Vec::new() };
    let by_path = [(path(0), vec![SessionId(2), SessionId(7)])].into_iter().collect();
    let health = Health { tick_ms: Some(absurd), ..Health::default() };
    Round {
        reports: vec![Report {
            member: "10.1.0.1:2181".into(),
            number: None,
            by: "".into(),
            is_down: false,
            connections: MemberAnswer::Ok { asked_at: at, value: connections },
            sessions: MemberAnswer::Ok { asked_at: at, value: table },
            watches: MemberAnswer::Ok { asked_at: at, value: WatchTable { by_path } },
            health: MemberAnswer::Ok { asked_at: at, value: health },
        }],
    }
}

#[test]
fn what_members_say_of_sessions_may_be_absurd() {
    for absurd in ABSURD {
        for offset_ms in [0, absurd] {
            let mut observatory = queue();
            let (sent_at, told_at) = (TimeMs(NOW), TimeMs(NOW + 1));
            observatory
                .apply(told_at, Observation::ClockRead { sent_at, told_at, ctime_ms: NOW.wrapping_sub(offset_ms) });
            for number in 1..12 {
                let now = TimeMs(NOW + 5_000 * number);
                observatory.apply(now, Observation::Evidence(Box::new(round(now, absurd, number % 2 == 1))));
                observatory.apply(now + 250, Observation::Tick);
            }
            observatory.apply(TimeMs(NOW + 900_000), Observation::Tick);
            assert_eq!(lock(&observatory).contender_count(), 2);
        }
    }
}

#[test]
fn sums_over_absurd_ctimes_are_right_again_once_these_are_gone() {
    for one in ABSURD {
        for other in ABSURD {
            let mut observatory = queue();
            let before = lock(&observatory).standing.clone();
            for observation in told(2, one).into_iter().chain(told(3, other)).chain(told(4, other)) {
                observatory.apply(TimeMs(NOW + 1), observation);
                observatory.apply(TimeMs(NOW + 300), Observation::Tick);
                lock(&observatory).waiting_since_sum_ms(observatory.offset().ms().unwrap_or(0));
            }
            for number in 2..5 {
                observatory.apply(TimeMs(NOW + 400), Observation::NodeDeleted { root: ROOT, path: path(number) });
            }
            assert_eq!(lock(&observatory).standing, before);
        }
    }
}
