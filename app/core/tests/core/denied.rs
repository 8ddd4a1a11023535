//! Znodes of which not even the Stat may be read (ZOOKEEPER-2590): they are there, and nothing else is known of them.

use lockscope_core::missing::Missing;
use lockscope_core::observation::RootId;
use lockscope_core::release::{self, Refusal};
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::SessionId;

use crate::language::Story;

const FIRST: &str = "/l/a/_c_11111111-1111-1111-1111-111111111111-lock-0000000000";
const SECOND: &str = "/l/a/_c_22222222-2222-2222-2222-222222222222-lock-0000000001";

fn state(story: &Story) -> RootState {
    story.observatory.root_state(RootId(0), TimeMs(story.now)).0
}

/// The first holds, and nothing of it may be read; the second waits.
fn story() -> Story {
    let mut story = Story::new(&["/l"]);
    story.tell(&format!(
        "100 sync /l
        100 node /l created=1
        100 node /l/a created=2
        100 ! {FIRST} sync
        100 node {SECOND} owner=b
        100 end /l"
    ));
    story
}

#[test]
fn a_denied_holder_holds_and_nobody_knows_whose_it_is() {
    let story = story();
    let lock = story.lock("/l/a");
    assert_eq!(lock.holders.iter().map(|hold| (hold.owner, hold.czxid)).collect::<Vec<_>>(), [(None, None)]);
    assert_eq!((lock.assessment.verdict, lock.waiter_count()), (Verdict::Healthy, Some(1)), "it is no orphan");
    assert!(lock.missing().has(Missing::UnreadableChildren));
    assert_eq!(state(&story), RootState::Partial);
    assert_eq!(
        release::plan(&story.observatory, FIRST, TimeMs(story.now)).unwrap_err(),
        Refusal::Denied,
        "trying again would not help"
    );
}

#[test]
fn the_same_again_is_no_news_and_its_end_is() {
    let mut story = story();
    let told = story.changes.len();
    story.tell(&format!("200 ! {FIRST}"));
    assert_eq!(story.changes.len(), told);
    story.tell(&format!("300 - {FIRST}"));
    assert_eq!(story.lock("/l/a").holders[0].owner, Some(SessionId(11)));
    assert_eq!((state(&story), story.lock("/l/a").missing().is_empty()), (RootState::Live, true));
}

#[test]
fn a_root_is_partial_since_something_may_not_be_read_and_live_since_all_may() {
    let mut story = Story::new(&["/l"]);
    story.tell(&format!(
        "100 sync /l
        100 node /l created=1
        100 node /l/a created=2
        100 node {SECOND} owner=b
        100 end /l"
    ));
    let since = |story: &Story| {
        let (state, since, _) = story.observatory.root_state(RootId(0), TimeMs(story.now));
        (state, since.0)
    };
    assert_eq!(since(&story), (RootState::Live, 100));
    story.tell(&format!("200 ! {FIRST}"));
    assert_eq!(since(&story), (RootState::Partial, 200));
    story.tell(&format!("300 = {FIRST} owner=a"));
    assert_eq!(since(&story), (RootState::Live, 300));
    story.tell(&format!("400 ! {FIRST}\n500 - {FIRST}"));
    assert_eq!(since(&story), (RootState::Live, 500));
}

#[test]
fn rights_may_come_and_go() {
    let mut story = story();
    story.tell(&format!("200 = {FIRST} owner=a"));
    assert_eq!((story.lock("/l/a").holders[0].owner, state(&story)), (Some(SessionId(10)), RootState::Live));
    story.tell(&format!("300 ! {FIRST}\n300 ! {SECOND}"));
    let lock = story.lock("/l/a");
    assert_eq!((lock.holders[0].owner, lock.waiter_count(), state(&story)), (None, Some(1), RootState::Partial));
    let sessions = story.observatory.mirror_of(lock).unwrap().sessions().count();
    assert_eq!(sessions, 0, "what was read before may be another's by now");
}
