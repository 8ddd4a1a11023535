//! The queue as a chain: who holds, then each waiter with the edge to what it waits for. Those that are together,
//! readers, leases, members, items, stand side by side in one band.

use leptos::prelude::*;

use super::LockState;
use super::facts::section;
use crate::format::{count, middle, visible};
use crate::html::{Html, Living};
use crate::parts::{holder_name, liveness_chip, role_word};
use lockscope_wire::{Access, Capacity, Contender, ContenderRole, Edge, EdgeEvidence, LockHead, Recipe};

/// Contenders drawn; the rest is in the table.
const LINKS: usize = 12;

/// Free places of a semaphore or barrier that are drawn.
const FREE_MAX: u32 = 12;

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
struct Drawn {
    links: Vec<Contender>,
    more: u32,
}

impl Drawn {
    /// Whether two neighbours stand in one band: together they hold, gather, or are items of one queue.
    fn are_together(&self, at: usize) -> bool {
        let pair = at.checked_sub(1).and_then(|before| self.links.get(before)).zip(self.links.get(at));
        pair.is_some_and(|(one, other)| (one.role, one.access) == (other.role, other.access) && is_shared(other))
    }

    /// Place in a band: none, or whether it begins and ends there.
    fn band(&self, path: &str) -> (&'static str, bool) {
        let at = self.links.iter().position(|link| link.path == path).unwrap_or(usize::MAX);
        let (before, after) = (self.are_together(at), self.are_together(at.saturating_add(1)));
        let name = match (before, after) {
            (false, false) => "",
            (false, true) => "start",
            (true, true) => "in",
            (true, false) => "end",
        };
        (name, !before)
    }
}

/// A contender that does not exclude its likes.
fn is_shared(contender: &Contender) -> bool {
    match contender.access {
        Access::Read | Access::Member | Access::Item => true,
        Access::Lease => contender.role == ContenderRole::Holder,
        Access::Exclusive | Access::Write | Access::Leader => false,
    }
}

/// How an edge is known, in words.
pub(super) fn evidence_words(evidence: EdgeEvidence) -> &'static str {
    match evidence {
        EdgeEvidence::Inferred => "inferred from the recipe",
        EdgeEvidence::Confirmed => "confirmed: it watches that znode",
        EdgeEvidence::Missing => "missing: nobody sees it watch that znode",
        EdgeEvidence::Shared => "shared: many wait for the same znode",
    }
}

/// The part of a znode's name that tells it from its neighbours.
fn short_name(contender: &Contender) -> String {
    match (&contender.node, contender.sequence) {
        (_, Some(sequence)) => format!("#{sequence}"),
        (Some(node), None) => middle(&visible(node), 24),
        (None, None) => "no znode".to_owned(),
    }
}

fn last_name(path: &str) -> String {
    middle(&visible(path.rsplit('/').next().unwrap_or(path)), 26)
}

/// The drawing.
#[component]
pub(super) fn Chain(state: LockState) -> impl IntoView {
    let drawn = Memo::new(move |_| {
        let drawn = state.live.lock(|page| {
            page.filter(|page| page.window.offset == 0).map(|page| {
                let links: Vec<Contender> = page.window.rows.iter().take(LINKS).cloned().collect();
                Drawn { more: page.window.total.saturating_sub(links.len() as u32), links }
            })
        });
        drawn.flatten()
    });
    // Far down in the table the first contenders are not sent; the last drawing stays then.
    let kept = Memo::new(move |old: Option<&Drawn>| drawn.get().or_else(|| old.cloned()).unwrap_or_default());
    let html = move || {
        let now_ms = state.live.now_ms_untracked();
        state.head.with(|head| head.as_ref().map(|head| kept.with(|drawn| picture(drawn, head, now_ms))).unwrap_or_default())
    };
    view! { <Living class="dims" html=Signal::derive(html) /> }
}

fn picture(drawn: &Drawn, head: &LockHead, now_ms: i64) -> Html {
    let mut links: Vec<Html> = drawn.links.iter().map(|contender| link(drawn, contender, now_ms)).collect();
    let free = head.capacity.as_ref().and_then(|capacity| Some(capacity.max?.saturating_sub(capacity.used))).unwrap_or_default();
    let card = |_| Html::tag("li", &[("class", "link")], Html::of("div", &[("class", "link-card link-free")], "free"));
    links.extend((0..free.min(FREE_MAX)).map(card));
    if drawn.more > 0 {
        let more = Html::of("a", &[("href", "#contenders")], &format!("+ {} more", count(drawn.more)));
        links.push(Html::tag("li", &[("class", "chain-more")], more));
    }
    let mut parts = vec![Html::tag("ol", &[("class", "chain"), ("data-testid", "chain")], Html::all(links))];
    if drawn.links.is_empty() {
        parts.push(Html::of("p", &[("class", "quiet")], "Nobody is here."));
    }
    if let Some(capacity) = &head.capacity {
        parts.push(Html::of("p", &[("class", "quiet")], &capacity_words(capacity)));
    }
    parts.push(legend(drawn));
    section("chain-title", title(head.row.recipe), Html::all(parts))
}

fn link(drawn: &Drawn, contender: &Contender, now_ms: i64) -> Html {
    let (band, begins) = drawn.band(&contender.path);
    let since_ms = contender.holding_since_ms.or(contender.waiting_since_ms);
    let (name, node) = (holder_name(contender), contender.node.as_deref().map(visible).unwrap_or_default());
    let top =
        vec![Html::of("span", &[("class", "link-role")], role_word(contender)), Html::of("span", &[("class", "link-node")], &short_name(contender))];
    let card = vec![
        Html::tag("div", &[("class", "link-top")], Html::all(top)),
        Html::of("div", &[("class", "link-name"), ("title", &name)], &middle(&name, 26)),
        Html::tag("div", &[("class", "link-foot")], Html::age(since_ms, contender.holding_is_lower_bound, now_ms)),
        liveness_chip(contender.liveness, contender.runs_out.as_ref(), now_ms),
    ];
    let card = Html::tag("div", &[("class", "link-card"), ("data-liveness", contender.liveness.name()), ("title", &node)], Html::all(card));
    let edge = contender.waits_for.first().filter(|_| begins).map(edge).unwrap_or_default();
    let key = format!("{} {:?}", contender.path, contender.session_id);
    let attributes =
        [("class", "link"), ("data-key", &*key), ("data-role", contender.role.name()), ("data-access", contender.access.name()), ("data-band", band)];
    Html::tag("li", &attributes, Html::all(vec![edge, card]))
}

/// The edge before a waiter, drawn by how it is known.
fn edge(edge: &Edge) -> Html {
    arrow(edge.evidence, "44", "16", &format!("waits for {}, {}", last_name(&edge.to), evidence_words(edge.evidence)))
}

fn arrow(evidence: EdgeEvidence, width: &str, height: &str, title: &str) -> Html {
    let path = |class: &str, d: &str| Html::tag("path", &[("class", class), ("d", d)], Html::default());
    let label = if title.is_empty() { Html::default() } else { Html::of("title", &[], title) };
    let lines = vec![
        label,
        path("edge-line", "M43 8H6"),
        path("", "M9 4L3 8l6 4"),
        path("edge-cross", "M21 3l8 10M29 3l-8 10"),
        path("edge-twin", "M43 12H30q-6 0-8-4"),
    ];
    let (role, hidden) = if title.is_empty() { ("", "true") } else { ("img", "") };
    let attributes = [
        ("class", "edge"),
        ("data-evidence", evidence.name()),
        ("viewBox", "0 0 44 16"),
        ("width", width),
        ("height", height),
        ("role", role),
        ("aria-label", title),
        ("aria-hidden", hidden),
    ];
    Html::tag("svg", &attributes, Html::all(lines))
}

/// Which line means what; only those in use.
fn legend(drawn: &Drawn) -> Html {
    let is_used = |evidence: &EdgeEvidence| drawn.links.iter().any(|link| link.waits_for.first().is_some_and(|edge| edge.evidence == *evidence));
    let item = |evidence: EdgeEvidence| {
        Html::tag("li", &[("class", "legend-item")], Html::all(vec![arrow(evidence, "33", "12", ""), Html::text(evidence_words(evidence))]))
    };
    let items: Vec<Html> = EdgeEvidence::ALL.into_iter().filter(is_used).map(item).collect();
    if items.is_empty() { Html::default() } else { Html::tag("ul", &[("class", "legend"), ("aria-label", "Legend")], Html::all(items)) }
}

/// What stands in this lock.
fn title(recipe: Recipe) -> &'static str {
    match recipe {
        Recipe::Election => "Candidates",
        Recipe::Membership | Recipe::DoubleBarrier => "Members",
        Recipe::Barrier => "Barrier",
        _ => "Queue",
    }
}

fn capacity_words(capacity: &Capacity) -> String {
    let of = capacity.max.map_or_else(String::new, |max| format!(" of {}", count(max)));
    format!("{}{of}: {}.", count(capacity.used), capacity.how)
}
