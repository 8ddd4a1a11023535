//! Contenders of a made-up lock, as a sequential recipe would leave them.

use app::wire::{Access, ClientInfo, Contender, Edge, EdgeEvidence, Liveness, LockRow, Role, RunsOut, SessionId, Zxid};

const EVIDENCE: [EdgeEvidence; 4] = [EdgeEvidence::Confirmed, EdgeEvidence::Inferred, EdgeEvidence::Missing, EdgeEvidence::Shared];
const WAITER_LIVENESS: [Liveness; 4] = [Liveness::Connected, Liveness::Silent, Liveness::Disconnected, Liveness::Unknown];
const FIRST_SESSION: i64 = 0x0100_00a1_b2c0_0001;
const TIMEOUT_MS: i64 = 30_000;

/// The contender at a place of the queue; `turn` holders came and went before.
pub(crate) fn contender(row: &LockRow, position: u32, turn: u32, now_ms: i64) -> Contender {
    let sequence = i64::from(position) + i64::from(turn);
    let holds = position < row.holder_count;
    let node = format!("lock-{sequence:010}");
    let is_owned = !row.findings.iter().any(|code| code == "orphan");
    let since_ms = row.oldest_wait_at_ms.map(|oldest| oldest + i64::from(position) * 37);
    let pick = position as usize % EVIDENCE.len();
    let expires = holds && row.findings.iter().any(|code| code == "expiring");
    Contender {
        path: format!("{}/{node}", row.path),
        sequence: Some(sequence),
        position,
        role: if holds { Role::Holder } else { Role::Waiter },
        access: Access::Exclusive,
        session_id: is_owned.then(|| SessionId(FIRST_SESSION + sequence)),
        ephemeral: Some(is_owned),
        client: is_owned.then(|| client(sequence, now_ms)),
        liveness: liveness(holds, is_owned, expires, pick),
        runs_out: expires.then_some(RunsOut { at_ms: now_ms / 60_000 * 60_000 + 60_000, is_told: true }),
        only_on: if sequence % 41 == 40 { vec!["zk2:2181".to_owned()] } else { Vec::new() },
        label: is_owned.then(|| format!("worker-{}", sequence % 97)),
        data: None,
        created_at_ms: since_ms.or(row.held_since_ms),
        waiting_since_ms: since_ms.filter(|_| !holds),
        holding_since_ms: row.held_since_ms.filter(|_| holds),
        holding_is_lower_bound: holds && row.hold_is_lower_bound,
        waits_for: if holds { Vec::new() } else { edges(&row.path, sequence, pick) },
        czxid: Some(Zxid(0x2_0000_0000 + sequence)),
        version: 0,
        node: Some(node),
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

/// A client as its member tells it.
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
