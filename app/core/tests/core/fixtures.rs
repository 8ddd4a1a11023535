//! Stories with a known end, one behaviour each.

use lockscope_core::change::{Change, Departure};
use lockscope_core::observation::{Observation, RootId};
use lockscope_core::recipe::Recipe;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;

use crate::language::Story;

const ORDER: &str = "
    10 sync /order
    10 node /order created=2
    10 node /order/lock-0000000001 owner=a ctime=5 data=worker-1
    10 node /order/lock-0000000002 owner=b ctime=7
    10 end /order";

fn order() -> Story {
    let mut story = Story::new(&["/order"]);
    story.tell(ORDER);
    story
}

#[test]
fn the_lowest_number_holds_and_the_rest_wait_in_order() {
    let mut story = order();
    story.tell("20 + /order/lock-0000000003\n21 = /order/lock-0000000003 owner=c");
    assert_eq!(story.show(), "/order SequentialMutex Healthy [lock-0000000001] <- lock-0000000002 lock-0000000003");
    assert_eq!(story.sentence("/order"), "worker-1 holds it. 2 wait.");
}

#[test]
fn a_hold_that_was_there_before_us_is_a_lower_bound_and_a_seen_one_is_not() {
    let mut story = order();
    let first = &story.lock("/order").holders[0];
    assert!(first.is_lower_bound && first.since == TimeMs(10));
    story.tell("50 - /order/lock-0000000001");
    let second = &story.lock("/order").holders[0];
    assert!(!second.is_lower_bound && second.since == TimeMs(50));
    story.tell("80 - /order/lock-0000000002");
    let lock = story.lock("/order");
    assert_eq!(lock.tally.holds.count(), 1, "only the hold seen from beginning to end counts");
    assert_eq!(lock.tally.holds.percentile(50), Some(31));
    assert_eq!(story.show(), "/order SequentialMutex Free [] <-");
    // What is counted over the whole ensemble outlives the lock.
    story.tell("90 - /order");
    let ended = story.observatory.ended();
    assert_eq!((ended.holds.count(), ended.holds.sum_ms(), ended.waits.count()), (1, 30, 1));
}

#[test]
fn a_standby_that_becomes_the_leader_has_waited_for_no_lock() {
    let mut story = Story::new(&["/election"]);
    story.tell(
        "10 sync /election\n10 node /election\n10 node /election/n_0000000000 owner=a
         10 node /election/n_0000000001 owner=b\n10 end /election\n50 - /election/n_0000000000",
    );
    let lock = story.lock("/election");
    assert_eq!((lock.recognition.recipe, lock.tally.waits.count()), (Recipe::Election, 1));
    assert_eq!(story.observatory.ended().waits.count(), 0);
}

#[test]
fn a_lag_is_noted_and_changes_nothing_that_is_shown() {
    let mut observatory = order().observatory;
    let revision = observatory.revision();
    let changes = observatory.apply(TimeMs(100), Observation::EventsArrived { at: TimeMs(60) });
    assert_eq!((changes.len(), observatory.revision()), (0, revision));
    assert_eq!((observatory.ended().lag.count(), observatory.ended().lag.sum_ms()), (1, 40));
}

#[test]
fn a_contender_gone_before_it_was_read_is_counted() {
    let mut story = order();
    story.tell("20 + /order/lock-0000000003\n21 - /order/lock-0000000003");
    assert_eq!(story.lock("/order").tally.owner_unknown, 1);
    assert_eq!(story.observatory.counters().owner_unknown, 1);
    assert!(story.changes.iter().any(|change| matches!(change, Change::Left { czxid: None, .. })));
}

#[test]
fn nothing_of_a_sync_shows_before_its_end() {
    let mut story = order();
    story.tell("30 sync /order\n30 node /order created=9");
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(story.now)).0, RootState::Syncing);
    assert_eq!(story.show(), "/order SequentialMutex Healthy [lock-0000000001] <- lock-0000000002");
    story.tell("31 node /order/lock-0000000002 owner=b czxid=103\n32 end /order");
    assert_eq!(story.show(), "/order SequentialMutex Healthy [lock-0000000002] <-");
    assert!(story.lock("/order").holders[0].is_lower_bound);
    let gap = |change: &Change| matches!(change, Change::Left { node, how: Departure::DuringGap, .. } if &**node == "lock-0000000001");
    assert!(story.changes.iter().any(gap));
}

#[test]
fn events_during_a_sync_count_in_both_trees() {
    let mut story = order();
    story.tell("30 sync /order\n30 node /order\n30 node /order/lock-0000000001 owner=a czxid=102\n31 node /order/lock-0000000002 owner=b czxid=103");
    story.tell("32 - /order/lock-0000000001");
    assert_eq!(story.show(), "/order SequentialMutex Healthy [lock-0000000002] <-");
    story.tell("33 + /order/lock-0000000003\n34 end /order");
    assert_eq!(story.show(), "/order SequentialMutex Healthy [lock-0000000002] <- lock-0000000003");
    assert_eq!(story.lock("/order").holders[0].since, TimeMs(32));
}

#[test]
fn a_holder_that_outlives_a_gap_keeps_its_since() {
    let mut story = order();
    story.tell("50 - /order/lock-0000000001\n60 link stale no answer");
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(story.now)), (RootState::Stale, TimeMs(10), "no answer"));
    story.tell(
        "90 sync /order\n90 node /order\n90 node /order/lock-0000000002 owner=b czxid=103\n91 link live\n92 end /order",
    );
    let holder = &story.lock("/order").holders[0];
    assert!(!holder.is_lower_bound && holder.since == TimeMs(50));
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(story.now)).0, RootState::Live);
}

#[test]
fn the_same_name_with_another_czxid_is_another_holder() {
    let mut story = Story::new(&["/x"]);
    story.tell(
        "10 sync /x
        10 node /x
        10 node /x/lock owner=a czxid=7
        10 end /x
        40 sync /x
        40 node /x
        40 node /x/lock owner=b czxid=9
        40 end /x",
    );
    let lock = story.lock("/x");
    assert_eq!(lock.holders[0].since, TimeMs(40));
    assert_eq!(lock.tally.past.len(), 1);
}

#[test]
fn a_late_read_changes_nothing() {
    let mut story = order();
    story.tell("20 = /order/lock-0000000002 owner=f czxid=3");
    story.tell("21 - /order/lock-0000000001");
    assert_eq!(story.sentence("/order"), "session 0xb holds it. Nobody waits.");
}

#[test]
fn a_lock_on_one_znode_is_its_directory_or_itself() {
    let mut story = Story::new(&["/"]);
    story.tell(
        "10 sync /
        10 node /exclusive_lock
        10 node /exclusive_lock/lock owner=a
        10 node /lock owner=b
        10 node /locks
        10 node /locks/orders-lock owner=c
        10 node /config/lock
        10 end /",
    );
    assert_eq!(
        story.show(),
        "/exclusive_lock SingleNodeMutex Healthy [lock] <-\n/lock SingleNodeMutex Healthy [lock] <-\n/locks/orders-lock SingleNodeMutex Healthy [orders-lock] <-"
    );
    story.tell("20 - /lock\n20 - /exclusive_lock/lock\n30 + /exclusive_lock/lock\n31 = /exclusive_lock/lock owner=d");
    assert_eq!(story.lock("/lock").path.as_ref(), "/lock");
    assert_eq!(story.sentence("/lock"), "Free. Last held by session 0xb.");
    assert_eq!(story.sentence("/exclusive_lock"), "session 0xd holds it. Waiters can't be counted here.");
    assert_eq!(story.lock("/exclusive_lock/lock").path.as_ref(), "/exclusive_lock");
}

#[test]
fn what_is_no_lock_is_not_shown() {
    let mut story = Story::new(&["/"]);
    story.tell(
        "10 sync /
        10 node /backups
        10 node /backups/2026-0000000001
        10 node /backups/2026-0000000002
        10 node /services/billing
        10 node /services/billing/10.0.0.1:80 owner=a
        10 node /spent created=4
        10 node /old-locks/spent created=4
        10 end /",
    );
    assert_eq!(story.show(), "/old-locks/spent Unknown Free [] <-");
}

#[test]
fn a_persistent_head_is_an_orphan() {
    let mut story = Story::new(&["/k"]);
    story.tell(
        "10 sync /k
        10 node /k
        10 node /k/6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000
        10 node /k/7f1e2d3c00004a4a8b8b0123456789ab__lock__0000000001 owner=a
        10 end /k",
    );
    assert_eq!(
        story.sentence("/k"),
        "No session owns 6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000, so it never frees itself. 1 waits."
    );
}

#[test]
fn equal_numbers_of_a_stuck_counter_all_hold_where_only_lower_ones_block() {
    let mut story = Story::new(&["/k"]);
    story.tell(
        "10 sync /k
        10 node /k
        10 node /k/6f1e2d3c00004a4a8b8b0123456789ab__lock__2147483647 owner=a
        10 node /k/7f1e2d3c00004a4a8b8b0123456789ab__lock__2147483647 owner=b
        10 end /k",
    );
    assert_eq!(
        story.sentence("/k"),
        "session 0xa and session 0xb both hold it: they have the same sequence number. Nobody waits."
    );
}

#[test]
fn a_hold_turns_stuck_by_time_alone_when_somebody_waits() {
    let mut story = order();
    story.tell("20000 tick");
    assert!(story.show().contains("Healthy"));
    story.tell("300000 tick");
    assert!(story.show().contains("Healthy"), "nothing is slow while what is usual is not known");
    story.tell("300010 tick");
    assert!(story.show().contains("Stuck"));
    let sentence = "worker-1 has held it for very long; what is usual is not known yet. 1 waits.";
    assert_eq!(story.sentence("/order"), sentence);
    story.tell("300020 - /order/lock-0000000002");
    assert!(story.show().contains("Healthy"), "nobody waits any more");
}

#[test]
fn usual_is_what_this_lock_usually_takes() {
    let mut story = order();
    story.tell("50 - /order/lock-0000000001\n60 - /order/lock-0000000002");
    for round in 0..10 {
        let (at, name) = (100 + 100 * round, format!("/order/lock-{:010}", 10 + round));
        story.tell(&format!("{at} + {name}\n{} - {name}", at + 99));
    }
    story.tell("2000 + /order/lock-0000000050\n2001 = /order/lock-0000000050 owner=a\n2002 + /order/lock-0000000051");
    story.tell("2990 tick");
    assert!(story.show().contains("Healthy"));
    story.tell("3000 tick");
    assert_eq!(story.sentence("/order"), "session 0xa has held it longer than usual (0.1 s). 1 waits.");
}

#[test]
fn waits_are_told_on_our_clock() {
    let mut story = order();
    // The ensemble's clock is an hour behind ours.
    story.tell("3600100 + /order/lock-0000000003\n3600101 = /order/lock-0000000003 owner=c ctime=98");
    assert_eq!(story.observatory.offset().ms(), Some(3_600_002));
    assert_eq!(story.observatory.offset().to_ours(98), TimeMs(3_600_100));
}

#[test]
fn a_root_may_be_gone_and_come_back() {
    let mut story = order();
    story.tell("20 gone /order");
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(story.now)).0, RootState::Gone);
    assert!(story.paths().is_empty());
    assert!(story.observatory.is_ready());
    story.tell("30 sync /order\n30 node /order\n30 end /order\n31 + /order/lock-0000000000\n32 = /order/lock-0000000000 owner=a");
    assert_eq!(story.show(), "/order SequentialMutex Healthy [lock-0000000000] <-");
}

#[test]
fn a_deleted_directory_takes_its_lock_along() {
    let mut story = Story::new(&["/"]);
    story.tell("10 sync /\n10 end /\n20 + /a\n21 + /a/lock-0000000000\n22 = /a/lock-0000000000 owner=a");
    assert_eq!(story.show(), "/a SequentialMutex Healthy [lock-0000000000] <-");
    story.tell("30 - /a/lock-0000000000\n31 - /a");
    assert!(story.paths().is_empty());
    assert!(story.changes.iter().any(|change| matches!(change, Change::LockVanished { .. })));
}

#[test]
fn an_unreadable_child_makes_the_root_partial() {
    let mut story = order();
    story.tell("20 = /order/secret denied");
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(story.now)).0, RootState::Partial);
    story.tell("21 - /order/secret");
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(story.now)).0, RootState::Live);
}

#[test]
fn a_sweep_brings_counters_up_to_date_and_makes_nothing() {
    let mut story = Story::new(&["/"]);
    story.tell("10 sync /\n10 end /\n20 + /a\n21 = /a\n21 + /a/lock-0000000000\n22 = /a/lock-0000000000 owner=a");
    let stat = |story: &Story| story.observatory.mirror_of(story.lock("/a")).unwrap().directory("/a").unwrap().stat;
    assert_eq!(stat(&story), None, "it had no children when it was read");
    story.tell("30 # /a created=3\n30 # /b created=9");
    assert_eq!(stat(&story).map(|stat| stat.creates_ever), Some(3));
    assert_eq!(story.paths(), ["/a"]);
}

#[test]
fn depth_is_kept_in_slices() {
    let mut story = order();
    story.tell("2500 tick");
    let revision = story.lock("/order").revision;
    story.tell("5000 tick\n7500 tick");
    assert_eq!(story.lock("/order").tally.depth.peaks(), [1]);
    assert_eq!(story.lock("/order").revision, revision, "time alone changes nothing");
}

#[test]
fn a_lock_that_changes_hands_all_the_time_has_a_rate_for_a_sentence() {
    let mut story = order();
    let mut sentences = Vec::new();
    // A holder goes, and another client joins the queue, each 300 ms; a tick each 250 ms.
    let (mut number, mut now) = (1, 20);
    while now < 12_000 {
        if now % 300 == 20 {
            let (first, last) = (format!("/order/lock-{number:010}"), format!("/order/lock-{:010}", number + 2));
            story.tell(&format!("{now} - {first}\n{now} + {last}\n{now} = {last} owner={:x}", number + 2));
            number += 1;
        }
        if now % 250 == 0 {
            story.tell(&format!("{now} tick"));
        }
        let sentence = story.sentence("/order");
        if now > 6_000 && sentences.last() != Some(&sentence) {
            sentences.push(sentence);
        }
        now += 10;
    }
    assert_eq!(sentences, ["Changes hands 3.2 times a second."], "it stays while the lock moves 20 times");
    // It stops: first what is wrong comes before the rate, then there is none.
    story.tell("14500 tick");
    assert_eq!(story.sentence("/order"), "session 0x29 has held it longer than usual (0.3 s). 1 waits.");
    story.tell("15100 tick\n17600 tick");
    assert_eq!(story.lock("/order").tally.hand_offs.in_10_s(), None);
}
