//! What a lint is, and what it says. Also what every lint imports.

pub(super) use super::lint_context::{LintContext, took_over};
pub(super) use crate::diagnosis::{Code, Severity};
pub(super) use crate::label::{hash_of, identity};
pub(super) use crate::sentence::Oddity;
use crate::time::TimeMs;

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
    /// What the sentence says.
    pub oddity: Oddity,
    /// The znodes it is about.
    pub paths: Vec<String>,
}

/// Paths a finding names; the text says how many there are in all.
pub const PATHS_MAX: usize = 8;

/// Whether something is there more than once.
pub(super) fn has_twice<T: Ord>(mut all: Vec<T>) -> bool {
    all.sort_unstable();
    all.windows(2).any(|pair| pair.first() == pair.last())
}

/// A kind of oddity.
pub trait Lint: Sync {
    /// Its code.
    fn code(&self) -> Code;
    /// Looks at one lock.
    fn look(&self, context: &LintContext<'_>) -> Outcome;
}
