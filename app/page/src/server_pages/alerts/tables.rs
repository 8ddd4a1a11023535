//! Silences, rules and routes, as tables.

use crate::erase::view;
use crate::form_token::form_token;
use leptos::prelude::*;

use super::view::{AlertsView, TriedView};
use super::words;
use crate::format::{count, visible};
use crate::parts::{Section, filled, mark, marked, numbers_way, severity, stamp};
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

/// The cells of a row, the first of which names it; above each other stands its name where the table has no head.
pub(super) fn cells(heads: &[&'static str], first: AnyView, others: impl IntoIterator<Item = AnyView>) -> AnyView {
    let cell = |(name, content): (&&'static str, AnyView)| view! { <td data-name=*name>{content}</td> };
    let others = heads.iter().skip(1).zip(others).map(cell).collect_view();
    view! { <th scope="row">{first}</th>{others} }
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

const SILENCES: [&str; 5] = [words::WHICH, words::BY, words::REASON, words::UNTIL, words::END];
const RULES: [&str; 7] =
    [words::NAME, words::WHEN, words::PATH, words::ENSEMBLE, words::FOR, words::SEVERITY, words::SENT_TO];
const ROUTES: [&str; 6] = [words::NAME, words::KIND, words::ADDRESS, words::WAITING, words::LAST_SENT, words::TROUBLE];

pub(super) fn silences(of: &AlertsView) -> AnyView {
    let silences = &of.alerts.silences;
    let list = if silences.is_empty() {
        view! { <p class="quiet" data-testid="silences-none">{words::NO_SILENCE}</p> }
    } else {
        // Only who may end one has a column for that.
        let (_, for_viewers) = SILENCES.split_last().unwrap_or((&"", &[]));
        let heads = if of.may_act { &SILENCES[..] } else { for_viewers };
        let rows = silences.iter().map(|silence| silence_row(of, silence)).collect();
        table("silences", words::caption(words::SILENCES, silences.len()), heads, rows)
    };
    view! { <Section id="silences" title=words::SILENCES>{list}</Section> }
}

fn silence_row(of: &AlertsView, silence: &Silence) -> AnyView {
    let until = view! { {stamp(silence.until_at_ms)} " " <span class="quiet">{words::left(silence.until_at_ms - of.now_ms)}</span> };
    let by = view! { {text(words::name(&silence.by))} " " <span class="quiet">{stamp(silence.at_ms)}</span> };
    let end = of.may_act.then(|| {
        view! {
            <form method="post" action="/alerts/silences/end">
                {form_token("/alerts/silences/end")}
                <input type="hidden" name="id" value=silence.id.to_string() />
                <button class="tool" type="submit">"End"<span class="sr-only">{words::of_silence(silence.id)}</span></button>
            </form>
        }
    });
    let others = [by, text(words::sentence(&silence.reason)), until].into_iter().chain(end);
    view! { <tr>{cells(&SILENCES, text(words::matchers(&silence.matchers)), others)}</tr> }
}

pub(super) fn rules(of: &AlertsView) -> AnyView {
    let rules = &of.alerts.rules;
    let rows = rules.iter().map(rule_row).collect();
    let list = table("rules", words::caption(words::RULES, rules.len()), &RULES, rows);
    view! {
        <Section id="rules" title=words::RULES>
            {list}
            <p class="quiet audit-lead"><a href=TriedView::URL>{words::TRY_WAY}</a> " " {numbers_way()}</p>
        </Section>
    }
}

fn rule_row(rule: &AlertRule) -> AnyView {
    let built_in = rule.is_built_in.then(|| view! { " " <span class="chip">{words::BUILT_IN}</span> });
    let or = |at: usize| (at > 0).then_some(words::OR);
    let when = rule.when.iter().enumerate().map(|(at, when)| view! { {or(at)}{code(when)} }).collect_view();
    let path = if rule.path == "**" { quiet(words::ALL_LOCKS) } else { code(&rule.path) };
    let ensemble = rule.ensemble.as_deref().map_or_else(|| quiet(words::EACH), |name| text(words::name(name)));
    let receivers = if rule.routes.is_empty() {
        quiet(words::NOBODY)
    } else {
        let names: Vec<String> = rule.routes.iter().map(|name| words::name(name)).collect();
        text(names.join(", "))
    };
    let name = view! { {text(words::name(&rule.name))}{built_in} };
    let wait = view! { <span>{words::wait(rule.for_ms)}</span> };
    let others = [when.into_any(), path, ensemble, wait, severity(rule.severity, true), receivers];
    view! { <tr>{cells(&RULES, name, others)}</tr> }
}

pub(super) fn routes(of: &AlertsView) -> AnyView {
    let routes = &of.alerts.routes;
    let list = if routes.is_empty() {
        view! { <p class="quiet" data-testid="routes-none">{words::NO_ROUTE}</p> }
    } else {
        let rows = routes.iter().map(route_row).collect();
        table("routes", words::caption(words::ROUTES, routes.len()), &ROUTES, rows)
    };
    view! { <Section id="routes" title=words::ROUTES>{list}</Section> }
}

fn route_row(route: &AlertRoute) -> AnyView {
    let sent = route.sent_at_ms.map_or_else(|| quiet(words::NEVER_SENT), stamp);
    let state = match filled(&*route.trouble) {
        Some(why) => view! { <strong class="audit-outcome" data-kind="stop">{words::trouble(why)}</strong> },
        None => quiet(if route.sent_at_ms.is_some() { words::TAKES } else { words::NONE_YET }),
    };
    let others = [text(words::name(&route.kind)), code(&route.url), text(count(route.waiting)), sent, state];
    view! {
        <tr data-is-bad=mark(!route.trouble.is_empty())>{cells(&ROUTES, text(words::name(&route.name)), others)}</tr>
    }
}
