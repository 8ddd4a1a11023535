//! What needs somebody: one line a problem, worst first, with who, since when, whom it hurts, and the next step. Where
//! nothing does, one sentence says so.

use leptos::prelude::*;

use crate::erase::{dynamic, view};
use crate::explain::{explained, explained_verdict};
use crate::format::{count, middle, plural, visible};
use crate::live::Live;
use crate::parts::{Age, StepPlace, Tag, current, filled, finding_word, headline, rows, step, wait_least};
use lockscope_wire::guide::anchor;
use lockscope_wire::{BoardHead, LockProblem, LockQuery, Totals};

/// Longest name of a lock; the whole is in its title.
const PATH_CHARS: usize = 56;

/// The block above the list.
#[component]
pub(super) fn NeedsYou() -> AnyView {
    let live = Live::of_app();
    let problems = Memo::new(move |_| live.board(|board| board.head.problems.clone()).unwrap_or_default());
    let number = Memo::new(move |_| live.board(|board| board.head.problem_count).unwrap_or_default());
    let is_live = Memo::new(move |_| current(live).is_live());
    let worst = move || problems.with(|problems| problems.first().map(|problem| problem.verdict.name()));
    view! {
        <section class="needs dims" aria-labelledby="needs-title" data-testid="needs" data-worst=worst>
            {dynamic(move || if number.get() > 0 { title(number.get()) } else { calm(live, is_live.get()) })}
            <ol class="needs-list">{rows(problems, |problem| &problem.key, problem)}</ol>
            {dynamic(move || more(number.get(), problems.with(Vec::len)))}
        </section>
    }
}

fn title(number: u32) -> AnyView {
    let text = if number == 1 { "1 needs you".to_owned() } else { format!("{} need you", count(number)) };
    view! { <h2 class="needs-title" id="needs-title">{text}</h2> }
}

/// Nothing needs anybody, as far as is known.
fn calm(live: Live, is_live: bool) -> AnyView {
    let Some(totals) = live.board(|board| calm_totals(&board.head)).flatten() else {
        return view! { <h2 class="sr-only" id="needs-title">"What needs you"</h2> };
    };
    let all = if totals.locks == 1 { "1 lock is".to_owned() } else { format!("All {} locks are", count(totals.locks)) };
    let all = if is_live { format!("{all} fine.") } else { "Nothing needed you when this was last known.".to_owned() };
    let waits = match totals.waiters {
        0 => "nobody waits".to_owned(),
        1 => "1 waits".to_owned(),
        many => format!("{} wait", count(many)),
    };
    let longest = totals.oldest_wait_at_ms.map(|since_ms| {
        view! { ", the longest for " <Age since_ms=Some(since_ms) least=wait_least(totals.incomplete > 0) /> }
    });
    view! {
        <h2 class="needs-calm" id="needs-title" data-testid="all-fine">
            <span class="needs-ok" aria-hidden="true">"✓"</span>
            {all}
            <span class="needs-rest">{format!(" {} held, {waits}", count(totals.held))}{longest}"."</span>
        </h2>
    }
}

/// The totals of a board on which there is something; nothing is claimed of an empty one.
fn calm_totals(head: &BoardHead) -> Option<Totals> {
    (head.totals.locks > 0).then(|| head.totals.clone())
}

fn more(number: u32, shown: usize) -> Option<AnyView> {
    let rest = number.saturating_sub(u32::try_from(shown).unwrap_or(u32::MAX));
    (rest > 0).then(|| {
        view! { <p class="needs-more">{format!("And {}: the list below has them first.", plural(rest.into(), "more problem", "more problems"))}</p> }
    })
}

fn problem(problem: LockProblem) -> AnyView {
    let place = StepPlace { ensemble: problem.ensemble.clone(), here: String::new() };
    let links = problem.locks.iter().enumerate().map(|(at, path)| link(&problem.ensemble, path, at > 0)).collect_view();
    let more = problem.lock_count.saturating_sub(u32::try_from(problem.locks.len()).unwrap_or(u32::MAX));
    let more = (more > 0).then(|| format!(" and {} more", count(more)));
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
                <p class="need-headline" data-testid="headline">{headline(&problem.headline)}</p>
            </div>
            <p class="need-step" data-testid="next-step">{step(&problem.step, &place)}</p>
        </li>
    }
}

fn link(ensemble: &str, path: &str, is_later: bool) -> AnyView {
    let href = LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() }.to_url();
    let whole = visible(path);
    let name = middle(&whole, PATH_CHARS);
    let is_cut = (name != whole).then(|| whole.clone()).and_then(filled);
    view! { {is_later.then_some(", ")} <a class="need-lock" href=href title=is_cut><bdi>{name}</bdi></a> }
}
