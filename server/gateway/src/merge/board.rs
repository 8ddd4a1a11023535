//! Boards put together: sums, what needs somebody, and the rows in the order that one replica would have them in.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use feed::worse;
use lockscope_wire::guide;
use lockscope_wire::{
    Board, BoardHead, BoardQuery, LockProblem, LockRow, PROBLEMS_MAX, ProblemsLeftOut, Sort, Totals, Verdict, Window,
};

/// Two in one, in no order yet.
pub(super) fn joined(one: Board, other: Board) -> Board {
    let (head, more) = (one.head, other.head);
    let mut problems = head.problems;
    problems.extend(more.problems);
    let mut roots = head.roots;
    roots.extend(more.roots);
    let head = BoardHead {
        as_of: worse(head.as_of, more.as_of),
        totals: totals(head.totals, more.totals),
        roots,
        problems,
        problem_count: head.problem_count.saturating_add(more.problem_count),
        problems_left_out: left_out(head.problems_left_out, more.problems_left_out),
        ensembles_without_evidence: head.ensembles_without_evidence + more.ensembles_without_evidence,
    };
    let mut rows = one.window.rows;
    rows.extend(other.window.rows);
    let total = one.window.total.saturating_add(other.window.total);
    Board { head, window: Window { total, offset: 0, rows } }
}

/// The window that was asked for, and the problems that have a line.
pub(super) fn finished(board: Board, query: &BoardQuery, now_ms: i64) -> Board {
    let Board { mut head, window } = board;
    let (problems, rest) = ranked(head.problems, now_ms);
    head.problems = problems;
    head.problems_left_out = left_out(head.problems_left_out, rest);
    let Window { total, mut rows, .. } = window;
    // Those of one replica are in order already, and the sort is stable: equals stay in it.
    rows.sort_by_cached_key(|row| order(row, query, now_ms));
    let rows = rows.into_iter().skip(query.offset as usize).take(query.limit as usize).collect();
    Board { head, window: Window { total, offset: query.offset, rows } }
}

type Order = (Reverse<bool>, (String, String), (Reverse<(u8, i64)>, (bool, String)));

/// The smallest comes first.
fn order(row: &LockRow, query: &BoardQuery, now_ms: i64) -> Order {
    let is_pinned = query.pins.contains(&row.key);
    let group = if query.group { (row.ensemble.clone(), row.root.clone()) } else { Default::default() };
    let damage =
        i64::from(row.waiter_count.unwrap_or(0)).saturating_mul(now_ms).saturating_sub(row.waiting_since_sum_ms);
    let damage = if row.oldest_wait_at_ms.is_none() { 0 } else { damage };
    let number = match query.sort {
        Sort::Worst => (severity(row), damage),
        Sort::Damage => (0, damage),
        Sort::OldestWait => (0, row.oldest_wait_at_ms.map_or(i64::MIN, |at_ms| -at_ms)),
        Sort::Depth => (0, i64::from(row.waiter_count.unwrap_or(0))),
        Sort::Hold => (0, row.held_since_ms.map_or(i64::MIN, |since_ms| -since_ms)),
        Sort::Path | Sort::Recipe | Sort::Holder => (0, 0),
    };
    let text = match (query.sort, row.holders.first()) {
        (Sort::Recipe, _) => (false, row.recipe_label.clone()),
        (Sort::Holder, Some(first)) => {
            (false, first.label.clone().unwrap_or_else(|| first.node.clone().unwrap_or_default()))
        }
        (Sort::Holder, None) => (true, String::new()),
        // Several replicas' locks by their paths, as one replica has those of one ensemble.
        (Sort::Path, _) => (false, row.path.clone()),
        _ => Default::default(),
    };
    (Reverse(is_pinned), group, (Reverse(number), text))
}

/// How severe a lock is for the order of the board: its verdict where that is a bad one, then a critical finding.
fn severity(row: &LockRow) -> u8 {
    match bad(row.verdict) {
        0 => u8::from(
            row.findings.iter().any(|code| guide::of_finding(code).is_some_and(|guide| guide.severity == "critical")),
        ),
        verdict => verdict,
    }
}

/// A bad verdict's rank; 0 of one that is none.
fn bad(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Free | Verdict::Healthy | Verdict::Unknown => 0,
        Verdict::Slow
        | Verdict::Expiring
        | Verdict::NobodyHome
        | Verdict::Orphan
        | Verdict::Stuck
        | Verdict::MaybeDeadlocked
        | Verdict::DoubleOwner
        | Verdict::Deadlocked => verdict as u8,
    }
}

fn totals(one: Totals, other: Totals) -> Totals {
    let mut verdicts: BTreeMap<Verdict, u32> = BTreeMap::new();
    for (verdict, locks) in one.verdicts.into_iter().chain(other.verdicts) {
        *verdicts.entry(verdict).or_default() += locks;
    }
    Totals {
        locks: one.locks.saturating_add(other.locks),
        held: one.held.saturating_add(other.held),
        waiters: one.waiters.saturating_add(other.waiters),
        incomplete: one.incomplete.saturating_add(other.incomplete),
        contended: one.contended.saturating_add(other.contended),
        waiting_since_sum_ms: one.waiting_since_sum_ms.saturating_add(other.waiting_since_sum_ms),
        oldest_wait_at_ms: one.oldest_wait_at_ms.into_iter().chain(other.oldest_wait_at_ms).min(),
        findings: one.findings.saturating_add(other.findings),
        verdicts: verdicts.into_iter().rev().collect(),
    }
}

fn left_out(mut one: Vec<ProblemsLeftOut>, other: Vec<ProblemsLeftOut>) -> Vec<ProblemsLeftOut> {
    for more in other {
        match one.iter_mut().find(|kind| (kind.verdict, &kind.finding) == (more.verdict, &more.finding)) {
            Some(kind) => kind.count = kind.count.saturating_add(more.count),
            None => one.push(more),
        }
    }
    one
}

/// Those that have a line, worst first: the first of each kind before a second of any; and the rest by kind.
fn ranked(mut problems: Vec<LockProblem>, now_ms: i64) -> (Vec<LockProblem>, Vec<ProblemsLeftOut>) {
    let severity = |problem: &LockProblem| if problem.finding.is_some() { 1 } else { bad(problem.verdict) };
    let damage = |problem: &LockProblem| {
        i64::from(problem.waiter_count).saturating_mul(now_ms).saturating_sub(problem.waiting_since_sum_ms)
    };
    problems.sort_by_key(|problem| (Reverse(severity(problem)), Reverse(damage(problem))));
    let mut kinds: Vec<(Verdict, Option<String>)> = Vec::new();
    let mut places: Vec<(bool, usize)> = Vec::new();
    for (at, problem) in problems.iter().enumerate() {
        let kind = (problem.verdict, problem.finding.clone());
        let is_known = kinds.contains(&kind);
        if !is_known {
            kinds.push(kind);
        }
        places.push((is_known, at));
    }
    places.sort_unstable();
    let shown: Vec<usize> = places.into_iter().take(PROBLEMS_MAX).map(|(_, at)| at).collect();
    let (mut lines, mut rest) = (Vec::new(), Vec::new());
    for (at, problem) in problems.into_iter().enumerate() {
        if shown.contains(&at) {
            lines.push(problem);
        } else {
            let one = ProblemsLeftOut { verdict: problem.verdict, finding: problem.finding, count: 1 };
            rest = left_out(rest, vec![one]);
        }
    }
    (lines, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::{AsOf, Headline, RootState, Step};

    fn problem(key: &str, verdict: Verdict, waiters: u32) -> LockProblem {
        LockProblem {
            key: key.to_owned(),
            ensemble: String::new(),
            tag: None,
            verdict,
            finding: None,
            locks: Vec::new(),
            lock_count: 1,
            headline: Headline::default(),
            waiter_count: waiters,
            waiting_since_sum_ms: 0,
            step: Step::default(),
            looked_after: None,
        }
    }

    fn board(state: RootState, locks: u32, problems: Vec<LockProblem>) -> Board {
        let totals =
            Totals { locks, verdicts: vec![(Verdict::Stuck, 1), (Verdict::Free, locks - 1)], ..Totals::default() };
        let as_of = AsOf { state, ..AsOf::default() };
        let problem_count = u32::try_from(problems.len()).unwrap();
        let head = BoardHead { as_of, totals, problems, problem_count, ..BoardHead::default() };
        Board { head, window: Window::default() }
    }

    #[test]
    fn sums_add_up_and_the_worst_state_speaks() {
        let one = joined(board(RootState::Live, 3, vec![]), board(RootState::Stale, 4, vec![]));
        assert_eq!((one.head.as_of.state, one.head.totals.locks), (RootState::Stale, 7));
        assert_eq!(one.head.totals.verdicts, [(Verdict::Stuck, 2), (Verdict::Free, 5)]);
    }

    #[test]
    fn a_flood_of_one_kind_at_one_replica_hides_no_other() {
        let stuck = (0..8).map(|at| problem(&format!("s{at}"), Verdict::Stuck, 100 - at)).collect();
        let orphan = vec![problem("o", Verdict::Orphan, 1)];
        let both = joined(board(RootState::Live, 9, stuck), board(RootState::Live, 9, orphan));
        let done = finished(both, &BoardQuery::default(), 1_000);
        let keys: Vec<&str> = done.head.problems.iter().map(|problem| &*problem.key).collect();
        assert_eq!(keys, ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "o"]);
        assert_eq!((done.head.problem_count, done.head.problems_left_out[0].count), (9, 1));
    }
}
