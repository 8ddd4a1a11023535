//! What only a large model has: lists in several pieces, full logs, a search for deadlocks that was left half way.

use lockscope_core::evidence::{Connection, MemberAnswer, Report, Round, SessionTable, WatchTable};
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, RECORDED_MAX, Settings};
use lockscope_core::recollection::{PIECE_MAX, Recollection};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};

use super::equality::{assert_same, checkpoint, recalled};

const ROOT: RootId = RootId(0);
const CONTENDERS: i64 = 12_000;

fn facts(czxid: i64, owner: i64) -> Box<Facts> {
    let zxid = Zxid(czxid);
    Box::new(Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms: czxid,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(owner)),
        payload: None,
        payload_bytes: 0,
    })
}

fn node(path: String, czxid: i64, owner: i64) -> Observation {
    Observation::SyncNode { root: ROOT, path: path.into(), facts: facts(czxid, owner), unreadable: false }
}

/// Two locks, each with so many contenders: whoever waits in one holds nothing, but every session is in both.
fn observatory() -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "test".into() });
    for at in 0..CONTENDERS {
        observatory.apply(TimeMs(0), node(format!("/l/a/lock-{at:010}"), 2 * at + 1, at + 1));
        observatory.apply(TimeMs(0), node(format!("/l/b/lock-{at:010}"), 2 * at + 2, CONTENDERS - at));
    }
    observatory.apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
    observatory.apply(TimeMs(0), Observation::Tick);
    for at in 0..4_000_i64 {
        let (now, path) = (TimeMs(10 + at), format!("/l/c/lock-{at:010}"));
        observatory.apply(now, Observation::NodeCreated { root: ROOT, path: path.as_str().into() });
        let (facts, unreadable) = (facts(100_000 + at, 7), false);
        observatory.apply(now, Observation::NodeRead { root: ROOT, path: path.as_str().into(), facts, unreadable });
        if at < 3_990 {
            observatory.apply(now, Observation::NodeDeleted { root: ROOT, path: path.into() });
        }
    }
    observatory.apply(TimeMs(5_000), Observation::Evidence(Box::new(Round { reports: vec![report()] })));
    observatory
}

/// All sessions are connected, and each watches a znode of its own.
fn report() -> Report {
    let asked_at = TimeMs(4_990);
    let connection = |session| Connection {
        session: SessionId(session),
        address: "10.0.0.1:1".into(),
        timeout_ms: 6_000,
        established_ms: None,
        answered_ms: None,
        received: None,
        last_operation: None,
    };
    let by_path = (0..CONTENDERS).map(|at| (format!("/l/a/lock-{at:010}").into(), vec![SessionId(at + 2)]));
    Report {
        member: "10.1.0.1:2181".into(),
        number: None,
        by: "".into(),
        is_down: false,
        connections: MemberAnswer::Ok { asked_at, value: (1..=CONTENDERS).map(connection).collect() },
        sessions: MemberAnswer::Ok { asked_at, value: SessionTable::default() },
        watches: MemberAnswer::Ok { asked_at, value: WatchTable { by_path: by_path.collect() } },
        health: MemberAnswer::NotAsked,
    }
}

#[test]
fn a_large_model_is_recalled_piece_by_piece() {
    let mut live = observatory();
    let parts = checkpoint(&live);
    let mut pieces = [0; 5];
    let mut has_search = false;
    for part in &parts {
        let Observation::Recalled(part) = part else { panic!("{part:?}") };
        let number = match &**part {
            Recollection::Children(more) => (0, more.children.len()),
            Recollection::Sessions(some) => (1, some.len()),
            Recollection::Watches(some) => (2, some.table.by_path.len()),
            Recollection::SessionEvents(some) => (3, some.len()),
            Recollection::EventRecords(some) => (4, some.len()),
            Recollection::Model(model) => {
                has_search |= model.state.search.is_some();
                continue;
            }
            _ => continue,
        };
        pieces[number.0] += 1;
        assert!(number.1 <= PIECE_MAX, "{number:?}");
    }
    assert!(pieces.iter().all(|number| *number > 3), "{pieces:?}");
    assert!(has_search, "a search is under way");
    assert_eq!(live.recorder().after(0).count(), RECORDED_MAX);
    let mut other = recalled(&parts, TimeMs(77));
    assert!(live == other && checkpoint(&other) == parts);
    for at in 0..40 {
        let now = TimeMs(6_000 + 200 * at);
        assert_eq!(live.apply(now, Observation::Tick), other.apply(now, Observation::Tick));
    }
    assert!(!live.cycles().is_empty(), "the search ended and found something");
    assert_same(&live, &other, "at the end");
}
