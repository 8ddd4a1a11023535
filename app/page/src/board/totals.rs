//! Sums over every lock.

use leptos::prelude::*;

use super::words;
use crate::erase::view;
use crate::format::{count, duration};
use crate::live::Live;
use crate::parts::{AgeOf, Since, Total, filled, wait_least};
use lockscope_view::Totals;

/// What a total says of the sums; whether it may not be the whole of it.
type Figure = (fn(&Totals, i64) -> String, bool);

const LOCKS: Figure = (|totals, _| count(totals.locks), false);
const HELD: Figure = (|totals, _| count(totals.held), false);
const CONTENDED: Figure = (|totals, _| count(totals.contended), true);
const WAITERS: Figure = (|totals, _| count(totals.waiters), true);
const FINDINGS: Figure = (|totals, _| count(totals.findings), false);
const WAITED: Figure =
    (|totals, now_ms| duration(i64::from(totals.waiters) * now_ms - totals.waiting_since_sum_ms), true);

/// The line of totals. Only their texts change: those of a busy board do so many times a second.
#[component]
pub(super) fn TotalsLine() -> AnyView {
    let live = Live::of_app();
    let totals = Memo::new(move |_| live.board(|board| board.head.totals.clone()));
    let figure = move |figure| figure_of(live, totals, figure);
    let oldest = Memo::new(move |_| {
        let of = |totals: &Totals| -> Since { (totals.oldest_wait_at_ms, wait_least(totals.incomplete > 0)) };
        totals.with(|totals| totals.as_ref().map(of).unwrap_or_default())
    });
    view! {
        <dl class="totals board-totals" data-testid="totals">
            <Total name="Locks" key="locks" value=figure(LOCKS) />
            <Total name="Held" key="held" value=figure(HELD) />
            <Total name="With waiters" key="contended" value=figure(CONTENDED) />
            <Total name="Waiting" key="waiters" value=figure(WAITERS) />
            <Total name="Findings" key="findings" value=figure(FINDINGS) />
            <Total name="Total waiting now" key="waited" value=figure(WAITED) />
            <Total name="Oldest wait" key="oldest" value=view! { <AgeOf since=oldest /> } />
        </dl>
    }
}

/// One of them; a dash before anything was read.
fn figure_of(live: Live, totals: Memo<Option<Totals>>, (read, may_be_more): Figure) -> AnyView {
    let text = move || {
        totals.with(|totals| {
            totals.as_ref().map_or("–".to_owned(), |totals| {
                let (sign, _) = words::at_least(if may_be_more { totals.incomplete } else { 0 });
                format!("{sign}{}", read(totals, live.now_ms()))
            })
        })
    };
    let why = move || {
        let incomplete = totals.with(|totals| totals.as_ref().map_or(0, |totals| totals.incomplete));
        filled(words::at_least(if may_be_more { incomplete } else { 0 }).1)
    };
    view! { <span title=why>{text}</span> }
}
