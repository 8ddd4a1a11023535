//! The API's own forms of a lock and its contenders: the wire's rows hold instants, these hold ages at the answer.
//! The only place where one becomes the other.

use app::wire::{
    Access, AsOf, Board, BoardHead, Capacity, Confidence, Contender, EdgeEvidence, FindingRow, FiredRow, Foreign, Herd, Liveness, LockPage, LockRow,
    LockStats, NodeData, PastHolder, Recipe, Role, RootState, SessionId, Severity, StatRow, Trust, Verdict, Zxid,
};
use serde::Serialize;

/// Answer of `/api/v1/locks`.
#[derive(Debug, Serialize)]
pub(super) struct Locks {
    /// Changes applied to the model so far.
    seq: u64,
    /// Locks that match, shown or not.
    total: u32,
    locks: Vec<Lock<String>>,
}

/// Answer of `/api/v1/lock`.
#[derive(Debug, Serialize)]
pub(super) struct LockDetail {
    seq: u64,
    #[serde(flatten)]
    lock: Lock<Finding>,
    contender_count: u32,
    contenders: Vec<ContenderJson>,
    edges: Vec<EdgeJson>,
    capacity: Option<Capacity>,
    foreign: Vec<Foreign>,
    stat: Option<StatRow>,
    recognised_by: Vec<String>,
    notes: Vec<String>,
    stats: LockStats,
    past: Vec<PastHolder>,
    herd: Option<Herd>,
    fired: Vec<FiredRow>,
    hidden_waiter_count: u32,
    trust: Trust,
}

/// A lock; `F` is a finding's code in lists, the whole finding for one lock.
#[derive(Debug, Serialize)]
struct Lock<F> {
    ensemble: String,
    path: String,
    root: String,
    recipe: Recipe,
    recipe_label: String,
    confidence: Confidence,
    verdict: Verdict,
    sentence: String,
    as_of: AsOfJson,
    holders: Vec<ContenderJson>,
    holder_count: u32,
    waiter_count: u32,
    oldest_wait_ms: Option<i64>,
    total_wait_ms: i64,
    hold_ms: Option<i64>,
    hold_is_lower_bound: bool,
    findings: Vec<F>,
}

/// What is said was true at `at_ms`: now for a live view, else when it stopped being live.
#[derive(Debug, Serialize)]
struct AsOfJson {
    state: RootState,
    zxid: Zxid,
    at_ms: i64,
    why: String,
}

#[derive(Debug, Serialize)]
struct Finding {
    code: String,
    severity: Severity,
    text: String,
    paths: Vec<String>,
    /// Since when, ms since the Unix epoch, as in `/api/v1/status`.
    since_ms: i64,
}

#[derive(Debug, Serialize)]
struct EdgeJson {
    from: String,
    to: String,
    evidence: EdgeEvidence,
}

#[derive(Debug, Serialize)]
struct ClientJson {
    address: String,
    server: String,
    timeout_ms: Option<i64>,
    last_heard_ms: Option<i64>,
    connected_since_ms: Option<i64>,
    last_operation: Option<String>,
}

#[derive(Debug, Serialize)]
struct DataJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    bytes: u32,
    truncated: bool,
}

/// A contender.
#[derive(Debug, Serialize)]
pub(super) struct ContenderJson {
    path: String,
    node: Option<String>,
    sequence: Option<i64>,
    position: u32,
    role: Role,
    access: Access,
    session_id: Option<SessionId>,
    ephemeral: Option<bool>,
    client: Option<ClientJson>,
    liveness: Liveness,
    expires_in_ms: Option<i64>,
    /// No member told: it is the latest it can be.
    expires_in_is_upper_bound: bool,
    /// The members that have the znode, where members disagree.
    only_on: Vec<String>,
    label: Option<String>,
    data: Option<DataJson>,
    created_at_ms: Option<i64>,
    waiting_ms: Option<i64>,
    holding_ms: Option<i64>,
    holding_is_lower_bound: bool,
    waits_for: Vec<String>,
    czxid: Option<Zxid>,
    version: i32,
}

/// Never negative: clocks that disagree make no negative ages.
fn age(now_ms: i64, since_ms: i64) -> i64 {
    now_ms.saturating_sub(since_ms).max(0)
}

impl Locks {
    pub(super) fn new(seq: u64, board: &Board, now_ms: i64) -> Self {
        let locks = board.window.rows.iter().map(|row| Lock::new(row, as_of_row(row, &board.head, now_ms), row.findings.clone(), now_ms)).collect();
        Self { seq, total: board.window.total, locks }
    }
}

impl LockDetail {
    pub(super) fn new(seq: u64, page: LockPage, now_ms: i64) -> Self {
        let head = page.head;
        let findings = head.findings.into_iter().map(Finding::new).collect();
        let rows = &page.window.rows;
        Self {
            seq,
            lock: Lock::new(&head.row, AsOfJson::new(&head.as_of, now_ms), findings, now_ms),
            contender_count: page.window.total,
            edges: rows.iter().flat_map(edges_of).collect(),
            contenders: rows.iter().map(|row| ContenderJson::new(row, now_ms)).collect(),
            capacity: head.capacity,
            foreign: head.foreign,
            stat: head.stat,
            recognised_by: head.recognised_by,
            notes: head.notes,
            stats: head.stats,
            past: head.past,
            herd: head.herd,
            fired: head.fired,
            hidden_waiter_count: head.hidden_waiters,
            trust: head.trust,
        }
    }
}

impl<F> Lock<F> {
    fn new(row: &LockRow, as_of: AsOfJson, findings: Vec<F>, now_ms: i64) -> Self {
        let waits_ms = i64::from(row.waiter_count).saturating_mul(now_ms).saturating_sub(row.waiting_since_sum_ms);
        Self {
            ensemble: row.ensemble.clone(),
            path: row.path.clone(),
            root: row.root.clone(),
            recipe: row.recipe,
            recipe_label: row.recipe_label.clone(),
            confidence: row.confidence,
            verdict: row.verdict,
            sentence: row.sentence.clone(),
            as_of,
            holders: row.holders.iter().map(|holder| ContenderJson::new(holder, now_ms)).collect(),
            holder_count: row.holder_count,
            waiter_count: row.waiter_count,
            oldest_wait_ms: row.oldest_wait_at_ms.map(|since_ms| age(now_ms, since_ms)),
            total_wait_ms: waits_ms.max(0),
            hold_ms: row.held_since_ms.map(|since_ms| age(now_ms, since_ms)),
            hold_is_lower_bound: row.hold_is_lower_bound,
            findings,
        }
    }
}

/// A board's row knows only the state of its root; since when and why is in the board's head.
fn as_of_row(row: &LockRow, head: &BoardHead, now_ms: i64) -> AsOfJson {
    let root = head.roots.iter().find(|root| root.path == row.root);
    AsOfJson {
        state: row.state,
        zxid: head.as_of.zxid,
        at_ms: if row.state == RootState::Live { now_ms } else { root.map_or(head.as_of.since_ms, |root| root.since_ms) },
        why: root.map_or_else(String::new, |root| root.why.clone()),
    }
}

impl AsOfJson {
    fn new(as_of: &AsOf, now_ms: i64) -> Self {
        let at_ms = if as_of.state == RootState::Live { now_ms } else { as_of.since_ms };
        Self { state: as_of.state, zxid: as_of.zxid, at_ms, why: as_of.why.clone() }
    }
}

impl Finding {
    fn new(row: FindingRow) -> Self {
        Self { code: row.code, severity: row.severity, text: row.text, paths: row.paths, since_ms: row.since_ms }
    }
}

/// A contender without a znode goes by its lock's path.
fn path_of(row: &Contender) -> String {
    let path = row.path.as_str();
    if row.node.is_some() { path.to_owned() } else { path.rsplit_once(' ').map_or(path, |(lock, _)| lock).to_owned() }
}

fn edges_of(row: &Contender) -> impl Iterator<Item = EdgeJson> + '_ {
    row.waits_for.iter().map(|edge| EdgeJson { from: path_of(row), to: edge.to.clone(), evidence: edge.evidence })
}

impl ContenderJson {
    pub(super) fn new(row: &Contender, now_ms: i64) -> Self {
        Self {
            path: path_of(row),
            node: row.node.clone(),
            sequence: row.sequence,
            position: row.position,
            role: row.role,
            access: row.access,
            session_id: row.session_id,
            ephemeral: row.ephemeral,
            client: row.client.as_ref().map(|client| ClientJson {
                address: client.address.clone(),
                server: client.server.clone(),
                timeout_ms: client.timeout_ms,
                last_heard_ms: client.last_heard_at_ms.map(|at_ms| age(now_ms, at_ms)),
                connected_since_ms: client.connected_since_ms,
                last_operation: client.last_operation.clone(),
            }),
            liveness: row.liveness,
            expires_in_ms: row.runs_out.map(|runs_out| age(runs_out.at_ms, now_ms)),
            expires_in_is_upper_bound: row.runs_out.is_some_and(|runs_out| !runs_out.is_told),
            only_on: row.only_on.clone(),
            label: row.label.clone(),
            data: row.data.as_ref().map(DataJson::new),
            created_at_ms: row.created_at_ms,
            waiting_ms: row.waiting_since_ms.map(|since_ms| age(now_ms, since_ms)),
            holding_ms: row.holding_since_ms.map(|since_ms| age(now_ms, since_ms)),
            holding_is_lower_bound: row.holding_is_lower_bound,
            waits_for: row.waits_for.iter().map(|edge| edge.to.clone()).collect(),
            czxid: row.czxid,
            version: row.version,
        }
    }
}

impl DataJson {
    fn new(data: &NodeData) -> Self {
        Self { text: data.text.clone(), base64: data.base64.clone(), bytes: data.bytes, truncated: data.truncated }
    }
}
