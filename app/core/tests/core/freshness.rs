//! Live is a question of age alone, and what is not live is told since the instant up to which it is known to be true.

use lockscope_core::observation::RootId;
use lockscope_core::observatory::LIVE_AGE_MAX_MS;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;

use crate::language::Story;

fn state(story: &Story, now: i64) -> (RootState, i64) {
    let (state, since, _) = story.observatory.root_state(RootId(0), TimeMs(now));
    (state, since.0)
}

fn order() -> Story {
    let mut story = Story::new(&["/order"]);
    story.tell("1000 sync /order\n1000 node /order\n1000 node /order/lock-0000000001 owner=a\n1010 end /order\n1500 known 1400");
    story
}

#[test]
fn a_view_is_live_for_two_seconds_after_the_instant_that_it_is_known_for() {
    let mut story = order();
    assert_eq!(state(&story, 1_400 + LIVE_AGE_MAX_MS).0, RootState::Live);
    assert_eq!(state(&story, 1_401 + LIVE_AGE_MAX_MS), (RootState::Stale, 1_400));
    // The answer came late: it tells of the instant at which it was asked for.
    story.tell("9000 known 4000");
    assert_eq!(state(&story, 9_000), (RootState::Stale, 4_000));
    story.tell("9500 known 9400");
    assert_eq!(state(&story, 9_500).0, RootState::Live);
    assert_eq!(state(&story, 7_000).0, RootState::Stale, "a clock that was set back makes nothing younger");
}

#[test]
fn since_is_the_last_instant_known_through_every_reason() {
    let mut story = order();
    for line in [
        "3000 link stale no answer",
        "4000 link stale disconnected",
        "9000 link lost the session ended",
        "9500 link lost connecting",
    ] {
        story.tell(line);
        assert_eq!(state(&story, story.now), (RootState::Stale, 1_400), "{line}");
    }
    story.tell("20000 sync /order\n20000 node /order\n20001 link live");
    assert_eq!(state(&story, 20_001), (RootState::Syncing, 1_400));
    // What was asked before everything was read proves nothing of it.
    story.tell("20002 known");
    assert_eq!(state(&story, 20_002), (RootState::Syncing, 1_400));
    story.tell("20003 end /order");
    assert_eq!(state(&story, 20_003).0, RootState::Live);
}

#[test]
fn what_was_read_anew_is_live_only_once_a_probe_confirms_it() {
    use lockscope_core::observation::Observation;
    let mut story = Story::new(&["/order"]);
    story.tell("1000 sync /order\n1000 node /order");
    story.observatory.apply(TimeMs(1_100), Observation::SyncEnded { root: RootId(0) });
    assert_eq!(state(&story, 1_100).0, RootState::Syncing);
    story.tell("1200 known 1050");
    assert_eq!(state(&story, 1_200).0, RootState::Live);
}

#[test]
fn growing_old_and_young_again_is_a_change_that_is_told() {
    use lockscope_core::change::Change;
    let mut story = order();
    story.changes.clear();
    story.tell("3400 tick");
    assert_eq!(story.changes, []);
    story.tell("3500 tick\n3750 tick");
    assert_eq!(story.changes, [Change::RootChanged(RootId(0))]);
    story.changes.clear();
    story.tell("4000 known 3900\n4100 known 4050");
    assert_eq!(story.changes, [Change::RootChanged(RootId(0))]);
}
