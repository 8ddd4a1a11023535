//! What the commands read of a server's answers. Fields that they do not use, and those that a newer server adds, are
//! passed over.

use lockscope_view::api::{AgedContender, AgedLock, Finding};
use serde::Deserialize;

/// Answer of `/api/v1/locks`.
#[derive(Debug, Deserialize)]
pub(super) struct Locks {
    pub(super) total: u32,
    pub(super) locks: Vec<AgedLock<String>>,
}

/// Answer of `/api/v1/lock`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LockDetail {
    #[serde(flatten)]
    pub(super) lock: AgedLock<Finding>,
    pub(super) contender_count: u32,
    pub(super) contenders: Vec<AgedContender>,
    pub(super) notes: Vec<String>,
}

/// Answer of `/api/v1/status`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Status {
    pub(super) ensembles: Vec<Ensemble>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Ensemble {
    pub(super) name: String,
    pub(super) link: String,
    pub(super) since_ms: i64,
    pub(super) why: String,
    pub(super) roots: Vec<Root>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Root {
    pub(super) path: String,
    pub(super) state: String,
    pub(super) since_ms: i64,
    pub(super) why: String,
}

/// Whether what is said in this state is true now; the same as on the page.
pub(super) fn is_current(state: &str) -> bool {
    matches!(state, "live" | "partial" | "reduced")
}
