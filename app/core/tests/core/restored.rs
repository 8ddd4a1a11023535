//! Servers that went on with another history: names and numbers of before say nothing of who is there now.

use lockscope_core::change::{Change, Departure};
use lockscope_core::evidence::{Health, MemberAnswer, MemberRole};
use lockscope_core::observation::{RESTORED, RootId};
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

use crate::language::Story;
use crate::members::{FIRST, ask, member, queue};

/// One lock with a holder and a waiter.
fn story() -> Story {
    let mut story = Story::new(&["/r"]);
    story.tell(
        "100 sync /r
         100 node /r czxid=10
         100 node /r/a czxid=11 created=2
         100 node /r/a/lock-0000000000 owner=a czxid=20
         100 node /r/a/lock-0000000001 owner=b czxid=21
         100 end /r",
    );
    story
}

fn state(story: &Story) -> (RootState, TimeMs, String) {
    let (state, since, why) = story.observatory.root_state(RootId(0), TimeMs(story.now));
    (state, since, why.to_owned())
}

fn went(story: &Story) -> Vec<(&str, Departure)> {
    let left = story.changes.iter().filter_map(|change| match change {
        Change::Left { node, how, .. } => Some((&**node, *how)),
        _ => None,
    });
    left.collect()
}

#[test]
fn everybody_of_another_history_is_gone() {
    let mut story = story();
    story.tell(
        "1000 sync /r restored
         1001 node /r czxid=10
         1001 node /r/a czxid=11 created=2
         1001 node /r/a/lock-0000000000 owner=c czxid=15
         1001 node /r/a/lock-0000000001 owner=d czxid=16
         1002 end /r",
    );
    let unknown = Departure::DuringGap;
    assert_eq!(went(&story), [("lock-0000000000", unknown), ("lock-0000000001", unknown)]);
    let lock = story.lock("/r/a");
    let hold = &lock.holders[0];
    assert_eq!((hold.owner, hold.since, hold.is_lower_bound), (Some(SessionId(0xc)), TimeMs(1_002), true));
    let past = lock.tally.past.front().unwrap();
    assert_eq!((past.hold.owner, past.how), (Some(SessionId(0xa)), unknown));
    assert_eq!(state(&story), (RootState::Live, TimeMs(1_002), RESTORED.to_owned()));
    assert_eq!(story.observatory.roots()[0].restored_at(), Some(TimeMs(1_002)));
}

/// The same numbers come again where as much happened: a holder of then is not the one of now.
#[test]
fn equal_numbers_of_another_history_are_others() {
    let mut story = story();
    story.tell(
        "1000 sync /r restored
         1001 node /r czxid=10
         1001 node /r/a czxid=11 created=2
         1001 node /r/a/lock-0000000000 owner=a czxid=20
         1002 end /r",
    );
    assert_eq!(went(&story).len(), 2);
    let hold = &story.lock("/r/a").holders[0];
    assert_eq!((hold.since, hold.is_lower_bound), (TimeMs(1_002), true));
}

#[test]
fn a_restore_is_told_until_the_next_read() {
    let mut story = story();
    story.tell("1000 sync /r restored");
    assert_eq!(story.observatory.zxid(), Zxid(0), "numbers begin again");
    story.tell("1001 node /r czxid=10\n1002 end /r\n2000 sync /r\n2001 node /r czxid=10\n2002 end /r");
    assert_eq!(state(&story), (RootState::Live, TimeMs(2_002), String::new()));
    assert_eq!(story.observatory.roots()[0].restored_at(), None);
}

/// One znode has one owner for good: another owner is another znode, also where nobody knows of another history.
#[test]
fn one_number_with_another_owner_is_another_znode() {
    for after in ["sync", "comparison"] {
        let mut story = story();
        story.tell(match after {
            "sync" => {
                "1000 sync /r
                 1001 node /r czxid=10
                 1001 node /r/a czxid=11 created=2
                 1001 node /r/a/lock-0000000000 owner=c czxid=20
                 1002 end /r"
            }
            _ => {
                "1000 compare /r
                 1001 listed /r/a lock-0000000000
                 1001 = /r/a/lock-0000000000 owner=c czxid=20
                 1002 compared /r"
            }
        });
        let lock = story.lock("/r/a");
        assert_eq!(lock.holders[0].owner, Some(SessionId(0xc)), "{after}");
        let past = lock.tally.past.front().unwrap();
        assert_eq!((past.hold.owner, past.how), (Some(SessionId(0xa)), Departure::DuringGap), "{after}");
    }
}

#[test]
fn a_holder_that_stays_over_an_ordinary_gap_holds_on() {
    let mut story = story();
    story.tell(
        "1000 sync /r
         1001 node /r czxid=10
         1001 node /r/a czxid=11 created=2
         1001 node /r/a/lock-0000000000 owner=a czxid=20
         1001 node /r/a/lock-0000000001 owner=b czxid=21
         1002 end /r",
    );
    assert_eq!(went(&story), []);
    assert_eq!(story.lock("/r/a").holders[0].since, TimeMs(100));
}

/// Each of two servers that work alone has what the other has not: that is no lag, and no member is wrong.
#[test]
fn servers_that_work_alone_do_not_disagree() {
    let mut story = queue();
    for at in [1_005_000, 1_010_000] {
        let mut members = vec![
            member("m1", at).connected(&[(10, 0)]).sessions(&[(10, 6_000, FIRST)]),
            member("m2", at).connected(&[]).sessions(&[]),
        ];
        for (member, zxid) in members.iter_mut().zip([200, 50]) {
            let role = Some(MemberRole::Standalone);
            let value = Health { zxid: Some(Zxid(zxid)), role, ..Health::default() };
            member.report.health = MemberAnswer::Ok { asked_at: TimeMs(at), value };
        }
        ask(&mut story, members);
    }
    let evidence = story.observatory.member_evidence();
    assert!(evidence.are_separate() && evidence.disputed().is_empty());
}
