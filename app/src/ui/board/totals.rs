//! Sums over every lock.

use leptos::prelude::*;

use crate::ui::format::{count, duration};
use crate::ui::live::Live;
use crate::ui::parts::Age;
use crate::wire::Totals;

/// The line of totals.
#[component]
pub(super) fn TotalsLine() -> impl IntoView {
    let live = Live::of_app();
    let totals = Memo::new(move |_| live.board(|board| board.head.totals.clone()));
    let number = move |read: fn(&Totals) -> u32| move || totals.with(|totals| totals.as_ref().map_or("–".to_owned(), |totals| count(read(totals))));
    let waited = move || {
        let now_ms = live.now_ms();
        totals.with(|totals| {
            totals.as_ref().map_or("–".to_owned(), |totals| duration(i64::from(totals.waiters) * now_ms - totals.waiting_since_sum_ms))
        })
    };
    let oldest = Signal::derive(move || totals.with(|totals| totals.as_ref().and_then(|totals| totals.oldest_wait_at_ms)));
    let nobody = move || oldest.get().is_none().then_some("–");
    view! {
        <dl class="totals" data-testid="totals">
            <div class="total"><dt>"Locks"</dt><dd data-total="locks">{number(|totals| totals.locks)}</dd></div>
            <div class="total"><dt>"Held"</dt><dd data-total="held">{number(|totals| totals.held)}</dd></div>
            <div class="total"><dt>"Contended"</dt><dd data-total="contended">{number(|totals| totals.contended)}</dd></div>
            <div class="total"><dt>"Waiting"</dt><dd data-total="waiters">{number(|totals| totals.waiters)}</dd></div>
            <div class="total"><dt>"Findings"</dt><dd data-total="findings">{number(|totals| totals.findings)}</dd></div>
            <div class="total"><dt>"Waiting time, all"</dt><dd data-total="waited">{waited}</dd></div>
            <div class="total"><dt>"Oldest wait"</dt><dd data-total="oldest"><Age since_ms=oldest />{nobody}</dd></div>
        </dl>
    }
}
