//! Servers that went on with another history: what was shown is judged by the history that it was shown in.

use lockscope_judge::{Capture, Fault, FaultSpan, Kind, NOT_LIVE_MAX_MS, Report, judge, split_at_restore};

use crate::world::World;

/// A lock that is held in the first history, then by somebody else in the second, which has the same numbers.
struct Histories {
    first: World,
    second: World,
    lost_at_ms: i64,
    restored_at_ms: i64,
    good_at_ms: i64,
}

impl Histories {
    fn new() -> Self {
        let (mut first, mut second) = (World::new(), World::new());
        first.queue(11, 0);
        first.wait(1_000);
        let lost_at_ms = first.now_ms;
        second.wait(1_800);
        second.queue(12, 0);
        second.wait(200);
        Self { lost_at_ms, restored_at_ms: lost_at_ms + 500, good_at_ms: second.now_ms, first, second }
    }

    fn judge(&self, captures: &[Capture]) -> Report {
        let link = FaultSpan { fault: Fault::LinkLost, lost_at_ms: self.lost_at_ms, good_at_ms: Some(self.good_at_ms) };
        let [before, after] = split_at_restore(captures, &[link], self.restored_at_ms);
        let mut report = judge(&self.first.truth(), &before.captures, &before.faults);
        report.merge(judge(&self.second.truth(), &after.captures, &after.faults));
        report
    }

    fn before(&self) -> Capture {
        let mut shown = self.first.shown(0);
        shown.arrived_at_ms = self.lost_at_ms - 100;
        shown.true_at_ms = shown.arrived_at_ms;
        Capture::Shown(shown)
    }

    fn after(&self) -> Capture {
        Capture::Shown(self.second.shown(0))
    }
}

fn kinds(report: &Report) -> Vec<Kind> {
    report.wrong.iter().map(lockscope_judge::Wrong::kind).collect()
}

fn not_live(at_ms: i64) -> Capture {
    Capture::NotLive { socket: 0, arrived_at_ms: at_ms, lock: None }
}

fn beat(at_ms: i64) -> Capture {
    Capture::Heartbeat { socket: 0, arrived_at_ms: at_ms }
}

#[test]
fn each_history_has_its_own_truth() {
    let histories = Histories::new();
    let end = beat(histories.good_at_ms + 10_000);
    let report = histories.judge(&[histories.before(), not_live(histories.lost_at_ms + 20), histories.after(), end]);
    assert_eq!((kinds(&report), report.counts.live), (vec![], 2));
}

#[test]
fn first_history_is_wrong_in_the_second() {
    let histories = Histories::new();
    let mut stays = histories.first.shown(0);
    stays.arrived_at_ms = histories.good_at_ms + 100;
    let lost = not_live(histories.lost_at_ms + 20);
    let report = histories.judge(&[histories.before(), lost, Capture::Shown(stays), histories.after()]);
    assert_eq!(kinds(&report), [Kind::WrongHolder]);
}

#[test]
fn first_history_does_not_stay_live() {
    let histories = Histories::new();
    // Nothing takes it away, and the second history is not shown.
    let end = beat(histories.lost_at_ms + NOT_LIVE_MAX_MS + 500);
    let report = histories.judge(&[histories.before(), end]);
    assert_eq!(kinds(&report), [Kind::LiveWithoutLink, Kind::LateAfterReconnect]);
}

#[test]
fn second_history_has_to_be_shown() {
    let histories = Histories::new();
    let (lost, end) = (not_live(histories.lost_at_ms + 20), beat(histories.good_at_ms + 10_000));
    let report = histories.judge(&[histories.before(), lost, end]);
    assert_eq!(kinds(&report), [Kind::LateAfterReconnect]);
}
