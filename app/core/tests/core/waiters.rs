//! What may be missing from a lock, and those who wait without a znode.

use lockscope_core::lock::WokenBasis;
use lockscope_core::missing::Missing;
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::Verdict;

use crate::language::Story;
use crate::members::{Member, ask, member};
use crate::recipes::tree;

fn missing(story: &Story, path: &str) -> Vec<Missing> {
    story.lock(path).missing().iter().collect()
}

#[test]
fn a_directory_with_a_child_that_may_not_be_read_is_not_complete() {
    let mut story = tree("/l\n/l/lock-0000000001 owner=a data=worker-1");
    assert_eq!((missing(&story, "/l"), story.lock("/l").waiter_count()), (vec![], Some(0)));
    story.tell("20 = /l/secret denied");
    assert_eq!((missing(&story, "/l"), story.lock("/l").waiter_count()), (vec![Missing::UnreadableChildren], None));
    assert_eq!(story.sentence("/l"), "worker-1 holds it. Nobody is seen to wait.");
    story.tell("21 + /l/lock-0000000002\n22 = /l/lock-0000000002 owner=b");
    assert_eq!(story.lock("/l").waiter_count(), Some(1));
    assert_eq!(story.sentence("/l"), "worker-1 holds it. At least 1 waits.");
    story.tell("23 - /l/lock-0000000001\n24 - /l/lock-0000000002");
    assert_eq!(story.lock("/l").assessment.verdict, Verdict::Unknown, "one that is not seen may hold it");
    assert_eq!(
        story.sentence("/l"),
        "Not known: nobody is seen here, and not all of its znodes can be seen. Last held by session 0xb."
    );
    story.tell("25 - /l/secret");
    assert_eq!((missing(&story, "/l"), story.lock("/l").assessment.verdict), (vec![], Verdict::Free));
}

#[test]
fn what_the_observer_says_of_a_directory_holds_until_it_says_otherwise_or_reads_it_anew() {
    let mut story = tree("/locks/l created=3\n/locks\n/locks/a-lock owner=a\n/locks/b-lock owner=b");
    story.tell("15 - /locks/b-lock");
    assert_eq!(story.lock("/locks/l").assessment.verdict, Verdict::Free);
    story.tell("20 ? /locks/l unswept unreadable\n20 ? /locks unswept");
    assert_eq!(missing(&story, "/locks/l"), [Missing::UnreadableChildren, Missing::Unswept]);
    assert_eq!(story.lock("/locks/l").assessment.verdict, Verdict::Unknown);
    assert_eq!(missing(&story, "/locks/b-lock"), [Missing::Unswept], "somebody may hold it unseen");
    assert!(!missing(&story, "/locks/a-lock").contains(&Missing::Unswept), "its znode is there");
    story.tell("21 ? /locks/l unswept");
    assert_eq!(missing(&story, "/locks/l"), [Missing::Unswept]);
    let touched = story.changes.len();
    story.tell("22 ? /locks/l unswept");
    assert_eq!(story.changes.len(), touched, "no news");
    story.tell("23 ? /locks/l\n30 sync /\n30 node /locks created=3\n30 node /locks/l created=3\n30 end /");
    assert_eq!((missing(&story, "/locks/l"), story.lock("/locks/l").assessment.verdict), (vec![], Verdict::Free));
    assert_eq!(missing(&story, "/locks/b-lock"), []);
}

const LOCK: &str = "/exclusive_lock/lock";

/// Held by session 10 since 1,000,000.
fn exclusive() -> Story {
    let mut story = Story::new(&["/exclusive_lock"]);
    story.tell("1000000 sync /exclusive_lock\n1000000 node /exclusive_lock created=1\n1000000 end /exclusive_lock");
    story.tell(&format!("1000000 + {LOCK}\n1000001 = {LOCK} owner=a data=app-1"));
    story
}

/// One member's answer at a time: these watch the lock's znode.
fn table(at: i64, sessions: &[i64]) -> Vec<Member> {
    vec![member("m1", at).connected(&[(10, 0), (20, 0), (21, 0)]).watches(&[(LOCK, sessions)])]
}

/// How many wait, since when the oldest does, and what is missing.
fn waiting(story: &Story) -> (Option<u32>, Option<i64>, Vec<Missing>) {
    let lock = story.lock("/exclusive_lock");
    let oldest = lock.oldest_wait(|_| TimeMs(0)).map(|(at, is_lower_bound)| {
        assert!(is_lower_bound, "it may have waited before it was seen");
        at.0
    });
    (lock.waiter_count(), oldest, missing(story, "/exclusive_lock"))
}

#[test]
fn who_waits_at_a_fixed_znode_counts_once_the_tables_were_read() {
    let mut story = exclusive();
    assert_eq!(waiting(&story), (None, None, vec![Missing::WatchesNotRead]));
    assert_eq!(story.sentence("/exclusive_lock"), "app-1 holds it. Waiters can't be counted here.");
    story.tell("1040000 tick");
    assert_eq!(story.lock("/exclusive_lock").assessment.verdict, Verdict::Healthy);
    ask(&mut story, table(1_041_000, &[10, 20, 21, 22, 1]));
    assert_eq!(waiting(&story), (Some(3), Some(1_041_000), vec![]), "neither the holder nor we wait");
    assert_eq!(story.lock("/exclusive_lock").assessment.verdict, Verdict::Healthy, "what is usual is not known");
    assert_eq!(story.sentence("/exclusive_lock"), "app-1 holds it. 3 wait.");
    ask(&mut story, table(1_060_000, &[20, 22, 23]));
    assert_eq!(waiting(&story), (Some(3), Some(1_041_000), vec![]), "two of them wait on");
    assert_eq!(story.lock("/exclusive_lock").waiting_since_sum_ms(0), 1_041_000 * 2 + 1_060_000);
    story.tell("1300000 tick");
    assert_eq!(waiting(&story), (None, None, vec![Missing::WatchesNotRead]), "the table is old");
    assert_eq!(story.lock("/exclusive_lock").assessment.verdict, Verdict::Healthy);
    ask(&mut story, table(1_300_500, &[20]));
    assert_eq!(story.lock("/exclusive_lock").assessment.verdict, Verdict::Stuck);
}

#[test]
fn a_table_from_before_a_hand_off_says_nothing_of_who_waits_now() {
    let mut story = exclusive();
    ask(&mut story, table(1_010_000, &[20, 21]));
    story.tell(&format!("1011000 - {LOCK}"));
    assert_eq!(waiting(&story), (Some(0), None, vec![]), "nobody waits for what nobody holds");
    assert_eq!(story.sentence("/exclusive_lock"), "Free. Last held by app-1.");
    story.tell(&format!("1011010 + {LOCK}\n1011011 = {LOCK} owner=14 data=app-2"));
    assert_eq!(waiting(&story), (None, None, vec![Missing::WatchesNotRead]));
    // Asked for a moment after the hand-off: not all may watch again.
    ask(&mut story, table(1_012_000, &[21]));
    assert_eq!(
        waiting(&story),
        (Some(1), Some(1_010_000), vec![Missing::WatchesNotRead]),
        "it waits since before the hand-off"
    );
    assert_eq!(story.sentence("/exclusive_lock"), "app-2 holds it. At least 1 waits.");
    ask(&mut story, table(1_030_000, &[21, 10]));
    assert_eq!(waiting(&story), (Some(2), Some(1_010_000), vec![]));
    // Whoever held waits anew.
    story.tell(&format!("1031000 - {LOCK}\n1031010 + {LOCK}\n1031011 = {LOCK} owner=15"));
    ask(&mut story, table(1_050_000, &[20, 10]));
    assert_eq!(waiting(&story), (Some(2), Some(1_030_000), vec![]));
    assert!(
        story
            .lock("/exclusive_lock")
            .watchers
            .iter()
            .eq([(10, 1_030_000), (20, 1_050_000)].map(|(id, at)| (lockscope_core::znode::SessionId(id), TimeMs(at))))
    );
}

#[test]
fn with_one_table_of_two_there_may_be_more() {
    let mut story = exclusive();
    let silent = |at| member("m2", at).connected(&[]);
    let both = |at, sessions: &[i64]| table(at, sessions).into_iter().chain([silent(at)]).collect::<Vec<_>>();
    ask(&mut story, both(1_010_000, &[20]));
    assert_eq!(waiting(&story), (Some(1), Some(1_010_000), vec![Missing::WatchesNotRead]));
    ask(&mut story, both(1_026_000, &[]));
    assert_eq!(waiting(&story), (None, None, vec![Missing::WatchesNotRead]));
    ask(&mut story, vec![table(1_042_000, &[]).remove(0), silent(1_042_000).watches(&[])]);
    assert_eq!(
        waiting(&story),
        (None, None, vec![Missing::WaitersWithoutZnodes]),
        "they may poll, or watch the directory"
    );
    assert_eq!(story.sentence("/exclusive_lock"), "app-1 holds it. Nobody is seen to wait.");
}

#[test]
fn a_leader_at_a_fixed_znode_is_never_slow_and_its_watchers_are_all_there_are() {
    let mut story = Story::new(&["/"]);
    story.tell("1000000 sync /\n1000000 node /controller owner=a\n1000000 end /");
    let table = |at, sessions: &[i64]| {
        vec![member("m1", at).connected(&[(10, 0), (20, 0), (21, 0)]).watches(&[("/controller", sessions)])]
    };
    ask(&mut story, table(1_400_000, &[20, 21]));
    assert_eq!(
        (story.lock("/controller").waiter_count(), story.lock("/controller").assessment.verdict),
        (Some(2), Verdict::Healthy)
    );
    ask(&mut story, table(1_416_000, &[]));
    assert_eq!((story.lock("/controller").waiter_count(), missing(&story, "/controller")), (Some(0), vec![]));
}

#[test]
fn who_waited_at_a_barrier_that_is_down_waits_no_longer() {
    let mut story = tree("/barrier");
    let table = |at| vec![member("m1", at).connected(&[]).watches(&[("/barrier", &[20, 21])])];
    assert_eq!(
        story.sentence("/barrier"),
        "Up: everybody waits until it is taken down. Waiters can't be counted here."
    );
    ask(&mut story, table(1_000_000));
    assert_eq!(story.lock("/barrier").waiter_count(), Some(2));
    assert_eq!(story.sentence("/barrier"), "Up: everybody waits until it is taken down. 2 wait.");
    story.tell("1001000 - /barrier");
    assert_eq!((story.lock("/barrier").waiter_count(), story.lock("/barrier").watchers.count()), (Some(0), 0));
    story.tell("1002000 + /barrier\n1002001 = /barrier");
    ask(&mut story, table(1_010_000));
    assert_eq!(story.lock("/barrier").watchers.oldest(), Some(TimeMs(1_010_000)), "another wait");
}

#[test]
fn items_of_a_queue_wait_for_nobody_and_who_waits_for_items_is_not_seen() {
    let story = tree("/q\n/q/entry-100-0000000001\n/q/entry-100-0000000002");
    let lock = story.lock("/q");
    assert_eq!((lock.waiter_count(), lock.waiters_seen(), lock.oldest_wait(|_| TimeMs(0))), (None, 0, None));
    assert_eq!(lock.waiting_since_sum_ms(5), 0);
    assert_eq!(missing(&story, "/q"), [Missing::WaitersWithoutZnodes]);
    assert_eq!(story.sentence("/q"), "2 items wait.");
}

/// Three of a home-made queue: 10 holds, 11 and 12 wait, and may watch the directory or each other.
fn home_made() -> Story {
    let mut story = Story::new(&["/l"]);
    story.tell("1000000 sync /l\n1000000 node /l created=3");
    story.tell("1000000 node /l/lock-0000000000 owner=a\n1000000 node /l/lock-0000000001 owner=b\n1000000 node /l/lock-0000000002 owner=c");
    story.tell("1000000 end /l");
    story
}

fn woken(story: &Story) -> (Option<u32>, WokenBasis) {
    let lock = story.lock("/l");
    let mirror = story.observatory.mirror_of(lock).unwrap();
    let woken = lock
        .woken(story.observatory.member_evidence(), mirror, TimeMs(story.now), story.observatory.session())
        .unwrap();
    assert_eq!(woken.bytes.is_some(), woken.sessions.is_some());
    (woken.sessions, woken.known)
}

#[test]
fn whom_a_release_wakes_is_not_known_where_clients_may_watch_the_list_of_children() {
    let mut story = home_made();
    assert_eq!(woken(&story), (None, WokenBasis::Unknown), "its names are anybody's");
    let table = |at, watches: &[(&str, &[i64])]| {
        vec![member("m1", at).connected(&[(10, 0), (11, 0), (12, 0)]).watches(watches)]
    };
    ask(&mut story, table(1_010_000, &[]));
    assert_eq!(woken(&story), (None, WokenBasis::Unknown), "no table has watches on children");
    ask(&mut story, table(1_026_000, &[("/l/lock-0000000000", &[11])]));
    assert_eq!(woken(&story), (Some(1), WokenBasis::AtLeast), "the last one may watch the list");
    ask(&mut story, table(1_042_000, &[("/l/lock-0000000000", &[11]), ("/l/lock-0000000001", &[12])]));
    assert_eq!(woken(&story), (Some(1), WokenBasis::Counted), "each waits for the one before");
    story.tell("1043000 - /l/lock-0000000000");
    assert_eq!(woken(&story), (None, WokenBasis::Unknown), "the table is of the hold before");
    assert_eq!(story.lock("/l").tally.past[0].woke, None);
}
