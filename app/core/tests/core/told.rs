//! A session's end is concluded from what goes at once, unless somebody knows.

use lockscope_core::change::{Change, Departure};
use lockscope_core::evidence::{TimeoutAssessment, TimeoutOutcome, TimeoutUnknown};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use crate::language::Story;
use crate::members::{FIRST, queue};

fn ended(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::SessionEnded { .. }))
}

fn how(story: &Story) -> Departure {
    story.lock("/l").tally.past[0].how
}

/// The holder's only znode goes; then whether its session ended is told, or not.
fn after_its_end(told: Option<bool>) -> (bool, Departure) {
    let mut story = queue();
    let owner = story.lock("/l").holders[0].owner.unwrap();
    story.tell(&format!("1006000 - {FIRST}"));
    let mut changes = Vec::new();
    if let Some(has_ended) = told {
        let observation = Observation::SessionTold { session: owner, has_ended };
        changes.extend(story.observatory.apply(TimeMs(1_006_000), observation));
    }
    changes.extend(story.observatory.apply(TimeMs(1_007_000), Observation::Tick));
    (ended(&changes), how(&story))
}

#[test]
fn a_session_with_one_znode_ends_where_that_is_told() {
    assert_eq!(after_its_end(None), (false, Departure::Deleted));
    assert_eq!(after_its_end(Some(false)), (false, Departure::Deleted));
    assert_eq!(after_its_end(Some(true)), (true, Departure::SessionEnded));
}

/// A session with two znodes in one lock lets both go at once.
fn after_two(told: Option<bool>) -> bool {
    let mut story = queue();
    let names = [
        "/l/_c_55555555-5555-5555-5555-555555555555-lock-0000000007",
        "/l/_c_66666666-6666-6666-6666-666666666666-lock-0000000008",
    ];
    for name in names {
        story.tell(&format!("1006000 = {name} owner=77"));
    }
    for name in names {
        story.tell(&format!("1006010 - {name}"));
    }
    let mut changes = Vec::new();
    if let Some(has_ended) = told {
        let observation = Observation::SessionTold { session: SessionId(0x77), has_ended };
        changes.extend(story.observatory.apply(TimeMs(1_006_010), observation));
    }
    changes.extend(story.observatory.apply(TimeMs(1_007_000), Observation::Tick));
    ended(&changes)
}

#[test]
fn one_that_lets_all_go_at_once_goes_on_where_that_is_told() {
    assert_eq!([after_two(None), after_two(Some(false)), after_two(Some(true))], [true, false, true]);
}

#[test]
fn a_client_that_queues_up_again_within_moments_releases_each_time() {
    let mut story = queue();
    let names = [7, 8].map(|number| format!("/l/_c_55555555-5555-5555-5555-555555555555-lock-000000000{number}"));
    let mut changes = Vec::new();
    for (at, name) in (1_006_000..).step_by(10).zip(&names) {
        story.tell(&format!("{at} = {name} owner=77"));
        story.tell(&format!("{} - {name}", at + 5));
    }
    changes.extend(story.observatory.apply(TimeMs(1_007_000), Observation::Tick));
    assert!(!ended(&changes), "the second came when the first had gone");
}

#[test]
fn what_goes_together_ends_a_session_that_had_released_another_a_moment_before() {
    let mut story = queue();
    let names = [6, 7, 8].map(|number| format!("/l/_c_55555555-5555-5555-5555-555555555555-lock-000000000{number}"));
    let [first, second, third] = &names;
    for line in [
        format!("1006000 = {first} owner=77"),
        format!("1006000 = {second} owner=77"),
        format!("1006005 - {first}"),
        format!("1006010 = {third} owner=77"),
        format!("1006020 - {second}"),
        format!("1006020 - {third}"),
    ] {
        story.tell(&line);
    }
    let changes = story.observatory.apply(TimeMs(1_007_000), Observation::Tick);
    assert!(changes.iter().any(|change| matches!(change, Change::SessionEnded { znodes: 2, .. })), "{changes:?}");
    let how = |node: &str| {
        story.lock("/l").tally.past.iter().find(|past| node.ends_with(&*past.hold.name)).map(|past| past.how)
    };
    assert_ne!(how(first), Some(Departure::SessionEnded), "it was released before");
}

#[test]
fn a_time_out_that_a_log_says_is_known_until_its_session_is_over_and_nothing_is_advised() {
    let mut story = queue();
    let session = story.lock("/l").holders[0].owner.unwrap();
    let told = |story: &mut Story, timeout_ms: Option<i64>| {
        let observation = Observation::SessionTimeout { session, timeout_ms };
        story.observatory.apply(TimeMs(1_006_000), observation);
        story.observatory.assess_timeout(session, TimeMs(1_006_000)).unwrap()
    };
    let known = told(&mut story, Some(9_000));
    assert_eq!((known.timeout_ms, known.outcome), (Some(9_000), TimeoutOutcome::Unknown(TimeoutUnknown::NotInLogs)));
    assert_eq!(told(&mut story, Some(4_000)).timeout_ms, Some(4_000));
    assert_eq!(told(&mut story, None), TimeoutAssessment::NOT_LISTED);
    assert_eq!(told(&mut story, Some(4_000)).timeout_ms, Some(4_000));
    story.observatory.apply(TimeMs(1_006_000), Observation::SessionTold { session, has_ended: true });
    assert!(story.observatory.member_evidence().session(session).is_none());
}
