//! What transactions become, against a plain account of ZooKeeper's rules.

use std::collections::BTreeMap;

use lockscope_autopsy::translate::Translator;
use lockscope_autopsy::tree::Tree;
use lockscope_core::observation::{Observation, RootTrouble};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId};
use lockscope_txn_log::{Change, Create, Lifetime, Multi, Session, Transaction};
use proptest::collection::vec;
use proptest::prelude::*;

/// A translator with its clock and transaction numbers.
struct Log {
    translator: Translator,
    zxid: i64,
    now_ms: i64,
}

impl Log {
    fn new(roots: &[&str]) -> Self {
        let roots: Vec<String> = roots.iter().map(|root| (*root).to_owned()).collect();
        Self { translator: Translator::new(&roots, Tree::new(&roots), &[]), zxid: 0, now_ms: 1_000 }
    }

    fn take(&mut self, session: i64, change: Change) -> Vec<Observation> {
        self.zxid += 1;
        let transaction = Transaction { zxid: self.zxid, time_ms: self.now_ms, session, cxid: 1, change };
        let mut told = Vec::new();
        self.translator.take(&transaction, &mut |observation| told.push(observation));
        told
    }

    fn counted(&mut self) -> BTreeMap<String, Facts> {
        let mut told = BTreeMap::new();
        self.translator.count(&mut |observation| {
            let Observation::Counted { path, facts, .. } = observation else { panic!("{observation:?}") };
            told.insert(path.into(), *facts);
        });
        told
    }
}

fn create(path: &str, lifetime: Lifetime) -> Change {
    Change::Create(Create {
        path: path.to_owned(),
        data: Some(b"x".to_vec()),
        acl: Vec::new(),
        lifetime,
        parent_cversion: -1,
    })
}

fn delete(path: &str) -> Change {
    Change::Delete { path: path.to_owned(), by_server: false }
}

fn close(paths: Option<&[&str]>) -> Change {
    Change::CloseSession { paths: paths.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect()) }
}

fn told(observations: &[Observation]) -> Vec<String> {
    let word = |observation: &Observation| match observation {
        Observation::NodeCreated { path, .. } => format!("created {path}"),
        Observation::NodeRead { path, .. } => format!("read {path}"),
        Observation::NodeDeleted { path, .. } => format!("deleted {path}"),
        Observation::SessionTold { session, has_ended } => {
            format!("{} {}", session.0, if *has_ended { "ended" } else { "goes on" })
        }
        Observation::SessionTimeout { session, timeout_ms } => format!("{} has {timeout_ms:?}", session.0),
        other => format!("{other:?}"),
    };
    observations.iter().map(word).collect()
}

#[test]
fn the_time_out_of_a_session_is_told_once_it_owns_something_and_taken_back_when_it_is_over() {
    let mut log = Log::new(&["/l"]);
    log.take(1, create("/l", Lifetime::Persistent));
    for session in [7, 8] {
        assert!(log.take(session, Change::CreateSession { timeout_ms: 9_000 }).is_empty(), "it owns nothing");
    }
    log.take(7, create("/beside", Lifetime::Ephemeral));
    log.take(7, create("/l/stays", Lifetime::Persistent));
    let told_once = told(&log.take(7, create("/l/a", Lifetime::Ephemeral)));
    assert_eq!(told_once, ["7 has Some(9000)", "read /l/a"]);
    assert_eq!(told(&log.take(7, delete("/l/a"))), ["deleted /l/a"]);
    assert_eq!(told(&log.take(7, create("/l/b", Lifetime::Ephemeral))), ["read /l/b"]);
    log.now_ms += 60_000;
    log.take(7, delete("/l/b"));
    assert_eq!(told(&log.take(7, close(None))), ["7 has None"]);
    log.take(8, create("/l/c", Lifetime::Ephemeral));
    assert_eq!(told(&log.take(8, close(None))), ["deleted /l/c", "8 ended"], "an end says as much");
    assert!(log.take(9, close(None)).is_empty(), "nothing was reported of it");
}

#[test]
fn a_snapshot_in_a_gap_says_which_sessions_are_open_and_those_that_are_over_are_taken_back() {
    let roots = ["/".to_owned()];
    let open = |id: i64, timeout_ms| Session { id, timeout_ms };
    let mut log = Log::new(&["/"]);
    log.translator.replace_tree(Tree::new(&roots), &[open(7, 4_000), open(8, 5_000), open(9, 6_000)]);
    for session in [7, 8] {
        log.take(session, create(&format!("/{session}"), Lifetime::Ephemeral));
    }
    let sync = |log: &mut Log| {
        let mut all = Vec::new();
        log.translator.sync(TimeMs(log.now_ms), "test", &mut |observation| all.push(observation));
        all.retain(|one| matches!(one, Observation::SessionTimeout { .. }));
        told(&all)
    };
    assert_eq!(sync(&mut log), ["7 has Some(4000)", "8 has Some(5000)"]);
    log.translator.replace_tree(Tree::new(&roots), &[open(8, 5_500)]);
    log.take(3, create("/x", Lifetime::Persistent));
    assert_eq!(sync(&mut log), ["7 has None", "8 has Some(5500)"]);
    assert_eq!(sync(&mut log), ["8 has Some(5500)"]);
}

#[test]
fn the_end_of_a_session_is_told_with_all_that_goes_whether_its_paths_are_written_or_not() {
    for paths in [None, Some(&["/l/a", "/l/b"][..])] {
        let mut log = Log::new(&["/"]);
        log.take(1, create("/l", Lifetime::Persistent));
        assert_eq!(told(&log.take(7, create("/l/b", Lifetime::Ephemeral))), ["read /l/b"]);
        log.take(7, create("/l/a", Lifetime::Ephemeral));
        log.take(7, create("/l/stays", Lifetime::Persistent));
        assert_eq!(told(&log.take(7, close(paths))), ["deleted /l/a", "deleted /l/b", "7 ended"]);
        assert!(log.take(8, close(paths)).is_empty(), "nothing of it is known");
        assert_eq!((log.translator.sessions().ended, log.translator.tree().owned(7)), (2, 0));
    }
}

#[test]
fn whoever_lets_two_go_at_once_goes_on() {
    let mut log = Log::new(&["/"]);
    log.take(1, create("/l", Lifetime::Persistent));
    for path in ["/l/a", "/l/b", "/l/c"] {
        log.take(7, create(path, Lifetime::Ephemeral));
    }
    assert_eq!(told(&log.take(7, delete("/l/a"))), ["deleted /l/a"]);
    let both = Change::Multi(Multi::Done(vec![delete("/l/b"), delete("/l/c")]));
    assert_eq!(told(&log.take(7, both)), ["deleted /l/b", "deleted /l/c", "7 goes on"]);
    log.take(7, create("/l/a", Lifetime::Ephemeral));
    log.now_ms += 60_000;
    assert_eq!(told(&log.take(7, delete("/l/a"))), ["deleted /l/a"], "nobody takes that for an end");
}

#[test]
fn what_changes_nothing_says_nothing() {
    let mut log = Log::new(&["/l"]);
    log.take(1, create("/l", Lifetime::Persistent));
    for change in [
        create("/other", Lifetime::Persistent),
        create("/l", Lifetime::Persistent),
        delete("/l/missing"),
        Change::Error { code: -101 },
        Change::Check { path: "/l".to_owned(), version: 1 },
        Change::Multi(Multi::Failed(vec![0, -101])),
        Change::CreateSession { timeout_ms: 1 },
        Change::SetData { path: "/other".to_owned(), data: None, version: 1 },
        Change::Unknown { kind: 99 },
    ] {
        assert!(log.take(2, change.clone()).is_empty(), "{change:?}");
    }
    assert_eq!((log.translator.unknown(), log.translator.sessions().made), (1, 1));
}

#[test]
fn a_root_that_goes_is_gone_and_one_that_is_made_is_read() {
    let mut log = Log::new(&["/l"]);
    let made = log.take(1, create("/l", Lifetime::Persistent));
    assert!(
        matches!(
            made[..],
            [
                Observation::SyncBegan { .. },
                Observation::SyncNode { .. },
                Observation::SyncEnded { .. },
                Observation::Synced { .. }
            ]
        ),
        "{made:?}"
    );
    let gone = log.take(1, delete("/l"));
    assert!(matches!(gone[..], [Observation::RootTrouble { trouble: RootTrouble::Gone, .. }]), "{gone:?}");
}

#[test]
fn nobody_is_called_connected_or_lost() {
    let mut log = Log::new(&["/"]);
    let mut model = Observatory::new(Settings { roots: vec!["/".to_owned()], ..Settings::default() }, TimeMs(0));
    let mut all = Vec::new();
    log.translator.sync(TimeMs(1_000), "first sync", &mut |observation| all.push(observation));
    all.extend(log.take(1, create("/l", Lifetime::Persistent)));
    all.extend(log.take(7, create("/l/lock-0000000001", Lifetime::Ephemeral)));
    all.extend(log.take(8, create("/l/lock-0000000002", Lifetime::Ephemeral)));
    assert!(!all.iter().any(|observation| matches!(observation, Observation::Evidence(_))));
    for observation in all {
        model.apply(TimeMs(1_000), observation);
    }
    let lock = model.lock("/l").unwrap();
    assert_eq!((lock.holders.len(), lock.holders[0].owner), (1, Some(SessionId(7))));
    assert!(lock.holders.iter().all(|hold| hold.peer.is_none()));
}

/// One step of a made-up log in one directory.
#[derive(Clone, Debug)]
enum Step {
    Create(u8, i64),
    Delete(u8),
    Close(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..6_u8, 1..4_i64).prop_map(|(name, session)| Step::Create(name, session)),
        3 => (0..6_u8).prop_map(Step::Delete),
        1 => (1..4_i64).prop_map(Step::Close),
    ];
    vec(step, 1..60)
}

proptest! {
    /// The counters of a directory are those that ZooKeeper gives a client: `cversion` counts each creation and each
    /// deletion, `pzxid` is the transaction of the last of them.
    #[test]
    fn counters_are_exact(steps in steps()) {
        let mut log = Log::new(&["/"]);
        log.take(1, create("/l", Lifetime::Persistent));
        let (mut there, mut changes, mut pzxid) = (BTreeMap::<u8, i64>::new(), 0, 1);
        for step in steps {
            let before = there.len();
            match &step {
                Step::Create(name, session) => {
                    if !there.contains_key(name) {
                        there.insert(*name, *session);
                        changes += 1;
                        pzxid = log.zxid + 1;
                    } else {
                        // ZooKeeper logs no creation of what is there.
                        continue;
                    }
                    log.take(*session, create(&format!("/l/{name}"), Lifetime::Ephemeral));
                }
                Step::Delete(name) => {
                    if there.remove(name).is_none() {
                        continue;
                    }
                    changes += 1;
                    pzxid = log.zxid + 1;
                    log.take(1, delete(&format!("/l/{name}")));
                }
                Step::Close(session) => {
                    there.retain(|_, owner| owner != session);
                    let went = before - there.len();
                    changes += i32::try_from(went).unwrap();
                    if went > 0 {
                        pzxid = log.zxid + 1;
                    }
                    log.take(*session, close(None));
                }
            }
            if let Some(facts) = log.counted().get("/l") {
                prop_assert_eq!(facts.cversion, changes);
                prop_assert_eq!(facts.children as usize, there.len());
                prop_assert_eq!(facts.pzxid.0, pzxid);
            }
        }
    }
}
