//! How an incident may be replayed in the lab: of which lock, which range, and where.

use lockscope_page::IncidentReplay;

use crate::Http;
use feed::VisibilityScope;

/// What is played around an incident at least, ms; of a longer one it is a tenth.
#[cfg(feature = "lab")]
const AROUND_MIN_MS: i64 = 500;

/// Further locks that are offered: one less than the lab plays.
#[cfg(feature = "lab")]
const FURTHER_MAX: usize = lab::script::SCRIPT_LOCKS_MAX - 1;

/// Where labs may be seen: whether who asks may run them is another question.
#[cfg(feature = "lab")]
pub(super) fn offer(
    http: &Http,
    scope: &VisibilityScope,
    (ensemble, path, locks): (&str, &str, &[&str]),
    (from_ms, lasted_ms): (i64, i64),
) -> Option<IncidentReplay> {
    let others = locks.iter().filter(|other| **other != path).take(FURTHER_MAX);
    let labs = http.lab.runs(scope).ensembles;
    let around_ms = (lasted_ms / 10).max(AROUND_MIN_MS);
    (!http.is_past && !labs.is_empty()).then(|| IncidentReplay {
        ensemble: ensemble.to_owned(),
        path: path.to_owned(),
        further_locks: others.map(|other| (*other).to_owned()).collect(),
        from_ms: (from_ms - around_ms).max(0),
        to_ms: from_ms + lasted_ms + around_ms,
        labs,
    })
}

/// There is no lab in this build.
#[cfg(not(feature = "lab"))]
pub(super) fn offer(_: &Http, _: &VisibilityScope, _: (&str, &str, &[&str]), _: (i64, i64)) -> Option<IncidentReplay> {
    None
}
