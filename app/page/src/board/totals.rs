//! Sums over every lock.

use leptos::prelude::*;

use super::words;
use crate::erase::{dynamic, erase, view};
use crate::format::{count, duration};
use crate::live::Live;
use crate::parts::{Age, Total, filled, wait_least};
use lockscope_wire::Totals;

/// The line of totals.
#[component]
pub(super) fn TotalsLine() -> AnyView {
    let live = Live::of_app();
    let totals = Memo::new(move |_| live.board(|board| board.head.totals.clone()));
    dynamic(move || line(live, totals.get().as_ref()))
}

fn line(live: Live, totals: Option<&Totals>) -> AnyView {
    let incomplete = totals.map_or(0, |totals| totals.incomplete);
    let (sign, why) = words::at_least(incomplete);
    let number = |read: fn(&Totals) -> u32| totals.map_or("–".to_owned(), |totals| count(read(totals)));
    let least = |read: fn(&Totals) -> u32| match totals {
        Some(totals) => view! { <span title=filled(why.clone())>{format!("{sign}{}", count(read(totals)))}</span> },
        None => erase("–"),
    };
    let waited = match totals {
        Some(totals) => {
            let (waiters, since_sum_ms) = (i64::from(totals.waiters), totals.waiting_since_sum_ms);
            view! { <span title=filled(why.clone())>{move || format!("{sign}{}", duration(waiters * live.now_ms() - since_sum_ms))}</span> }
        }
        None => erase("–"),
    };
    let oldest = totals.and_then(|totals| totals.oldest_wait_at_ms);
    view! {
        <dl class="totals board-totals" data-testid="totals">
            <Total name="Locks" key="locks" value=number(|totals| totals.locks) />
            <Total name="Held" key="held" value=number(|totals| totals.held) />
            <Total name="With waiters" key="contended" value=least(|totals| totals.contended) />
            <Total name="Waiting" key="waiters" value=least(|totals| totals.waiters) />
            <Total name="Findings" key="findings" value=number(|totals| totals.findings) />
            <Total name="Total waiting now" key="waited" value=waited />
            <Total name="Oldest wait" key="oldest" value=view! { <Age since_ms=oldest least=wait_least(incomplete > 0) or="–" /> } />
        </dl>
    }
}
