//! The end of a session is one step, however its deletions are told.

use std::collections::{BTreeSet, VecDeque};

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, RootState, Settings};
use lockscope_core::pending::{Pending, WAITING_MAX};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};

use crate::language::Story;

/// A story whose observations wait where they have to.
struct Told {
    story: Story,
    pending: Pending,
}

impl Told {
    /// Two roots; session a has znodes in both, b one, c two.
    fn new() -> Self {
        let mut story = Story::new(&["/one", "/two"]);
        story.tell(
            "10 sync /one\n10 node /one\n10 node /one/lock-0000000001 owner=a\n10 node /one/lock-0000000002 owner=a
             10 node /one/lock-0000000003 owner=b\n10 node /one/lock-0000000004 owner=c\n10 end /one
             10 sync /two\n10 node /two\n10 node /two/lock-0000000001 owner=a\n10 node /two/lock-0000000002 owner=c\n10 end /two",
        );
        let mut pending = Pending::new();
        pending.push(Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() });
        let mut told = Self { story, pending };
        told.tell("11 tick");
        told
    }

    /// Tells it all at once, then applies what may be: the znodes as they can be seen, one string a look.
    fn tell(&mut self, text: &str) -> Vec<String> {
        for line in text.lines() {
            let observation = self.story.parse(line.trim());
            self.pending.push(observation);
        }
        let mut seen = Vec::new();
        while let Some(observation) = self.pending.next(&self.story.observatory) {
            self.story.observatory.apply(TimeMs(self.story.now), observation);
            if !self.pending.is_within_step() {
                seen.push(self.seen());
            }
        }
        assert!(!self.pending.is_within_step(), "all of a step can be taken");
        seen
    }

    /// The last digits of the znodes of both roots.
    fn seen(&self) -> String {
        let digits = |path: &str| {
            let directory = self.story.observatory.roots().iter().find_map(|root| root.mirror.directory(path));
            let names = directory
                .into_iter()
                .flat_map(|directory| directory.children().map(|(key, _)| key.name().chars().next_back().unwrap()));
            names.collect::<String>()
        };
        format!("{}|{}", digits("/one"), digits("/two"))
    }
}

#[test]
fn only_a_deletion_that_may_be_a_part_waits_and_what_comes_behind_it() {
    let mut told = Told::new();
    assert_eq!(told.tell("20 - /one/lock-0000000003"), ["124|12"], "b has no other");
    assert_eq!(
        told.tell("21 - /one/lock-0000000004\n21 + /one/lock-0000000005"),
        [""; 0],
        "c has one in the other root"
    );
    assert_eq!(told.tell("22 answered\n22 tick"), [""; 0], "nobody asked");
    assert_eq!(told.tell("23 asked\n24 answered"), ["12|12", "125|12", "125|12"], "c did not end");
}

#[test]
fn an_end_is_one_step_whatever_lies_between() {
    let mut told = Told::new();
    assert_eq!(told.tell("20 - /one/lock-0000000001\n20 asked\n20 - /one/lock-0000000002"), [""; 0]);
    assert_eq!(
        told.tell("21 - /one/lock-0000000003\n21 - /two/lock-0000000001\n22 answered"),
        [""; 0],
        "it lies around the question"
    );
    assert_eq!(told.tell("23 asked"), [""; 0]);
    assert_eq!(told.tell("24 answered"), ["4|2"]);
}

#[test]
fn who_has_others_still_lets_nobody_wait_for_what_was_told_after_the_question() {
    let mut told = Told::new();
    let seen = told.tell("20 - /one/lock-0000000001\n20 asked\n20 - /one/lock-0000000002\n21 answered");
    assert_eq!(seen, ["234|12"], "a has one left, so this was no end; the second may be the beginning of one");
    assert_eq!(told.tell("22 asked\n23 answered"), ["34|12"]);
}

#[test]
fn two_ends_that_lie_into_each_other_go_together() {
    let mut told = Told::new();
    // As several roots are drained one after the other.
    let parts = "20 - /one/lock-0000000001\n20 - /one/lock-0000000002\n20 - /one/lock-0000000004\n20 - /two/lock-0000000001\n20 asked";
    assert_eq!(told.tell(parts), [""; 0]);
    assert_eq!(
        told.tell("21 - /two/lock-0000000002\n22 answered"),
        [""; 0],
        "c lies around the question, and a around its beginning"
    );
    assert_eq!(told.tell("23 asked\n24 answered"), ["3|"]);
}

#[test]
fn a_znode_that_was_read_while_it_waited_goes_with_its_session() {
    let mut told = Told::new();
    let seen = told.tell("20 - /two/lock-0000000002\n20 + /two/lock-0000000003\n20 = /two/lock-0000000003 owner=c");
    assert_eq!(seen, [""; 0]);
    assert_eq!(told.tell("21 - /one/lock-0000000004\n21 asked\n21 - /two/lock-0000000003\n22 answered"), [""; 0]);
    assert_eq!(told.tell("23 asked\n24 answered"), ["123|1"]);
}

/// Deleted before it was read, it may be of the session whose other znodes go with it.
#[test]
fn an_unread_znode_goes_with_the_session_that_ends_beside_it() {
    for (one, two, three) in [("5", "1", "2"), ("1", "5", "2"), ("1", "2", "5")] {
        let mut told = Told::new();
        assert_eq!(told.tell("20 + /one/lock-0000000005"), ["12345|12"]);
        let parts = [one, two, three].map(|number| format!("20 - /one/lock-000000000{number}")).join("\n");
        assert_eq!(told.tell(&format!("{parts}\n21 + /one/lock-0000000006")), [""; 0]);
        assert_eq!(told.tell("22 - /two/lock-0000000001\n22 asked\n23 answered"), ["346|2"], "{parts}");
    }
}

/// Of a session of which only one znode was read nobody knows whether it has another.
#[test]
fn whoever_has_one_znode_waits_while_others_are_unread() {
    let mut told = Told::new();
    told.tell("20 + /one/lock-0000000005");
    assert_eq!(told.tell("21 - /one/lock-0000000003\n21 asked\n21 - /one/lock-0000000005"), [""; 0]);
    assert_eq!(told.tell("22 answered"), [""; 0], "the question lies between them");
    assert_eq!(told.tell("23 asked\n24 answered"), ["124|12"]);
    assert_eq!(
        told.tell("30 + /one/lock-0000000006\n30 - /one/lock-0000000006"),
        ["1246|12"],
        "nobody knows whose it was"
    );
    assert_eq!(told.tell("31 + /one/lock-0000000007\n32 asked\n33 answered"), ["124|12", "1247|12"]);
    assert_eq!(told.tell("34 = /one/lock-0000000007 owner=e\n35 - /one/lock-0000000007"), ["1247|12", "124|12"]);
}

/// While deletions of others go on it waits for no more than the next answer.
#[test]
fn an_unread_znode_that_goes_alone_waits_for_one_answer() {
    let mut told = Told::new();
    told.tell("20 + /one/lock-0000000005\n21 - /one/lock-0000000005");
    told.tell("21 + /one/lock-0000000006\n22 asked\n23 - /one/lock-0000000006\n23 + /one/lock-0000000007");
    assert_eq!(told.tell("24 answered"), ["1234|12", "12346|12"]);
    assert_eq!(told.tell("25 asked\n26 answered"), ["1234|12", "12347|12"]);
}

/// Where one root is watched, whatever comes next in it shows that all of the deletions are here.
#[test]
fn what_comes_next_in_the_only_root_ends_a_session_s_end() {
    let mut story = Story::new(&["/one"]);
    story.tell(
        "10 sync /one\n10 node /one\n10 node /one/lock-0000000001 owner=a\n10 node /one/lock-0000000002 owner=b
         10 end /one",
    );
    let mut pending = Pending::new();
    pending.push(Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() });
    let mut told = Told { story, pending };
    told.tell("20 + /one/lock-0000000003");
    assert_eq!(told.tell("21 - /one/lock-0000000001\n21 - /one/lock-0000000003"), [""; 0], "more may come");
    assert_eq!(told.tell("22 + /one/lock-0000000004"), ["2|", "24|"], "both may be a's");
    assert_eq!(told.tell("23 - /one/lock-0000000002"), [""; 0], "the fourth may be b's");
    assert_eq!(told.tell("24 + /one/lock-0000000005"), ["4|", "45|"], "it is not");
}

#[test]
fn a_confirmation_comes_after_what_it_confirms() {
    let mut told = Told::new();
    told.tell("2000 asked\n2001 synced 2000");
    let state = |told: &Told| told.story.observatory.root_state(RootId(0), TimeMs(4_001)).0;
    assert_eq!(state(&told), RootState::Stale);
    told.tell("2500 asked\n2501 - /one/lock-0000000001\n2502 synced 2500");
    assert_eq!(state(&told), RootState::Stale, "something told before it waits");
    told.tell("2520 asked\n2521 answered");
    assert_eq!((state(&told), told.seen().as_str()), (RootState::Live, "234|12"));
}

#[test]
fn without_a_link_nothing_waits() {
    let mut told = Told::new();
    assert_eq!(told.tell("20 - /one/lock-0000000001"), [""; 0]);
    let seen = told.tell("21 link stale no answer\n22 - /one/lock-0000000002");
    assert_eq!(seen, ["1234|12", "234|12", "234|12", "34|12"], "the link comes first");
    assert_eq!(told.tell("23 link live\n24 - /one/lock-0000000004"), ["34|12"]);
}

#[test]
fn a_part_of_an_end_is_never_live() {
    let is_live = |told: &Told| told.story.observatory.link().0 == Link::Live;
    // Its rest may come when the link is back, or too much of it may come at once.
    for breaks in ["21 link stale late\n22 link live\n22 link stale late", "21 link stale late"] {
        let mut told = Told::new();
        told.tell("20 - /one/lock-0000000001");
        told.pending.push(told.story.parse("20 - /one/lock-0000000002"));
        for line in breaks.lines() {
            let observation = told.story.parse(line);
            told.pending.push(observation);
        }
        while let Some(observation) = told.pending.next(&told.story.observatory) {
            told.story.observatory.apply(TimeMs(22), observation);
            assert!(!is_live(&told), "{breaks}: {}", told.seen());
        }
    }
    let mut told = Told::new();
    told.tell("20 - /one/lock-0000000001\n20 asked");
    (0..WAITING_MAX).for_each(|_| told.pending.push(Observation::Tick));
    assert_eq!(
        (told.tell("20 - /one/lock-0000000002").last().map(String::as_str), is_live(&told)),
        (Some("34|12"), false)
    );
    told.tell("21 answered");
    assert!(!is_live(&told), "it was asked before");
    assert_eq!(told.tell("22 - /two/lock-0000000001\n22 asked\n23 answered").last().map(String::as_str), Some("34|2"));
    assert!(is_live(&told));
}

#[test]
fn a_tree_that_is_swapped_in_ends_a_step() {
    let mut told = Told::new();
    let end = "20 - /one/lock-0000000001\n20 sync /one\n20 node /one\n20 end /one\n20 - /one/lock-0000000002\n20 - /two/lock-0000000001";
    assert_eq!(told.tell(end), [""; 0]);
    assert_eq!(told.tell("21 asked\n22 answered"), ["|12", "|12", "|2"], "it takes long, and nothing of it is live");
}

#[test]
fn more_than_may_wait_is_applied_as_it_is() {
    let mut told = Told::new();
    told.tell("20 - /one/lock-0000000001");
    (0..WAITING_MAX - 2).for_each(|_| told.pending.push(Observation::Tick));
    assert_eq!(told.pending.next(&told.story.observatory), None);
    told.pending.push(Observation::Tick);
    let next = told.pending.next(&told.story.observatory);
    assert!(matches!(next, Some(Observation::Link { link: Link::Stale, .. })), "{next:?}");
    assert!(told.pending.next(&told.story.observatory).is_some());
}

/// What a made-up server sends on one connection.
enum Sent {
    Told(Observation),
    Answer,
}

/// A made-up server, the connection, and an observer as ours: it hears of events when it looks, and of an answer with
/// some of the events that came behind it.
struct Run {
    random: u64,
    wire: VecDeque<Sent>,
    /// A question that the server has not answered.
    question: Option<()>,
    is_asked: bool,
    pending: Pending,
    observatory: Observatory,
    /// Session and path, for each znode there is.
    truth: Vec<(i64, String)>,
    /// Znodes that the observer heard of and has not asked for.
    unread: Vec<Box<str>>,
    /// The znodes after each transaction, since the last that was seen.
    states: VecDeque<BTreeSet<String>>,
    /// Of each client.
    sessions: [i64; 4],
    made: i64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut observatory = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(0));
        let root = RootId(0);
        let began = [Observation::SyncBegan { root, why: "".into() }, Observation::SyncEnded { root }];
        let live = || Observation::Link { link: Link::Live, session: None, why: "".into() };
        began.into_iter().chain([live()]).for_each(|observation| drop(observatory.apply(TimeMs(1), observation)));
        let mut pending = Pending::new();
        pending.push(live());
        let states = [BTreeSet::new()].into();
        Self {
            random: seed,
            wire: VecDeque::new(),
            question: None,
            is_asked: false,
            pending,
            observatory,
            truth: Vec::new(),
            unread: Vec::new(),
            states,
            sessions: [1, 2, 3, 4],
            made: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % bound
    }

    /// One transaction: a znode is made, or released, or a session ends.
    fn commit(&mut self) {
        let client = usize::try_from(self.below(4)).unwrap();
        let session = self.sessions[client];
        let owned = self.truth.iter().filter(|(owner, _)| *owner == session).count();
        if self.below(8) == 0 && owned > 0 {
            let (gone, left) = std::mem::take(&mut self.truth).into_iter().partition(|(owner, _)| *owner == session);
            self.truth = left;
            self.delete(gone);
            // No session has the id of another.
            self.sessions[client] += 4;
        } else if self.below(3) == 0 && owned > 0 {
            let at = self.truth.iter().position(|(owner, _)| *owner == session).unwrap();
            let gone = self.truth.remove(at);
            self.delete(vec![gone]);
        } else {
            self.made += 1;
            let path = format!("/l/lock-{:010}", self.made);
            self.wire.push_back(Sent::Told(Observation::NodeCreated { root: RootId(0), path: path.clone().into() }));
            self.truth.push((session, path));
        }
        self.states.push_back(self.truth.iter().map(|(_, path)| path.clone()).collect());
    }

    fn delete(&mut self, gone: Vec<(i64, String)>) {
        let told = gone
            .into_iter()
            .map(|(_, path)| Sent::Told(Observation::NodeDeleted { root: RootId(0), path: path.into() }));
        self.wire.extend(told);
    }

    /// The server answers a read, if the znode is still there.
    fn read(&mut self, path: &str) {
        let Some((session, _)) = self.truth.iter().find(|(_, there)| there == path) else { return };
        let zxid = Zxid(path.rsplit('-').next().unwrap().parse().unwrap());
        let facts = Facts {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: 0,
            version: 0,
            cversion: 0,
            children: 0,
            owner: Some(SessionId(*session)),
            payload: None,
            payload_bytes: 0,
        };
        let facts = Box::new(facts);
        let read = Observation::NodeRead { root: RootId(0), path: path.into(), facts, unreadable: false };
        self.wire.push_back(Sent::Told(read));
    }

    /// The observer takes up to so many events in; an answer among them it hears of only after some more.
    fn drain(&mut self, events: u64) {
        let mut is_answered = false;
        for _ in 0..events {
            match self.wire.pop_front() {
                Some(Sent::Told(observation)) => {
                    if let Observation::NodeCreated { path, .. } = &observation {
                        self.unread.push(path.clone());
                    }
                    self.pending.push(observation);
                }
                Some(Sent::Answer) => is_answered = true,
                None => break,
            }
        }
        if is_answered {
            self.is_asked = false;
            self.pending.push(Observation::Answered);
        }
    }

    fn apply(&mut self) {
        while let Some(observation) = self.pending.next(&self.observatory) {
            self.observatory.apply(TimeMs(2), observation);
            if !self.pending.is_within_step() {
                let seen = self.seen();
                let at = self.states.iter().position(|state| *state == seen);
                assert!(at.is_some(), "{seen:?} was never so");
                self.states.drain(..at.unwrap());
            }
        }
    }

    /// What the observatory believes.
    fn seen(&self) -> BTreeSet<String> {
        let directory = self.observatory.roots()[0].mirror.directory("/l");
        directory
            .into_iter()
            .flat_map(|directory| directory.children().map(|(key, _)| format!("/l/{}", key.name())))
            .collect()
    }

    fn step(&mut self) {
        match self.below(6) {
            0 | 1 => self.commit(),
            2 => {
                let events = self.below(6) + 1;
                self.drain(events);
            }
            3 => {
                let count = self.below(3).min(self.unread.len() as u64);
                let asked: Vec<Box<str>> = self.unread.drain(..count as usize).collect();
                asked.iter().for_each(|path| self.read(path));
            }
            4 if !self.is_asked => {
                self.is_asked = true;
                self.question = Some(());
                self.pending.push(Observation::Asked);
            }
            _ => self.wire.extend(self.question.take().map(|()| Sent::Answer)),
        }
        self.apply();
    }
}

#[test]
fn whatever_is_told_when_only_states_between_transactions_are_seen() {
    for seed in 0..200 {
        let mut run = Run::new(seed);
        (0..400).for_each(|_| run.step());
        // Nothing more happens: soon all is seen.
        for _ in 0..3 {
            run.drain(u64::MAX);
            run.wire.extend(run.question.take().map(|()| Sent::Answer));
            run.drain(u64::MAX);
            run.is_asked = true;
            run.question = Some(());
            run.pending.push(Observation::Asked);
            run.apply();
        }
        assert_eq!(Some(&run.seen()), run.states.back(), "seed {seed}");
    }
}

/// What it makes while its deletions wait shows that it lives, although the tree does not have it yet.
#[test]
fn a_session_that_goes_on_making_znodes_holds_nobody_up() {
    let mut told = Told::new();
    told.tell("20 asked\n20 - /one/lock-0000000004\n20 + /one/lock-0000000005\n20 = /one/lock-0000000005 owner=c");
    told.tell("21 - /two/lock-0000000002\n21 + /two/lock-0000000006\n21 = /two/lock-0000000006 owner=c");
    told.tell("22 answered\n22 asked");
    let seen = told.tell("23 - /one/lock-0000000005\n24 answered");
    assert_eq!(seen.last().map(String::as_str), Some("1235|16"), "all but what came behind the question: {seen:?}");
}
