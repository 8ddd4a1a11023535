//! Silences, rules and routes, as tables.

use crate::erase::view;
use crate::form_token::form_token;
use leptos::prelude::*;

use super::view::{AlertsView, TriedView};
use super::words;
use crate::format::visible;
use crate::parts::{filled, mark, marked, numbers_way, severity, stamp};
use lockscope_view::{AlertRoute, AlertRule, Silence};

/// A table whose cells stand below each other where it is narrow.
pub(super) fn table(testid: &'static str, caption: String, heads: &[&'static str], rows: Vec<AnyView>) -> AnyView {
    let head = |name: &&'static str| view! { <th scope="col">{marked(name)}</th> };
    view! {
        <div class="overflow-x-auto" tabindex="0" role="group" aria-label=caption>
            <table class="table blame-table alert-table" data-testid=testid>
                <caption class="sr-only">{caption.clone()}</caption>
                <thead><tr>{heads.iter().map(head).collect_view()}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

/// A cell; its name stands above it where the table has no head.
pub(super) fn cell(name: &'static str, content: AnyView) -> AnyView {
    view! { <td data-name=name>{content}</td> }
}

pub(super) fn text(text: String) -> AnyView {
    view! { <bdi>{text}</bdi> }
}

pub(super) fn code(text: &str) -> AnyView {
    view! { <code><bdi>{visible(text)}</bdi></code> }
}

fn quiet(text: &'static str) -> AnyView {
    view! { <span class="quiet">{text}</span> }
}

pub(super) fn silences(of: &AlertsView) -> AnyView {
    let silences = &of.alerts.silences;
    let list = if silences.is_empty() {
        view! { <p class="quiet" data-testid="silences-none">{words::NO_SILENCE}</p> }
    } else {
        let all = [words::WHICH, words::BY, words::REASON, words::UNTIL, words::END];
        let heads = if of.may_act { &all[..] } else { all.split_last().map_or(&all[..], |(_, rest)| rest) };
        let rows = silences.iter().map(|silence| silence_row(of, silence)).collect();
        table("silences", words::caption(words::SILENCES, silences.len()), heads, rows)
    };
    view! {
        <section class="part" aria-labelledby="silences">
            <h2 class="part-title" id="silences">{words::SILENCES}</h2>
            {list}
        </section>
    }
}

fn silence_row(of: &AlertsView, silence: &Silence) -> AnyView {
    let until = view! { {stamp(silence.until_at_ms)} " " <span class="quiet">{words::left(silence.until_at_ms - of.now_ms)}</span> };
    let by = view! { {text(words::name(&silence.by))} " " <span class="quiet">{stamp(silence.at_ms)}</span> };
    let end = of.may_act.then(|| {
        let form = view! {
            <form method="post" action="/alerts/silences/end">
                {form_token("/alerts/silences/end")}
                <input type="hidden" name="id" value=silence.id.to_string() />
                <button class="tool" type="submit">"End"<span class="sr-only">{words::of_silence(silence.id)}</span></button>
            </form>
        };
        cell(words::END, form)
    });
    view! {
        <tr>
            <th scope="row">{text(words::matchers(&silence.matchers))}</th>
            {cell(words::BY, by)}
            {cell(words::REASON, text(words::sentence(&silence.reason)))}
            {cell(words::UNTIL, until)}
            {end}
        </tr>
    }
}

pub(super) fn rules(of: &AlertsView) -> AnyView {
    let heads = [words::NAME, words::WHEN, words::PATH, words::ENSEMBLE, words::FOR, words::SEVERITY, words::TOLD];
    let rules = &of.alerts.rules;
    let rows = rules.iter().map(rule_row).collect();
    view! {
        <section class="part" aria-labelledby="rules">
            <h2 class="part-title" id="rules">{words::RULES}</h2>
            {table("rules", words::caption(words::RULES, rules.len()), &heads, rows)}
            <p class="quiet audit-lead"><a href=TriedView::URL>{words::TRY_WAY}</a> " " {numbers_way()}</p>
        </section>
    }
}

fn rule_row(rule: &AlertRule) -> AnyView {
    let built_in = rule.is_built_in.then(|| view! { " " <span class="chip">{words::BUILT_IN}</span> });
    let or = |at: usize| (at > 0).then_some(words::OR);
    let when = rule.when.iter().enumerate().map(|(at, when)| view! { {or(at)}{code(when)} }).collect_view();
    let path = if rule.path == "**" { quiet(words::ALL_LOCKS) } else { code(&rule.path) };
    let ensemble = rule.ensemble.as_deref().map_or_else(|| quiet(words::EACH), |name| text(words::name(name)));
    let told = if rule.routes.is_empty() {
        quiet(words::NOBODY)
    } else {
        let names: Vec<String> = rule.routes.iter().map(|name| words::name(name)).collect();
        text(names.join(", "))
    };
    view! {
        <tr>
            <th scope="row">{text(words::name(&rule.name))}{built_in}</th>
            {cell(words::WHEN, when.into_any())}
            {cell(words::PATH, path)}
            {cell(words::ENSEMBLE, ensemble)}
            {cell(words::FOR, view! { <span>{words::wait(rule.for_ms)}</span> })}
            {cell(words::SEVERITY, severity(rule.severity, true))}
            {cell(words::TOLD, told)}
        </tr>
    }
}

pub(super) fn routes(of: &AlertsView) -> AnyView {
    let heads = [words::NAME, words::KIND, words::ADDRESS, words::WAITING, words::LAST_SENT, words::TROUBLE];
    let routes = &of.alerts.routes;
    let list = if routes.is_empty() {
        view! { <p class="quiet" data-testid="routes-none">{words::NO_ROUTE}</p> }
    } else {
        let rows = routes.iter().map(route_row).collect();
        table("routes", words::caption(words::ROUTES, routes.len()), &heads, rows)
    };
    view! {
        <section class="part" aria-labelledby="routes">
            <h2 class="part-title" id="routes">{words::ROUTES}</h2>
            {list}
        </section>
    }
}

fn route_row(route: &AlertRoute) -> AnyView {
    let sent = route.sent_at_ms.map_or_else(|| quiet(words::NEVER_SENT), stamp);
    let state = match filled(&*route.trouble) {
        Some(why) => view! { <strong class="audit-outcome" data-kind="stop">{words::trouble(why)}</strong> },
        None => quiet(if route.sent_at_ms.is_some() { words::TAKES } else { words::NONE_YET }),
    };
    view! {
        <tr data-is-bad=mark(!route.trouble.is_empty())>
            <th scope="row">{text(words::name(&route.name))}</th>
            {cell(words::KIND, text(words::name(&route.kind)))}
            {cell(words::ADDRESS, code(&route.url))}
            {cell(words::WAITING, text(words::messages(route.waiting)))}
            {cell(words::LAST_SENT, sent)}
            {cell(words::TROUBLE, state)}
        </tr>
    }
}
