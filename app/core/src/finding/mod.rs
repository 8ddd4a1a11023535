//! What is odd about a lock. Each kind is a lint in a file of its own, with one line in [`LINTS`]: a pure look at one lock that says nothing,
//! warns, or asks to be asked again later.

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
mod members_disagree;
mod missing_watch;
mod mixed_recipes;
mod never_expires;
mod old_owner_connected;
mod order_anomaly;
mod orphan_contender;
mod rewritten_node;
mod same_client_new_session;
mod sequence_overflow;
mod survey;
mod try_lock_churn;
mod waiting_for_itself;

pub use foreign_child::foreign;
pub use sequence_overflow::sequence_used_ppm;
pub use survey::{LintContext, SEATS_MAX, identity};
use survey::{count, took_over};

use super::time::TimeMs;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// Names a lint. The names are used in the API and in the configuration.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

codes! {
    /// A contender became head and nobody works under it.
    OrphanContender = "orphan_contender",
    /// One session, or one protection GUID, queues twice in one lock.
    DuplicateSession = "duplicate_session",
    /// A semaphore is full, and one lease is far older than the rest.
    LeaseLeak = "lease_leak",
    /// The holder went with its session; the old one may not know yet.
    DoubleOwnerWindow = "double_owner_window",
    /// The office of leader and the election disagree.
    LeaderMismatch = "leader_mismatch",
    /// The lock's directory is deleted when it is empty.
    ContainerReaped = "container_reaped",
    /// A waiter is the same client as the holder it waits for.
    WaitingForItself = "waiting_for_itself",
    /// A child that no recipe writes.
    ForeignChild = "foreign_child",
    /// A session should have run out, and what it owns is still there.
    ExpiryOverdue = "expiry_overdue",
    /// Some members have a contender that others have not.
    MembersDisagree = "members_disagree",
    /// A waiter is in no watch table.
    MissingWatch = "missing_watch",
    /// Clients that do not see each other share one directory.
    MixedRecipes = "mixed_recipes",
    /// The sequence counter is near its end, or past it.
    SequenceOverflow = "sequence_overflow",
    /// The queue's order is not the order of creation.
    OrderAnomaly = "order_anomaly",
    /// Somebody wrote to a contender's znode after its creation.
    RewrittenNode = "rewritten_node",
    /// A client lost its locks with its session and came back with another.
    SameClientNewSession = "same_client_new_session",
    /// The session of the old holder is gone, its client goes on.
    OldOwnerConnected = "old_owner_connected",
    /// No session owns a contender: it stays until somebody deletes it.
    NeverExpires = "never_expires",
    /// Many locks that nobody uses.
    EmptyLocks = "empty_locks",
    /// A session owns thousands of znodes.
    SessionHoards = "session_hoards",
    /// Many try and few succeed.
    TryLockChurn = "try_lock_churn",
    /// One release wakes many.
    Herd = "herd",
    /// Sessions wait for each other in a circle.
    Deadlock = "deadlock",
    /// The queue is long, and each acquire reads it whole.
    DeepQueue = "deep_queue",
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth a look.
    Warning,
    /// Act.
    Critical,
}

/// Something odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// One sentence. It holds no age, so it changes only when something happens.
    pub text: Box<str>,
    /// The znodes it is about.
    pub paths: Vec<Box<str>>,
    /// Since when it is so, as we saw it.
    pub since: TimeMs,
}

/// What a lint says of one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing odd.
    Ok,
    /// Nothing odd yet; time alone may change that.
    RecheckAt(TimeMs),
    /// Something odd.
    Warn(LintWarning),
    /// Something odd that time alone ends: looked at again then.
    WarnUntil(LintWarning, TimeMs),
    /// Odd only once it lasted so many milliseconds.
    WarnAfter(LintWarning, i64),
}

/// Something odd, as a lint says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintWarning {
    /// How bad.
    pub severity: Severity,
    /// One sentence without ages.
    pub text: String,
    /// The znodes it is about.
    pub paths: Vec<String>,
}

/// Paths a finding names; the text says how many there are in all.
pub const PATHS_MAX: usize = 8;

/// A kind of oddity.
pub trait Lint: Sync {
    /// Its code.
    fn code(&self) -> Code;
    /// Looks at one lock.
    fn look(&self, survey: &LintContext<'_>) -> Outcome;
}

/// Every lint on a lock.
const LINTS: [&dyn Lint; 22] = [
    &deadlock::Deadlock,
    &duplicate_session::DuplicateSession,
    &orphan_contender::OrphanContender,
    &expiry_overdue::ExpiryOverdue,
    &members_disagree::MembersDisagree,
    &missing_watch::MissingWatch,
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
    &try_lock_churn::TryLockChurn,
    &herd::Herd,
    &deep_queue::DeepQueue,
];

/// Which lints are off, and from where on the others warn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lints that are off.
    pub off: Vec<Code>,
    /// Waiters that one release wakes, from which on it is a herd.
    pub herd_waiters: u32,
    /// Contenders from which on a queue is deep.
    pub deep_contenders: u32,
    /// Percentage of the sequence numbers used from which on it is told.
    pub sequence_percent: u32,
    /// Empty lock directories from which on it is told.
    pub empty_locks: u32,
    /// Znodes of one session from which on it is told.
    pub hoard_znodes: u32,
    /// Attempts in the last minute that came to nothing from which on it is told.
    pub churn_attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            off: Vec::new(),
            herd_waiters: 10,
            deep_contenders: 500,
            sequence_percent: 80,
            empty_locks: 1_000,
            hoard_znodes: 1_000,
            churn_attempts: 20,
        }
    }
}

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
pub fn look(survey: &LintContext<'_>) -> LintReport {
    let mut looked = LintReport::default();
    for lint in LINTS.iter().filter(|lint| !survey.limits.off.contains(&lint.code())) {
        let code = lint.code();
        let (warning, again_at) = match lint.look(survey) {
            Outcome::Ok => (None, None),
            Outcome::RecheckAt(at) => (None, Some(at)),
            Outcome::Warn(warning) => (Some(warning), None),
            Outcome::WarnUntil(warning, at) => (Some(warning), Some(at)),
            Outcome::WarnAfter(warning, lasting_ms) => {
                let since = suspected_since(survey, code);
                looked.suspects.push((code, since));
                let is_due = survey.now.since(since) >= lasting_ms;
                if is_due { (Some(warning), None) } else { (None, Some(since + lasting_ms)) }
            }
        };
        looked.again_at = looked.again_at.into_iter().chain(again_at).min();
        looked.found.extend(warning.map(|warning| finding(survey, code, warning)));
    }
    looked
}

fn finding(survey: &LintContext<'_>, code: Code, warning: LintWarning) -> Finding {
    let before = survey.assessment.findings.iter().find(|finding| finding.code == code);
    Finding {
        code,
        severity: warning.severity,
        text: warning.text.into(),
        paths: warning.paths.into_iter().take(PATHS_MAX).map(Into::into).collect(),
        since: before.map_or(survey.now, |finding| finding.since),
    }
}

/// Since when something is odd; for a new suspicion, since this look was due: it was planned when it came to be so.
fn suspected_since(survey: &LintContext<'_>, code: Code) -> TimeMs {
    let before = survey.assessment.suspects.iter().find(|(suspect, _)| *suspect == code).map(|(_, since)| *since);
    before.or(survey.assessment.look_at).unwrap_or(survey.now).min(survey.now)
}
