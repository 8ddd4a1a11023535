//! Faults: LIVE that stays, excuses that hold, and reconnects that take too long.

use lockscope_judge::{
    AGE_MAX_MS, Capture, EXACT_MAX_MS, Fault, FaultSpan, Kind, NOT_LIVE_MAX_MS, Report, SILENCE_MAX_MS, judge,
};

use crate::world::World;

fn span(fault: Fault, lost_at_ms: i64, lasted_ms: i64) -> FaultSpan {
    FaultSpan { fault, lost_at_ms, good_at_ms: Some(lost_at_ms + lasted_ms) }
}

fn kinds(report: &Report) -> Vec<Kind> {
    report.wrong.iter().map(lockscope_judge::Wrong::kind).collect()
}

fn held() -> World {
    let mut world = World::new();
    world.queue(11, 0);
    world.queue(12, 1);
    world.wait(1_000);
    world
}

fn beat(at_ms: i64) -> Capture {
    Capture::Heartbeat { socket: 0, arrived_at_ms: at_ms }
}

fn not_live(at_ms: i64) -> Capture {
    Capture::NotLive { socket: 0, arrived_at_ms: at_ms, lock: None }
}

#[test]
fn live_while_the_link_is_lost() {
    let world = held();
    let lost = world.now_ms + 500;
    let faults = [span(Fault::LinkLost, lost, 10_000)];
    let shown = || Capture::Shown(world.shown(0));
    let judged = |captures: &[Capture]| judge(&world.truth(), captures, &faults);
    // Nothing changes, so nothing else would show it.
    let report = judged(&[shown(), not_live(lost + NOT_LIVE_MAX_MS + 500)]);
    assert_eq!(kinds(&report), [Kind::LiveWithoutLink]);
    let report = judged(&[shown(), not_live(lost + NOT_LIVE_MAX_MS - 100)]);
    assert!(report.is_clean());
    assert_eq!(report.worst.not_live_ms, NOT_LIVE_MAX_MS - 100);
    // LIVE for a moment, in between.
    let mut flicker = world.shown(0);
    flicker.arrived_at_ms = lost + 5_000;
    let report = judged(&[shown(), not_live(lost + 100), Capture::Shown(flicker), not_live(lost + 5_010)]);
    assert_eq!(kinds(&report), [Kind::LiveWithoutLink]);
}

#[test]
fn a_link_that_never_came_back() {
    let world = held();
    let lost = world.now_ms + 500;
    let faults = [FaultSpan { fault: Fault::LinkLost, lost_at_ms: lost, good_at_ms: None }];
    let captures = [Capture::Shown(world.shown(0)), beat(lost + 60_000)];
    assert_eq!(kinds(&judge(&world.truth(), &captures, &faults)), [Kind::LiveWithoutLink]);
}

#[test]
fn a_silence_is_noticed_by_the_client_alone() {
    let mut world = held();
    let shown = Capture::Shown(world.shown(0));
    let lost = world.now_ms + 500;
    world.wait(500);
    world.leave(11, 0);
    let faults = [span(Fault::Silent, lost, 10_000)];
    let judged = |noticed_ms: i64| judge(&world.truth(), &[shown.clone(), not_live(noticed_ms)], &faults);
    // Older than 2 s by then, and nobody could know.
    assert!(judged(lost + SILENCE_MAX_MS - 10).is_clean());
    let report = judged(lost + SILENCE_MAX_MS + 500);
    assert_eq!(kinds(&report), [Kind::LiveWithoutLink, Kind::OldAndLive]);
    // Thawed, and for a moment LIVE over what is old.
    let report = judge(
        &world.truth(),
        &[shown, not_live(lost + 1_000), beat(lost + 10_000), late(&world, lost + 10_050), not_live(lost + 10_100)],
        &faults,
    );
    assert_eq!(kinds(&report), [Kind::OldAndLive]);
}

/// What was true before the first of two left.
fn late(world: &World, at_ms: i64) -> Capture {
    let before = &world.past[world.past.len() - 2];
    let (holders, waiters) = crate::world::line(&before.2, crate::world::LOCK, lockscope_judge::Rule::Queue);
    Capture::Shown(crate::world::frame(0, crate::world::LOCK, (before.0, 0), at_ms, holders, waiters))
}

#[test]
fn what_was_not_committed_was_not_true() {
    let mut world = held();
    let shown = Capture::Shown(world.shown(0));
    // The leader stamps it, and no follower answers for 10 s.
    let lost = world.now_ms;
    world.leave(11, 0);
    let captures = [shown, beat(lost + 10_000 + AGE_MAX_MS - 100)];
    assert_eq!(kinds(&judge(&world.truth(), &captures, &[])), [Kind::OldAndLive]);
    assert!(judge(&world.truth(), &captures, &[span(Fault::CommitsHeld, lost, 10_000)]).is_clean());
}

#[test]
fn exact_soon_after_a_reconnect() {
    let mut world = held();
    let before = world.shown(0);
    let lost = world.now_ms + 100;
    world.wait(1_000);
    world.leave(11, 0);
    world.wait(5_000);
    let good = lost + 5_900;
    let faults = [span(Fault::LinkLost, lost, 5_900)];
    let judged = |back_ms: Option<i64>| {
        let mut captures = vec![Capture::Shown(before.clone()), not_live(lost + 500)];
        if let Some(back_ms) = back_ms {
            let mut back = world.shown(0);
            back.arrived_at_ms = back_ms;
            captures.push(Capture::Shown(back));
        }
        captures.push(beat(good + 3_000));
        judge(&world.truth(), &captures, &faults)
    };
    let report = judged(Some(good + 800));
    assert!(report.is_clean());
    assert_eq!(report.worst.exact_ms, 800);
    assert_eq!(kinds(&judged(Some(good + EXACT_MAX_MS + 300))), [Kind::LateAfterReconnect]);
    assert_eq!(kinds(&judged(None)), [Kind::LateAfterReconnect]);
    // Another fault meanwhile: nothing was promised.
    let again = [faults[0], span(Fault::LinkLost, good + 200, 10_000)];
    let captures = [Capture::Shown(before), not_live(lost + 500), beat(good + 3_000)];
    assert!(judge(&world.truth(), &captures, &again).is_clean());
}

#[test]
fn a_socket_that_closed_owes_nothing() {
    let world = held();
    let lost = world.now_ms + 500;
    let closed = Capture::Closed { socket: 0, arrived_at_ms: lost + 100 };
    assert!(
        judge(&world.truth(), &[Capture::Shown(world.shown(0)), closed], &[span(Fault::LinkLost, lost, 10_000)])
            .is_clean()
    );
}

#[test]
fn slow_link_owes_nothing_in_time() {
    let world = held();
    let lost = world.now_ms + 500;
    let (lost_link, slow) = (span(Fault::LinkLost, lost, 1_000), span(Fault::LinkSlow, lost + 1_000, 5_000));
    let stays = [Capture::Shown(world.shown(0)), beat(lost + 20_000)];
    assert!(judge(&world.truth(), &stays, &[slow]).is_clean());
    let is_late = [Capture::Shown(world.shown(0)), not_live(lost + 100), beat(lost + 20_000)];
    assert_eq!(kinds(&judge(&world.truth(), &is_late, &[lost_link])), [Kind::LateAfterReconnect]);
    assert!(judge(&world.truth(), &is_late, &[lost_link, slow]).is_clean());
}
