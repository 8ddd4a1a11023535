//! The queue as a chain: who holds, then each waiter with the edge to what it waits for. Those that are together,
//! readers, leases, members, items, stand side by side in one band.

use leptos::prelude::*;

use super::LockState;
use crate::ui::format::{count, middle, visible};
use crate::ui::parts::{Age, holder_name, role_word};
use crate::wire::{Access, Capacity, Contender, Edge, EdgeEvidence, LockHead, Recipe, Role};

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
        Access::Lease => contender.role == Role::Holder,
        Access::Exclusive | Access::Write | Access::Leader => false,
    }
}

fn evidence_words(evidence: EdgeEvidence) -> &'static str {
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
    let is_empty = move || kept.with(|drawn| drawn.links.is_empty());
    let more = move || kept.with(|drawn| drawn.more);
    view! {
        <section class="part dims" aria-labelledby="chain-title">
            <h2 class="part-title" id="chain-title">{move || title(state)}</h2>
            <ol class="chain" data-testid="chain">
                <For each=move || kept.get().links key=|link| (link.path.clone(), link.session_id) let(link)>
                    <Link kept=kept link=link />
                </For>
                <FreePlaces state=state />
                <Show when=move || more() != 0>
                    <li class="chain-more"><a href="#contenders">"+ " {move || count(more())} " more"</a></li>
                </Show>
            </ol>
            <Show when=is_empty>
                <p class="quiet">"Nobody is here."</p>
            </Show>
            <p class="quiet">{move || capacity_words(state)}</p>
            <Show when=move || !is_empty()>
                <Legend kept=kept />
            </Show>
        </section>
    }
}

/// What stands in this lock.
fn title(state: LockState) -> &'static str {
    match state.head.with(|head| head.as_ref().map(|head| head.row.recipe)) {
        Some(Recipe::Election) => "Candidates",
        Some(Recipe::Membership | Recipe::DoubleBarrier) => "Members",
        Some(Recipe::Barrier) => "Barrier",
        _ => "Queue",
    }
}

fn capacity(state: LockState) -> Option<Capacity> {
    state.head.with(|head| head.as_ref().and_then(|head: &LockHead| head.capacity.clone()))
}

fn capacity_words(state: LockState) -> Option<String> {
    let capacity = capacity(state)?;
    let of = capacity.max.map_or_else(String::new, |max| format!(" of {}", count(max)));
    Some(format!("{}{of}: {}.", count(capacity.used), visible(&capacity.how)))
}

/// The places nobody has taken, where the maximum is known.
#[component]
fn FreePlaces(state: LockState) -> impl IntoView {
    let free = Memo::new(move |_| capacity(state).and_then(|capacity| Some(capacity.max?.saturating_sub(capacity.used))).unwrap_or_default());
    move || {
        let card = |_| view! { <li class="link"><div class="link-card link-free">"free"</div></li> };
        (0..free.get().min(FREE_MAX)).map(card).collect_view()
    }
}

#[component]
fn Link(kept: Memo<Drawn>, link: Contender) -> impl IntoView {
    let path = link.path.clone();
    let own = link.path.clone();
    let band = Memo::new(move |_| kept.with(|drawn| drawn.band(&own)));
    let session = link.session_id;
    let stale = StoredValue::new(link.clone());
    let contender = Memo::new(move |_| {
        kept.with(|drawn| drawn.links.iter().find(|other| other.path == path && other.session_id == session).cloned())
            .unwrap_or_else(|| stale.get_value())
    });
    let is_holder = Memo::new(move |_| contender.with(|contender| contender.role == Role::Holder));
    let edge = Memo::new(move |_| contender.with(|contender| contender.waits_for.first().cloned().filter(|_| band.get().1)));
    let since =
        Signal::derive(move || contender.with(|contender| if is_holder.get() { contender.holding_since_ms } else { contender.waiting_since_ms }));
    let at_least = Signal::derive(move || contender.with(|contender| contender.holding_is_lower_bound));
    let alive = move || contender.with(|contender| contender.liveness.name());
    view! {
        <li
            class="link"
            data-role=move || contender.with(|contender| contender.role.name())
            data-access=move || contender.with(|contender| contender.access.name())
            data-band=move || band.get().0
        >
            {move || edge.get().map(|edge| view! { <EdgeLine edge=edge /> })}
            <div class="link-card" data-liveness=alive title=link.node.as_deref().map(visible)>
                <div class="link-top">
                    <span class="link-role">{move || contender.with(role_word)}</span>
                    <span class="link-node">{short_name(&link)}</span>
                </div>
                <div class="link-name" title=holder_name(&link)>{middle(&holder_name(&link), 26)}</div>
                <div class="link-foot"><Age since_ms=since at_least=at_least /></div>
            </div>
        </li>
    }
}

/// The edge before a waiter, drawn by how it is known.
#[component]
fn EdgeLine(edge: Edge) -> impl IntoView {
    let title = format!("waits for {}, {}", last_name(&edge.to), evidence_words(edge.evidence));
    view! {
        <svg class="edge" data-evidence=edge.evidence.name() viewBox="0 0 44 16" width="44" height="16" role="img" aria-label=title.clone()>
            <title>{title.clone()}</title>
            <path class="edge-line" d="M43 8H6" />
            <path d="M9 4L3 8l6 4" />
            <path class="edge-cross" d="M21 3l8 10M29 3l-8 10" />
            <path class="edge-twin" d="M43 12H30q-6 0-8-4" />
        </svg>
    }
}

/// Which line means what; only those in use.
#[component]
fn Legend(kept: Memo<Drawn>) -> impl IntoView {
    let used = Memo::new(move |_| {
        let is_used = |evidence: &EdgeEvidence| {
            kept.with(|drawn| drawn.links.iter().any(|link| link.waits_for.first().is_some_and(|edge| edge.evidence == *evidence)))
        };
        EdgeEvidence::ALL.into_iter().filter(is_used).collect::<Vec<_>>()
    });
    view! {
        <ul class="legend" aria-label="Legend">
            <For each=move || used.get() key=|evidence| *evidence let(evidence)>
                <li class="legend-item">
                    <svg class="edge" data-evidence=evidence.name() viewBox="0 0 44 16" width="33" height="12" aria-hidden="true">
                        <path class="edge-line" d="M43 8H6" />
                        <path d="M9 4L3 8l6 4" />
                        <path class="edge-cross" d="M21 3l8 10M29 3l-8 10" />
                        <path class="edge-twin" d="M43 12H30q-6 0-8-4" />
                    </svg>
                    {evidence_words(evidence)}
                </li>
            </For>
        </ul>
    }
}
