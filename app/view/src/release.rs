//! A force-release: the plan the server made of it, the order to do it, and what came of it.

use serde::{Deserialize, Serialize};

use super::name::named_enum;
use super::{Contender, EnsembleTag, Recipe, SessionId, Zxid};

/// Contenders that a plan names as next; all others are a number.
pub const NEXT_MAX: usize = 4;
/// Ephemerals of the owner's session that a plan names; all others are a number.
pub const FALLS_MAX: usize = 50;

named_enum! {
    /// How a release ended. Each is reported once and never changes.
    Outcome {
        /// The znode that was seen is deleted, and that was verified.
        Released = "released",
        /// Another incarnation of a fixed name was deleted: it took the place within the last round trip.
        ReleasedOther = "released_other",
        /// The holder was asked to let go and has not done so yet.
        Asked = "asked",
        /// The znode was gone before anything was sent.
        AlreadyGone = "already_gone",
        /// Another znode, or another session's, is at its path: nothing was deleted.
        ChangedHands = "changed_hands",
        /// Its data was written since it was seen: nothing was deleted.
        VersionMoved = "version_moved",
        /// There is no such plan of this actor's, or it ran out: this request sent nothing.
        PlanExpired = "plan_expired",
        /// ZooKeeper denies the deletion.
        Denied = "denied",
        /// The reply was lost and reading again did not settle what happened.
        Unknown = "unknown",
        /// The record could not be written, so nothing was sent.
        RefusedAudit = "refused_audit",
        /// The view of the lock is not live, so nothing was sent.
        NotLive = "not_live",
    }
}

named_enum! {
    /// How a znode came to its name; decides how exactly it can be deleted.
    Naming {
        /// ZooKeeper numbered it: the name never comes again, so the deletion is exact.
        Sequential = "sequential",
        /// The client chose it: another may take it within the last round trip.
        Fixed = "fixed",
    }
}

named_enum! {
    /// Whether our acting identity may delete children of the lock's directory, by its ACL.
    DeleteRight {
        /// It grants DELETE to us.
        Granted = "granted",
        /// It does not.
        Missing = "missing",
        /// It could not be read.
        Unread = "unread",
    }
}

/// Body of `POST /api/v1/release/plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// Ensemble; left out where there is only one.
    #[serde(default)]
    pub ensemble: Option<String>,
    /// The znode to release.
    pub path: String,
}

/// What would be released, and what is known of it. Good for one order of the same actor, until it expires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReleasePlan {
    /// Names the plan; 128 random bits.
    pub plan_id: String,
    /// Until when it can be ordered, ms since the Unix epoch.
    pub expires_at_ms: i64,
    /// Ensemble.
    pub ensemble: String,
    /// The same with its colour; null for the only one when it has no name.
    pub tag: Option<EnsembleTag>,
    /// The znode.
    pub path: String,
    /// The lock it belongs to; this is what has to be typed.
    pub lock: String,
    /// Family of the lock.
    pub recipe: Recipe,
    /// What the lock was recognised as.
    pub recipe_label: String,
    /// Identity of the znode.
    pub czxid: Zxid,
    /// Its owner; null for a persistent znode.
    pub session_id: Option<SessionId>,
    /// Its data version.
    pub version: i32,
    /// How exactly it can be deleted.
    pub naming: Naming,
    /// Who would be released: holder or waiter.
    pub holder: Contender,
    /// Who holds after it, by the recipe's rule; at most [`NEXT_MAX`].
    pub next: Vec<Contender>,
    /// One sentence on who gets it, with the fencing token (czxid) where it is known.
    pub next_sentence: String,
    /// Waiters that move up.
    pub waiters_moving: u32,
    /// What can't be promised, most important first; each one sentence.
    pub warnings: Vec<String>,
    /// When waiting would do: the instant at which it frees itself.
    pub frees_itself_at_ms: Option<i64>,
    /// That instant is the latest it can be, not a reported one.
    pub frees_itself_is_upper_bound: bool,
    /// May we delete it?
    pub right: DeleteRight,
    /// The same in one sentence.
    pub right_sentence: String,
    /// The recipe lets its holder be asked to let go, and this one listens.
    pub can_revoke: bool,
    /// A second person has to approve the order.
    pub needs_second: bool,
    /// Other ephemerals of the owner's session, which would fall with the whole session; at most [`FALLS_MAX`].
    pub falls: Vec<String>,
    /// How many those are.
    pub falls_count: u32,
    /// How an administrator of the ensemble ends the whole session, ready to be copied; null for persistent znodes.
    pub runbook: Option<String>,
}

/// Body of `POST /api/v1/release/execute`, `…/revoke` and `…/approve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReleaseOrder {
    /// Which plan.
    pub plan_id: String,
    /// The lock's path, typed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub confirm: String,
    /// Why, for the record.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default, length(min = 3, max = 500)))]
    pub reason: String,
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReleaseResult {
    /// How it ended.
    pub outcome: Outcome,
    /// Who lost the lock and who has it, or what to do.
    pub sentence: String,
    /// What happened was read back from ZooKeeper.
    pub verified: bool,
    /// Who holds now.
    pub holders: Vec<Contender>,
    /// From the order's arrival to its end.
    pub took_ms: i64,
    /// The record of the outcome; null when there is none.
    pub audit_id: Option<u64>,
    /// What was deleted and who has the znode's place, by their czxids, and how that is known; empty where nothing was
    /// tried.
    pub proof: String,
}
