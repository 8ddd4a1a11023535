//! The built-in help: what every word on the page means, and what to do about it.

use leptos::prelude::*;

use super::{ServerPage, words};
use crate::erase::view;
use crate::parts::Section;
use lockscope_view::guide::{FINDINGS, Guide, Names, TermArea, VERDICTS, all_terms, anchor, plain};

pub fn help_page(plain: &ServerPage<'_>) -> String {
    super::page(plain, "Help", "help", 0, || {
        let verdicts = VERDICTS.iter().rev().map(|one| guide("verdict", one)).collect_view();
        let findings = FINDINGS.iter().map(|one| guide("finding", one)).collect_view();
        view! {
            <h1 class="page-title">"Help"</h1>
            <nav class="help-index" aria-label="On this page">
                <a href="#verdicts">"Verdicts"</a> " " <a href="#findings">"Findings"</a> " " {words::HELP_PARTS.map(|(id, title, _)| view! { <a href=format!("#{id}")>{title}</a> " " }).collect_view()}
            </nav>
            <p>{words::HELP_PAGES}</p>
            <ul class="bullets" data-testid="help-pages">{words::PAGES.map(|(url, name, says)| view! { <li><a href=url>{name}</a>{says}</li> }).collect_view()}</ul>
            <section class="part" aria-labelledby="verdicts">
                <h2 class="part-title" id="verdicts">"Verdicts: the one word on a lock, worst first"</h2>
                <dl class="guide">{verdicts}</dl>
            </section>
            <section class="part" aria-labelledby="findings">
                <h2 class="part-title" id="findings">"Findings: what is odd about a lock, and why that may be"</h2>
                <dl class="guide">{findings}</dl>
            </section>
            {words::HELP_PARTS.map(|(id, title, area)| terms(id, title, area)).collect_view()}
        }
    })
}

fn guide(kind: &str, guide: &Guide) -> AnyView {
    let names = Names::generic();
    let steps = guide.steps.iter().map(|step| view! { <li>{plain(&names.fill(step.text))}</li> }).collect_view();
    let cause =
        (!guide.cause.is_empty()).then(|| view! { <p><strong>"Usual cause: "</strong>{plain(guide.cause)}</p> });
    let severity =
        (!guide.severity.is_empty()).then(|| view! { <span class="quiet">{format!(" {}", guide.severity)}</span> });
    view! {
        <div class="guide-entry" id=anchor(kind, guide.name)>
            <dt><code>{guide.name}</code>{severity}</dt>
            <dd>
                <p>{plain(guide.says)}</p>
                {cause}
                <p><strong>"Do: "</strong></p>
                <ol class="guide-steps">{steps}</ol>
            </dd>
        </div>
    }
}

fn terms(id: &'static str, title: &'static str, area: TermArea) -> AnyView {
    let of_area = all_terms().filter(|term| term.area == area);
    let entries = of_area.map(|term| {
        view! {
            <div class="guide-entry" id=anchor(area.kind(), term.word)>
                <dt><code>{term.word}</code></dt>
                <dd>{plain(term.meaning)}</dd>
            </div>
        }
    });
    let entries = entries.collect_view();
    view! { <Section id=id title=title><dl class="guide">{entries}</dl></Section> }
}
