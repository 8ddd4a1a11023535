//! The board: totals over every lock of every ensemble, and a window of rows in the order asked for.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::finding::Severity;
use lockscope_view as view;

use super::acknowledged::Acknowledged;
use super::problems::Problems;
use super::words::{view_recipe, view_verdict};
use super::{ProjectionContext, Terms, Waits, as_of_several, count32};

struct Found<'a> {
    look: ProjectionContext<'a>,
    lock: &'a AssessedLock,
    is_pinned: bool,
    group: (usize, u32),
    key: (u8, i64),
    text: (bool, std::borrow::Cow<'a, str>),
}

/// The board for a query. `acknowledged`: which locks somebody looks at.
pub fn board(looks: &[ProjectionContext<'_>], query: &view::BoardQuery, acknowledged: &Acknowledged) -> view::Board {
    let terms = Terms::parse(&query.q);
    let mut totals = view::Totals::default();
    let mut problems = Problems::new(acknowledged);
    let mut verdicts = [0_u32; view::Verdict::ALL.len()];
    let mut found: Vec<Found<'_>> = Vec::new();
    let meant = looks.iter().enumerate().filter(|(_, look)| look.is_meant(&query.ensemble));
    for (at, look, lock) in meant.flat_map(|(at, look)| look.locks().map(move |lock| (at, look, lock))) {
        let waits = look.counted_waits(lock);
        problems.note(at, look, lock, waits);
        add_totals(&mut totals, lock, waits);
        let verdict = view_verdict(lock.assessment.verdict);
        if let Some(count) = verdicts.get_mut(verdict as usize) {
            *count += 1;
        }
        let fits = query.recipe.is_none_or(|recipe| recipe == view_recipe(lock.recognition.recipe))
            && query.verdict.is_none_or(|wanted| wanted == verdict)
            && (query.root.is_empty() || look.is_root(&query.root, lock))
            && terms.fit(lock);
        if fits {
            let group = if query.group { (at, lock.root.0) } else { (0, 0) };
            let is_pinned = !query.pins.is_empty() && query.pins.contains(&look.ensemble.key(&lock.path));
            found.push(Found {
                look: *look,
                lock,
                is_pinned,
                group,
                key: look.sort_key(query.sort, lock, waits),
                text: look.sort_text(query.sort, lock),
            });
        }
    }
    // Locks come in path order and the sort is stable, so equals stay in path order.
    found.sort_by(|one, other| {
        (other.is_pinned, one.group, other.key, &one.text).cmp(&(one.is_pinned, other.group, one.key, &other.text))
    });
    totals.verdicts = view::Verdict::ALL.into_iter().zip(verdicts).rev().filter(|(_, count)| *count > 0).collect();
    let rows = found
        .iter()
        .skip(query.offset as usize)
        .take(query.limit as usize)
        .map(|found| found.look.row(found.lock))
        .collect();
    let window = view::Window { total: count32(found.len()), offset: query.offset, rows };
    let roots = looks.iter().flat_map(ProjectionContext::root_briefs).collect();
    let problem_count = problems.count();
    let (problems, problems_left_out) = problems.ranked();
    view::Board {
        head: view::BoardHead {
            as_of: as_of_several(looks),
            totals,
            roots,
            problems,
            problem_count,
            problems_left_out,
            ensembles_without_evidence: count32(looks.iter().filter(|look| look.lacks_evidence()).count()),
        },
        window,
    }
}

fn add_totals(totals: &mut view::Totals, lock: &AssessedLock, waits: Waits) {
    totals.findings +=
        count32(lock.assessment.findings.iter().filter(|finding| finding.severity > Severity::Info).count());
    totals.locks += 1;
    let may_be_more = lock.recognition.counts_as_waiting() && !lock.missing().is_empty();
    totals.incomplete += u32::from(may_be_more);
    totals.held += u32::from(!lock.holders.is_empty());
    totals.waiters += waits.count;
    totals.contended += u32::from(waits.count > 0);
    totals.waiting_since_sum_ms += waits.since_sum_ms;
    totals.oldest_wait_at_ms = totals.oldest_wait_at_ms.into_iter().chain(waits.oldest_at_ms).min();
}
