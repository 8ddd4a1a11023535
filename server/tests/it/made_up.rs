//! Sessions over a model that is a list of lock paths: one holds them all, another waits for them all; two paths or
//! more make a deadlock. What the fake projection answers for the views of waiting.

use lockscope_view::{
    Access, AsOf, Confidence, Contender, ContenderRole, Cycle, Happened, Liveness, LockSince, RootState, SessionEvent,
    SessionGroup, SessionGroupRow, SessionId, SessionLock, SessionLockRow, SessionPage, SessionQuery, SessionRow,
    Sessions, SessionsHead, SessionsQuery, Verdict, WaitBranch, WaitEdge, WaitNode, Waits, Window, Zxid,
};

use crate::served::NOW_MS;

/// Holds every lock.
pub(crate) const HOLDER: SessionId = SessionId(0x11);
/// Waits for every lock.
pub(crate) const WAITER: SessionId = SessionId(0x22);

fn as_of() -> AsOf {
    AsOf {
        state: RootState::Live,
        since_ms: 1,
        why: String::new(),
        zxid: Zxid(16),
        ensemble: None,
        proof: lockscope_view::Proof::default(),
    }
}

fn spot(path: &str, node: &str) -> SessionLock {
    SessionLock {
        lock: path.to_owned(),
        node: format!("{path}/{node}"),
        access: Access::Exclusive,
        since_ms: NOW_MS - 500,
    }
}

pub(crate) fn waits(paths: &[String]) -> Waits {
    let node = |session_id, holds: &[SessionLock], waits: &[SessionLock], layer| WaitNode {
        ensemble: "default".to_owned(),
        tag: None,
        session_id,
        label: None,
        holds: holds.to_vec(),
        waits: waits.to_vec(),
        in_cycle: paths.len() > 1,
        cycle_verdict: verdict(paths),
        layer,
        hold_count: count(paths),
        wait_count: count(paths),
    };
    let holds: Vec<SessionLock> = paths.iter().map(|path| spot(path, "n-0")).collect();
    let waiting: Vec<SessionLock> = paths.iter().map(|path| spot(path, "n-1")).collect();
    let edge = |path: &String| WaitEdge {
        from: WAITER,
        to: HOLDER,
        lock: path.clone(),
        since_ms: NOW_MS - 500,
        in_cycle: paths.len() > 1,
        cycle_verdict: verdict(paths),
    };
    let cycle = || Cycle {
        sessions: vec![HOLDER, WAITER],
        locks: paths.to_vec(),
        verdict: Verdict::Deadlocked,
        sentence: "Deadlocked.".to_owned(),
        victim: WAITER,
        victim_lock: paths[0].clone(),
        victim_node: "n-0".to_owned(),
        victim_why: "least is lost".to_owned(),
        confidence: Confidence::High,
        caveat: "threads".to_owned(),
        since_ms: NOW_MS - 100,
    };
    Waits {
        as_of: as_of(),
        nodes: if paths.is_empty() {
            Vec::new()
        } else {
            vec![node(HOLDER, &holds, &[], 0), node(WAITER, &[], &waiting, 1)]
        },
        edges: paths.iter().map(edge).collect(),
        cycles: if paths.len() > 1 { vec![cycle()] } else { Vec::new() },
        left_out: 0,
        locks: count(paths),
        contended: count(paths),
        waiting: 1,
        blocking: 1,
        edges_left_out: 0,
        tree: paths.iter().take(1).flat_map(|path| branches(path)).collect(),
        roots_left_out: 0,
    }
}

fn branches(path: &str) -> [WaitBranch; 2] {
    let since = |since_ms| Some(LockSince { lock: path.to_owned(), since_ms, is_lower_bound: false });
    let root = WaitBranch {
        depth: 0,
        ensemble: "default".to_owned(),
        tag: None,
        session_id: HOLDER,
        label: None,
        waits: None,
        holds: since(NOW_MS - 900),
        more_holds: 0,
        behind: 1,
        behind_since_sum_ms: NOW_MS - 500,
        is_lower_bound: false,
        left_out: 0,
        cycle_verdict: None,
    };
    let waiter =
        WaitBranch { depth: 1, session_id: WAITER, waits: since(NOW_MS - 500), holds: None, behind: 0, ..root.clone() };
    [root, waiter]
}

fn verdict(paths: &[String]) -> Option<Verdict> {
    (paths.len() > 1).then_some(Verdict::Deadlocked)
}

fn count(paths: &[String]) -> u32 {
    u32::try_from(paths.len()).unwrap()
}

fn row(session: SessionId, paths: &[String]) -> SessionRow {
    let holds = session == HOLDER;
    SessionRow {
        tag: None,
        key: session.to_string(),
        ensemble: "default".to_owned(),
        session_id: session,
        label: None,
        client: None,
        liveness: Liveness::Unknown,
        runs_out: None,
        holds: if holds { count(paths) } else { 0 },
        waits: if holds { 0 } else { count(paths) },
        ephemerals: count(paths),
        oldest_hold_at_ms: holds.then_some(NOW_MS - 900),
        oldest_wait_at_ms: (!holds).then_some(NOW_MS - 500),
        blocks: if holds { count(paths) } else { 0 },
        locks: paths.iter().take(4).cloned().collect(),
        in_cycle: paths.len() > 1,
        cycle_verdict: verdict(paths),
        stands_by: 0,
    }
}

pub(crate) fn sessions(paths: &[String], query: &SessionsQuery) -> Sessions {
    let all: Vec<SessionRow> = if paths.is_empty() { Vec::new() } else { vec![row(HOLDER, paths), row(WAITER, paths)] };
    let found: Vec<SessionRow> = all.iter().filter(|row| row.key.contains(&query.q)).cloned().collect();
    let total = u32::try_from(found.len()).unwrap();
    let groups = if query.group == SessionGroup::Session { Vec::new() } else { vec![group(&found)] };
    let rows = found.into_iter().skip(query.offset as usize).take(query.limit as usize).collect();
    let known = u32::try_from(all.len()).unwrap();
    let head = SessionsHead { as_of: as_of(), sessions: known, holding: known / 2, waiting: known / 2 };
    if groups.is_empty() {
        return Sessions { head, window: Window { total, offset: query.offset, rows }, groups: Window::default() };
    }
    Sessions { head, window: Window::default(), groups: Window { total: 1, offset: 0, rows: groups } }
}

/// All of them in one group, of which no name is known.
fn group(rows: &[SessionRow]) -> SessionGroupRow {
    SessionGroupRow {
        name: String::new(),
        sessions: u32::try_from(rows.len()).unwrap(),
        holds: rows.iter().map(|row| row.holds).sum(),
        waits: rows.iter().map(|row| row.waits).sum(),
        blocks: rows.iter().map(|row| row.blocks).sum(),
        oldest_hold_at_ms: rows.iter().filter_map(|row| row.oldest_hold_at_ms).min(),
        oldest_wait_at_ms: rows.iter().filter_map(|row| row.oldest_wait_at_ms).min(),
        cycle_verdict: rows.iter().filter_map(|row| row.cycle_verdict).max(),
    }
}

pub(crate) fn session(paths: &[String], query: &SessionQuery) -> Option<Box<SessionPage>> {
    let known = !paths.is_empty() && (query.id == HOLDER || query.id == WAITER);
    let rows: Vec<SessionLockRow> = paths.iter().map(|path| spot_row(path, query.id)).collect();
    let event =
        SessionEvent { at_ms: NOW_MS - 900, lock: "/a".to_owned(), node: "n-0".to_owned(), what: Happened::Joined };
    known.then(|| {
        Box::new(SessionPage {
            as_of: as_of(),
            row: row(query.id, paths),
            spots: Window { total: count(paths), offset: 0, rows },
            history: vec![event],
        })
    })
}

fn spot_row(path: &str, session: SessionId) -> SessionLockRow {
    let holds = session == HOLDER;
    let node = if holds { "n-0" } else { "n-1" };
    let contender = Contender {
        path: format!("{path}/{node}"),
        node: Some(node.to_owned()),
        sequence: Some(i64::from(!holds)),
        position: u32::from(!holds),
        role: if holds { ContenderRole::Holder } else { ContenderRole::Waiter },
        access: Access::Exclusive,
        session_id: Some(session),
        ephemeral: Some(true),
        client: None,
        liveness: Liveness::Unknown,
        runs_out: None,
        only_on: Vec::new(),
        label: None,
        data: None,
        created_at_ms: Some(NOW_MS - 900),
        waiting_since_ms: (!holds).then_some(NOW_MS - 500),
        waiting_is_lower_bound: false,
        holding_since_ms: holds.then_some(NOW_MS - 900),
        holding_is_lower_bound: false,
        waits_for: Vec::new(),
        czxid: Some(Zxid(9)),
        version: 0,
    };
    SessionLockRow {
        lock: path.to_owned(),
        verdict: Verdict::Healthy,
        recipe_label: "kazoo Lock".to_owned(),
        contender,
    }
}
