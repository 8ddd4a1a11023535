//! The API's own forms of a lock and its contenders: the wire's rows hold instants, these hold ages at the answer.
//! The only place where one becomes the other.

use lockscope_view::api::{AgedAsOf, AgedClient, AgedContender, AgedLock, Finding, Payload};
use lockscope_view::{
    AsOf, Board, BoardHead, Capacity, Contender, EdgeEvidence, FindingRow, FiredRow, Foreign, Herd, LockPage, LockRow,
    LockStats, NodeData, PastHolder, ProblemsLeftOut, StatRow, Trust,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::api_as_of::aged_as_of;
use super::api_problems::{AdviceJson, ProblemJson};
use lockscope_live::Known;

/// Answer of `/api/v1/locks`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Locks {
    /// Changes applied to the model so far.
    seq: u64,
    /// Locks that match, shown or not.
    total: u32,
    /// The locks that match, in order.
    locks: Vec<AgedLock<String>>,
    /// What needs somebody, over every lock, worst first; at most eight, and of each kind one before any has more.
    problems: Vec<ProblemJson>,
    /// All problems.
    problem_count: u32,
    /// Those that are not in `problems`, by kind, worst first.
    problems_left_out: Vec<ProblemsLeftOut>,
}

/// Answer of `/api/v1/lock`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LockDetail {
    /// Changes applied to the model so far.
    seq: u64,
    #[serde(flatten)]
    lock: AgedLock<Finding>,
    /// Contenders in all, shown or not.
    contender_count: u32,
    /// The contenders asked for, in queue order.
    contenders: Vec<AgedContender>,
    /// Who waits for which znode, of the contenders shown.
    edges: Vec<EdgeJson>,
    /// How many it admits, for recipes that admit more than one.
    capacity: Option<Capacity>,
    /// Children that are no contenders.
    foreign: Vec<Foreign>,
    /// Stat of the lock's znode; null while not read.
    stat: Option<StatRow>,
    /// What it was recognised by, in words.
    recognised_by: Vec<String>,
    /// What the recipe hides, in words.
    notes: Vec<String>,
    /// What was counted since this server watches.
    stats: LockStats,
    /// The last holders, newest first.
    past: Vec<PastHolder>,
    /// What the next release wakes; null when nobody holds, or it is not known.
    herd: Option<Herd>,
    /// Watches fired on each member lately, where no table shows who waits.
    fired: Vec<FiredRow>,
    /// Of the waiters, those without a znode.
    hidden_waiter_count: u32,
    /// How far what is said of sessions and watches can be trusted.
    trust: Trust,
    /// What to do about it; null where nothing is to be done.
    advice: Option<AdviceJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LockEdge")]
struct EdgeJson {
    /// The contender that waits.
    from: String,
    /// The znode it waits for.
    to: String,
    /// How that is known.
    evidence: EdgeEvidence,
}

/// Never negative: clocks that disagree make no negative ages.
pub(super) fn age(now_ms: i64, since_ms: i64) -> i64 {
    now_ms.saturating_sub(since_ms).max(0)
}

impl Locks {
    pub(super) fn new(seq: u64, board: &Board, known: Known, now_ms: i64) -> Self {
        let as_of = |row: &LockRow| as_of_row(row, &board.head, known, now_ms);
        let locks = board.window.rows.iter().map(|row| lock(row, as_of(row), row.findings.clone(), now_ms)).collect();
        let problems = board.head.problems.iter().map(|problem| ProblemJson::new(problem, now_ms)).collect();
        Self {
            seq,
            total: board.window.total,
            locks,
            problems,
            problem_count: board.head.problem_count,
            problems_left_out: board.head.problems_left_out.clone(),
        }
    }
}

impl LockDetail {
    pub(super) fn new(seq: u64, page: LockPage, known: Known, now_ms: i64) -> Self {
        let head = page.head;
        let findings = head.findings.into_iter().map(finding).collect();
        let rows = &page.window.rows;
        Self {
            seq,
            lock: lock(&head.row, aged_as_of(&head.as_of, known, now_ms), findings, now_ms),
            contender_count: page.window.total,
            edges: rows.iter().flat_map(edges_of).collect(),
            contenders: rows.iter().map(|row| contender(row, now_ms)).collect(),
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
            advice: head.advice.map(|advice| AdviceJson::new(advice, now_ms)),
        }
    }
}

fn lock<F>(row: &LockRow, as_of: AgedAsOf, findings: Vec<F>, now_ms: i64) -> AgedLock<F> {
    AgedLock {
        ensemble: row.ensemble.clone(),
        path: row.path.clone(),
        root: row.root.clone(),
        recipe: row.recipe.name().into(),
        recipe_label: row.recipe_label.clone(),
        confidence: row.confidence.name().into(),
        verdict: row.verdict.name().into(),
        sentence: row.sentence.clone(),
        as_of,
        holders: row.holders.iter().map(|holder| contender(holder, now_ms)).collect(),
        holder_count: row.holder_count,
        waiter_count: row.waiter_count,
        oldest_wait_ms: row.oldest_wait_at_ms.map(|since_ms| age(now_ms, since_ms)),
        wait_is_lower_bound: row.wait_is_lower_bound,
        total_wait_ms: row.total_wait_ms(now_ms),
        hold_ms: row.held_since_ms.map(|since_ms| age(now_ms, since_ms)),
        hold_is_lower_bound: row.hold_is_lower_bound,
        complete: row.is_complete(),
        missing: row.missing.iter().map(|missing| missing.name().into()).collect(),
        findings,
    }
}

/// A board's row knows only the state of its root; since when and why is in the board's head.
pub(super) fn as_of_row(row: &LockRow, head: &BoardHead, known: Known, now_ms: i64) -> AgedAsOf {
    let root = head.roots.iter().find(|root| root.path == row.root);
    let as_of = AsOf {
        state: row.state,
        since_ms: root.map_or(head.as_of.since_ms, |root| root.since_ms),
        why: root.map_or_else(String::new, |root| root.why.clone()),
        zxid: head.as_of.zxid,
        ensemble: None,
        proof: head.as_of.proof,
    };
    aged_as_of(&as_of, known, now_ms)
}

fn finding(row: FindingRow) -> Finding {
    let FindingRow { code, severity, text, paths, since_ms } = row;
    Finding { code, severity: severity.name().into(), text, paths, since_ms }
}

/// A contender without a znode goes by its lock's path.
fn path_of(row: &Contender) -> String {
    let path = row.path.as_str();
    if row.node.is_some() { path.to_owned() } else { path.rsplit_once(' ').map_or(path, |(lock, _)| lock).to_owned() }
}

fn edges_of(row: &Contender) -> impl Iterator<Item = EdgeJson> + '_ {
    row.waits_for.iter().map(|edge| EdgeJson { from: path_of(row), to: edge.to.clone(), evidence: edge.evidence })
}

pub(super) fn contender(row: &Contender, now_ms: i64) -> AgedContender {
    AgedContender {
        path: path_of(row),
        node: row.node.clone(),
        sequence: row.sequence,
        position: row.position,
        role: row.role.name().into(),
        access: row.access.name().into(),
        session_id: row.session_id,
        ephemeral: row.ephemeral,
        client: row.client.as_ref().map(|client| AgedClient {
            address: client.address.clone(),
            server: client.server.clone(),
            timeout_ms: client.timeout_ms,
            last_heard_ms: client.last_heard_at_ms.map(|at_ms| age(now_ms, at_ms)),
            connected_since_ms: client.connected_since_ms,
            last_operation: client.last_operation.clone(),
        }),
        liveness: row.liveness.name().into(),
        expires_in_ms: row.runs_out.map(|runs_out| age(runs_out.at_ms, now_ms)),
        expires_in_is_upper_bound: row.runs_out.is_some_and(|runs_out| !runs_out.is_told),
        only_on: row.only_on.clone(),
        label: row.label.clone(),
        data: row.data.clone().map(payload),
        created_at_ms: row.created_at_ms,
        waiting_ms: row.waiting_since_ms.map(|since_ms| age(now_ms, since_ms)),
        waiting_is_lower_bound: row.waiting_is_lower_bound,
        holding_ms: row.holding_since_ms.map(|since_ms| age(now_ms, since_ms)),
        holding_is_lower_bound: row.holding_is_lower_bound,
        waits_for: row.waits_for.iter().map(|edge| edge.to.clone()).collect(),
        czxid: row.czxid,
        version: row.version,
    }
}

fn payload(data: NodeData) -> Payload {
    let NodeData { text, base64, bytes, truncated } = data;
    Payload { text, base64, bytes, truncated }
}
