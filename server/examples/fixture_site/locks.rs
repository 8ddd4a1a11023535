//! The made-up locks: one of each verdict, and the names that a page must survive.

use lockscope_view::{Confidence, Depth, LockRow, Missing, Recipe, RootState, Verdict};

use super::contenders::{APART_MS, contender};

/// Roots of the made-up ensemble.
pub(crate) const ROOTS: [&str; 2] = ["/app", "/order"];
/// Holders that a row carries at most.
const ROW_HOLDERS_MAX: u32 = 4;
const DEPTH_SLICES: u32 = 48;

struct Kind {
    path: String,
    verdict: Verdict,
    sentence: &'static str,
    holders: u32,
    waiters: u32,
    held_for_ms: i64,
}

/// Its waiters have no znode.
pub(crate) const FIXED: &str = "/app/fixed";
/// So many.
pub(crate) const WATCHERS: u32 = 3;
/// As before, and no table was read.
const UNSEEN: &str = "/app/unseen";

fn kind(
    path: impl Into<String>,
    verdict: Verdict,
    sentence: &'static str,
    (holders, waiters): (u32, u32),
    held_for_ms: i64,
) -> Kind {
    Kind { path: path.into(), verdict, sentence, holders, waiters, held_for_ms }
}

fn kinds() -> Vec<Kind> {
    let long = format!("/app/{}", "a-very-long-name/".repeat(23)) + "lock";
    vec![
        kind("/order", Verdict::Healthy, "Held by worker-0; 8 wait in order.", (1, 8), 850),
        kind("/app/herd", Verdict::Slow, "Held for longer than usual; 1,000 wait.", (1, 1_000), 245_000),
        kind(
            "/app/stuck",
            Verdict::Stuck,
            "Stuck: the holder is alive but far beyond its normal hold.",
            (1, 12),
            7_800_000,
        ),
        kind(
            "/app/orphan",
            Verdict::Orphan,
            "Orphan: no session owns the znode; it never frees itself.",
            (1, 3),
            259_200_000,
        ),
        kind(
            "/app/dying",
            Verdict::Expiring,
            "The holder is gone; frees itself when its session runs out.",
            (1, 2),
            12_300,
        ),
        kind(
            "/app/dying-unheard",
            Verdict::Expiring,
            "The holder is gone; frees itself when its session runs out.",
            (1, 4),
            40_300,
        ),
        kind("/app/overdue", Verdict::Expiring, "The holder is gone; its session should have run out.", (1, 1), 95_000),
        kind(FIXED, Verdict::Healthy, "Held by worker-0; 3 wait.", (1, WATCHERS), 8_200),
        kind(UNSEEN, Verdict::Healthy, "Held by worker-0; waiters can't be seen here.", (1, 0), 700),
        kind("/app/leases", Verdict::Healthy, "3 of 5 leases are out; 2 wait.", (3, 2), 18_000),
        kind("/app/a", Verdict::Deadlocked, "Deadlock with /app/b.", (1, 1), 61_000),
        kind("/app/b", Verdict::Deadlocked, "Deadlock with /app/a.", (1, 1), 60_000),
        kind(
            "/app/shared",
            Verdict::MaybeDeadlocked,
            "Looks like a deadlock, if one thread does both: with /app/order.",
            (1, 2),
            21_000,
        ),
        kind("/app/two", Verdict::DoubleOwner, "Two hold what one should.", (2, 0), 5_000),
        kind("/app/gone", Verdict::NobodyHome, "The directory went while 4 waited.", (0, 4), 0),
        kind("/app/unread", Verdict::Unknown, "Not enough is known.", (0, 0), 0),
        kind("/app/idle", Verdict::Free, "Nobody holds, nobody waits.", (0, 0), 0),
        kind(long, Verdict::Healthy, "Held; the name is 400 characters long.", (1, 0), 3_000),
        kind("/app/订单/支付锁", Verdict::Healthy, "Held; nobody waits.", (1, 0), 2_000),
        kind("/app/قفل-الطلبات", Verdict::Healthy, "Held; 1 waits.", (1, 1), 2_500),
        kind("/app/\u{202e}reversed\u{7}", Verdict::Healthy, "Held; nobody waits.", (1, 0), 1_000),
        kind(
            "/app/<script>alert(1)</script>",
            Verdict::Healthy,
            "Held by \"><img src=x onerror=alert(1)>.",
            (1, 0),
            1_000,
        ),
    ]
}

/// Every lock, `turn` turns after the start.
pub(crate) fn locks(started_at_ms: i64, turn: u32, now_ms: i64, state: RootState) -> Vec<LockRow> {
    kinds().into_iter().map(|kind| row(kind, started_at_ms, turn, now_ms, state)).collect()
}

/// The same, and so many calm ones that there are [`MANY`].
pub(crate) fn many(started_at_ms: i64, turn: u32, now_ms: i64, state: RootState) -> Vec<LockRow> {
    let mut rows = locks(started_at_ms, turn, now_ms, state);
    let calm = |at: usize| {
        let path = format!("/app/team-{:02}/orders-{at:04}", at % 40);
        row(
            kind(path, Verdict::Healthy, "worker-0 holds it. 2 wait.", (1, 2), 4_000),
            started_at_ms,
            turn,
            now_ms,
            state,
        )
    };
    rows.extend((rows.len()..MANY).map(calm));
    rows
}

/// Locks that come and go: with each turn one begins and the oldest ends. What is the matter with them differs.
pub(crate) fn passing(started_at_ms: i64, turn: u32, now_ms: i64) -> Vec<LockRow> {
    const KINDS: [(Verdict, &str); 4] = [
        (Verdict::Deadlocked, "Deadlock with another."),
        (Verdict::Stuck, "Stuck: the holder is alive but far beyond its normal hold."),
        (Verdict::Slow, "Held for longer than usual; some wait."),
        (Verdict::Healthy, "Held; some wait."),
    ];
    let lock = |number: u32| {
        let (verdict, sentence) = KINDS.get(number as usize % KINDS.len())?;
        let lock = kind(format!("/app/passing/{number:09}"), *verdict, sentence, (1, 20 + number % 7), 61_000);
        Some(row(lock, started_at_ms, turn, now_ms, RootState::Live))
    };
    (turn..turn.saturating_add(PASSING)).filter_map(lock).collect()
}

const PASSING: u32 = 24;

/// The busy lock as the real projection has one that changes hands 50 times a second.
pub(crate) fn hurried(mut rows: Vec<LockRow>) -> Vec<LockRow> {
    for row in rows.iter_mut().filter(|row| row.path == BUSY) {
        row.hand_offs_in_10_s = Some(500);
        row.sentence = "Changes hands 50 times a second.".to_owned();
    }
    rows
}

const MANY: usize = 2_000;

/// The lock that changes hands.
pub(crate) const BUSY: &str = "/order";

/// How often the lock changed hands: only the busy one does.
pub(crate) fn turns_of(path: &str, turn: u32) -> u32 {
    if path == BUSY { turn } else { 0 }
}

/// Each holder of the busy lock holds it for so long.
const HOLD_MS: i64 = 2_000;

/// When the holder came that `turn` others held before.
pub(crate) fn came_at_ms(held_since_ms: i64, turn: u32) -> i64 {
    held_since_ms - i64::from(turn) * (HOLD_MS - APART_MS)
}

fn row(kind: Kind, started_at_ms: i64, turn: u32, now_ms: i64, state: RootState) -> LockRow {
    let turn = turns_of(&kind.path, turn);
    let held_since_ms = started_at_ms - kind.held_for_ms + i64::from(turn) * HOLD_MS;
    let came_at_ms = came_at_ms(held_since_ms, turn);
    let waits = i64::from(kind.waiters);
    let first = i64::from(kind.holders);
    let places_sum = waits * first + waits * (waits - 1) / 2;
    let root = if kind.path == "/order" { "/order" } else { "/app" };
    // One whose waiters can't be seen.
    let missing = if kind.path == UNSEEN { vec![Missing::WatchesNotRead] } else { Vec::new() };
    let mut row = LockRow {
        key: kind.path.to_owned(),
        tag: None,
        ensemble: "default".to_owned(),
        root: root.to_owned(),
        recipe: recipe(&kind.path).0,
        recipe_label: recipe(&kind.path).1.to_owned(),
        confidence: Confidence::High,
        verdict: kind.verdict,
        sentence: kind.sentence.to_owned(),
        state,
        holders: Vec::new(),
        holder_count: kind.holders,
        waiter_count: missing.is_empty().then_some(kind.waiters),
        oldest_wait_at_ms: (kind.waiters > 0).then_some(came_at_ms + first * APART_MS),
        wait_is_lower_bound: kind.path == FIXED,
        waiting_since_sum_ms: waits * came_at_ms + places_sum * APART_MS,
        held_since_ms: (kind.holders > 0).then_some(held_since_ms),
        hold_is_lower_bound: matches!(kind.verdict, Verdict::Stuck | Verdict::Orphan),
        findings: findings(kind.verdict),
        depth: depth(kind.waiters, turn, now_ms),
        hand_offs_in_10_s: None,
        missing,
        path: kind.path,
    };
    // The contenders count from the holder; the row shows the first that waits.
    let base = LockRow { oldest_wait_at_ms: Some(came_at_ms), ..row.clone() };
    row.holders = (0..row.holder_count.min(ROW_HOLDERS_MAX)).map(|at| contender(&base, at, turn, now_ms)).collect();
    row
}

fn recipe(path: &str) -> (Recipe, &'static str) {
    match path {
        FIXED | UNSEEN => (Recipe::SingleNodeMutex, "one fixed znode"),
        "/app/leases" => (Recipe::Semaphore, "Curator InterProcessSemaphoreV2"),
        _ => (Recipe::SequentialMutex, "Curator InterProcessMutex"),
    }
}

fn findings(verdict: Verdict) -> Vec<String> {
    let quiet = matches!(verdict, Verdict::Free | Verdict::Healthy | Verdict::Unknown);
    if quiet { Vec::new() } else { vec![verdict.name().to_owned()] }
}

fn depth(waiters: u32, turn: u32, now_ms: i64) -> Depth {
    let peaks = (0..DEPTH_SLICES)
        .map(|slice| u16::try_from(waiters * (5 + (slice * 7 + turn) % 6) / 10).unwrap_or(u16::MAX))
        .collect();
    Depth { until_ms: now_ms - now_ms % 10_000, slice_ms: 2_500, peaks }
}
