//! After a gap a root is compared with the counters of its directories: what did not move stays as it was.

use lockscope_core::change::{Change, Departure};
use lockscope_core::observation::RootId;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;

use crate::language::Story;

/// Two locks, each with a holder and a waiter.
fn story() -> Story {
    let mut story = Story::new(&["/r"]);
    story.tell(
        "100 sync /r
         100 node /r
         100 node /r/a created=2
         100 node /r/a/lock-0000000000 owner=a
         100 node /r/a/lock-0000000001 owner=b
         100 node /r/b created=2
         100 node /r/b/lock-0000000000 owner=c
         100 node /r/b/lock-0000000001 owner=d
         100 end /r
         200 - /r/a/lock-0000000000",
    );
    story
}

fn state(story: &Story) -> RootState {
    story.observatory.root_state(RootId(0), TimeMs(story.now)).0
}

#[test]
fn a_root_in_which_nothing_moved_is_syncing_until_that_is_known_and_keeps_everything() {
    let mut story = story();
    let before = story.show();
    let since = story.lock("/r/a").holders[0].since;
    story.tell("1000 compare /r");
    assert_eq!((state(&story), story.show()), (RootState::Syncing, before.clone()));
    story.tell("1001 known");
    assert_eq!(state(&story), RootState::Syncing, "an answer proves nothing of it yet");
    story.changes.clear();
    story.tell("1002 compared /r");
    assert_eq!((state(&story), story.show()), (RootState::Live, before));
    let hold = &story.lock("/r/a").holders[0];
    assert_eq!((hold.since, hold.is_lower_bound), (since, false), "its begin was seen");
    let touched = |change: &Change| matches!(change, Change::LockTouched { .. } | Change::HolderChanged { .. });
    assert!(!story.changes.iter().any(touched), "no lock is looked at: {:?}", story.changes);
}

#[test]
fn who_went_in_the_gap_is_gone_and_when_is_not_claimed() {
    let mut story = story();
    let holds = story.lock("/r/b").tally.holds.count();
    story.tell(
        "1000 compare /r
         1001 listed /r/b lock-0000000001 lock-0000000002
         1001 = /r/b/lock-0000000001 owner=d czxid=107
         1001 = /r/b/lock-0000000002 owner=e
         1002 compared /r",
    );
    let lock = story.lock("/r/b");
    let hold = &lock.holders[0];
    assert_eq!((&*hold.name, hold.is_lower_bound), ("lock-0000000001", true));
    assert_eq!(lock.tally.holds.count(), holds, "how long it was held is not known");
    let went = |change: &&Change| matches!(change, Change::Left { how: Departure::DuringGap, node, .. } if &**node == "lock-0000000000");
    assert_eq!(story.changes.iter().filter(went).count(), 1);
    assert!(
        story.show().contains("/r/b SequentialMutex Healthy [lock-0000000001] <- lock-0000000002"),
        "{}",
        story.show()
    );
}

#[test]
fn a_lock_whose_directory_went_goes_with_all_below_it() {
    let mut story = story();
    story.tell(
        "1000 compare /r
         1001 listed /r b
         1002 compared /r",
    );
    assert_eq!(story.paths(), ["/r/b"]);
    assert!(story.observatory.roots()[0].mirror.directory("/r/a").is_none());
    assert_eq!(story.observatory.roots()[0].mirror.nodes(), 4, "the root, the lock and its two");
}

#[test]
fn a_comparison_that_is_not_enough_is_followed_by_a_sync() {
    let mut story = story();
    story.tell(
        "1000 compare /r
         1001 sync /r
         1001 node /r
         1001 node /r/c created=1
         1001 node /r/c/lock-0000000000 owner=a",
    );
    assert_eq!((state(&story), story.paths()), (RootState::Syncing, vec!["/r/a", "/r/b"]));
    story.tell("1002 end /r");
    assert_eq!((state(&story), story.paths()), (RootState::Live, vec!["/r/c"]));
}
