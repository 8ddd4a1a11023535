//! How the lock was recognised, what else lies in its directory, and its Stat.

use leptos::prelude::*;

use super::LockState;
use crate::format::{count, middle, visible};
use crate::html::{Html, Living};
use lockscope_wire::{Foreign, LockHead, StatRow};

/// The facts.
#[component]
pub(super) fn Facts(state: LockState) -> impl IntoView {
    let html = move || state.head.with(|head| head.as_ref().map(facts).unwrap_or_default());
    view! { <Living class="living" html=Signal::derive(html) /> }
}

fn facts(head: &LockHead) -> Html {
    let sides = vec![
        section("recognised-title", "Recognised by", recognition(&head.recognised_by)),
        section("stat-title", "Znode", stat(head.stat.as_ref())),
    ];
    let foreign = if head.foreign.is_empty() { Html::default() } else { section("foreign-title", "Not part of the lock", foreign(&head.foreign)) };
    Html::all(vec![Html::tag("div", &[("class", "sides")], Html::all(sides)), foreign])
}

/// A part of the page with a title.
pub(super) fn section(id: &'static str, title: &str, inner: Html) -> Html {
    let title = Html::of("h2", &[("class", "part-title"), ("id", id)], title);
    Html::tag("section", &[("class", "part"), ("aria-labelledby", id)], Html::all(vec![title, inner]))
}

fn recognition(evidence: &[String]) -> Html {
    if evidence.is_empty() {
        return Html::of("p", &[("class", "quiet")], "Names seen before; nobody is here now.");
    }
    Html::tag("ul", &[("class", "bullets")], Html::all(evidence.iter().map(|line| Html::of("li", &[], line)).collect()))
}

fn foreign(children: &[Foreign]) -> Html {
    let row = |child: &Foreign| {
        let path = visible(&child.path);
        let code = Html::tag("code", &[("title", &path)], Html::of("bdi", &[], &middle(&path, 90)));
        Html::tag("li", &[], Html::all(vec![code, Html::text(&format!(": {}", child.reason))]))
    };
    Html::tag("ul", &[("class", "bullets")], Html::all(children.iter().map(row).collect()))
}

fn stat(stat: Option<&StatRow>) -> Html {
    let Some(stat) = stat else {
        return Html::of("p", &[("class", "quiet")], "Created after the last full read: its Stat comes with the next one.");
    };
    let pairs = [
        ("czxid", "mono", stat.czxid.to_string()),
        ("mzxid", "mono", stat.mzxid.to_string()),
        ("pzxid", "mono", stat.pzxid.to_string()),
        ("version", "", stat.version.to_string()),
        ("cversion", "", stat.cversion.to_string()),
        ("children", "", count(stat.children)),
        ("children ever", "", count(stat.creates_ever)),
    ];
    let pairs = pairs.map(|(name, class, value)| Html::pair(name, class, Html::text(&value)));
    Html::tag("dl", &[("class", "pairs")], Html::all(pairs.into()))
}
