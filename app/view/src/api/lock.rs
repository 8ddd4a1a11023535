//! A lock and its contenders.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::{Access, Confidence, ContenderRole, Liveness, Missing, Recipe, RootState, Severity, Verdict};
use crate::{Proof, SessionId, Zxid};

/// A word of a closed set. A schema names the set.
type Word = Cow<'static, str>;

/// What is said is known to be true up to `at_ms`. It is live only while that is at most 2,000 ms ago.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AsOf"))]
pub struct AgedAsOf {
    /// State of the root's view; of several roots the worst.
    #[cfg_attr(feature = "schema", schemars(with = "RootState"))]
    pub state: Word,
    /// The newest transaction the view is known to include.
    pub zxid: Zxid,
    /// The instant up to which this is known to be true.
    pub at_ms: i64,
    /// How long ago that is, as of this answer.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub age_ms: i64,
    /// Why it is not live; empty when it is.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub why: String,
    /// What proves that it is as ZooKeeper has it now; null of the past. Of several ensembles nothing is proved together.
    pub proof: Option<Proof>,
}

/// A lock; `F` is a finding's code in lists, the whole finding for one lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Lock"))]
pub struct AgedLock<F> {
    /// Ensemble.
    pub ensemble: String,
    /// Its path.
    pub path: String,
    /// The watched root it lies under.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub root: String,
    /// Family.
    #[cfg_attr(feature = "schema", schemars(with = "Recipe"))]
    pub recipe: Word,
    /// What it was recognised as, like "Curator InterProcessMutex".
    pub recipe_label: String,
    /// How sure that is.
    #[cfg_attr(feature = "schema", schemars(with = "Confidence"))]
    pub confidence: Word,
    /// One word.
    #[cfg_attr(feature = "schema", schemars(with = "Verdict"))]
    pub verdict: Word,
    /// One sentence.
    pub sentence: String,
    /// How far this can be trusted.
    pub as_of: AgedAsOf,
    /// The first holders, at most four.
    pub holders: Vec<AgedContender>,
    /// All holders.
    pub holder_count: u32,
    /// All that are seen behind the holders, with a znode or without; null where none is and some may be missing. Standbys
    /// of an election, clients at a barrier and items of a queue wait for no lock: their `total_wait_ms` is 0.
    pub waiter_count: Option<u32>,
    /// How long the longest waiter waits; null when nobody does, and where waiters can't be seen.
    pub oldest_wait_ms: Option<i64>,
    /// It may have waited for longer than seen.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub wait_is_lower_bound: bool,
    /// How long all waiters that are seen wait, together; null where waiters can't be seen.
    pub total_wait_ms: Option<i64>,
    /// How long the first holder holds; null when nobody does.
    pub hold_ms: Option<i64>,
    /// It may have held for longer than seen.
    pub hold_is_lower_bound: bool,
    /// Nothing of it is known to be missing.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub complete: bool,
    /// What may be there and is not seen: counts are then the least there are.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default, with = "Vec<Missing>"))]
    pub missing: Vec<Word>,
    /// What is odd: codes in a list, whole findings for one lock.
    pub findings: Vec<F>,
}

/// What is odd about a lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its code.
    pub code: String,
    /// Its weight.
    #[cfg_attr(feature = "schema", schemars(with = "Severity"))]
    pub severity: Word,
    /// One sentence.
    pub text: String,
    /// The znodes it is about.
    pub paths: Vec<String>,
    /// Since when, ms since the Unix epoch, as in `/api/v1/status`.
    pub since_ms: i64,
}

/// Where a session connects from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Client"))]
pub struct AgedClient {
    /// Client address, host:port.
    pub address: String,
    /// The member it is or was connected to.
    pub server: String,
    /// Session time-out; null while no member has reported it.
    pub timeout_ms: Option<i64>,
    /// How long ago its client was last heard from.
    pub last_heard_ms: Option<i64>,
    /// Connected since, ms since the Unix epoch.
    pub connected_since_ms: Option<i64>,
    /// Its last operation as the member names it.
    pub last_operation: Option<String>,
}

/// A znode's payload, capped; exactly one of the two forms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Payload {
    /// As text, when it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Else in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Size of the whole payload.
    pub bytes: u32,
    /// There is more than is shown.
    pub truncated: bool,
}

/// A contender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Contender"))]
pub struct AgedContender {
    /// Full path of its znode; the lock's path for who waits without one.
    pub path: String,
    /// Its znode's name; null for who waits without one.
    pub node: Option<String>,
    /// Its sequence number.
    pub sequence: Option<i64>,
    /// Place in the queue; 0 is the first holder.
    pub position: u32,
    /// Holder or waiter.
    #[cfg_attr(feature = "schema", schemars(with = "ContenderRole"))]
    pub role: Word,
    /// What it wants or has.
    #[cfg_attr(feature = "schema", schemars(with = "Access"))]
    pub access: Word,
    /// Owner session; null while unread, unreadable or persistent.
    pub session_id: Option<SessionId>,
    /// False for a persistent znode; null while not read.
    pub ephemeral: Option<bool>,
    /// Where it connects from, when members report it.
    pub client: Option<AgedClient>,
    /// Whether its session is alive, as far as members report it.
    #[cfg_attr(feature = "schema", schemars(with = "Liveness"))]
    pub liveness: Word,
    /// In how long its session runs out by itself.
    pub expires_in_ms: Option<i64>,
    /// No member reported it: it is the latest it can be.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub expires_in_is_upper_bound: bool,
    /// The members that have the znode, where members disagree.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub only_on: Vec<String>,
    /// Who it says it is; never trusted.
    pub label: Option<String>,
    /// Payload; null where it is not shown.
    pub data: Option<Payload>,
    /// When its znode was created, ms since the Unix epoch.
    pub created_at_ms: Option<i64>,
    /// How long it waits.
    pub waiting_ms: Option<i64>,
    /// It may have waited for longer than seen.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub waiting_is_lower_bound: bool,
    /// How long it holds.
    pub holding_ms: Option<i64>,
    /// It may have held for longer than seen.
    pub holding_is_lower_bound: bool,
    /// The znodes it waits for.
    pub waits_for: Vec<String>,
    /// Identity of the znode; null while not read.
    pub czxid: Option<Zxid>,
    /// Data version.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub version: i32,
}

impl<F> AgedLock<F> {
    /// Nothing is known to be missing.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// Whoever is there stands by for a leader, gathers, or is an item: such a wait is in no total.
    pub fn is_free_of_waits(&self) -> bool {
        self.oldest_wait_ms.is_none() && self.total_wait_ms == Some(0)
    }

    /// Even who holds is not sure: contenders with znodes may be missing.
    pub fn may_hide_holders(&self) -> bool {
        self.missing.iter().any(|missing| matches!(&**missing, "unreadable_children" | "unswept"))
    }
}
