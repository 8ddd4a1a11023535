//! The made-up sessions: one that blocks many, one that waits for much, two in a deadlock, and names that a page must
//! survive.

use lockscope_view::{
    Contender, ContenderRole, Happened, Liveness, LockRow, ROW_LOCKS_MAX, RunsOut, SessionEvent, SessionGroup,
    SessionGroupRow, SessionId, SessionLockRow, SessionRow, SessionSort, SessionTimeout, SessionsQuery, TimeoutOutcome,
    TimeoutUnknownReason, Verdict,
};

use super::contenders::{client_at, contender};

const FIRST: i64 = 0x0100_00a1_b2c0_0001;
/// A session that is remembered, and owns nothing any more.
const GONE: i64 = 0x0100_00a1_b2c0_00ff;

struct Kind {
    label: Option<String>,
    holds: u32,
    waits: u32,
    blocks: u32,
    for_ms: i64,
    locks: &'static [&'static str],
    in_cycle: bool,
}

fn kind(
    label: impl Into<String>,
    (holds, waits, blocks): (u32, u32, u32),
    for_ms: i64,
    locks: &'static [&'static str],
) -> Kind {
    let label: String = label.into();
    Kind { label: Some(label).filter(|label| !label.is_empty()), holds, waits, blocks, for_ms, locks, in_cycle: false }
}

fn kinds() -> Vec<Kind> {
    let mut kinds = vec![
        kind("crowd-keeper@app-17.eu-west-1.example.internal", (1, 0, 1_000), 245_000, &["/app/herd"]),
        kind("batch-importer", (1, 200, 12), 7_800_000, &["/app/stuck", "/order", "/app/herd", "/app/idle"]),
        Kind { in_cycle: true, ..kind("billing", (1, 1, 1), 61_000, &["/app/a", "/app/b"]) },
        Kind { in_cycle: true, ..kind("ledger", (1, 1, 1), 60_000, &["/app/b", "/app/a"]) },
        kind("packer", (1, 0, 8), 850, &["/order"]),
        kind(
            "a-worker-with-a-rather-long-name-of-its-own-".repeat(6),
            (2, 1, 3),
            12_300,
            &["/app/dying", "/app/idle", "/order"],
        ),
        kind(
            "<script>alert(1)</script>\"><img src=x onerror=alert(1)>",
            (1, 0, 0),
            3_000,
            &["/app/<script>alert(1)</script>"],
        ),
        kind("\u{202e}reversed\u{7}", (1, 0, 0), 2_000, &["/app/\u{202e}reversed\u{7}"]),
        kind("عامل-الطلبات", (1, 0, 1), 2_500, &["/app/قفل-الطلبات"]),
        kind("支付服务", (1, 0, 0), 2_000, &["/app/订单/支付锁"]),
        kind("", (0, 1, 0), 9_000, &["/order"]),
        kind("", (0, 0, 0), 0, &[]),
    ];
    kinds.extend((0..14).map(|at| {
        kind(
            format!("worker-{at}"),
            (0, 1, 0),
            800 * i64::from(at),
            if at % 3 == 0 { &["/order"] } else { &["/app/herd"] },
        )
    }));
    kinds
}

/// Every session, `turn` turns after the start.
pub(crate) fn rows(started_at_ms: i64, turn: u32, now_ms: i64) -> Vec<SessionRow> {
    let mut rows: Vec<SessionRow> = (0..).zip(kinds()).map(|(at, kind)| row(at, kind, started_at_ms, now_ms)).collect();
    // The packer's queue shortens and grows, so that the order changes while it is looked at.
    if let Some(packer) = rows.iter_mut().find(|row| row.label.as_deref() == Some("packer")) {
        packer.blocks = if turn.is_multiple_of(2) { 8 } else { 13 };
    }
    rows.push(SessionRow {
        key: SessionId(GONE).to_string(),
        session_id: SessionId(GONE),
        ..row(99, kind("left-long-ago", (0, 0, 0), 0, &[]), started_at_ms, now_ms)
    });
    rows
}

/// The same, and some that come and go: with each turn one begins and the oldest ends.
pub(crate) fn passing(started_at_ms: i64, turn: u32, now_ms: i64) -> Vec<SessionRow> {
    let passing = |at: i64| {
        let kind = kind(format!("passing-{at}"), (1, 1, 30 + u32::try_from(at % 9).unwrap_or(0)), 4_000, &["/order"]);
        row(PASSING_FIRST + at, kind, started_at_ms, now_ms)
    };
    let mut rows = rows(started_at_ms, turn, now_ms);
    rows.extend((i64::from(turn)..i64::from(turn) + 20).map(passing));
    rows
}

const PASSING_FIRST: i64 = 5_000;

fn row(at: i64, kind: Kind, started_at_ms: i64, now_ms: i64) -> SessionRow {
    let id = SessionId(FIRST + at);
    let since_ms = started_at_ms - kind.for_ms;
    let address = format!("10.0.0.{}:51234", at + 1);
    let is_known = at % 4 != 3;
    let minute = now_ms / 60_000 * 60_000;
    // One whose expiry the leader reports, one at the latest, one overdue, and one that is only silent.
    let (liveness, ends_at_ms) = match at {
        _ if !is_known => (Liveness::Unknown, None),
        0 => (Liveness::Disconnected, Some(minute + 60_000)),
        1 => (Liveness::Disconnected, Some(minute + 120_000)),
        2 => (Liveness::Disconnected, Some(minute - 5_000)),
        4 => (Liveness::Silent, None),
        _ => (Liveness::Connected, None),
    };
    SessionRow {
        key: id.to_string(),
        tag: None,
        ensemble: "default".to_owned(),
        session_id: id,
        label: kind.label,
        client: is_known.then(|| client_at(address, started_at_ms)),
        liveness,
        runs_out: ends_at_ms.map(|at_ms| RunsOut { at_ms, is_told: at != 1 }),
        holds: kind.holds,
        waits: kind.waits,
        ephemerals: if at == 99 { 0 } else { (kind.holds + kind.waits).max(2) },
        oldest_hold_at_ms: (kind.holds > 0).then_some(since_ms),
        oldest_wait_at_ms: (kind.waits > 0).then_some(since_ms + 400),
        blocks: kind.blocks,
        locks: kind.locks.iter().take(ROW_LOCKS_MAX).map(|path| (*path).to_owned()).collect(),
        in_cycle: kind.in_cycle,
        cycle_verdict: kind.in_cycle.then_some(Verdict::Deadlocked),
        stands_by: 0,
    }
}

/// Keeps those that match, in order.
pub(crate) fn choose(rows: &mut Vec<SessionRow>, query: &SessionsQuery) {
    rows.retain(|row| matches(row, query));
    let key = |row: &SessionRow| match query.sort {
        SessionSort::Worst => -i64::from(row.blocks) - if row.in_cycle { i64::from(u32::MAX) } else { 0 },
        SessionSort::Blocks => -i64::from(row.blocks),
        SessionSort::Holds => -i64::from(row.holds),
        SessionSort::OldestWait => row.oldest_wait_at_ms.unwrap_or(i64::MAX),
        SessionSort::Ephemerals => -i64::from(row.ephemerals),
        SessionSort::Id => 0,
    };
    rows.sort_by_key(|row| (key(row), row.session_id));
}

/// What is known of where a session is from, by which it is grouped.
fn group_of(row: &SessionRow, by: SessionGroup) -> String {
    let host = row.client.as_ref().and_then(|client| client.address.split(':').next()).unwrap_or_default();
    let name = row.label.as_deref().unwrap_or_default();
    let name = name.split('@').next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    if by == SessionGroup::Host { host } else { name }.to_owned()
}

/// The groups of these sessions; none where each is a row of its own.
pub(crate) fn groups(rows: &[SessionRow], by: SessionGroup) -> Vec<SessionGroupRow> {
    let mut groups: Vec<SessionGroupRow> = Vec::new();
    for row in rows.iter().filter(|_| by != SessionGroup::Session) {
        let name = group_of(row, by);
        if !groups.iter().any(|group| group.name == name) {
            groups.push(SessionGroupRow {
                name: name.clone(),
                sessions: 0,
                holds: 0,
                waits: 0,
                blocks: 0,
                oldest_hold_at_ms: None,
                oldest_wait_at_ms: None,
                cycle_verdict: None,
            });
        }
        for group in groups.iter_mut().filter(|group| group.name == name) {
            group.sessions += 1;
            group.holds += row.holds;
            group.waits += row.waits;
            group.blocks += row.blocks;
            group.oldest_hold_at_ms = group.oldest_hold_at_ms.into_iter().chain(row.oldest_hold_at_ms).min();
            group.oldest_wait_at_ms = group.oldest_wait_at_ms.into_iter().chain(row.oldest_wait_at_ms).min();
            group.cycle_verdict = group.cycle_verdict.max(row.cycle_verdict);
        }
    }
    groups
}

fn matches(row: &SessionRow, query: &SessionsQuery) -> bool {
    let is_of = |wanted: &str, by| wanted.is_empty() || group_of(row, by) == wanted;
    if !is_of(&query.host, SessionGroup::Host) || !is_of(&query.application, SessionGroup::Application) {
        return false;
    }
    let has = |text: &str| {
        row.key.contains(text)
            || row.label.as_deref().is_some_and(|label| label.contains(text))
            || row.locks.iter().any(|lock| lock.contains(text))
    };
    let term = |term: &str| term.strip_prefix('!').map_or_else(|| has(term), |text| !has(text));
    query.q.split_whitespace().all(term)
}

/// What a session holds and waits for; holds first.
pub(crate) fn spots(row: &SessionRow, locks: &[LockRow], now_ms: i64) -> Vec<SessionLockRow> {
    let lock = |at: u32| {
        let path = row.locks.get(at as usize % row.locks.len().max(1))?;
        locks.iter().find(|lock| lock.path == *path)
    };
    let spot = |at: u32| {
        let lock = lock(at)?;
        let holds = at < row.holds;
        let made = contender(lock, if holds { 0 } else { lock.holder_count + at }, 0, now_ms);
        let contender = Contender {
            role: if holds { ContenderRole::Holder } else { ContenderRole::Waiter },
            session_id: Some(row.session_id),
            holding_since_ms: row.oldest_hold_at_ms.filter(|_| holds),
            waiting_since_ms: row.oldest_wait_at_ms.filter(|_| !holds),
            ..made
        };
        Some(SessionLockRow {
            lock: lock.path.clone(),
            verdict: lock.verdict,
            recipe_label: lock.recipe_label.clone(),
            contender,
        })
    };
    (0..row.holds + row.waits).filter_map(spot).collect()
}

/// What happened to it, newest first.
pub(crate) fn history(row: &SessionRow, started_at_ms: i64) -> Vec<SessionEvent> {
    let what = if row.ephemerals == 0 {
        [Happened::SessionEnded, Happened::Held, Happened::Joined]
    } else {
        [Happened::Held, Happened::Left, Happened::Joined]
    };
    let lock = row.locks.first().map_or("/order", String::as_str);
    let event = |(at, what): (i64, Happened)| SessionEvent {
        at_ms: started_at_ms - at * 7_300,
        lock: lock.to_owned(),
        node: format!("lock-{:010}", 40 - at),
        what,
    };
    (0..).zip(what).map(event).collect()
}

/// What is said of time-outs: of the first session that it is long, of the second that it is short, of most that it suits.
pub(crate) fn timeout(row: &SessionRow, now_ms: i64) -> SessionTimeout {
    let of = |timeout_ms, silence_at_least_ms, silence_at_most_ms, outcome| SessionTimeout {
        at_ms: now_ms,
        timeout_ms: Some(timeout_ms),
        silence_at_least_ms,
        silence_at_most_ms,
        over_ms: 5 * 3_600_000,
        outcome,
    };
    match (row.session_id.0 - FIRST, &row.client) {
        (_, None) => {
            SessionTimeout { timeout_ms: None, ..of(0, 0, 0, TimeoutOutcome::Unknown(TimeoutUnknownReason::NotListed)) }
        }
        (0, Some(_)) => of(60_000, 19_800, 21_300, TimeoutOutcome::Long { enough_ms: 10_000 }),
        (1, Some(_)) => of(10_000, 9_100, 9_800, TimeoutOutcome::Short { enough_ms: 36_000 }),
        _ => of(15_000, 0, 5_000, TimeoutOutcome::Suits { enough_ms: 10_000 }),
    }
}
