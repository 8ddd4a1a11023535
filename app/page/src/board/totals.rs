//! Sums over every lock.

use leptos::prelude::*;

use crate::format::{count, duration};
use crate::html::{Html, Living};
use crate::live::Live;
use lockscope_wire::Totals;

/// The line of totals.
#[component]
pub(super) fn TotalsLine() -> impl IntoView {
    let live = Live::of_app();
    let html = move || {
        let now_ms = live.now_ms();
        line(live.board(|board| board.head.totals.clone()).as_ref(), now_ms)
    };
    view! { <Living class="living" html=Signal::derive(html) /> }
}

fn line(totals: Option<&Totals>, now_ms: i64) -> Html {
    let incomplete = totals.map_or(0, |totals| totals.incomplete);
    let (sign, why) = at_least(incomplete);
    let total = |name: &str, key: &str, inner: Html| {
        let pair = vec![Html::of("dt", &[], name), Html::tag("dd", &[("data-total", key)], inner.or_dash())];
        Html::tag("div", &[("class", "total")], Html::all(pair))
    };
    let number = |read: fn(&Totals) -> u32| totals.map(|totals| Html::text(&count(read(totals)))).unwrap_or_default();
    let least = |text: &str| Html::of("span", &[("title", &*why)], &format!("{sign}{text}"));
    let seen = |read: fn(&Totals) -> u32| totals.map(|totals| least(&count(read(totals)))).unwrap_or_default();
    let waited = totals.map(|totals| least(&duration(i64::from(totals.waiters) * now_ms - totals.waiting_since_sum_ms)));
    let oldest = totals.and_then(|totals| totals.oldest_wait_at_ms);
    let all = vec![
        total("Locks", "locks", number(|totals| totals.locks)),
        total("Held", "held", number(|totals| totals.held)),
        total("Contended", "contended", seen(|totals| totals.contended)),
        total("Waiting", "waiters", seen(|totals| totals.waiters)),
        total("Warnings", "findings", number(|totals| totals.findings)),
        total("Waiting time, all", "waited", waited.unwrap_or_default()),
        total("Oldest wait", "oldest", Html::wait(oldest, incomplete > 0, now_ms)),
    ];
    Html::tag("dl", &[("class", "totals"), ("data-testid", "totals")], Html::all(all))
}

/// The sign before a number that may not be the whole of it, and why.
fn at_least(incomplete: u32) -> (&'static str, String) {
    match incomplete {
        0 => ("", String::new()),
        1 => ("≥ ", "At least: not all who wait for 1 lock can be seen".to_owned()),
        many => ("≥ ", format!("At least: not all who wait for {} locks can be seen", count(many))),
    }
}
