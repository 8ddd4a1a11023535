//! In which order sessions take locks, and what is warned of.

use lockscope_core::lock_order::{EDGES_MAX, KEPT_MS, LockOrders, NAMES_MAX, OrderWarning, WINDOW_SESSIONS_MAX};
use lockscope_core::observation::{Observation, RootId};
use lockscope_core::observatory::Observatory;
use lockscope_core::recipe::Confidence;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};

use crate::language::Story;

/// Sessions that take and release locks under one root, as simply as possible.
pub(crate) struct Sessions {
    pub(crate) observatory: Observatory,
    pub(crate) now: i64,
    next: i64,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Self { observatory: Story::new(&["/"]).observatory, now: 1_000, next: 1 }
    }

    pub(crate) fn apply(&mut self, observation: Observation) {
        self.observatory.apply(TimeMs(self.now), observation);
    }

    /// A session asks for a lock; the znode by which it does.
    pub(crate) fn ask(&mut self, session: i64, lock: &str) -> String {
        self.ask_as(session, lock, "lock-")
    }

    pub(crate) fn ask_as(&mut self, session: i64, lock: &str, prefix: &str) -> String {
        (self.now, self.next) = (self.now + 10, self.next + 1);
        let path = format!("{lock}/{prefix}{:010}", self.next);
        let zxid = Zxid(self.next);
        let facts = Facts {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: self.now,
            version: 0,
            cversion: 0,
            children: 0,
            owner: Some(SessionId(session)),
            payload: Some(format!("worker-{session}").as_bytes().into()),
            payload_bytes: 8,
        };
        self.apply(Observation::NodeCreated { root: RootId(0), path: path.as_str().into() });
        let facts = Box::new(facts);
        self.apply(Observation::NodeRead { root: RootId(0), path: path.as_str().into(), facts, unreadable: false });
        path
    }

    pub(crate) fn leave(&mut self, path: &str) {
        self.now += 10;
        self.apply(Observation::NodeDeleted { root: RootId(0), path: path.into() });
    }

    /// Takes these one after the other, and lets go of all of them.
    pub(crate) fn nest(&mut self, session: i64, locks: &[&str]) {
        let paths: Vec<String> = locks.iter().map(|lock| self.ask(session, lock)).collect();
        paths.iter().rev().for_each(|path| self.leave(path));
    }

    pub(crate) fn tick(&mut self, ms: i64) {
        self.now += ms;
        self.apply(Observation::Tick);
    }

    pub(crate) fn orders(&self) -> &LockOrders {
        self.observatory.lock_orders()
    }

    pub(crate) fn warned(&self) -> Vec<String> {
        let classes = |warning: OrderWarning<'_>| warning.classes().iter().map(|class| class.to_string()).collect();
        self.orders().warnings().map(classes).map(|classes: Vec<String>| classes.join(" ")).collect()
    }

    pub(crate) fn findings(&self, lock: &str) -> Vec<String> {
        let findings = self.observatory.lock(lock).into_iter().flat_map(|lock| &lock.assessment.findings);
        findings.filter(|finding| finding.code.name() == "lock_order").map(|finding| finding.text.to_string()).collect()
    }
}

#[test]
fn opposite_orders_of_two_sessions_are_warned_of() {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/a", "/b"]);
    assert!(sessions.warned().is_empty());
    sessions.now += 170;
    sessions.nest(2, &["/b", "/a"]);
    assert_eq!(sessions.warned(), ["/a /b"]);
    let warning = sessions.orders().warnings().next().unwrap();
    assert_eq!((warning.count(), warning.sessions().len()), (2, 2));
    assert_eq!(warning.confidence(), Confidence::High);
    let closest = warning.closest().unwrap();
    // The first let go of /b, then waited a while; the second took /b and asked for /a.
    assert_eq!((closest.ms, closest.session, closest.other), (200, SessionId(2), SessionId(1)));
    let [from_b, from_a] = [1, 0].map(|at| &warning.orders[at].last);
    assert_eq!((from_a.label.as_deref(), &*from_a.held, &*from_a.wanted), (Some("worker-1"), "/a", "/b"));
    assert_eq!((from_b.session, from_b.at), (SessionId(2), closest.at));
}

#[test]
fn a_finding_is_on_both_locks() {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/a", "/b"]);
    sessions.nest(2, &["/b", "/a"]);
    sessions.tick(300);
    let text = "Some session that held /a asked for /b, and another that held /b asked for /a: once they do so at the same time, they wait for each other for ever.";
    assert_eq!((sessions.findings("/a"), sessions.findings("/b")), (vec![text.to_owned()], vec![text.to_owned()]));
}

#[test]
fn one_session_that_does_both_can_not_wait_for_itself() {
    let mut sessions = Sessions::new();
    for _ in 0..3 {
        sessions.nest(1, &["/a", "/b"]);
        sessions.nest(1, &["/b", "/a"]);
    }
    assert!(sessions.warned().is_empty());
    sessions.nest(2, &["/b", "/a"]);
    assert_eq!(sessions.warned(), ["/a /b"]);
}

#[test]
fn one_order_is_none_to_warn_of_and_neither_are_locks_taken_one_after_the_other() {
    let mut sessions = Sessions::new();
    for session in 1..9 {
        sessions.nest(session, &["/a", "/b", "/c"]);
        sessions.nest(session, &["/c"]);
        sessions.nest(session, &["/a"]);
    }
    assert!(sessions.warned().is_empty());
    assert_eq!(sessions.orders().edges.len(), 3);
}

#[test]
fn a_gate_that_all_hold_around_both_silences_the_pair() {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/gate", "/a", "/b"]);
    sessions.nest(2, &["/gate", "/b", "/a"]);
    sessions.nest(3, &["/gate", "/b", "/a"]);
    assert!(sessions.warned().is_empty());
    // Somebody goes without.
    sessions.nest(3, &["/b", "/a"]);
    assert_eq!(sessions.warned(), ["/a /b"]);
}

#[test]
fn a_gate_that_is_only_read_keeps_nobody_out() {
    let mut sessions = Sessions::new();
    for (session, [first, second]) in [(1, ["/a", "/b"]), (2, ["/b", "/a"])] {
        let gate = sessions.ask_as(session, "/gate", "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-__READ__");
        sessions.nest(session, &[first, second]);
        sessions.leave(&gate);
    }
    assert_eq!(sessions.warned(), ["/a /b"]);
}

const READ: &str = "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-__READ__";
const WRITE: &str = "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-__WRIT__";

#[test]
fn two_readers_of_a_lock_are_no_danger_and_a_reader_and_a_writer_are() {
    let mut sessions = Sessions::new();
    let nest = |sessions: &mut Sessions, session, locks: [(&str, &str); 2]| {
        let paths = locks.map(|(lock, prefix)| sessions.ask_as(session, lock, prefix));
        paths.iter().for_each(|path| sessions.leave(path));
    };
    nest(&mut sessions, 1, [("/rw", READ), ("/m", "lock-")]);
    nest(&mut sessions, 2, [("/m", "lock-"), ("/rw", READ)]);
    assert!(sessions.warned().is_empty());
    nest(&mut sessions, 3, [("/m", "lock-"), ("/rw", WRITE)]);
    assert_eq!(sessions.warned(), ["/m /rw"]);
}

#[test]
fn leaders_semaphores_and_members_are_no_locks_to_order() {
    let mut sessions = Sessions::new();
    let lease = "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lease-";
    for (session, is_first) in [(1, true), (2, false)] {
        for (place, prefix) in [("/election", "n_"), ("/sem/leases", lease), ("/group", "member-")] {
            let mut ask = |is_lock: bool| {
                if is_lock { sessions.ask(session, "/a") } else { sessions.ask_as(session, place, prefix) }
            };
            let paths = [ask(is_first), ask(!is_first)];
            paths.iter().for_each(|path| sessions.leave(path));
        }
    }
    assert!(sessions.orders().edges.is_empty(), "{:?}", sessions.orders().edges);
}

#[test]
fn a_longer_circle_is_warned_of_as_one() {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/a", "/b"]);
    sessions.nest(2, &["/b", "/c"]);
    assert!(sessions.warned().is_empty());
    sessions.nest(1, &["/c", "/a"]);
    assert!(sessions.warned().is_empty(), "three orders of two sessions can't close a circle of three");
    sessions.nest(3, &["/c", "/a"]);
    assert_eq!(sessions.warned(), ["/a /b /c"]);
    sessions.tick(300);
    assert!(sessions.findings("/c")[0].starts_with("Different sessions asked, holding /a, for /b, holding /b, for /c"));
    let warning = sessions.orders().warnings().next().unwrap();
    assert!(warning.closest().is_none());
    assert!(sessions.orders().edges.values().all(|edge| edge.closest.is_none()));
}

#[test]
fn stretches_that_overlap_came_as_near_as_can_be() {
    let mut sessions = Sessions::new();
    let [a, _b, _c, _d] =
        [(1, "/a"), (2, "/b"), (1, "/b"), (2, "/a")].map(|(session, lock)| sessions.ask(session, lock));
    let closest = sessions.orders().warnings().next().unwrap().closest().unwrap();
    assert_eq!((closest.ms, closest.session, closest.at), (0, SessionId(2), TimeMs(sessions.now)));
    sessions.tick(300);
    assert_eq!(sessions.observatory.cycles().len(), 1);
    assert!(sessions.findings("/a").is_empty(), "the deadlock itself is reported");
    sessions.leave(&a);
    sessions.tick(300);
    assert_eq!(sessions.findings("/a").len(), 1);
}

#[test]
fn a_session_that_serves_several_threads_makes_it_less_sure() {
    let mut sessions = Sessions::new();
    let blocked = [sessions.ask(9, "/x"), sessions.ask(1, "/x")];
    sessions.nest(1, &["/a", "/b"]);
    sessions.nest(2, &["/b", "/a"]);
    let confidence = |sessions: &Sessions| sessions.orders().warnings().next().unwrap().confidence();
    assert_eq!(confidence(&sessions), Confidence::Medium, "session 1 waits for /x all the time");
    blocked.iter().for_each(|path| sessions.leave(path));
    sessions.nest(1, &["/a", "/b"]);
    assert_eq!(confidence(&sessions), Confidence::High);
}

#[test]
fn locks_of_one_class_may_be_taken_in_the_order_of_their_names() {
    let mut sessions = Sessions::new();
    let account = |at: i64| format!("/accounts/{at}");
    for at in 0..100 {
        sessions.nest(at, &[&account(at), &account(at + 1)]);
        sessions.nest(at, &[&account(at), &account(at + 9)]);
    }
    assert!(sessions.warned().is_empty(), "{:?}", sessions.warned());
    // What is only in order as texts is another order, and both together are none.
    sessions.nest(200, &[&account(60), &account(30)]);
    assert_eq!(sessions.warned(), ["/accounts/*"]);
    let warning = sessions.orders().warnings().next().unwrap();
    assert!(warning.sentence().starts_with("Different sessions take locks of /accounts/* in opposite orders"));
    assert_eq!(warning.confidence(), Confidence::Medium, "not the same two");
}

#[test]
fn orders_go_on_when_their_paths_become_a_class() {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/t/0/ledger", "/t/0/stock"]);
    sessions.nest(2, &["/t/0/stock", "/t/0/ledger"]);
    assert_eq!(sessions.warned(), ["/t/0/ledger /t/0/stock"]);
    for at in 1..100 {
        sessions.nest(1, &[&format!("/t/{at}/ledger"), &format!("/t/{at}/stock")]);
    }
    assert_eq!(sessions.warned(), ["/t/*/ledger /t/*/stock"]);
    assert_eq!(sessions.orders().edges.len(), 2);
    assert_eq!(sessions.orders().warnings().next().unwrap().count(), 101);
}

#[test]
fn what_was_not_seen_for_long_is_forgotten() {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/a", "/b"]);
    sessions.nest(2, &["/b", "/a"]);
    sessions.tick(KEPT_MS / 2);
    sessions.nest(2, &["/b", "/a"]);
    sessions.tick(300);
    assert_eq!(sessions.findings("/a").len(), sessions.observatory.lock("/a").map_or(0, |_| 1));
    sessions.tick(KEPT_MS / 2);
    assert!(sessions.warned().is_empty());
    assert_eq!(sessions.orders().edges.len(), 1);
    sessions.tick(300);
    assert!(sessions.findings("/b").is_empty());
}

#[test]
fn what_a_gap_hid_is_not_measured() {
    let mut sessions = Sessions::new();
    let held = [sessions.ask(1, "/a"), sessions.ask(1, "/b")];
    assert_eq!(sessions.orders().windows.len(), 1);
    sessions.apply(Observation::SyncBegan { root: RootId(0), why: "events lost".into() });
    sessions.apply(Observation::SyncEnded { root: RootId(0) });
    assert!(sessions.orders().windows.is_empty());
    held.iter().for_each(|path| sessions.leave(path));
    sessions.nest(2, &["/b", "/a"]);
    let warning = sessions.orders().warnings().next().unwrap();
    assert!(warning.closest().is_none());
}

/// Whatever clients do, what is remembered of orders stays small.
fn check_bounds(orders: &LockOrders) {
    assert!(orders.edges.len() <= EDGES_MAX, "{}", orders.edges.len());
    assert!(orders.classes.entries <= NAMES_MAX, "{}", orders.classes.entries);
    assert!(orders.windows.len() <= WINDOW_SESSIONS_MAX);
    let bytes = orders.edges.keys().map(|key| key.held.len() + key.wanted.len()).sum::<usize>();
    assert!(bytes <= EDGES_MAX * 2 * 512);
}

#[test]
fn millions_of_names_take_no_more_room() {
    let mut sessions = Sessions::new();
    let mut noted = 0_u64;
    for at in 0..8_000_i64 {
        // Names that nobody ever uses again, at several depths.
        let [one, other] =
            [format!("/t{}/{}/n{at}/l", at % 7, at % 29), format!("/u{}/m{}/{}", at % 11, at * 7, at % 31)];
        sessions.nest(at % 1_000, &[&one, &other]);
        // And directories with them, so that the model itself forgets as well.
        for path in [&one, &other] {
            sessions.apply(Observation::NodeDeleted { root: RootId(0), path: path.as_str().into() });
        }
        noted += 1;
        if at % 500 == 0 {
            check_bounds(sessions.orders());
        }
    }
    check_bounds(sessions.orders());
    assert!(noted > 0 && !sessions.orders().edges.is_empty());
}

#[test]
fn names_that_stay_few_at_every_place_make_the_oldest_orders_give_way() {
    let mut sessions = Sessions::new();
    for at in 0..6_000_i64 {
        let path = |at: i64| format!("/{}/{}/{}/{}", at % 31, at / 31 % 31, at / 961 % 31, at % 3);
        let [one, other] = [path(at), path(at * 17 + 5)];
        sessions.nest(at % 100, &[&one, &other]);
        for path in [&one, &other] {
            sessions.apply(Observation::NodeDeleted { root: RootId(0), path: path.as_str().into() });
        }
    }
    check_bounds(sessions.orders());
    let oldest = sessions.orders().edges.values().map(|edge| edge.last.at).min().unwrap();
    assert!(oldest.0 > 10_000, "what is old went first");
}

#[test]
fn a_client_that_holds_hundreds_of_locks_at_once_takes_no_more_room() {
    let mut sessions = Sessions::new();
    for session in 0..20 {
        let paths: Vec<String> = (0..300).map(|at| sessions.ask(session, &format!("/l{at}-{session}"))).collect();
        check_bounds(sessions.orders());
        if session % 2 == 0 {
            paths.iter().for_each(|path| sessions.leave(path));
        }
    }
    check_bounds(sessions.orders());
    assert!(sessions.orders().windows.values().all(|windows| windows.len() <= 16));
}

#[test]
fn a_path_that_is_very_long_is_left_out() {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/a", &format!("/{}", "x".repeat(600))]);
    assert!(sessions.orders().edges.is_empty());
}
