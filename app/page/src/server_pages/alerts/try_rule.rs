//! A rule tried on the past: a form that works without a script, and when the rule would have fired.

use crate::erase::view;
use leptos::prelude::*;

use super::super::ServerPage;
use super::tables::{cells, code, table, text};
use super::view::TriedView;
use super::words;
use crate::exact::Exact;
use crate::parts::{Section, TextArea, lock_url, select_field, stamp};
use lockscope_view::api::{Backtest, Firing};

const FIRINGS: [&str; 5] = [words::TRIED_FROM, words::TRIED_LASTS, words::NAME, words::TRIED_LOCK, words::TRIED_WHAT];

pub fn alert_test_page(plain: &ServerPage<'_>, of: &TriedView) -> String {
    super::super::drawn(plain, of.now_ms, || {
        let wrong = of.wrong.as_deref().map(|why| {
            view! { <p class="release-result" data-kind="stop" role="alert" data-testid="tried-wrong">{words::not_tried(why)}</p> }
        });
        let content = view! {
            <h1 class="page-title">"Try a rule"</h1>
            <p class="quiet audit-lead">{words::TRY_LEAD} " " <a href="/alerts">{words::TRY_BACK}</a></p>
            {form(of)}
            {wrong}
            {of.tried.as_ref().map(|tried| result(tried, of.hours))}
        };
        super::super::framed(plain, "Try a rule", "alerts", content, (), ())
    })
}

fn form(of: &TriedView) -> AnyView {
    let option = |hours: u32| {
        view! { <option value=hours.to_string() selected=hours == of.hours>{words::last_hours(hours)}</option> }
    };
    view! {
        <form class="try-rule" method="get" action=TriedView::URL data-testid="try-rule">
            <label class="release-field">
                <span>{words::TRY_TEXT}</span>
                <TextArea name="toml" rows="7" maxlength="4096" text=of.toml.clone() />
            </label>
            <div class="release-buttons">
                {select_field("hours", words::TRY_OVER, TriedView::HOURS.map(option).collect_view())}
                <button class="tool" type="submit">"Try it"</button>
            </div>
        </form>
    }
}

fn result(of: &Backtest, hours: u32) -> AnyView {
    let summary = words::would_have_fired(of.firings.len() + of.left_out, hours);
    let row = |firing: &Firing| {
        let address = format!("{}&at={}", lock_url(&of.ensemble, &firing.lock), firing.from_at_ms);
        let lasts = words::tried_lasts(firing.to_at_ms.map(|to| to - firing.from_at_ms));
        let lock = view! { <a href=Exact(address)>{code(&firing.lock)}</a> };
        let sentence = text(words::sentence(&firing.sentence));
        let others = [text(lasts), text(words::name(&firing.rule)), lock, sentence];
        view! { <tr>{cells(&FIRINGS, stamp(firing.from_at_ms), others)}</tr> }
    };
    let rows: Vec<AnyView> = of.firings.iter().map(row).collect();
    let list = (!rows.is_empty()).then(|| table("tried", words::caption(words::TRIED, rows.len()), &FIRINGS, rows));
    let left_out = (of.left_out > 0).then(|| view! { <p class="quiet">{words::tried_left_out(of.left_out)}</p> });
    let unknown = (of.unknown_ms > 0)
        .then(|| view! { <p class="notice" data-testid="tried-unknown">{words::tried_unknown(of.unknown_ms)}</p> });
    view! {
        <Section id="tried" title=words::TRIED>
            <p class="status-summary" role="status" data-testid="tried-summary">{summary}</p>
            {unknown}
            {list}
            {left_out}
        </Section>
    }
}
