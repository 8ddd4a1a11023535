//! ZooKeeper's transaction log against the lives of contenders that the database has.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lockscope_demo::PrivateZooKeeper;
use lockscope_history::derive::histogram_of;
use lockscope_history::store::rows::SpanEnd;
use lockscope_private_postgres::PrivatePostgres;
use lockscope_txn_log::{Change, Multi, Transaction};

use super::traffic::{Traffic, is_kept};
use crate::harness::{DEADLINE, STEP};
use crate::txn_log::{files, transactions};

/// By how much later than the leader took it up a deletion may be seen, on a machine that is busy.
const LATE_MS: i64 = 1_500;

/// The same of a server that runs, in whose gap it may have gone.
const SEEN_MS: i64 = 250;

/// A contender that came and went, as the log has it.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) path: String,
    pub(super) came_ms: i64,
    pub(super) went_ms: i64,
}

/// Everything that the server wrote so far.
pub(super) fn all(server: &PrivateZooKeeper) -> Vec<Transaction> {
    files(server, "log.").iter().flat_map(|(_, path)| transactions(path).0).collect()
}

/// All that came and went, by czxid.
pub(super) fn lives(transactions: &[Transaction]) -> BTreeMap<i64, Life> {
    let (mut there, mut lives) = (BTreeMap::<String, (i64, i64)>::new(), BTreeMap::new());
    let mut sorted: Vec<&Transaction> = transactions.iter().collect();
    sorted.sort_by_key(|transaction| transaction.zxid);
    for Transaction { zxid, time_ms, change, .. } in sorted {
        let parts = match change {
            Change::Multi(Multi::Done(parts)) => parts.iter().collect(),
            one => vec![one],
        };
        let mut gone = |path: &String, there: &mut BTreeMap<String, (i64, i64)>| {
            if let Some((czxid, came_ms)) = there.remove(path) {
                lives.insert(czxid, Life { path: path.clone(), came_ms, went_ms: *time_ms });
            }
        };
        for part in parts {
            match part {
                Change::Create(create) => drop(there.insert(create.path.clone(), (*zxid, *time_ms))),
                Change::Delete { path, .. } => gone(path, &mut there),
                Change::CloseSession { paths: Some(paths) } => paths.iter().for_each(|path| gone(path, &mut there)),
                _ => {}
            }
        }
    }
    lives
}

/// What the database says of them.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Lives that must be kept.
    pub(super) due: usize,
    /// Of these, in a gap that is told.
    pub(super) in_gaps: usize,
    /// Of these, seen and counted in their minute without a row of their own: they went before they could be read, as
    /// `docs/api.md` says. A server that gets no CPU time for as long as a life lasts sees both ends of it at once.
    pub(super) unread: usize,
    /// Neither kept, nor in a gap, nor counted: path and when it went.
    pub(super) missing: Vec<Life>,
    /// Kept more than once: czxid.
    pub(super) double: Vec<i64>,
    /// Kept, and not so in the log.
    pub(super) wrong: Vec<String>,
    /// Gaps, from when until when, ms since the epoch.
    pub(super) gaps: Vec<(i64, i64)>,
}

/// A database that can be asked, and prints rows as `psql -qAt` does.
pub(super) trait Asked {
    async fn ask(&self, sql: &str) -> String;
}

impl Asked for PrivatePostgres {
    async fn ask(&self, sql: &str) -> String {
        self.sql(sql).await.unwrap()
    }
}

async fn rows(postgres: &impl Asked, sql: &str) -> Vec<Vec<String>> {
    let text = postgres.ask(sql).await;
    text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect()
}

fn number(text: &str) -> i64 {
    text.parse().unwrap()
}

/// Gaps. A server that starts again reads the root behind the gap first, and says so of itself: until then nothing was seen.
async fn gaps(postgres: &impl Asked) -> Vec<(i64, i64)> {
    let sql =
        "SELECT from_at, to_at, coalesce((SELECT live.at FROM lockscope.fact live WHERE path = '/a' AND code = 'live'
        AND live.at >= to_at AND EXISTS (SELECT FROM lockscope.fact WHERE path = '/a' AND code IN ('stale', 'syncing')
        AND at BETWEEN to_at AND to_at + 1000 AND at <= live.at) ORDER BY number LIMIT 1), to_at)
        FROM lockscope.gap ORDER BY from_at";
    let all = rows(postgres, sql).await;
    all.iter().map(|row| (number(&row[0]), number(&row[2]))).collect()
}

/// Compares both. Only lives of queues must be kept one by one, whatever else happens; what is kept must be right, whichever it is.
pub(super) async fn compare(server: &PrivateZooKeeper, postgres: &impl Asked) -> Verdict {
    let lives = lives(&all(server));
    let mut verdict = Verdict::default();
    let gaps = gaps(postgres).await;
    let mut kept = BTreeMap::new();
    let sql = "SELECT czxid, path, node, joined_at, left_at FROM lockscope.span WHERE path LIKE '/a/%'";
    for row in rows(postgres, sql).await {
        let czxid = number(&row[0]);
        let (path, joined, left) = (format!("{}/{}", row[1], row[2]), number(&row[3]), number(&row[4]));
        if kept.insert(czxid, left).is_some() {
            verdict.double.push(czxid);
        }
        // Who was there when a gap began, and not when it ended, went somewhen in it.
        let is_in_gap = |at: i64| gaps.iter().any(|(from, to)| *from <= at + LATE_MS && at - LATE_MS <= *to);
        let is_right = lives.get(&czxid).is_some_and(|life| {
            let late = left - life.went_ms;
            life.path == path
                && (joined - life.came_ms).abs() <= LATE_MS
                && ((-LATE_MS..=LATE_MS).contains(&late) || is_in_gap(life.went_ms))
        });
        if !is_right {
            verdict.wrong.push(format!("{czxid:#x} {path} {joined} {left}, of {:?}", lives.get(&czxid)));
        }
    }
    for (czxid, life) in lives.iter().filter(|(_, life)| is_kept(&life.path)) {
        verdict.due += 1;
        if kept.contains_key(czxid) {
            continue;
        }
        // It was seen to go at some moment from the one of the log on.
        if gaps.iter().any(|(from, to)| *from <= life.went_ms + SEEN_MS && life.went_ms <= *to) {
            verdict.in_gaps += 1;
        } else {
            verdict.missing.push(life.clone());
        }
    }
    let (mut counted, missing) = (counted_without_row(postgres).await, verdict.missing.len());
    verdict.missing.retain(|life| {
        let lock = life.path.rsplit_once('/').map_or("", |(lock, _)| lock);
        counted.get_mut(lock).filter(|left| **left > 0).map(|left| *left -= 1).is_none()
    });
    verdict.unread = missing - verdict.missing.len();
    verdict.gaps = gaps;
    verdict
}

/// How many lives were seen to end, by the minutes of each lock, beyond those that have a row.
async fn counted_without_row(postgres: &impl Asked) -> BTreeMap<String, i64> {
    let mut counted = BTreeMap::<String, i64>::new();
    let minutes = "SELECT path, gave_up, encode(holds, 'hex') FROM lockscope.minute WHERE path LIKE '/a/%'";
    for row in rows(postgres, minutes).await {
        let holds = histogram_of(&bytes_of(&row[2])).count();
        *counted.entry(row[0].clone()).or_default() += number(&row[1]) + i64::try_from(holds).unwrap();
    }
    // Of whoever ended in a gap, or held before we looked, no hold is counted.
    let unknown = SpanEnd::Unknown as i64;
    let spans = format!(
        "SELECT path, count(*) FROM lockscope.span WHERE path LIKE '/a/%' AND how <> {unknown} AND NOT is_lower_bound
        GROUP BY path"
    );
    for row in rows(postgres, &spans).await {
        *counted.entry(row[0].clone()).or_default() -= number(&row[1]);
    }
    counted
}

fn bytes_of(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// Ends the traffic, and waits until everything that must be kept is: what is derived is written some seconds later.
pub(super) async fn judged(server: &PrivateZooKeeper, postgres: &impl Asked, traffic: Traffic) -> Verdict {
    traffic.end().await;
    let begin = Instant::now();
    loop {
        let verdict = compare(server, postgres).await;
        if verdict.missing.is_empty() || begin.elapsed() > DEADLINE {
            return verdict;
        }
        tokio::time::sleep(STEP * 20).await;
    }
}

pub(super) fn summary(what: &str, verdict: &Verdict, changes: u64, took: Duration) -> String {
    let Verdict { due, in_gaps, unread, missing, double, wrong, gaps } = verdict;
    let lasted = || gaps.iter().map(|(from, to)| to - from);
    let (sum, worst) = (lasted().sum::<i64>(), lasted().max().unwrap_or(0));
    format!(
        "{what}: {due} lives that must be kept, {} missing, {unread} counted that went before they could be read, {} double, {} wrong, \
         {in_gaps} in told gaps ({} of {sum} ms, the longest {worst}); {:.0} changes a second",
        missing.len(),
        double.len(),
        wrong.len(),
        gaps.len(),
        changes as f64 / took.as_secs_f64(),
    )
}

pub(super) fn assert_whole(verdict: &Verdict) {
    let Verdict { missing, double, wrong, gaps, .. } = verdict;
    let some = &missing[..missing.len().min(5)];
    assert!(missing.is_empty(), "{} missing, such as {some:#?}, and gaps {gaps:?}", missing.len());
    assert!(double.is_empty(), "double: {double:?}");
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
}
