//! Lockscope is started in the middle of an incident, or of an ordinary busy day: a wait is a fact, a hold is not.

use std::fmt::Write as _;

use lockscope_core::verdict::Verdict;

use crate::language::Story;

/// Two hours and a bit.
const NOW: i64 = 7_300_000;

/// A root is read at [`NOW`] in which one holds and three wait for two hours; its Stat says that its children changed last
/// by this transaction.
fn incident(story: &mut Story, pzxid: i64) {
    story.tell(&format!(
        "{NOW} sync /jobs
        {NOW} node /jobs/order ctime=0 czxid=10 pzxid={pzxid} created=4 children=4
        {NOW} node /jobs/order/lock-0000000000 owner=a czxid=11 ctime=50000
        {NOW} node /jobs/order/lock-0000000001 owner=b czxid=12 ctime=100000
        {NOW} node /jobs/order/lock-0000000002 owner=c czxid=13 ctime=100100
        {NOW} node /jobs/order/lock-0000000003 owner=d czxid=14 ctime=100200
        {NOW} end /jobs"
    ));
}

/// A model that knows that both clocks say the same.
fn with_clock() -> Story {
    let mut story = Story::new(&["/jobs", "/other"]);
    let before = NOW - 1_000;
    story.tell(&format!(
        "{before} sync /other\n{before} end /other\n{before} + /other/lock-0000000000\n{before} = /other/lock-0000000000 owner=9"
    ));
    story
}

fn verdict(story: &Story) -> Verdict {
    story.lock("/jobs/order").assessment.verdict
}

#[test]
fn nobody_left_for_two_hours_is_stuck() {
    let mut story = with_clock();
    incident(&mut story, 14);
    assert_eq!(verdict(&story), Verdict::Stuck);
    assert!(story.lock("/jobs/order").holders[0].since.0 == NOW, "since when it is held is not known");
    // The directory's Stat tells of the one that came last, and no more of what was before.
    story.tell(&format!(
        "{NOW} + /jobs/order/lock-0000000004\n{NOW} = /jobs/order/lock-0000000004 owner=e czxid=20
        {NOW} # /jobs/order czxid=10 pzxid=20 created=5 children=5\n{NOW} tick"
    ));
    assert_eq!(verdict(&story), Verdict::Stuck, "who comes later changes nothing");
    story.tell(&format!("{NOW} - /jobs/order/lock-0000000000"));
    assert_eq!(verdict(&story), Verdict::Healthy, "it changed hands");
}

#[test]
fn a_newer_stamp_bounds_unknown_clocks() {
    let mut story = Story::new(&["/jobs"]);
    story.tell(&format!("{NOW} sync /jobs\n{NOW} node /jobs/other/lock-0000000000 owner=9 czxid=30 ctime={NOW}"));
    incident_goes_on(&mut story);
    assert_eq!(verdict(&story), Verdict::Stuck, "one was made two hours later, by the same clock");
}

/// The same within a sync that began.
fn incident_goes_on(story: &mut Story) {
    story.tell(&format!(
        "{NOW} node /jobs/order ctime=0 czxid=10 pzxid=12 created=2 children=2
        {NOW} node /jobs/order/lock-0000000000 owner=a czxid=11 ctime=50000
        {NOW} node /jobs/order/lock-0000000001 owner=b czxid=12 ctime=100000
        {NOW} end /jobs"
    ));
}

#[test]
fn a_long_wait_alone_is_slow() {
    let says = "The first in line has waited for very long; since when session 0xa holds it is not known. 3 wait.";
    for mut story in [with_clock(), Story::new(&["/jobs"])] {
        // Somebody left since; or it is not known how the clocks differ.
        incident(&mut story, 15);
        assert_eq!((verdict(&story), &*story.sentence("/jobs/order")), (Verdict::Slow, says));
        story.tell(&format!("{} tick", NOW + 299_999));
        assert_eq!(verdict(&story), Verdict::Slow);
        story.tell(&format!("{} tick", NOW + 300_000));
        assert_eq!(verdict(&story), Verdict::Stuck, "it was held for so long while we looked");
    }
}

#[test]
fn a_hand_over_explains_a_long_wait() {
    let mut story = with_clock();
    incident(&mut story, 15);
    story.tell(&format!("{} - /jobs/order/lock-0000000000", NOW + 7_000));
    assert_eq!(verdict(&story), Verdict::Healthy, "the last of many that came at once");
    story.tell(&format!("{} tick", NOW + 200_000));
    assert_eq!(verdict(&story), Verdict::Healthy);
}

#[test]
fn clocks_that_differ_make_no_wait_for_long() {
    let mut story = Story::new(&["/jobs"]);
    incident(&mut story, 14);
    assert_eq!(verdict(&story), Verdict::Slow, "it is not known yet how they differ");
    // The ensemble's clock is two hours behind: they have just come.
    story.tell(&format!("{NOW} + /jobs/x/lock-0000000000\n{NOW} = /jobs/x/lock-0000000000 owner=9 ctime=101000"));
    story.tell(&format!("{} tick", NOW + 10_000));
    assert_eq!(verdict(&story), Verdict::Healthy);
}

#[test]
fn a_busy_queue_is_healthy_from_the_start() {
    for (mut story, hold_ms) in [(with_clock(), 1_000), (with_clock(), 4_000), (Story::new(&["/jobs"]), 1_000)] {
        let begun = NOW - 200 * hold_ms;
        let mut text =
            format!("{NOW} sync /jobs\n{NOW} node /jobs/order czxid=10 pzxid=900 created=300 children=200\n");
        for at in 0..200 {
            let (zxid, ctime) = (100 + at, begun + hold_ms * at);
            writeln!(text, "{NOW} node /jobs/order/lock-{at:010} owner={:x} czxid={zxid} ctime={ctime}", 16 + at)
                .unwrap();
        }
        story.tell(&format!("{text}{NOW} end /jobs"));
        for gone in 0..20 {
            assert_eq!(verdict(&story), Verdict::Healthy, "after {gone} hand-overs");
            let (at, new) = (NOW + hold_ms * (gone + 1), 200 + gone);
            story.tell(&format!(
                "{at} - /jobs/order/lock-{gone:010}\n{at} + /jobs/order/lock-{new:010}
                {at} = /jobs/order/lock-{new:010} owner={:x}\n{at} tick",
                16 + new
            ));
        }
    }
}

#[test]
fn standbys_may_wait_for_ever() {
    let mut story = with_clock();
    let guid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
    story.tell(&format!(
        "{NOW} sync /jobs
        {NOW} node /jobs/order czxid=10 pzxid=12 created=2 children=2
        {NOW} node /jobs/order/_c_{guid}-latch-0000000000 owner=a czxid=11 ctime=50000
        {NOW} node /jobs/order/_c_{guid}-latch-0000000001 owner=b czxid=12 ctime=100000
        {NOW} end /jobs"
    ));
    assert_eq!(verdict(&story), Verdict::Healthy);
}
