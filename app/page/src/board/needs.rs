//! What needs somebody: one line a problem, worst first, with who, since when, whom it hurts, and the next step. Where
//! nothing does, one sentence says so.

use leptos::prelude::*;

use super::words;
use crate::erase::{dynamic, view};
use crate::explain::{explained, explained_verdict};
use crate::format::{count, middle, visible};
use crate::live::Live;
use crate::parts::{
    Age, StepPlace, Tag, and_more, current, filled, finding_word, headline, lock_url, looked_after, rows, step,
    verdict_word, wait_least,
};
use lockscope_view::guide::anchor;
use lockscope_view::{BoardHead, BoardQuery, LockProblem, ProblemsLeftOut};

/// Longest name of a lock; the whole is in its title.
const PATH_CHARS: usize = 56;

#[component]
pub(super) fn NeedsYou() -> AnyView {
    let live = Live::of_app();
    let problems = Memo::new(move |_| live.board(|board| board.head.problems.clone()).unwrap_or_default());
    let number = Memo::new(move |_| live.board(|board| board.head.problem_count).unwrap_or_default());
    let left_out = Memo::new(move |_| live.board(|board| board.head.problems_left_out.clone()).unwrap_or_default());
    let is_live = Memo::new(move |_| current(live).is_live());
    // Only what the line says: a board changes many times a second.
    let calm_line = Memo::new(move |_| live.board(|board| Calm::of(&board.head, is_live.get())).flatten());
    let without = Memo::new(move |_| live.board(|board| board.head.ensembles_without_evidence).unwrap_or_default());
    let worst = move || problems.with(|problems| problems.first().map(|problem| problem.verdict.name()));
    view! {
        <section class="needs dims" aria-labelledby="needs-title" data-testid="needs" data-worst=worst>
            {dynamic(move || if number.get() > 0 { title(number.get()) } else { calm(calm_line.get()) })}
            <ol class="needs-list">{rows(problems, |problem| &problem.key, problem)}</ol>
            {dynamic(move || more(left_out.get()))}
            {dynamic(move || no_evidence(without.get()))}
        </section>
    }
}

fn title(number: u32) -> AnyView {
    view! { <h2 class="needs-title" id="needs-title">{words::need_you(number)}</h2> }
}

/// What is said where nothing needs anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Calm {
    text: String,
    is_all_known: bool,
    held: u32,
    waiters: u32,
    oldest_wait_at_ms: Option<i64>,
    is_incomplete: bool,
}

impl Calm {
    /// None for a board without locks: nothing is claimed of it.
    fn of(head: &BoardHead, is_live: bool) -> Option<Self> {
        (head.totals.locks > 0).then(|| Self {
            text: words::calm(head, is_live),
            is_all_known: is_live && head.is_all_known(),
            held: head.totals.held,
            waiters: head.totals.waiters,
            oldest_wait_at_ms: head.totals.oldest_wait_at_ms,
            is_incomplete: head.totals.incomplete > 0,
        })
    }
}

fn calm(line: Option<Calm>) -> AnyView {
    let Some(Calm { text, is_all_known, held, waiters, oldest_wait_at_ms, is_incomplete }) = line else {
        return view! { <h2 class="sr-only" id="needs-title">"What needs you"</h2> };
    };
    let longest = oldest_wait_at_ms.map(|since_ms| {
        view! { ", the longest for " <Age since_ms=Some(since_ms) least=wait_least(is_incomplete) /> }
    });
    view! {
        <h2 class="needs-calm" id="needs-title" data-testid="all-fine" data-known=is_all_known.to_string()>
            {is_all_known.then(|| view! { <span class="needs-ok" aria-hidden="true">"✓"</span> })}
            {text}
            <span class="needs-rest">{words::held_and_waits(held, waiters)}{longest}"."</span>
        </h2>
    }
}

/// What has no line: how many of each kind, with a way to their locks.
fn more(left_out: Vec<ProblemsLeftOut>) -> Option<AnyView> {
    let number: u64 = left_out.iter().map(|more| u64::from(more.count)).sum();
    let kind = |(at, more): (usize, ProblemsLeftOut)| {
        let comma = (at > 0).then_some(", ");
        let number = count(more.count);
        let (word, verdict) = match &more.finding {
            Some(code) => (finding_word(code), None),
            None => (verdict_word(more.verdict).to_owned(), Some(more.verdict)),
        };
        match verdict.map(|verdict| BoardQuery { verdict: Some(verdict), ..BoardQuery::default() }) {
            Some(query) => view! { {comma} <a href=format!("/{}", query.to_url_query())>{number}" "{word}</a> },
            None => view! { {comma}{number}" "{word} },
        }
    };
    (number > 0).then(|| {
        let kinds = left_out.into_iter().enumerate().map(kind).collect_view();
        view! { <p class="needs-more" data-testid="needs-more">{words::and_more_problems(number)}{kinds}</p> }
    })
}

/// That dead clients are not recognised, and where it says what would help.
fn no_evidence(ensembles: u32) -> Option<AnyView> {
    (ensembles > 0).then(|| {
        view! {
            <p class="needs-more" data-testid="no-evidence">
                {words::without_evidence(ensembles)}" "<a href="/status">{words::WITHOUT_EVIDENCE_HELP}</a>
            </p>
        }
    })
}

fn problem(problem: LockProblem) -> AnyView {
    let place = StepPlace { ensemble: problem.ensemble.clone(), here: String::new() };
    let links = problem.locks.iter().enumerate().map(|(at, path)| link(&problem.ensemble, path, at > 0)).collect_view();
    let more = problem.lock_count.saturating_sub(u32::try_from(problem.locks.len()).unwrap_or(u32::MAX));
    let more = (more > 0).then(|| format!(" {}", and_more(more)));
    let sign = match &problem.finding {
        Some(code) => {
            let word = view! { <span class="chip" data-severity="critical">{finding_word(code)}</span> };
            explained(anchor("finding", code), word)
        }
        None => explained_verdict(problem.verdict),
    };
    let severity = problem.finding.as_ref().map(|_| "critical");
    view! {
        <li class="need" data-key=visible(&problem.key) data-verdict=problem.verdict.name() data-severity=severity data-testid="need">
            <div>{sign}</div>
            <div class="need-body">
                <p class="need-locks"><Tag of=problem.tag.clone() />{links}{more}</p>
                <p class="need-headline" data-testid="headline">{headline(&problem.headline)}{looked_after(&problem)}</p>
            </div>
            <p class="need-step" data-testid="next-step">{step(&problem.step, &place)}</p>
        </li>
    }
}

fn link(ensemble: &str, path: &str, is_later: bool) -> AnyView {
    let href = lock_url(ensemble, path);
    let whole = visible(path);
    let name = middle(&whole, PATH_CHARS);
    let is_cut = (name != whole).then(|| whole.clone()).and_then(filled);
    view! { {is_later.then_some(", ")} <a class="need-lock" href=href title=is_cut><bdi>{name}</bdi></a> }
}
