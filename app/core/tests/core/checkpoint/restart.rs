//! A server that is started again: what it believed is recalled, a gap follows, and the first sync says what became of it.

use lockscope_core::configured::Configured;
use lockscope_core::departure::Departure;
use lockscope_core::observation::{Observation, RootId};
use lockscope_core::observatory::Settings;
use lockscope_core::recipe::Recipe;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::{Thresholds, Verdict};

use super::equality::{checkpoint, recalled};
use crate::language::Story;
use crate::members::{ask, member};

const MINUTE_MS: i64 = 60_000;
/// When the server is started again.
const LATER_MS: i64 = 10 * MINUTE_MS;

/// The server stops and is started again with these settings, ten minutes later.
fn restarted_with(story: &mut Story, settings: Settings) {
    story.observatory = recalled(&checkpoint(&story.observatory), TimeMs(LATER_MS));
    story.changes = story.observatory.apply(TimeMs(LATER_MS), Observation::Restarted(Box::new(settings)));
}

fn restarted(story: &mut Story) {
    let settings = story.observatory.settings().clone();
    restarted_with(story, settings);
}

/// Six holds of 1 s each, one that goes on, one that waits.
fn order() -> Story {
    let mut story = Story::new(&["/order"]);
    story.tell("10 sync /order\n10 node /order\n10 end /order");
    for round in 0..6 {
        let (at, name) = (1_000 + 1_000 * round, format!("/order/lock-{round:010}"));
        story.tell(&format!("{at} + {name}\n{at} = {name} owner=a ctime={at}\n{} - {name}", at + 999));
    }
    story.tell(
        "9000 + /order/lock-0000000006\n9001 = /order/lock-0000000006 owner=b ctime=9000 czxid=500 data=worker-6",
    );
    story.tell("9100 + /order/lock-0000000007\n9101 = /order/lock-0000000007 owner=c ctime=9100 czxid=501\n9500 known");
    story
}

const SYNC: &str = "600100 sync /order\n600100 node /order\n600101 link live";

#[test]
fn a_holder_that_is_still_there_holds_since_before_the_restart_and_everything_learned_is_kept() {
    let mut story = order();
    let before = story.lock("/order").clone();
    restarted(&mut story);
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(LATER_MS)).0, RootState::Stale);
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(LATER_MS)).1, TimeMs(9_500), "as old as it is");
    story.tell(&format!(
        "{SYNC}
        600100 node /order/lock-0000000006 owner=b ctime=9000 czxid=500 data=worker-6
        600100 node /order/lock-0000000007 owner=c ctime=9100 czxid=501
        600200 end /order"
    ));
    assert_eq!(story.observatory.root_state(RootId(0), TimeMs(600_200)).0, RootState::Live);
    let lock = story.lock("/order");
    let hold = &lock.holders[0];
    assert_eq!((hold.since, hold.is_lower_bound), (TimeMs(9_000), false), "ten minutes, without a doubt");
    assert_eq!(lock.tally, before.tally, "percentiles, former holders and all that was counted");
    assert_eq!((lock.tally.holds.count(), lock.tally.holds.percentile(50)), (6, Some(1_023)));
    assert_eq!(lock.assessment.verdict, Verdict::Stuck, "what is usual is still known");
    assert_eq!(story.observatory.ended().holds.count(), 6);
    assert!(story.changes.iter().all(|change| !format!("{change:?}").contains("HolderChanged")), "{:?}", story.changes);
}

#[test]
fn who_holds_since_some_time_in_the_gap_holds_for_at_least_so_long() {
    let mut story = order();
    restarted(&mut story);
    story.tell(&format!("{SYNC}\n600100 node /order/lock-0000000007 owner=c ctime=9100 czxid=501\n600200 end /order"));
    let lock = story.lock("/order");
    assert_eq!((lock.holders[0].since, lock.holders[0].is_lower_bound), (TimeMs(600_200), true));
    let past = &lock.tally.past[0];
    assert_eq!((past.how, past.until, past.hold.since), (Departure::DuringGap, TimeMs(600_200), TimeMs(9_000)));
    assert_eq!(lock.tally.holds.count(), 6, "nobody saw how long that hold was");
}

#[test]
fn another_incarnation_of_a_name_is_another_hold() {
    let mut story = Story::new(&["/x"]);
    story.tell("10 sync /x\n10 node /x\n10 node /x/lock owner=a czxid=7\n10 end /x\n20 - /x/lock");
    story.tell("30 + /x/lock\n31 = /x/lock owner=a czxid=9");
    restarted(&mut story);
    story.tell("600100 sync /x\n600100 node /x\n600100 node /x/lock owner=a czxid=11\n600101 link live\n600200 end /x");
    let hold = &story.lock("/x").holders[0];
    assert_eq!((hold.since, hold.is_lower_bound), (TimeMs(600_200), true));
}

#[test]
fn a_name_that_was_never_read_may_be_anybodys_after_a_gap_unless_it_has_a_number() {
    let mut story = Story::new(&["/"]);
    story
        .tell("10 sync /\n10 node /x created=2\n10 node /y created=2\n10 end /\n30 + /x/lock\n30 + /y/lock-0000000003");
    story.tell("31 = /x/lock owner=a\n31 + /y/lock-0000000002\n31 = /y/lock-0000000002 owner=a");
    story.tell("40 - /x/lock\n40 - /y/lock-0000000002\n50 + /x/lock");
    restarted(&mut story);
    story.tell("600100 sync /\n600100 node /x created=4\n600100 node /x/lock owner=b\n600100 node /y created=2");
    story.tell("600100 node /y/lock-0000000003 owner=c ctime=30\n600101 link live\n600200 end /");
    let since = |path: &str| {
        let hold = &story.lock(path).holders[0];
        (hold.since, hold.is_lower_bound)
    };
    assert_eq!(since("/x"), (TimeMs(600_200), true));
    assert_eq!(since("/y"), (TimeMs(40), false), "a number comes once");
}

#[test]
fn a_lease_that_was_written_to_in_the_gap_may_be_anothers() {
    let lease = |holder: &str, end: &str| {
        let text = format!("{{\"holder\":\"{holder}\",\"end\":\"1970-01-01T{end}\"}}");
        text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    for (version, since) in [(0, (TimeMs(20), false)), (1, (TimeMs(600_200), true))] {
        let mut story = Story::new(&["/l"]);
        story.tell("10 sync /l\n10 node /l\n10 end /l\n20 + /l/lease_holder");
        story.tell(&format!("20 = /l/lease_holder czxid=5 hex={}", lease("a", "00:59:00")));
        restarted(&mut story);
        let now = lease(if version == 0 { "a" } else { "b" }, "00:59:00");
        story.tell("600100 sync /l\n600100 node /l created=1");
        story.tell(&format!("600100 node /l/lease_holder czxid=5 version={version} hex={now}"));
        story.tell("600101 link live\n600200 end /l");
        let hold = &story.lock("/l").holders[0];
        assert_eq!((hold.since, hold.is_lower_bound), since);
    }
}

#[test]
fn settings_are_those_of_now() {
    let mut story = order();
    let lock = Configured { pattern: "/order".into(), recipe: Some(Recipe::Semaphore), max: Some(2) };
    let thresholds = Thresholds { stuck_min_ms: 3_600_000, ..Thresholds::default() };
    let settings = Settings { configured: vec![lock], thresholds, ..story.observatory.settings().clone() };
    restarted_with(&mut story, settings.clone());
    assert_eq!(*story.observatory.settings(), settings);
    assert_eq!(story.lock("/order").holders.len(), 2, "recognised anew");
}

#[test]
fn roots_that_are_watched_no_longer_are_forgotten_and_others_are_new() {
    let mut story = Story::new(&["/a", "/b"]);
    for root in ["/a", "/b"] {
        story.tell(&format!("10 sync {root}\n10 node {root}\n10 end {root}\n20 + {root}/lock-0000000000"));
        story.tell(&format!("21 = {root}/lock-0000000000 owner=a czxid=77"));
    }
    let settings = Settings { roots: vec!["/c".into(), "/b".into()], ..story.observatory.settings().clone() };
    restarted_with(&mut story, settings);
    assert_eq!(story.paths(), ["/b"]);
    assert_eq!(story.lock("/b").root, RootId(1));
    let state = |root| story.observatory.root_state(RootId(root), TimeMs(LATER_MS)).0;
    assert_eq!((state(0), state(1)), (RootState::Syncing, RootState::Stale));
    let events: Vec<u64> = story.observatory.recorder().after(0).map(|event| event.number).collect();
    assert!(events.is_sorted() && events.len() < 5, "events before named roots by other numbers: {events:?}");
}

#[test]
fn what_members_said_before_is_not_said_of_now() {
    let mut story = order();
    ask(&mut story, vec![member("m1", 9_600).connected(&[(11, 0), (12, 0)])]);
    restarted(&mut story);
    story.tell("600050 tick");
    let peer = story.observatory.member_evidence().peer(lockscope_core::znode::SessionId(11), TimeMs(9_000));
    assert_eq!(peer.liveness, lockscope_core::evidence::Liveness::Unknown);
}
