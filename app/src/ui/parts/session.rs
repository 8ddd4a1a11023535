//! Names and ages of contenders.

use leptos::prelude::*;

use crate::ui::format::{age, count, visible};
use crate::ui::live::Live;
use crate::wire::{Contender, LockRow, Recipe};

/// Who a contender is: its label, else its session, else its znode.
pub(crate) fn holder_name(contender: &Contender) -> String {
    match (&contender.label, contender.session_id, &contender.node) {
        (Some(label), _, _) => visible(label),
        (None, Some(session), _) => session.to_string(),
        (None, None, Some(node)) => visible(node),
        (None, None, None) => "owner unknown".to_owned(),
    }
}

/// How many wait; unknown where waiters have no znode.
pub(crate) fn waiters_text(row: &LockRow) -> String {
    if row.recipe == Recipe::SingleNodeMutex { "?".to_owned() } else { count(row.waiter_count) }
}

/// A time that grows while it is looked at.
#[component]
pub(crate) fn Age(
    /// Since when; nothing is shown for None.
    #[prop(into)]
    since_ms: Signal<Option<i64>>,
    /// It may be longer than that.
    #[prop(into, default = Signal::stored(false))]
    at_least: Signal<bool>,
) -> impl IntoView {
    let live = Live::of_app();
    let text = move || {
        let since_ms = since_ms.get()?;
        let sign = if at_least.get() { "≥ " } else { "" };
        Some(format!("{sign}{}", age(since_ms, live.now_ms())))
    };
    let title = move || at_least.get().then_some("At least: it was already held when we first looked");
    view! { <span class="age" title=title>{text}</span> }
}
