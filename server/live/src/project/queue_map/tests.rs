//! Maps of made-up queues.

use crate::project::{ApplicationRule, EnsembleInfo, ProjectionContext};
use lockscope_core::evidence::{Connection, MemberAnswer, Report, Round};
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_view::{HandOvers, QueueMap, QueueMapQuery, QueuePlace, Scope};

const ROOT: RootId = RootId(0);
const NOW: TimeMs = TimeMs(100_000);

fn facts(number: i64) -> Box<Facts> {
    Box::new(Facts {
        czxid: Zxid(number + 1),
        mzxid: Zxid(number + 1),
        pzxid: Zxid(number + 1),
        ctime_ms: number,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(number + 1)),
        payload: Some(format!("app-{}-{number}@host-{}", number / 100, number % 7).into_bytes().into()),
        payload_bytes: 16,
    })
}

fn node(number: i64) -> Box<str> {
    format!("/l/lock-{number:010}").into()
}

/// A queue of so many, of whom the first have come and gone, one every two seconds.
fn queue(contenders: i64, gone: i64) -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/".into()], ..Settings::default() }, TimeMs(0));
    let mut apply = |at: TimeMs, observation| drop(observatory.apply(at, observation));
    apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "test".into() });
    apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
    for number in 0..contenders {
        apply(TimeMs(1), Observation::NodeCreated { root: ROOT, path: node(number) });
        apply(
            TimeMs(1),
            Observation::NodeRead { root: ROOT, path: node(number), facts: facts(number), unreadable: false },
        );
    }
    for number in 0..gone {
        apply(TimeMs(2_000 * (number + 1)), Observation::NodeDeleted { root: ROOT, path: node(number) });
    }
    observatory
}

fn map(observatory: &Observatory, app: &str) -> QueueMap {
    let ensemble = EnsembleInfo {
        name: "default".into(),
        connect: "zk:2181".into(),
        color: None,
        has_others: false,
        labels: Default::default(),
        excluded: None,
        proof: Default::default(),
    };
    let look = ProjectionContext { observatory, ensemble: &ensemble, scope: &Scope::ALL, now: NOW };
    let query = QueueMapQuery { path: "/l".into(), app: app.into(), ..QueueMapQuery::default() };
    *look.queue_map(&query, &ApplicationRule::default()).unwrap()
}

#[test]
fn every_contender_is_in_one_slice_and_nobody_is_called_alive_without_evidence() {
    let map = map(&queue(1_000, 0), "");
    assert_eq!((map.total, map.mapped, map.per_slice, map.slices.len()), (1_000, 1_000, 5, 200));
    assert!(map.slices.iter().all(|slice| slice.unknown == 5 && slice.connected == 0));
    assert_eq!((map.dead_count, map.place, map.hand_overs), (0, None, None));
}

#[test]
fn a_place_counts_the_holds_before_it_and_a_rate_wants_eight_that_ended() {
    let seen = queue(600, 8);
    // Numbers 0 to 7 are gone, so 500, the first of its application, stands behind 492.
    let found = map(&seen, "APP-5");
    assert_eq!(found.place, Some(QueuePlace { position: 492, ahead: 492 }));
    assert_eq!(found.hand_overs, Some(HandOvers { count: 7, since_ms: 2_000, until_ms: 16_000 }));
    assert_eq!(map(&seen, "app-9").place, None);
    assert_eq!(map(&queue(600, 7), "app-5").hand_overs, None, "too few were seen");
}

#[test]
fn those_whom_no_member_lists_are_the_dead_in_line() {
    let mut seen = queue(300, 0);
    let connection = |number: i64| Connection {
        session: SessionId(number + 1),
        address: format!("10.0.0.{}:4000", number / 100).into(),
        timeout_ms: 30_000,
        established_ms: None,
        answered_ms: None,
        received: None,
        last_operation: None,
    };
    let alive = (0..300).filter(|number| number % 100 != 50).map(connection).collect();
    let report = Report {
        member: "m1".into(),
        number: None,
        by: "four-letter words".into(),
        is_down: false,
        connections: MemberAnswer::Ok { asked_at: TimeMs(50_000), value: alive },
        sessions: MemberAnswer::NotAsked,
        watches: MemberAnswer::NotAsked,
        health: MemberAnswer::NotAsked,
    };
    seen.apply(TimeMs(50_001), Observation::Evidence(Box::new(Round { reports: vec![report] })));
    let map = map(&seen, "10.0.0.2");
    assert_eq!((map.dead_count, &*map.dead), (3, &[50, 150, 250][..]));
    assert_eq!(map.slices.iter().map(|slice| slice.connected).sum::<u32>(), 297);
    assert_eq!(map.place, Some(QueuePlace { position: 200, ahead: 200 }), "a host will do as well");
    assert_eq!(map.slices.get(25).map(|slice| slice.disconnected), Some(1));
}

#[test]
fn a_queue_too_long_to_walk_is_mapped_as_far_as_that_goes() {
    let map = map(&queue(i64::from(lockscope_view::QUEUE_MAPPED_MAX) + 500, 0), "app-204");
    assert_eq!((map.total, map.mapped), (20_500, 20_000));
    assert_eq!((map.slices.len(), map.place), (239, None));
}
