//! What a server answers, as far as it is used here. Fields that a newer server adds are passed over.

use serde::Deserialize;

/// Answer of `/api/v1/locks`.
#[derive(Debug, Deserialize)]
pub(super) struct Locks {
    pub(super) total: u32,
    pub(super) locks: Vec<Lock>,
}

/// A lock of a list, and the head of a lock's own answer.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Lock {
    pub(super) ensemble: String,
    pub(super) path: String,
    pub(super) recipe: String,
    pub(super) recipe_label: String,
    pub(super) confidence: String,
    pub(super) verdict: String,
    pub(super) sentence: String,
    pub(super) as_of: AsOf,
    pub(super) holders: Vec<Contender>,
    pub(super) holder_count: u32,
    pub(super) waiter_count: Option<u32>,
    pub(super) oldest_wait_ms: Option<i64>,
    #[serde(default)]
    pub(super) total_wait_ms: Option<i64>,
    pub(super) hold_ms: Option<i64>,
    pub(super) hold_is_lower_bound: bool,
    #[serde(default)]
    pub(super) wait_is_lower_bound: bool,
    #[serde(default)]
    pub(super) missing: Vec<String>,
}

impl Lock {
    /// Nothing is known to be missing.
    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// Whoever is there stands by for a leader, gathers, or is an item: such a wait is in no total.
    pub(super) fn is_free_of_waits(&self) -> bool {
        self.oldest_wait_ms.is_none() && self.total_wait_ms == Some(0)
    }

    /// Even who holds is not sure: contenders with znodes may be missing.
    pub(super) fn may_hide_holders(&self) -> bool {
        self.missing.iter().any(|missing| matches!(missing.as_str(), "unreadable_children" | "unswept"))
    }
}

/// Answer of `/api/v1/lock`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LockDetail {
    #[serde(flatten)]
    pub(super) lock: Lock,
    pub(super) findings: Vec<Finding>,
    pub(super) contender_count: u32,
    pub(super) contenders: Vec<Contender>,
    pub(super) notes: Vec<String>,
}

/// How old what is said may be.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct AsOf {
    pub(super) state: String,
    pub(super) zxid: String,
    pub(super) at_ms: i64,
    #[serde(default)]
    pub(super) why: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Finding {
    pub(super) code: String,
    pub(super) severity: String,
    pub(super) text: String,
}

/// A holder or a waiter.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Contender {
    pub(super) path: String,
    pub(super) node: Option<String>,
    pub(super) position: u32,
    pub(super) role: String,
    pub(super) access: String,
    pub(super) session_id: Option<String>,
    pub(super) client: Option<Client>,
    pub(super) liveness: String,
    pub(super) label: Option<String>,
    pub(super) waiting_ms: Option<i64>,
    #[serde(default)]
    pub(super) waiting_is_lower_bound: bool,
    pub(super) holding_ms: Option<i64>,
    pub(super) holding_is_lower_bound: bool,
    pub(super) waits_for: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Client {
    pub(super) address: String,
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
