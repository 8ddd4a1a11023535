//! What to do about made-up locks: the real guide, with made-up names.

use lockscope_view::guide::{ActTemplate, Guide, Names, StepTemplate, of_verdict};
use lockscope_view::{Advice, Headline, LockProblem, LockRow, PROBLEMS_MAX, ProblemsLeftOut, Step, StepAct, Verdict};

fn is_bad(row: &LockRow) -> bool {
    row.verdict >= Verdict::Slow
}

fn names(row: &LockRow) -> Names {
    let holder = row.holders.first().and_then(|holder| holder.label.clone()).unwrap_or_else(|| "nobody".to_owned());
    Names {
        holder: holder.clone(),
        holders: holder.clone(),
        host: "10.1.2.3".to_owned(),
        lock: row.path.clone(),
        locks: row.path.clone(),
        znode: row.holders.first().and_then(|holder| holder.node.clone()).unwrap_or_default(),
        victim: holder,
        victim_lock: row.path.clone(),
    }
}

fn step(row: &LockRow, template: &StepTemplate) -> Step {
    let znode = row.holders.first().map(|holder| holder.path.clone());
    let act = match template.act {
        ActTemplate::None => None,
        ActTemplate::FindProcess => {
            Some(StepAct::Copy { command: "ssh 10.1.2.3 \"ss -Htnp 'sport = :41722'\"".to_owned() })
        }
        ActTemplate::PrintZnode => Some(StepAct::Copy { command: format!("get -s \"{}\"", row.path) }),
        ActTemplate::HolderSession => {
            row.holders.first().and_then(|holder| holder.session_id).map(|id| StepAct::Session { id })
        }
        ActTemplate::Waits => Some(StepAct::Waits),
        ActTemplate::ReleaseHolder | ActTemplate::ReleaseVictim => {
            znode.map(|znode| StepAct::Release { lock: row.path.clone(), znode })
        }
    };
    Step { text: names(row).fill(template.text), act }
}

fn headline(row: &LockRow) -> Headline {
    if !matches!(row.verdict, Verdict::Slow | Verdict::Stuck) {
        return Headline { before: row.sentence.clone(), ..Headline::default() };
    }
    Headline {
        before: format!("{} has held it for", names(row).holder),
        since_ms: row.held_since_ms,
        is_lower_bound: row.hold_is_lower_bound,
        after: format!("(usually 0.3 s). {} wait.", row.waiter_count.unwrap_or(0)),
    }
}

fn steps(row: &LockRow) -> impl Iterator<Item = Step> {
    let guide: Option<&Guide> = of_verdict(row.verdict);
    guide.into_iter().flat_map(|guide| guide.steps).map(|template| step(row, template))
}

/// What to do about a lock.
pub(crate) fn advice(row: &LockRow) -> Option<Advice> {
    is_bad(row).then(|| Advice {
        headline: headline(row),
        steps: steps(row).collect(),
        why: of_verdict(row.verdict).map(|guide| guide.says.to_owned()).unwrap_or_default(),
    })
}

/// What needs somebody, and what of it has no line: the two locks of the deadlock are one problem.
pub(crate) fn problems(rows: &[LockRow], now_ms: i64) -> (Vec<LockProblem>, u32, Vec<ProblemsLeftOut>) {
    let mut bad: Vec<&LockRow> = rows.iter().filter(|row| is_bad(row) && row.path != "/app/b").collect();
    let damage = |row: &LockRow| i64::from(row.waiter_count.unwrap_or(0)) * now_ms - row.waiting_since_sum_ms;
    bad.sort_by_key(|row| (std::cmp::Reverse(row.verdict), std::cmp::Reverse(damage(row))));
    let number = u32::try_from(bad.len()).unwrap_or(u32::MAX);
    let problem = |row: &LockRow| {
        let locks =
            if row.path == "/app/a" { vec![row.path.clone(), "/app/b".to_owned()] } else { vec![row.path.clone()] };
        LockProblem {
            key: row.key.clone(),
            ensemble: row.ensemble.clone(),
            tag: row.tag.clone(),
            verdict: row.verdict,
            finding: None,
            lock_count: u32::try_from(locks.len()).unwrap_or(u32::MAX),
            locks,
            headline: headline(row),
            waiter_count: row.waiter_count.unwrap_or(0),
            waiting_since_sum_ms: row.waiting_since_sum_ms,
            step: steps(row).next().unwrap_or_default(),
            looked_after: None,
        }
    };
    let mut left_out: Vec<ProblemsLeftOut> = Vec::new();
    for verdict in bad.iter().skip(PROBLEMS_MAX).map(|row| row.verdict) {
        match left_out.iter_mut().find(|more| more.verdict == verdict) {
            Some(more) => more.count += 1,
            None => left_out.push(ProblemsLeftOut { verdict, finding: None, count: 1 }),
        }
    }
    (bad.into_iter().take(PROBLEMS_MAX).map(problem).collect(), number, left_out)
}
