//! Contenders of a made-up lock, as a sequential recipe would leave them.

use lockscope_view::{
    Access, ClientInfo, Contender, ContenderRole, Edge, EdgeEvidence, Liveness, LockRow, Recipe, RunsOut, SessionId,
    Zxid,
};

const EVIDENCE: [EdgeEvidence; 4] =
    [EdgeEvidence::Confirmed, EdgeEvidence::Inferred, EdgeEvidence::Missing, EdgeEvidence::Shared];
const WAITER_LIVENESS: [Liveness; 4] =
    [Liveness::Connected, Liveness::Silent, Liveness::Disconnected, Liveness::Unknown];
const FIRST_SESSION: i64 = 0x0100_00a1_b2c0_0001;
const TIMEOUT_MS: i64 = 30_000;
/// Contenders come so far apart.
pub(crate) const APART_MS: i64 = 37;

/// The contender at a place of the queue; `turn` holders came and went before.
pub(crate) fn contender(row: &LockRow, position: u32, turn: u32, now_ms: i64) -> Contender {
    let sequence = i64::from(position) + i64::from(turn);
    let holds = position < row.holder_count;
    let node = format!("lock-{sequence:010}");
    let is_owned = !row.findings.iter().any(|code| code == "orphan");
    let since_ms = row.oldest_wait_at_ms.map(|oldest| oldest + i64::from(position) * APART_MS);
    let pick = (position as usize + turn as usize) % EVIDENCE.len();
    let expires = holds && row.findings.iter().any(|code| code == "expiring");
    let access = if row.recipe == Recipe::Semaphore { Access::Lease } else { Access::Exclusive };
    let liveness = if row.path == "/app/two" { Liveness::Unknown } else { liveness(holds, is_owned, expires, pick) };
    let is_told = row.path == "/app/dying" || (!holds && pick == 1) || row.path == "/app/overdue";
    Contender {
        path: format!("{}/{node}", row.path),
        sequence: Some(sequence),
        position,
        role: if holds { ContenderRole::Holder } else { ContenderRole::Waiter },
        access,
        session_id: is_owned.then(|| SessionId(FIRST_SESSION + sequence)),
        ephemeral: Some(is_owned),
        client: (is_owned && liveness != Liveness::Unknown).then(|| client(sequence, now_ms)),
        liveness,
        runs_out: ends(&row.path, position + turn, liveness, now_ms).map(|at_ms| RunsOut { at_ms, is_told }),
        only_on: if row.path == "/app/stuck" && position == 3 {
            vec!["zk2:2181".to_owned(), "zk4:2181".to_owned()]
        } else {
            Vec::new()
        },
        label: is_owned.then(|| format!("worker-{}", sequence % 97)),
        data: None,
        created_at_ms: since_ms.or(row.held_since_ms),
        waiting_since_ms: since_ms.filter(|_| !holds),
        waiting_is_lower_bound: false,
        holding_since_ms: row.held_since_ms.filter(|_| holds),
        holding_is_lower_bound: holds && row.hold_is_lower_bound,
        waits_for: if holds { Vec::new() } else { edges(&row.path, sequence, pick) },
        czxid: Some(Zxid(0x2_0000_0000 + sequence)),
        version: 0,
        node: Some(node),
    }
}

/// When its session runs out: at the second next full minute or the one before; in one lock it is overdue.
fn ends(path: &str, number: u32, liveness: Liveness, now_ms: i64) -> Option<i64> {
    let is_gone = liveness == Liveness::Disconnected;
    let minute = now_ms / 60_000 * 60_000;
    is_gone.then(|| {
        if path == "/app/overdue" { minute - 5_000 } else { minute + 60_000 * i64::from(1 + (number + 1) % 2) }
    })
}

/// Those who wait at a fixed znode without one of their own.
pub(crate) fn hidden(row: &LockRow, at: u32, now_ms: i64) -> Contender {
    let base = contender(row, row.holder_count + at, 0, now_ms);
    let session = FIRST_SESSION + 0x700 + i64::from(at);
    Contender {
        path: format!("{} {}", row.path, SessionId(session)),
        node: None,
        sequence: None,
        session_id: Some(SessionId(session)),
        ephemeral: None,
        label: None,
        created_at_ms: None,
        waiting_is_lower_bound: true,
        waits_for: vec![Edge { to: format!("{}/lock-0000000000", row.path), evidence: EdgeEvidence::Shared }],
        czxid: None,
        ..base
    }
}

fn edges(path: &str, sequence: i64, pick: usize) -> Vec<Edge> {
    let evidence = EVIDENCE.get(pick).copied().unwrap_or(EdgeEvidence::Inferred);
    vec![Edge { to: format!("{path}/lock-{:010}", sequence - 1), evidence }]
}

fn liveness(holds: bool, is_owned: bool, expires: bool, pick: usize) -> Liveness {
    match (holds, is_owned, expires) {
        (_, false, _) => Liveness::Persistent,
        (true, true, true) => Liveness::Disconnected,
        (true, true, false) => Liveness::Connected,
        (false, true, _) => WAITER_LIVENESS.get(pick).copied().unwrap_or(Liveness::Unknown),
    }
}

fn client(sequence: i64, now_ms: i64) -> ClientInfo {
    client_at(format!("10.0.{}.{}:51234", sequence / 250, sequence % 250), now_ms / 10_000 * 10_000)
}

/// A client as its member reports it.
pub(crate) fn client_at(address: String, last_heard_at_ms: i64) -> ClientInfo {
    ClientInfo {
        address,
        server: "zk1:2181".to_owned(),
        timeout_ms: Some(TIMEOUT_MS),
        last_heard_at_ms: Some(last_heard_at_ms),
        connected_since_ms: Some(last_heard_at_ms - 3_600_000),
        last_operation: Some("PING".to_owned()),
    }
}
