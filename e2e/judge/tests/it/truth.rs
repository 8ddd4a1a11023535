//! The truth from the log: rules, sessions that end, multis, holes.

use lockscope_judge::{Capture, Contender, Kind, Rule, Truth, judge};
use lockscope_txn_log::{Change, Lifetime, Multi, Transaction};

use crate::world::{LOCK, World, create, frame};

fn sessions(contenders: &[Contender]) -> Vec<i64> {
    contenders.iter().map(|contender| contender.session.unwrap()).collect()
}

fn now(truth: &Truth, lock: &str) -> (Vec<i64>, Vec<i64>) {
    let line = truth.now(lock);
    assert_eq!((line.holder_count, line.waiter_count), (line.holders.len(), line.waiters.len()));
    (sessions(&line.holders), sessions(&line.waiters))
}

fn locked(names: &[(&str, i64)]) -> Truth {
    let mut world = World::new();
    for (name, session) in names {
        world.create(*session, &format!("{LOCK}/{name}"), Lifetime::Ephemeral);
    }
    world.truth()
}

#[test]
fn the_lowest_number_holds_whatever_its_prefix() {
    let truth =
        locked(&[("z__lock__0000000003", 13), ("_c_a-lock-0000000012", 22), ("b__lock__0000000001", 11), ("notes", 9)]);
    assert_eq!(truth.rule(LOCK), Rule::Queue);
    assert_eq!(now(&truth, LOCK), (vec![11], vec![13, 22]));
}

#[test]
fn readers_share_until_a_writer() {
    let read_write = [
        ("a-__READ__0000000001", 11),
        ("b-__READ__0000000002", 12),
        ("c-__WRIT__0000000003", 13),
        ("d-__READ__0000000004", 14),
    ];
    assert_eq!(now(&locked(&read_write), LOCK), (vec![11, 12], vec![13, 14]));
    assert_eq!(now(&locked(&read_write[2..]), LOCK), (vec![13], vec![14]));
    let kazoo = [("aa__rlock__0000000001", 11), ("bb__lock__0000000002", 12), ("cc__rlock__0000000003", 13)];
    assert_eq!(now(&locked(&kazoo), LOCK), (vec![11], vec![12, 13]));
}

#[test]
fn a_counter_that_ran_over_goes_on() {
    let truth = locked(&[("aa__lock__-2147483648", 12), ("bb__lock__2147483647", 11), ("cc__lock__-2147483647", 13)]);
    assert_eq!(now(&truth, LOCK), (vec![11], vec![12, 13]));
}

#[test]
fn fixed_znodes() {
    let mut world = World::new();
    world.create(11, &format!("{LOCK}/lock"), Lifetime::Ephemeral);
    world.create(12, "/controller", Lifetime::Ephemeral);
    let mut truth = world.truth();
    assert_eq!((truth.rule(LOCK), now(&truth, LOCK)), (Rule::FixedChild, (vec![11], vec![])));
    assert_eq!((truth.rule("/controller"), now(&truth, "/controller")), (Rule::FixedNode, (vec![12], vec![])));
    assert_eq!(now(&truth, "/nowhere"), (vec![], vec![]));
    truth.set_rule(LOCK, Rule::Queue);
    assert_eq!(now(&truth, LOCK), (vec![], vec![]));
    // Whoever waits for a fixed name has no znode: the log can't tell, so it is not judged.
    let waiter = Contender { czxid: None, session: Some(13) };
    let holder = truth.now("/controller").holders;
    let shown = frame(0, "/controller", (world.zxid(), 0), world.now_ms + 5, holder, vec![waiter]);
    assert!(judge(&truth, &[Capture::Shown(shown)], &[]).is_clean());
}

/// All contenders of one multi have the same czxid; their sessions and their order tell them apart.
#[test]
fn contenders_of_one_multi() {
    let mut world = World::new();
    let path = |number: u32| format!("{LOCK}/lock-{number:010}");
    let parts = (0..3).map(|number| Change::Create(create(&path(number), Lifetime::Ephemeral))).collect();
    let czxid = world.commit(11, Change::Multi(Multi::Done(parts)));
    world.create(12, &path(3), Lifetime::Ephemeral);
    world.commit(11, Change::Multi(Multi::Failed(vec![0, -101])));
    world.commit(
        11,
        Change::Multi(Multi::Done(vec![
            Change::Delete { path: path(1), by_server: false },
            Change::Check { path: path(0), version: 0 },
        ])),
    );
    let truth = world.truth();
    assert_eq!(now(&truth, LOCK), (vec![11], vec![11, 12]));
    let line = truth.now(LOCK);
    let shown = |holders: Vec<Contender>, waiters: Vec<Contender>| {
        let shown = frame(0, LOCK, (world.zxid(), world.now_ms), world.now_ms + 5, holders, waiters);
        judge(&truth, &[Capture::Shown(shown)], &[])
    };
    assert!(shown(line.holders.clone(), line.waiters.clone()).is_clean());
    let one = Contender { czxid: Some(czxid), session: Some(11) };
    assert_eq!(shown(vec![one], vec![line.waiters[1], one]).count(Kind::SwappedWaiters), 1);
    assert_eq!(shown(vec![line.waiters[1]], vec![one, one]).count(Kind::WrongHolder), 1);
}

#[test]
fn what_a_session_owned_falls_with_it_on_record_or_not() {
    for is_on_record in [true, false] {
        let mut world = World::new();
        world.queue(11, 0);
        world.queue(12, 1);
        world.create(11, "/locks/persistent", Lifetime::Persistent);
        world.close(11, is_on_record);
        let truth = world.truth();
        assert_eq!(now(&truth, LOCK), (vec![12], vec![]));
        assert_eq!(now(&truth, "/locks"), (vec![], vec![]));
    }
}

#[test]
fn logs_of_several_files_overlap() {
    let mut world = World::new();
    world.queue(11, 0);
    world.queue(12, 1);
    world.leave(11, 0);
    let (first, second) = (world.transactions[..4].to_vec(), world.transactions[2..].to_vec());
    let truth = Truth::from_transactions(second.into_iter().chain(first));
    assert_eq!((truth.last_zxid(), truth.missing()), (5, 0));
    assert_eq!(now(&truth, LOCK), (vec![12], vec![]));
}

#[test]
fn holes_are_counted() {
    let mut world = World::new();
    world.queue(11, 0);
    world.queue(12, 1);
    let mut transactions = world.transactions.clone();
    transactions.remove(2);
    assert_eq!(Truth::from_transactions(transactions.clone()).missing(), 1);
    // A new leader begins to count anew.
    let zxid = (5 << 32) + 1;
    transactions.push(Transaction { zxid, time_ms: 0, session: 1, cxid: 0, change: Change::Error { code: -101 } });
    assert_eq!(Truth::from_transactions(transactions.clone()).missing(), 1);
    transactions.push(Transaction {
        zxid: zxid + 2,
        time_ms: 0,
        session: 1,
        cxid: 0,
        change: Change::Unknown { kind: 99 },
    });
    assert_eq!(Truth::from_transactions(transactions).missing(), 3);
}

/// A root and a directory that are made anew count from 0 again.
#[test]
fn a_directory_made_anew() {
    let mut world = World::new();
    world.queue(11, 0);
    let first = world.shown(0);
    world.wait(100);
    world.leave(11, 0);
    world.delete(1, LOCK);
    let gone = world.shown(0);
    world.wait(100);
    world.create(1, LOCK, Lifetime::Container);
    world.queue(12, 0);
    let second = world.shown(0);
    assert!(world.judge([first.clone(), gone, second.clone()]).is_clean());
    let mut again = first;
    again.arrived_at_ms = second.arrived_at_ms + 1;
    assert_eq!(world.judge([second, again]).count(Kind::TimeTravel), 1);
}
