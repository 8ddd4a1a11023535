//! How the lock was recognised, what else lies in its directory, and its Stat.

use leptos::prelude::*;

use super::LockState;
use crate::erase::{dynamic, view};
use crate::format::{count, visible};
use crate::parts::{Pair, Section, shortened_code};
use lockscope_view::{Foreign, StatRow};

/// Longest path; the whole is in its title.
const PATH_CHARS: usize = 90;

#[component]
pub(super) fn Facts(state: LockState) -> AnyView {
    let facts = Memo::new(move |_| {
        state.head.with(|head| {
            head.as_ref().map(|head| (head.recognised_by.clone(), head.foreign.clone(), head.stat.clone()))
        })
    });
    dynamic(move || {
        facts.get().map(|(recognised_by, foreign, stat)| {
            view! {
                {(!foreign.is_empty()).then(|| view! {
                    <Section id="foreign-title" title="Not part of the lock">
                        <ul class="bullets">{foreign.into_iter().map(foreign_child).collect_view()}</ul>
                    </Section>
                })}
                <details class="fold" data-testid="raw">
                    <summary class="part-title">"Raw znode, and how the lock was recognised"</summary>
                    <div class="sides">
                        <Section id="stat-title" title="Znode">{znode(stat)}</Section>
                        <Section id="recognised-title" title="Recognised by">{recognition(recognised_by)}</Section>
                    </div>
                </details>
            }
        })
    })
}

fn recognition(evidence: Vec<String>) -> AnyView {
    if evidence.is_empty() {
        return view! { <p class="quiet">"Names seen before; nobody is here now."</p> };
    }
    let lines = evidence.into_iter().map(|line| view! { <li>{visible(&line)}</li> }).collect_view();
    view! { <ul class="bullets">{lines}</ul> }
}

fn foreign_child(child: Foreign) -> AnyView {
    view! { <li>{shortened_code(&child.path, PATH_CHARS)}{format!(": {}", visible(&child.reason))}</li> }
}

fn znode(stat: Option<StatRow>) -> AnyView {
    let Some(stat) = stat else {
        return view! { <p class="quiet">"Created after the last full read: its Stat comes with the next one."</p> };
    };
    view! {
        <dl class="pairs">
            <Pair term="czxid" class="mono" value=stat.czxid.to_string() />
            <Pair term="mzxid" class="mono" value=stat.mzxid.to_string() />
            <Pair term="pzxid" class="mono" value=stat.pzxid.to_string() />
            <Pair term="version" value=stat.version.to_string() />
            <Pair term="cversion" value=stat.cversion.to_string() />
            <Pair term="children" value=count(stat.children) />
            <Pair term="children created" value=count(stat.creates_ever) />
        </dl>
    }
}
