//! A lock, its contenders, and the lock page.

use serde::{Deserialize, Serialize};

use super::{
    Access, Advice, ClientInfo, Confidence, ContenderRole, EdgeEvidence, EnsembleTag, FiredRow, Herd, Liveness,
    Missing, PastHolder, Proof, Recipe, RootState, RunsOut, SessionId, Severity, Trust, Verdict, Window, WindowDelta,
    WindowRow, Zxid,
};

/// How far a view can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AsOf {
    /// State of the link, or of the root for a single lock.
    pub state: RootState,
    /// Of what is not up to date: the instant up to which it is known to be true. Else since when it is in this state.
    pub since_ms: i64,
    /// Why it is not live; empty when it is.
    pub why: String,
    /// The newest transaction up to which the view is known to include everything that may be read.
    pub zxid: Zxid,
    /// Which ensemble it is of; null for several, and for the only one when it has no name.
    pub ensemble: Option<EnsembleTag>,
    /// What proves that it is live.
    pub proof: Proof,
}

impl AsOf {
    /// Why a view of a past moment does not say all that was true then; empty when it does. What was not known then is not
    /// known now, and what was read now and then may have been old.
    pub fn why_in_the_past(&self) -> String {
        match self.state {
            RootState::Live | RootState::Gone | RootState::Past => String::new(),
            RootState::Partial | RootState::Denied | RootState::Reduced | RootState::Stale | RootState::Syncing => {
                format!("it was {} then: {}", self.state.name(), self.why)
            }
        }
    }
}

impl Default for AsOf {
    fn default() -> Self {
        let (state, why, proof) = (RootState::Syncing, String::new(), Proof::default());
        Self { state, since_ms: 0, why, zxid: Zxid(0), ensemble: None, proof }
    }
}

/// One lock, as the board shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockRow {
    /// Identifies it among all rows: its path, behind its ensemble's name where there are several.
    pub key: String,
    /// Ensemble.
    pub ensemble: String,
    /// The same with its colour; null for the only one when it has no name.
    pub tag: Option<EnsembleTag>,
    /// The lock's path.
    pub path: String,
    /// The watched root it lies under.
    pub root: String,
    /// Family.
    pub recipe: Recipe,
    /// What it was recognised as, e.g. "Curator InterProcessMutex".
    pub recipe_label: String,
    /// How sure that is.
    pub confidence: Confidence,
    /// One word.
    pub verdict: Verdict,
    /// One sentence; holds no age, so it changes only when something happens.
    pub sentence: String,
    /// State of the root's view.
    pub state: RootState,
    /// The first holders, at most four.
    pub holders: Vec<Contender>,
    /// All holders.
    pub holder_count: u32,
    /// All that are seen behind the holders, with a znode or without, waiting or standing by; null where none is and some
    /// may be missing.
    pub waiter_count: Option<u32>,
    /// Since when the longest waiter waits; null where those who are there wait for no lock.
    pub oldest_wait_at_ms: Option<i64>,
    /// It may have waited for longer than seen.
    pub wait_is_lower_bound: bool,
    /// Sum of the instants since which each waiter waits.
    pub waiting_since_sum_ms: i64,
    /// What may be there and is not seen; empty when the lock is known completely.
    pub missing: Vec<Missing>,
    /// Since when the first holder holds.
    pub held_since_ms: Option<i64>,
    /// It may have held for longer than seen.
    pub hold_is_lower_bound: bool,
    /// Codes of the findings.
    pub findings: Vec<String>,
    /// Waiters in the past.
    pub depth: Depth,
    /// Times it changes hands in 10 s, where that is more than about ten and nothing is wrong: who has it this moment says
    /// little then. Another each 2.5 s at most, and by more than an eighth.
    pub hand_offs_in_10_s: Option<u32>,
}

/// How many waited, at most, in each slice of the past, up to the last slice in which that changed: from then on as many
/// as in that one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Depth {
    /// End of the last slice.
    pub until_ms: i64,
    /// Length of a slice.
    pub slice_ms: u32,
    /// One number a slice, oldest first; empty while nobody ever waited.
    pub peaks: Vec<u16>,
}

impl Depth {
    /// The last slices that have ended by an instant, oldest first; fewer where no more are known, none where nobody
    /// waited in them.
    pub fn slices(&self, now_ms: i64, count: usize) -> Vec<u16> {
        let Some(last) = self.peaks.last() else { return Vec::new() };
        let since = now_ms.saturating_sub(self.until_ms).checked_div(i64::from(self.slice_ms)).unwrap_or(0);
        let as_last = usize::try_from(since).unwrap_or(0).min(count);
        let known = self.peaks.get(self.peaks.len().saturating_sub(count - as_last)..).unwrap_or_default();
        let slices: Vec<u16> = known.iter().copied().chain(std::iter::repeat_n(*last, as_last)).collect();
        if slices.iter().all(|peak| *peak == 0) { Vec::new() } else { slices }
    }
}

impl LockRow {
    /// How long all who wait have waited together, ms; None where they can't be seen. Who stands by for a leader, or is an
    /// item or a member, waits for no lock: there is no oldest wait then.
    pub fn total_wait_ms(&self, now_ms: i64) -> Option<i64> {
        let waited_ms = i64::from(self.waiter_count?).saturating_mul(now_ms).saturating_sub(self.waiting_since_sum_ms);
        Some(if self.oldest_wait_at_ms.is_some() { waited_ms.max(0) } else { 0 })
    }

    /// Nothing is known to be missing.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

impl WindowRow for LockRow {
    fn key(&self) -> &str {
        &self.key
    }
}

/// A znode's payload, capped; exactly one of the two forms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeData {
    /// As text, when it is UTF-8.
    pub text: Option<String>,
    /// Else in base64.
    pub base64: Option<String>,
    /// Size of the whole payload.
    pub bytes: u32,
    /// There is more than is shown.
    pub truncated: bool,
}

/// Something a contender waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edge {
    /// The znode waited for.
    pub to: String,
    /// How that is known.
    pub evidence: EdgeEvidence,
}

/// One contender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ContenderRow"))]
pub struct Contender {
    /// Full path of its znode; without one, its lock's path and its session, which distinguishes it from others.
    pub path: String,
    /// Its znode's name.
    pub node: Option<String>,
    /// Its sequence number.
    pub sequence: Option<i64>,
    /// Place in the queue, 0 is the first holder.
    pub position: u32,
    /// Holder or waiter.
    pub role: ContenderRole,
    /// What it wants.
    pub access: Access,
    /// Owner session; null while unread, unreadable or persistent.
    pub session_id: Option<SessionId>,
    /// False for a persistent znode; null while not read.
    pub ephemeral: Option<bool>,
    /// Address and more, when evidence has it.
    pub client: Option<ClientInfo>,
    /// Alive?
    pub liveness: Liveness,
    /// When the session runs out by itself; for sessions whose client is silent.
    pub runs_out: Option<RunsOut>,
    /// The members that have the znode, where members disagree; else empty.
    pub only_on: Vec<String>,
    /// Who it says it is, from the payload; never trusted.
    pub label: Option<String>,
    /// Payload.
    pub data: Option<NodeData>,
    /// Creation (ctime on the ensemble's clock, moved to ours).
    pub created_at_ms: Option<i64>,
    /// Waits since.
    pub waiting_since_ms: Option<i64>,
    /// It may have waited for longer than seen.
    pub waiting_is_lower_bound: bool,
    /// Holds since.
    pub holding_since_ms: Option<i64>,
    /// It may have held for longer than seen.
    pub holding_is_lower_bound: bool,
    /// What it waits for.
    pub waits_for: Vec<Edge>,
    /// Identity of the znode; null while not read.
    pub czxid: Option<Zxid>,
    /// Data version.
    pub version: i32,
}

impl WindowRow for Contender {
    fn key(&self) -> &str {
        &self.path
    }
}

/// A child that is not part of the lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Foreign {
    /// Its path.
    pub path: String,
    /// Why it is not counted.
    pub reason: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRow {
    /// Its code.
    pub code: String,
    /// Its weight.
    pub severity: Severity,
    /// One sentence.
    pub text: String,
    /// The znodes it is about.
    pub paths: Vec<String>,
    /// Since when.
    pub since_ms: i64,
}

/// Stat of the lock's own znode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatRow {
    /// Creation.
    pub czxid: Zxid,
    /// Last change of data.
    pub mzxid: Zxid,
    /// Last creation or deletion of a child.
    pub pzxid: Zxid,
    /// Creation time on the ensemble's clock.
    pub ctime_ms: i64,
    /// Data version.
    pub version: i32,
    /// Child version, as ZooKeeper prints it.
    pub cversion: i32,
    /// Children.
    pub children: u32,
    /// Children ever created, from the counters.
    pub creates_ever: u32,
}

/// How many a lock admits at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capacity {
    /// Leases held, members gathered.
    pub used: u32,
    /// The most there can be, or the number a barrier waits for; null when it is not known.
    pub max: Option<u32>,
    /// How the maximum is known, or why it is not.
    pub how: String,
}

/// What was counted since this server watches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockStats {
    /// Times the lock changed hands or was taken.
    pub acquisitions: u64,
    /// Contenders gone before their owner could be read.
    pub owner_unknown: u64,
    /// Contenders that left without ever holding.
    pub gave_up: u64,
    /// Sequence numbers used up, in millionths of the 2147483647 there are; null while the Stat was not read.
    pub sequence_used_ppm: Option<u32>,
    /// Half of all holds were at most this long; null before the first.
    pub hold_p50_ms: Option<i64>,
    /// 99 in 100 holds were at most this long.
    pub hold_p99_ms: Option<i64>,
    /// Half of all waits that ended in a hold.
    pub wait_p50_ms: Option<i64>,
    /// 99 in 100 of them.
    pub wait_p99_ms: Option<i64>,
}

/// All of the lock page but its contenders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockHead {
    /// The board's row.
    pub row: LockRow,
    /// How far it can be trusted.
    pub as_of: AsOf,
    /// The evidence of the recognition, in words.
    pub recognised_by: Vec<String>,
    /// How full it is, for recipes that admit more than one.
    pub capacity: Option<Capacity>,
    /// Children that are not contenders.
    pub foreign: Vec<Foreign>,
    /// Findings.
    pub findings: Vec<FindingRow>,
    /// What the recipe hides, in words ("waiters of this recipe have no znode …").
    pub notes: Vec<String>,
    /// Stat of the lock's znode, when it was read.
    pub stat: Option<StatRow>,
    /// Counters.
    pub stats: LockStats,
    /// The last holders, newest first.
    pub past: Vec<PastHolder>,
    /// What the next release wakes; null when nobody holds, or it is not known.
    pub herd: Option<Herd>,
    /// Watches fired on each member lately, where who waits at this lock is in no table.
    pub fired: Vec<FiredRow>,
    /// Of the waiters, those without a znode; they come last among the contenders.
    pub hidden_waiters: u32,
    /// How far what is said of clients and watches can be trusted.
    pub trust: Trust,
    /// What to do about it; null where nothing is to be done.
    pub advice: Option<Advice>,
}

/// Body of the live view `lock`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockPage {
    /// All but the contenders.
    pub head: LockHead,
    /// Contenders in queue order.
    pub window: Window<Contender>,
}

/// What turns one lock page into the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockDelta {
    /// The new head, when it changed.
    pub head: Option<Box<LockHead>>,
    /// The contenders' difference, when they changed.
    pub window: Option<WindowDelta<Contender>>,
}

impl LockPage {
    /// The difference that turns `self` into `next`; None when they are equal.
    pub fn diff(&self, next: &Self) -> Option<LockDelta> {
        let head = (self.head != next.head).then(|| Box::new(next.head.clone()));
        let window = self.window.diff(&next.window);
        (head.is_some() || window.is_some()).then_some(LockDelta { head, window })
    }

    /// Applies a difference made by [`LockPage::diff`].
    pub fn apply(&mut self, delta: &LockDelta) {
        if let Some(head) = &delta.head {
            self.head = (**head).clone();
        }
        if let Some(window) = &delta.window {
            self.window.apply(window);
        }
    }
}
