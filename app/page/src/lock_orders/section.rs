//! The section: what may end in a deadlock, with who does what, and every order as a table.

use std::sync::Arc;

use leptos::prelude::*;

use super::words;
use crate::erase::{erase, view};
use crate::exact::Exact;
use crate::explain::explained_term;
use crate::form_token::form_token;
use crate::format::{date, middle, visible};
use crate::parts::{Columns, lock_url, mark, marked, reason_field, select_field, session_url, table_of, text};
use crate::past;
use crate::ports::{FormTokens, Source};
use lockscope_view::{LockOrder, LockOrders, OrderSeen, OrderSnooze, OrderWarning, Person};

/// Orders drawn as rows, those seen most first.
const ROWS_MAX: usize = 50;
const NAME_CHARS: usize = 40;

const COLUMNS: Columns = &[
    ("While holding", ""),
    ("Asked for", ""),
    (words::TIMES, "table-number"),
    (words::SESSIONS, "table-number"),
    (words::LAST, ""),
];

/// The section as markup; `forms`: the tokens of
/// the forms that silence a warning; None: without forms.
pub fn lock_orders_markup(orders: &LockOrders, now_ms: i64, forms: Option<FormTokens>) -> String {
    text(now_ms, || {
        let may_act = forms.is_some();
        provide_context(forms.unwrap_or_default());
        section(orders, may_act)
    })
}

/// What is in the document at first: all of it, for whoever has no script.
pub(crate) fn initial() -> String {
    let Some(source) = use_context::<Arc<dyn Source>>() else { return String::new() };
    let may_act = use_context::<Person>().is_some_and(|person| person.may_release) && !past::is_shown();
    section(&source.orders(), may_act).to_html().replace("<!>", "")
}

fn section(orders: &LockOrders, may_act: bool) -> AnyView {
    let (silent, loud): (Vec<_>, Vec<_>) = orders.warnings.iter().partition(|warning| warning.snoozed_by.is_some());
    let warnings = loud.into_iter().chain(silent).map(|one| warning(one, may_act)).collect_view();
    let is_given = |snooze: &OrderSnooze| {
        orders.warnings.iter().filter_map(|warning| warning.snoozed_by.as_ref()).any(|by| by.id == snooze.id)
    };
    let rest: Vec<&OrderSnooze> = orders.snoozes.iter().filter(|one| !is_given(one)).collect();
    let rest = (!rest.is_empty()).then(|| snoozes(&rest, may_act));
    let all = (!orders.edges.is_empty()).then(|| table(&orders.edges));
    view! {
        <section class="part" aria-labelledby="orders-title" data-testid="lock-orders">
            <h2 class="part-title" id="orders-title">{explained_term("lock-order", words::TITLE)}</h2>
            <p class="quiet" data-testid="orders-lead">{words::lead(orders)}</p>
            {warnings}
            {rest}
            {all}
        </section>
    }
}

fn warning(warning: &OrderWarning, may_act: bool) -> AnyView {
    let closest = warning.closest_ms.zip(warning.closest_at_ms).map(|(ms, at_ms)| {
        view! { <p class="quiet" data-testid="orders-closest">{marked(words::CLOSEST)}": "{words::closest(ms)}{instant(at_ms)}"."</p> }
    });
    let text = visible(&warning.sentence);
    let (severity, sentence, noted, form) = match &warning.snoozed_by {
        None => ("warning", view! { <p>{text}</p> }, None, may_act.then(|| snooze_form(warning))),
        Some(snooze) => ("info", view! { <p><s>{text}</s></p> }, Some(snoozed(snooze, may_act)), None),
    };
    let last = warning.last.iter().map(|seen| one(&warning.ensemble, seen)).collect_view();
    view! {
        <div class="finding" data-severity=severity data-testid="order-warning" data-snoozed=mark(warning.snoozed_by.is_some())>
            {sentence}
            {noted}
            <p class="quiet" data-testid="orders-seen">{words::seen(warning)}{marked(words::SURE)}": "{words::confidence(warning)}</p>
            {closest}
            <ul class="bullets">{last}</ul>
            {form}
        </div>
    }
}

fn snoozed(snooze: &OrderSnooze, may_act: bool) -> AnyView {
    let until = match snooze.until_at_ms {
        Some(at_ms) => view! { <span>" "{marked(words::SNOOZED_UNTIL)}" "{instant(at_ms)}</span> },
        None => view! { <span>{words::FOR_GOOD}</span> },
    };
    let end = may_act.then(|| {
        view! {
            <form method="post" action="/waits/orders/snooze/end">
                {form_token("/waits/orders/snooze/end")}
                <input type="hidden" name="id" value=snooze.id.to_string() />
                <input type="hidden" name="ensemble" value=Exact(snooze.ensemble.clone()) />
                <button class="tool" type="submit">"End"<span class="sr-only">{words::of_snooze(&snooze.classes)}</span></button>
            </form>
        }
    });
    view! {
        <p class="quiet" data-testid="order-snoozed">
            {words::SNOOZED}<bdi>{middle(&visible(&snooze.by), NAME_CHARS)}</bdi>{until}{words::BECAUSE}<bdi>{visible(&snooze.reason)}</bdi>
        </p>
        {end}
    }
}

fn snooze_form(warning: &OrderWarning) -> AnyView {
    let classes = warning.classes();
    let of_which = words::of_snooze(&classes);
    let class = |class: String| view! { <input type="hidden" name="class" value=Exact(class) /> };
    let length = |(value, text): (&'static str, &'static str)| view! { <option value=value>{text}</option> };
    view! {
        <details class="waits-fold" data-testid="order-snooze">
            <summary>{words::SNOOZE}<span class="sr-only">{of_which}</span></summary>
            <form method="post" action="/waits/orders/snooze">
                {form_token("/waits/orders/snooze")}
                <input type="hidden" name="ensemble" value=Exact(warning.ensemble.clone()) />
                {classes.into_iter().map(class).collect_view()}
                {reason_field(words::REASON, words::MEANS)}
                <div class="release-buttons">
                    {select_field("for_ms", words::HOW_LONG, words::LENGTHS.map(length).collect_view())}
                    <button class="tool" type="submit">"Snooze"</button>
                </div>
            </form>
        </details>
    }
}

/// Snoozes of what is not warned of at present.
fn snoozes(rest: &[&OrderSnooze], may_act: bool) -> AnyView {
    let one = |snooze: &&OrderSnooze| {
        view! { <li><bdi>{visible(&snooze.classes.join(", "))}</bdi>{snoozed(snooze, may_act)}</li> }
    };
    view! {
        <details class="fold" data-testid="order-snoozes">
            <summary>{words::others(rest.len())}</summary>
            <ul class="bullets">{rest.iter().map(one).collect_view()}</ul>
        </details>
    }
}

/// Who did what, the last time.
fn one(ensemble: &str, seen: &OrderSeen) -> AnyView {
    let name = seen.label.as_deref().map_or_else(|| seen.session_id.to_string(), visible);
    view! {
        <li>
            <a href=session_url(ensemble, seen.session_id) title=name.clone()><bdi>{middle(&name, NAME_CHARS)}</bdi></a>
            " held "{lock(ensemble, &seen.held)}" and asked for "{lock(ensemble, &seen.wanted)}":"
            {words::last(seen.count)}{instant(seen.at_ms)}"."
        </li>
    }
}

fn lock(ensemble: &str, path: &str) -> AnyView {
    let shown = visible(path);
    view! { <a href=lock_url(ensemble, path) title=shown.clone()><bdi>{middle(&shown, NAME_CHARS)}</bdi></a> }
}

fn table(edges: &[LockOrder]) -> AnyView {
    let mut edges: Vec<&LockOrder> = edges.iter().collect();
    edges.sort_by_key(|edge| std::cmp::Reverse(edge.count));
    let rest = edges.len().saturating_sub(ROWS_MAX);
    let row = |edge: &&LockOrder| {
        view! {
            <tr>
                <td><bdi>{visible(&edge.held)}</bdi></td>
                <td><bdi>{visible(&edge.wanted)}</bdi></td>
                <td class="table-number">{crate::format::count(edge.count)}</td>
                <td class="table-number">{crate::format::count(u64::from(edge.sessions))}</td>
                <td>{instant(edge.last_at_ms)}</td>
            </tr>
        }
    };
    let rows = edges.iter().take(ROWS_MAX).map(row).collect_view();
    let more = (rest > 0).then(|| view! { <p class="quiet">{words::more(rest)}</p> });
    view! {
        <details class="fold" data-testid="orders-all">
            <summary>{words::every(edges.len())}</summary>
            {table_of("table", None, COLUMNS, erase(rows))}
            {more}
            <p class="quiet"><a href="/api/v1/orders" rel="external" target="_blank">{words::THE_REST}</a></p>
        </details>
    }
}

/// An instant that the script shows on the clock of whoever looks.
fn instant(at_ms: i64) -> AnyView {
    let utc = date(at_ms);
    let shown = utc.trim_end_matches(" UTC").to_owned();
    let machine = shown.replacen(' ', "T", 1) + "Z";
    view! { <time datetime=machine title=utc data-ms=at_ms>{shown}</time> }
}
