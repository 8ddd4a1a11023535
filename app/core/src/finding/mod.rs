//! What is odd about a lock. Each kind is a lint in a file of its own, with one line in [`LINTS`]: a pure look at one
//! lock that says nothing, warns, or asks to be asked again later.

mod container_reaped;
mod deadlock;
mod deep_queue;
mod double_owner_window;
mod duplicate_session;
mod expiry_overdue;
mod foreign_child;
mod herd;
mod leader_mismatch;
mod lease_leak;
mod limits;
mod lint;
mod lint_context;
mod lock_order;
mod members_disagree;
mod missing_watch;
mod mixed_recipes;
mod must_be_held;
mod never_drains;
mod never_expires;
mod old_owner_connected;
mod order_anomaly;
mod orphan_contender;
mod rewritten_node;
mod same_client_new_session;
mod sequence_overflow;
mod stale_ephemeral;
mod try_lock_churn;
mod waiting_for_itself;
mod watch_inversion;
mod will_be_reaped;

pub use super::diagnosis::{Code, Finding, Severity};
pub use super::label::identity;
pub use foreign_child::foreign;
pub use limits::{Limits, MUST_BE_HELD_MAX};
pub use lint::{Lint, LintWarning, Outcome, PATHS_MAX};
pub use lint_context::{CONTENDERS_MAX, LintContext};
pub use sequence_overflow::sequence_used_ppm;

use super::sentence::oddity_sentence;
use super::time::TimeMs;

/// Every lint on a lock.
const LINTS: [&dyn Lint; 28] = [
    &deadlock::Deadlock,
    &must_be_held::MustBeHeld,
    &lock_order::LockOrder,
    &duplicate_session::DuplicateSession,
    &orphan_contender::OrphanContender,
    &expiry_overdue::ExpiryOverdue,
    &stale_ephemeral::StaleEphemeral,
    &members_disagree::MembersDisagree,
    &missing_watch::MissingWatch,
    &watch_inversion::WatchInversion,
    &mixed_recipes::MixedRecipes,
    &leader_mismatch::LeaderMismatch,
    &lease_leak::LeaseLeak,
    &sequence_overflow::SequenceOverflow,
    &order_anomaly::OrderAnomaly,
    &never_expires::NeverExpires,
    &rewritten_node::RewrittenNode,
    &foreign_child::ForeignChild,
    &waiting_for_itself::WaitingForItself,
    &double_owner_window::DoubleOwnerWindow,
    &old_owner_connected::OldOwnerConnected,
    &same_client_new_session::SameClientNewSession,
    &container_reaped::ContainerReaped,
    &will_be_reaped::WillBeReaped,
    &try_lock_churn::TryLockChurn,
    &herd::Herd,
    &deep_queue::DeepQueue,
    &never_drains::NeverDrains,
];

/// What a look brought to light.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintReport {
    /// What is odd.
    pub found: Vec<Finding>,
    /// What is odd once it lasts, and since when it is so.
    pub suspects: Vec<(Code, TimeMs)>,
    /// When to look again although nothing happens.
    pub again_at: Option<TimeMs>,
}

/// Looks at a lock with every lint that is on. What was found before and is so still keeps its `since`.
pub fn look(context: &LintContext<'_>) -> LintReport {
    let mut looked = LintReport::default();
    for lint in LINTS.iter().filter(|lint| !context.limits.off.contains(&lint.code())) {
        let code = lint.code();
        let (warning, again_at) = match lint.look(context) {
            Outcome::Ok => (None, None),
            Outcome::RecheckAt(at) => (None, Some(at)),
            Outcome::Warn(warning) => (Some(warning), None),
            Outcome::WarnUntil(warning, at) => (Some(warning), Some(at)),
            Outcome::WarnAfter(warning, lasting_ms) => {
                let since = suspected_since(context, code);
                looked.suspects.push((code, since));
                let is_due = context.now.since(since) >= lasting_ms;
                if is_due { (Some(warning), None) } else { (None, Some(since + lasting_ms)) }
            }
        };
        looked.again_at = looked.again_at.into_iter().chain(again_at).min();
        looked.found.extend(warning.map(|warning| finding(context, code, warning)));
    }
    looked
}

fn finding(context: &LintContext<'_>, code: Code, warning: LintWarning) -> Finding {
    let before = context.assessment.findings.iter().find(|finding| finding.code == code);
    Finding {
        code,
        severity: warning.severity,
        text: oddity_sentence(&warning.oddity).into(),
        paths: warning.paths.into_iter().take(PATHS_MAX).map(Into::into).collect(),
        since: before.map_or(context.now, |finding| finding.since),
    }
}

/// Since when something is odd; for a new suspicion, since this look was due: it was planned when it came to be so.
fn suspected_since(context: &LintContext<'_>, code: Code) -> TimeMs {
    let before = context.assessment.suspects.iter().find(|(suspect, _)| *suspect == code).map(|(_, since)| *since);
    before.or(context.assessment.look_at).unwrap_or(context.now).min(context.now)
}
