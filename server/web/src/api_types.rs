//! The API's own forms of a lock and its contenders: the wire's rows hold instants, these hold ages at the answer.
//! The only place where one becomes the other.

use lockscope_view::{
    Access, AsOf, Board, BoardHead, Capacity, Confidence, Contender, ContenderRole, EdgeEvidence, FindingRow, FiredRow,
    Foreign, Herd, Liveness, LockPage, LockRow, LockStats, Missing, NodeData, PastHolder, ProblemsLeftOut, Recipe,
    SessionId, Severity, StatRow, Trust, Verdict, Zxid,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::api_as_of::AsOfJson;
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
    locks: Vec<Lock<String>>,
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
    lock: Lock<Finding>,
    /// Contenders in all, shown or not.
    contender_count: u32,
    /// The contenders asked for, in queue order.
    contenders: Vec<ContenderJson>,
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

/// A lock; `F` is a finding's code in lists, the whole finding for one lock.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Lock")]
struct Lock<F> {
    /// Ensemble.
    ensemble: String,
    /// Its path.
    path: String,
    /// The watched root it lies under.
    root: String,
    /// Family.
    recipe: Recipe,
    /// What it was recognised as, like "Curator InterProcessMutex".
    recipe_label: String,
    /// How sure that is.
    confidence: Confidence,
    /// One word.
    verdict: Verdict,
    /// One sentence.
    sentence: String,
    /// How far this can be trusted.
    as_of: AsOfJson,
    /// The first holders, at most four.
    holders: Vec<ContenderJson>,
    /// All holders.
    holder_count: u32,
    /// All that are seen behind the holders, with a znode or without; null where none is and some may be missing. Standbys
    /// of an election, clients at a barrier and items of a queue wait for no lock: their `total_wait_ms` is 0.
    waiter_count: Option<u32>,
    /// How long the longest waiter waits; null when nobody does, and where waiters can't be seen.
    oldest_wait_ms: Option<i64>,
    /// It may have waited for longer than seen.
    wait_is_lower_bound: bool,
    /// How long all waiters that are seen wait, together; null where waiters can't be seen.
    total_wait_ms: Option<i64>,
    /// How long the first holder holds; null when nobody does.
    hold_ms: Option<i64>,
    /// It may have held for longer than seen.
    hold_is_lower_bound: bool,
    /// Nothing of it is known to be missing.
    complete: bool,
    /// What may be there and is not seen: counts are then the least there are.
    missing: Vec<Missing>,
    /// What is odd: codes in a list, whole findings for one lock.
    findings: Vec<F>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    /// Its code.
    code: String,
    /// Its weight.
    severity: Severity,
    /// One sentence.
    text: String,
    /// The znodes it is about.
    paths: Vec<String>,
    /// Since when, ms since the Unix epoch, as in `/api/v1/status`.
    since_ms: i64,
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

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Client")]
struct ClientJson {
    /// Client address, host:port.
    address: String,
    /// The member it is or was connected to.
    server: String,
    /// Session time-out; null while no member has reported it.
    timeout_ms: Option<i64>,
    /// How long ago its client was last heard from.
    last_heard_ms: Option<i64>,
    /// Connected since, ms since the Unix epoch.
    connected_since_ms: Option<i64>,
    /// Its last operation as the member names it.
    last_operation: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Payload")]
struct DataJson {
    /// As text, when it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Else in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// Size of the whole payload.
    bytes: u32,
    /// There is more than is shown.
    truncated: bool,
}

/// A contender.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Contender")]
pub(super) struct ContenderJson {
    /// Full path of its znode; the lock's path for who waits without one.
    path: String,
    /// Its znode's name; null for who waits without one.
    node: Option<String>,
    /// Its sequence number.
    sequence: Option<i64>,
    /// Place in the queue; 0 is the first holder.
    position: u32,
    /// Holder or waiter.
    role: ContenderRole,
    /// What it wants or has.
    access: Access,
    /// Owner session; null while unread, unreadable or persistent.
    session_id: Option<SessionId>,
    /// False for a persistent znode; null while not read.
    ephemeral: Option<bool>,
    /// Where it connects from, when members report it.
    client: Option<ClientJson>,
    /// Whether its session is alive, as far as members report it.
    liveness: Liveness,
    /// In how long its session runs out by itself.
    expires_in_ms: Option<i64>,
    /// No member reported it: it is the latest it can be.
    expires_in_is_upper_bound: bool,
    /// The members that have the znode, where members disagree.
    only_on: Vec<String>,
    /// Who it says it is; never trusted.
    label: Option<String>,
    /// Payload; null where it is not shown.
    data: Option<DataJson>,
    /// When its znode was created, ms since the Unix epoch.
    created_at_ms: Option<i64>,
    /// How long it waits.
    waiting_ms: Option<i64>,
    /// It may have waited for longer than seen.
    waiting_is_lower_bound: bool,
    /// How long it holds.
    holding_ms: Option<i64>,
    /// It may have held for longer than seen.
    holding_is_lower_bound: bool,
    /// The znodes it waits for.
    waits_for: Vec<String>,
    /// Identity of the znode; null while not read.
    czxid: Option<Zxid>,
    /// Data version.
    version: i32,
}

/// Never negative: clocks that disagree make no negative ages.
pub(super) fn age(now_ms: i64, since_ms: i64) -> i64 {
    now_ms.saturating_sub(since_ms).max(0)
}

impl Locks {
    pub(super) fn new(seq: u64, board: &Board, known: Known, now_ms: i64) -> Self {
        let as_of = |row: &LockRow| as_of_row(row, &board.head, known, now_ms);
        let locks =
            board.window.rows.iter().map(|row| Lock::new(row, as_of(row), row.findings.clone(), now_ms)).collect();
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
        let findings = head.findings.into_iter().map(Finding::new).collect();
        let rows = &page.window.rows;
        Self {
            seq,
            lock: Lock::new(&head.row, AsOfJson::new(&head.as_of, known, now_ms), findings, now_ms),
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
            advice: head.advice.map(|advice| AdviceJson::new(advice, now_ms)),
        }
    }
}

impl<F> Lock<F> {
    fn new(row: &LockRow, as_of: AsOfJson, findings: Vec<F>, now_ms: i64) -> Self {
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
            wait_is_lower_bound: row.wait_is_lower_bound,
            total_wait_ms: row.total_wait_ms(now_ms),
            hold_ms: row.held_since_ms.map(|since_ms| age(now_ms, since_ms)),
            hold_is_lower_bound: row.hold_is_lower_bound,
            complete: row.is_complete(),
            missing: row.missing.clone(),
            findings,
        }
    }
}

/// A board's row knows only the state of its root; since when and why is in the board's head.
pub(super) fn as_of_row(row: &LockRow, head: &BoardHead, known: Known, now_ms: i64) -> AsOfJson {
    let root = head.roots.iter().find(|root| root.path == row.root);
    let as_of = AsOf {
        state: row.state,
        since_ms: root.map_or(head.as_of.since_ms, |root| root.since_ms),
        why: root.map_or_else(String::new, |root| root.why.clone()),
        zxid: head.as_of.zxid,
        ensemble: None,
        proof: head.as_of.proof,
    };
    AsOfJson::new(&as_of, known, now_ms)
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
            waiting_is_lower_bound: row.waiting_is_lower_bound,
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
