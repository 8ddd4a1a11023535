//! The end of a session is one step, however its deletions are told.

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::pending::{Pending, WAITING_MAX};
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

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
