//! What made-up members report: every state an answer can be in, complete and not.

use lockscope_view::{
    FiredRow, Herd, HerdKnown, HoldEnd, LockRow, MemberRole, MemberStatus, PastHolder, SessionId, SourceState, Trust,
    Zxid,
};

const NEWEST: i64 = 0x2_0000_2100;

/// How far what is said of a lock can be trusted.
pub(crate) fn trust(row: &LockRow, now_ms: i64) -> Trust {
    let asked_at_ms = now_ms / 5_000 * 5_000;
    let all = Trust {
        connections_at_ms: Some(asked_at_ms),
        watches_at_ms: Some(asked_at_ms - 700),
        members: 3,
        members_heard: 3,
        clock_offset_ms: Some(12),
        clock_error_ms: Some(4),
        zxid_behind: Some(0),
    };
    match row.path.as_str() {
        "/app/stuck" => Trust {
            connections_at_ms: None,
            watches_at_ms: None,
            members_heard: 2,
            clock_error_ms: None,
            zxid_behind: Some(1_204),
            ..all
        },
        "/app/leases" => Trust { watches_at_ms: None, zxid_behind: Some(1), ..all },
        "/app/two" => Trust::default(),
        _ => all,
    }
}

/// What a release wakes.
pub(crate) fn herd(row: &LockRow) -> Option<Herd> {
    let (wakes, known) = match row.path.as_str() {
        "/app/herd" => (500, HerdKnown::Counted),
        "/app/fixed" => (3, HerdKnown::Counted),
        "/app/stuck" => (12, HerdKnown::AtLeast),
        "/app/leases" | "/app/two" => return None,
        _ if row.waiter_count.is_none_or(|count| count == 0) => return None,
        _ => (1, HerdKnown::ByRule),
    };
    Some(Herd { wakes: Some(wakes), known, bytes: Some(u64::from(wakes) * (32 + row.path.len() as u64 + 16)) })
}

/// What fired lately, where waiters watch children.
pub(crate) fn fired(row: &LockRow) -> Vec<FiredRow> {
    if row.path != "/app/leases" {
        return Vec::new();
    }
    let fired = |member: &str, deletions, child_changes, woken_by_child_changes| FiredRow {
        member: member.to_owned(),
        over_ms: 5_000,
        deletions,
        woken_by_deletions: deletions,
        child_changes,
        woken_by_child_changes,
    };
    vec![fired("zk1:2181", 0, 12, 480), fired("zk2:2181", 3, 12, 96), fired("zk3:2181", 1, 1, 1)]
}

/// As many as the core keeps.
const PAST_MAX: i64 = 16;

/// The holder of a turn of the lock that changes hands all the time.
fn past_of_busy(row: &LockRow, turn: i64) -> PastHolder {
    let until_ms = row.held_since_ms.unwrap_or_default() + turn * 20;
    PastHolder {
        node: format!("lock-{turn:010}"),
        session_id: Some(SessionId(0x0100_00a1_b2c0_0100 + turn)),
        label: Some(format!("worker-{}", turn % 97)),
        from_ms: until_ms - 20,
        until_ms,
        session_ended: false,
        is_lower_bound: false,
        address: Some(format!("10.0.4.{}:40112", turn % 200)),
        woke: Some(1),
        how: HoldEnd::Released,
        released_by: None,
        record: None,
    }
}

/// Who held before.
pub(crate) fn past(row: &LockRow, started_at_ms: i64, turn: u32) -> Vec<PastHolder> {
    if row.hand_offs_in_10_s.is_some() {
        return (0..i64::from(turn).min(PAST_MAX)).map(|at| past_of_busy(row, i64::from(turn) - at)).collect();
    }
    if row.path != "/app/herd" {
        return Vec::new();
    }
    let holder = |at: i64| PastHolder {
        node: format!("lock-{:010}", 90 - at),
        session_id: Some(SessionId(0x0100_00a1_b2c0_0100 + at)),
        label: Some(format!("worker-{at}")),
        from_ms: started_at_ms - 245_000 - (at + 1) * 3_400,
        until_ms: started_at_ms - 245_000 - at * 3_400,
        session_ended: at == 2,
        is_lower_bound: at == 3,
        address: (at != 3).then(|| format!("10.0.4.{}:40112", at + 1)),
        woke: (at != 1).then_some(500 - at as u32),
        how: [HoldEnd::Forced, HoldEnd::Released, HoldEnd::SessionEnded, HoldEnd::Unknown][at as usize],
        released_by: (at == 0).then(|| "ada".to_owned()),
        record: (at == 0).then_some(4),
    };
    (0..4).map(holder).collect()
}

/// A member for each state an answer can be in.
pub(crate) fn members(now_ms: i64) -> Vec<MemberStatus> {
    use SourceState::{Denied, Error, NotAsked, Off, Ok, Spared};
    let asked_at_ms = now_ms / 5_000 * 5_000;
    let member = |number: i64, role: Option<MemberRole>, [connections, watches, sessions, health]: [SourceState; 4]| {
        MemberStatus {
            member: format!("zk{number}:2181"),
            number: Some(number),
            by: "four-letter words".to_owned(),
            is_down: false,
            connections,
            watches,
            sessions,
            health,
            remedies: Vec::new(),
            sampled_at_ms: asked_at_ms,
            role,
            version: Some("3.9.3".to_owned()),
            zxid: Some(Zxid(NEWEST - number % 3)),
            behind: Some(number % 3),
            connection_count: Some(412 + number as u64),
            watch_count: Some(1_840 * number as u64),
            outstanding: Some(0),
        }
    };
    let silent = |member: MemberStatus| MemberStatus {
        sampled_at_ms: 0,
        version: None,
        zxid: None,
        behind: None,
        connection_count: None,
        watch_count: None,
        outstanding: None,
        ..member
    };
    vec![
        MemberStatus { by: "AdminServer http://zk1:8080".to_owned(), ..member(1, Some(MemberRole::Leader), [Ok; 4]) },
        MemberStatus {
            watch_count: Some(2_400_118),
            remedies: vec![SPARED.to_owned()],
            ..member(2, Some(MemberRole::Follower), [Ok, Spared, NotAsked, Ok])
        },
        MemberStatus {
            remedies: vec![
                remedy("zk3:2181", "who is connected to it", "cons"),
                remedy("zk3:2181", "who watches what", "wchp"),
            ],
            ..member(3, Some(MemberRole::Follower), [Denied, Denied, NotAsked, Ok])
        },
        MemberStatus { behind: Some(1_204), ..member(4, Some(MemberRole::Observer), [Error, NotAsked, NotAsked, Ok]) },
        silent(member(5, Some(MemberRole::ReadOnly), [Off, Off, Off, Off])),
        MemberStatus { is_down: true, by: String::new(), ..silent(member(6, None, [NotAsked; 4])) },
    ]
}

const SPARED: &str = "zk2:2181 keeps 2400118 watches and is not asked for the list of them: above 200000 the question would hold it up for longer than the 2 s an answer may take";

fn remedy(member: &str, what: &str, word: &str) -> String {
    format!(
        "{member} does not report {what}: the four-letter word `{word}` was tried at {member}: the word is not in its whitelist; no AdminServer of it was found at http://zk3:8080; write `4lw.commands.whitelist=srvr,cons,dump,wchp,mntr` into its configuration, or `admin.enableServer=true` and `admin.serverPort=8080` with --admin-url"
    )
}
