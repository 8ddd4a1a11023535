//! Judges what Lockscope showed by ZooKeeper's own transaction log. Pure: no I/O, no clock, and nothing of the product.
//!
//! [`Truth`] is made from the log ([`txn_log`]); [`Capture`]s are what a client of the live socket was shown and when;
//! [`judge`] compares them, [`judge_releases`] does the same for deletions that came from Lockscope, [`judge_alerts`] for alerts.

mod alerts;
mod bench;
mod capture;
mod claim;
mod difference;
mod display;
mod fault;
mod limits;
mod release;
mod report;
mod restore;
mod revision;
mod truth;
mod wrong;

pub use alerts::{Alert, AlertRule, AlertWhen, Alerts, BEGINS_AGAIN_MS, Told, judge_alerts};
pub use capture::{Capture, Contender, Gone, Origin, Revision, Shown};
pub use fault::{Fault, FaultSpan};
pub use limits::{AGE_MAX_MS, ALERT_MAX_MS, CLOCK_TOLERANCE_MS, EXACT_MAX_MS, Limits, NOT_LIVE_MAX_MS, SILENCE_MAX_MS};
pub use release::{OwnSessions, Plan, Releases};
pub use report::{Counts, Report, WRONGS_MAX, Worst};
pub use restore::{Part, split_at_restore};
pub use truth::{Rule, Truth};
pub use wrong::{AlertWrong, Deletion, Difference, FrameRef, Kind, LINE_MAX, Line, Outcome, Wrong};

/// Compares everything shown with the truth, within what Lockscope promises.
pub fn judge(truth: &Truth, captures: &[Capture], faults: &[FaultSpan]) -> Report {
    judge_within(&Limits::default(), truth, captures, faults)
}

/// The same with other limits.
pub fn judge_within(limits: &Limits, truth: &Truth, captures: &[Capture], faults: &[FaultSpan]) -> Report {
    let mut report = Report::default();
    revision::compare(captures, &mut report);
    let tracks = display::tracks(captures, &mut report.counts);
    let faults = fault::Faults { spans: faults, limits };
    for of_lock in tracks.chunk_by(|a, b| a.lock == b.lock) {
        let Some(first) = of_lock.first() else { continue };
        let timeline = truth.timeline(first.lock);
        let mut bench = bench::Bench::new(faults, &timeline, &mut report);
        of_lock.iter().for_each(|track| bench.track(track));
    }
    report
}

/// Compares the deletions that came from Lockscope with what was planned and recorded.
pub fn judge_releases(limits: &Limits, truth: &Truth, releases: &Releases) -> Report {
    let mut report = Report::default();
    release::compare(limits, truth, releases, &mut report);
    report
}
