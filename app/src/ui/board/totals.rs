//! Sums over every lock.

use leptos::prelude::*;

use crate::ui::format::{count, duration};
use crate::ui::html::{Html, Living};
use crate::ui::live::Live;
use crate::wire::Totals;

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
    let total = |name: &str, key: &str, inner: Html| {
        let pair = vec![Html::of("dt", &[], name), Html::tag("dd", &[("data-total", key)], inner.or_dash())];
        Html::tag("div", &[("class", "total")], Html::all(pair))
    };
    let number = |read: fn(&Totals) -> u32| totals.map(|totals| Html::text(&count(read(totals)))).unwrap_or_default();
    let waited = totals.map(|totals| Html::text(&duration(i64::from(totals.waiters) * now_ms - totals.waiting_since_sum_ms)));
    let oldest = totals.and_then(|totals| totals.oldest_wait_at_ms);
    let all = vec![
        total("Locks", "locks", number(|totals| totals.locks)),
        total("Held", "held", number(|totals| totals.held)),
        total("Contended", "contended", number(|totals| totals.contended)),
        total("Waiting", "waiters", number(|totals| totals.waiters)),
        total("Warnings", "findings", number(|totals| totals.findings)),
        total("Waiting time, all", "waited", waited.unwrap_or_default()),
        total("Oldest wait", "oldest", Html::age(oldest, false, now_ms)),
    ];
    Html::tag("dl", &[("class", "totals"), ("data-testid", "totals")], Html::all(all))
}
