//! Deadlocks, each in words, with whose hold is cheapest to release and what may make it none.

use super::table::ensemble_of;
use crate::format::{middle, visible};
use crate::html::Html;
use crate::parts::cycle_mark;
use lockscope_wire::{Cycle, LockQuery, SessionQuery, Waits};

/// The deadlocks.
pub(super) fn cycles(waits: &Waits, now_ms: i64) -> Html {
    let cards = waits.cycles.iter().map(|cycle| card(waits, cycle, now_ms)).collect();
    Html::tag("ul", &[("class", "cycles"), ("aria-label", "Deadlocks")], Html::all(cards))
}

fn card(waits: &Waits, cycle: &Cycle, now_ms: i64) -> Html {
    let ensemble = ensemble_of(waits, cycle.victim);
    let lock = |path: &String| {
        let href = LockQuery { ensemble: ensemble.clone(), path: path.clone(), ..LockQuery::default() }.to_url();
        Html::tag("li", &[], Html::link("mono", &href, path, &middle(&visible(path), 60)))
    };
    let id = cycle.victim.to_string();
    let victim = SessionQuery { ensemble: ensemble.clone(), id: cycle.victim, ..SessionQuery::default() }.to_url();
    let inner = Html::all(vec![
        Html::of("p", &[("class", "cycle-sentence")], &cycle.sentence),
        Html::tag(
            "p",
            &[],
            Html::all(vec![Html::text("Session "), Html::link("mono", &victim, "", &id), Html::text(&format!(" {}", cycle.victim_why))]),
        ),
        Html::tag(
            "p",
            &[("class", "quiet")],
            Html::all(vec![
                Html::text(&format!("Recognised with {} confidence. {} Found ", cycle.confidence, cycle.caveat)),
                Html::age(Some(cycle.since_ms), false, now_ms),
                Html::text(" ago."),
            ]),
        ),
        Html::tag("ul", &[("class", "cycle-locks"), ("aria-label", "Locks in it")], Html::all(cycle.locks.iter().map(lock).collect())),
    ]);
    Html::tag("li", &[("class", "cycle dims"), ("data-cycle", cycle_mark(Some(cycle.verdict))), ("data-testid", "cycle")], inner)
}
