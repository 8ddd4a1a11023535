//! Locks that the configuration says somebody must hold: when nobody does, where nothing is there, and where nobody knows.

use lockscope_core::finding::{Code, Limits};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;

use crate::language::Story;

fn limits(patterns: &[&str]) -> Limits {
    Limits { must_be_held: patterns.iter().map(|pattern| (*pattern).to_owned()).collect(), ..Limits::default() }
}

/// The root `/r` with some znodes, read at 10, where some locks must be held.
fn story(patterns: &[&str], nodes: &[&str]) -> Story {
    let mut story = Story::new(&["/r"]);
    story.said(Vec::new(), limits(patterns));
    let nodes: String = nodes.iter().map(|node| format!("10 node {node}\n")).collect();
    story.tell(&format!("10 sync /r\n10 node /r\n{nodes}10 end /r"));
    story
}

/// Whether it is found of the lock once everything up to an instant is known, as a look each second shows.
fn is_found(story: &mut Story, path: &str, at: i64) -> bool {
    let from = story.now;
    for second in (from..at).step_by(1_000).skip(1).chain([at]) {
        story.tell(&format!("{second} known\n{second} tick"));
    }
    found(story, path).is_some()
}

fn found(story: &Story, path: &str) -> Option<String> {
    let lock = story.observatory.lock(path).filter(|lock| *lock.path == *path)?;
    let finding = lock.assessment.findings.iter().find(|finding| finding.code == Code::MustBeHeld)?;
    Some(finding.text.to_string())
}

const LATCH: &str = "_c_00000000-0000-4a4a-8b8b-000000000000-latch-0000000000";

#[test]
fn a_path_where_nothing_is_counts_from_when_its_root_was_read() {
    let mut story = story(&["/r/boss"], &[]);
    assert_eq!(story.paths(), ["/r/boss"]);
    assert!(!is_found(&mut story, "/r/boss", 30_000));
    assert!(is_found(&mut story, "/r/boss", 32_000), "within 2 s of its threshold");
    assert!(found(&story, "/r/boss").unwrap().contains("there is no such znode"));
    assert!(is_found(&mut story, "/r/boss", 90_000), "it lasts");
    story.tell("90001 + /r/boss\n90002 = /r/boss owner=a\n90003 known\n91000 tick");
    assert_eq!(story.show(), "/r/boss SingleNodeMutex Healthy [boss] <-", "whatever its name is");
    assert_eq!(found(&story, "/r/boss"), None);
    story.tell("91001 - /r/boss");
    assert!(!is_found(&mut story, "/r/boss", 121_000));
    assert!(is_found(&mut story, "/r/boss", 123_500));
}

#[test]
fn a_directory_that_is_reaped_stays_with_what_was_found() {
    let node = format!("/r/elect/{LATCH}");
    let mut story = story(&["/r/elect"], &["/r/elect", &format!("{node} owner=a")]);
    assert_eq!(story.show(), format!("/r/elect Election Healthy [{LATCH}] <-"));
    story.tell(&format!("1000 - {node}"));
    assert!(is_found(&mut story, "/r/elect", 33_000));
    story.tell("33001 - /r/elect");
    assert!(is_found(&mut story, "/r/elect", 34_000) && is_found(&mut story, "/r/elect", 60_000));
    story.tell(&format!("60001 + /r/elect\n60002 = /r/elect\n60003 + {node}\n60004 = {node} owner=b"));
    assert!(!is_found(&mut story, "/r/elect", 62_000));
    assert_eq!(story.show(), format!("/r/elect Election Healthy [{LATCH}] <-"));
}

#[test]
fn a_mutex_whose_directory_goes_stands_as_nothing_and_comes_back() {
    let node = "/r/m/lock-0000000000";
    let mut story = story(&["/r/m"], &["/r/m", &format!("{node} owner=a")]);
    story.tell(&format!("1000 - {node}\n1001 - /r/m"));
    assert_eq!(story.show(), "/r/m Unknown Free [] <-");
    assert!(is_found(&mut story, "/r/m", 33_000));
    story.tell("33001 sync /r\n33001 node /r\n33001 end /r");
    assert!(is_found(&mut story, "/r/m", 34_500), "a root that is read anew ends nothing");
    story.tell("35000 sync /r\n35000 node /r\n35000 node /r/m\n35000 node /r/m/lock-0000000000 owner=b\n35000 end /r");
    assert!(!is_found(&mut story, "/r/m", 37_000));
    assert_eq!(story.lock("/r/m").holders.len(), 1);
}

#[test]
fn a_pattern_with_a_star_needs_a_lock_that_is_known() {
    let mut story = story(&["/r/*/lead"], &["/r/a", "/r/a/lead", "/r/a/lead/n_0000000000 owner=a"]);
    assert_eq!(story.paths(), ["/r/a/lead"]);
    assert!(!is_found(&mut story, "/r/a/lead", 60_000));
    story.tell("60001 - /r/a/lead/n_0000000000");
    assert!(is_found(&mut story, "/r/a/lead", 92_000));
    story.tell("92001 + /r/a/lead/n_0000000001\n92002 = /r/a/lead/n_0000000001 owner=b");
    assert!(!is_found(&mut story, "/r/a/lead", 94_000));
}

#[test]
fn time_in_which_nobody_sees_does_not_count() {
    let mut story = story(&["/r/boss"], &[]);
    assert!(!is_found(&mut story, "/r/boss", 20_000));
    story.tell("21000 link lost no answer\n25000 tick\n40000 tick\n60000 tick");
    assert_eq!(found(&story, "/r/boss"), None, "stale");
    story.tell("61000 link live\n61000 sync /r\n61000 node /r\n61000 end /r");
    assert!(!is_found(&mut story, "/r/boss", 90_500));
    assert!(is_found(&mut story, "/r/boss", 93_000));
    story.tell("93001 link lost no answer\n120000 tick");
    assert!(found(&story, "/r/boss").is_some(), "what was found stays until somebody is seen to hold");
    story.tell("121000 link live\n121000 sync /r\n121000 node /r\n121000 node /r/boss owner=a\n121000 end /r");
    assert!(!is_found(&mut story, "/r/boss", 123_000));
}

#[test]
fn a_view_that_nobody_confirms_says_nothing_new() {
    let mut story = story(&["/r/boss"], &[]);
    for second in 1..60 {
        story.tell(&format!("{} tick", 10_000 + second * 1_000));
    }
    assert_eq!(found(&story, "/r/boss"), None);
}

#[test]
fn what_may_not_be_read_is_not_said_to_be_absent() {
    let mut story = story(&["/r/hidden/boss", "/r/boss"], &["/r/hidden denied", "/r/boss denied"]);
    assert!(!is_found(&mut story, "/r/hidden/boss", 60_000));
    assert!(!is_found(&mut story, "/r/boss", 61_000));
}

#[test]
fn a_directory_of_which_nothing_is_recognised_is_not_said_to_be_free() {
    let mut story = story(&["/r/odd"], &["/r/odd", "/r/odd/somebody owner=a"]);
    assert!(!is_found(&mut story, "/r/odd", 60_000));
    story.tell("60001 - /r/odd/somebody");
    assert!(is_found(&mut story, "/r/odd", 95_000));
    assert!(found(&story, "/r/odd").unwrap().contains("nobody contends for it"));
}

#[test]
fn a_reload_adds_and_takes_away() {
    let mut story = story(&[], &["/r/m", "/r/m/lock-0000000000 owner=a"]);
    story.said(Vec::new(), limits(&["/r/boss", "/r/m"]));
    assert_eq!(story.paths(), ["/r/boss", "/r/m"]);
    assert!(is_found(&mut story, "/r/boss", 33_000) && found(&story, "/r/m").is_none());
    story.said(Vec::new(), limits(&["/r/m"]));
    assert_eq!(story.paths(), ["/r/m"]);
    story.tell("34000 + /r/boss\n34001 = /r/boss owner=b");
    assert_eq!(story.paths(), ["/r/m"], "its name tells nothing");
    story.said(Vec::new(), limits(&["/r/boss"]));
    assert_eq!(story.show().lines().next(), Some("/r/boss SingleNodeMutex Healthy [boss] <-"));
    story.said(Vec::new(), limits(&["/r/m"]));
    assert_eq!(story.paths(), ["/r/m"]);
    story.tell("34002 - /r/boss");
    story.said(Vec::new(), Limits { off: vec![Code::MustBeHeld], ..limits(&["/r/boss"]) });
    assert!(!is_found(&mut story, "/r/boss", 70_000));
}

#[test]
fn a_root_that_is_gone_holds_nothing() {
    let mut story = story(&["/r/boss"], &[]);
    story.tell("1000 gone /r");
    assert!(is_found(&mut story, "/r/boss", 33_500));
    story.tell("34000 denied /r\n35000 tick");
    assert!(found(&story, "/r/boss").is_some(), "nobody may look, so nobody is seen to hold it");
}

#[test]
fn a_part_of_a_lock_is_no_lock_of_its_own() {
    let nodes = [
        "/r/s",
        "/r/s/leases",
        "/r/s/locks",
        "/r/s/leases/_c_00000000-0000-4a4a-8b8b-000000000000-lease-0000000000 owner=a",
    ];
    assert_eq!(story(&["/r/s/leases"], &nodes).paths(), ["/r/s"]);
}

#[test]
fn a_checkpoint_has_what_is_being_waited_for() {
    let mut story = story(&["/r/boss"], &[]);
    story.tell("15000 known\n15000 tick");
    let mut other =
        lockscope_core::observatory::Observatory::new(lockscope_core::observatory::Settings::default(), TimeMs(0));
    for observation in story.observatory.checkpoint().unwrap().observations() {
        other.apply(TimeMs(15_000), observation);
    }
    assert!(other == story.observatory);
    for second in 16..33 {
        for observation in [Observation::Synced { sent_at: TimeMs(second * 1_000) }, Observation::Tick] {
            other.apply(TimeMs(second * 1_000), observation.clone());
            story.observatory.apply(TimeMs(second * 1_000), observation);
        }
    }
    assert!(other == story.observatory && found(&story, "/r/boss").is_some());
}
