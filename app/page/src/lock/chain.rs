//! The queue as a chain: who holds, then each waiter with the edge to what it waits for. Those that are together,
//! readers, leases, members, items, stand side by side in one band.

use leptos::prelude::*;

use super::{LockState, words};
use crate::erase::{dynamic, erase, view};
use crate::exact::Exact;
use crate::explain::explained;
use crate::format::{middle, visible};
use crate::parts::{Age, LivenessChip, filled, hold_least, holder_name, role_word, rows};
use lockscope_view::guide::anchor;
use lockscope_view::{Access, Contender, ContenderRole, Edge, EdgeEvidence};

/// Contenders drawn at most: a longer queue, and one that changes hands all the time, is a table only.
pub(super) const LINKS_MAX: u32 = 6;

/// Free places of a semaphore or barrier that are drawn.
const FREE_MAX: u32 = 12;

/// Whether one stands in a band with the one before it: together they hold, gather, or are items of one queue.
fn is_with_former(drawn: &[Contender], at: usize) -> bool {
    let pair = at.checked_sub(1).and_then(|before| drawn.get(before)).zip(drawn.get(at));
    pair.is_some_and(|(one, other)| (one.role, one.access) == (other.role, other.access) && is_shared(other))
}

fn links(drawn: &[Contender]) -> Vec<Link> {
    let link = |(at, contender): (usize, &Contender)| {
        let (before, after) = (is_with_former(drawn, at), is_with_former(drawn, at.saturating_add(1)));
        let band = match (before, after) {
            (false, false) => "",
            (false, true) => "start",
            (true, true) => "in",
            (true, false) => "end",
        };
        let key = format!("{} {:?}", contender.path, contender.session_id);
        // Its position is not drawn, and changes for all whenever the first goes.
        Link { key, contender: Contender { position: 0, ..contender.clone() }, band, is_first: !before }
    };
    drawn.iter().enumerate().map(link).collect()
}

/// How the edges that are drawn are known, each way once.
fn evidence(drawn: &[Contender]) -> Vec<EdgeEvidence> {
    let is_used = |evidence: &EdgeEvidence| {
        drawn.iter().any(|one| one.waits_for.first().is_some_and(|edge| edge.evidence == *evidence))
    };
    EdgeEvidence::ALL.into_iter().filter(is_used).collect()
}

/// A contender that does not exclude its likes.
fn is_shared(contender: &Contender) -> bool {
    match contender.access {
        Access::Read | Access::Member | Access::Item => true,
        Access::Lease => contender.role == ContenderRole::Holder,
        Access::Exclusive | Access::Write | Access::Leader => false,
    }
}

/// The part of a znode's name that differs from its neighbours'.
fn short_name(contender: &Contender) -> String {
    match (&contender.node, contender.sequence) {
        (_, Some(sequence)) => format!("#{sequence}"),
        (Some(node), None) => middle(&visible(node), 24),
        (None, None) => words::NO_ZNODE.to_owned(),
    }
}

fn last_name(path: &str) -> String {
    middle(&visible(path.rsplit('/').next().unwrap_or(path)), 26)
}

#[component]
pub(super) fn Chain(state: LockState) -> AnyView {
    // What is not seen needs no drawing.
    let is_drawn = Memo::new(move |_| state.has_chain());
    let drawn = Memo::new(move |_| {
        if !is_drawn.get() {
            return None;
        }
        let drawn = state.live.lock(|page| {
            page.filter(|page| page.window.offset == 0)
                .map(|page| page.window.rows.iter().take(LINKS_MAX as usize).cloned().collect::<Vec<_>>())
        });
        drawn.flatten()
    });
    // Far down in the table the first contenders are not sent; the last drawing stays then.
    let kept = Memo::new(move |old: Option<&Vec<Contender>>| drawn.get().or_else(|| old.cloned()).unwrap_or_default());
    let linked = Memo::new(move |_| if is_drawn.get() { kept.with(|drawn| links(drawn)) } else { Vec::new() });
    let used = Memo::new(move |_| if is_drawn.get() { kept.with(|drawn| evidence(drawn)) } else { Vec::new() });
    let capacity = Memo::new(move |_| state.head.with(|head| head.as_ref().and_then(|head| head.capacity.clone())));
    let heading = Memo::new(move |_| {
        state.head.with(|head| head.as_ref().map_or(words::QUEUE, |head| words::chain_title(head.row.recipe)))
    });
    let free = move || {
        let free = capacity
            .with(|capacity| capacity.as_ref().and_then(|capacity| Some(capacity.max?.saturating_sub(capacity.used))));
        let card = |_| view! { <li class="link"><div class="link-card link-free">"free"</div></li> };
        (0..free.unwrap_or_default().min(FREE_MAX)).map(card).collect_view()
    };
    let nobody =
        move || (is_drawn.get() && kept.with(Vec::is_empty)).then(|| view! { <p class="quiet">"Nobody is here."</p> });
    let places = move || {
        capacity.with(|capacity| {
            capacity.as_ref().map(|capacity| view! { <p class="quiet">{words::capacity(capacity)}</p> })
        })
    };
    view! {
        <div class="dims" hidden=move || !is_drawn.get()>
            <section class="part" aria-labelledby="chain-title">
                <h2 class="part-title" id="chain-title">{move || heading.get()}</h2>
                <ol class="chain" data-testid="chain">
                    {rows(linked, |link| &link.key, link)}
                    {dynamic(free)}
                </ol>
                {dynamic(nobody)}
                {dynamic(places)}
                {dynamic(move || legend(&used.get()))}
            </section>
        </div>
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Link {
    key: String,
    contender: Contender,
    band: &'static str,
    /// It is the first of its band, or stands alone: the edge before it is drawn.
    is_first: bool,
}

fn link(link: Link) -> AnyView {
    let Link { key, contender, band, is_first } = link;
    let since_ms = contender.holding_since_ms.or(contender.waiting_since_ms);
    let (name, node) = (holder_name(&contender), contender.node.as_deref().map(visible));
    let edge = contender.waits_for.first().filter(|_| is_first).map(edge);
    let short = middle(&name, 26);
    view! {
        <li
            class="link"
            data-key=Exact(key)
            data-role=contender.role.name()
            data-access=contender.access.name()
            data-band=filled(band)
        >
            {edge}
            <div class="link-card" data-liveness=contender.liveness.name() title=node.and_then(filled)>
                <div class="link-top">
                    <span class="link-role">{role_word(&contender)}</span>
                    <span class="link-node">{short_name(&contender)}</span>
                </div>
                <div class="link-name" title=name>{short}</div>
                <div class="link-foot"><Age since_ms=since_ms least=hold_least(contender.holding_is_lower_bound) /></div>
                <LivenessChip liveness=contender.liveness end=contender.runs_out />
            </div>
        </li>
    }
}

fn edge(edge: &Edge) -> AnyView {
    arrow(edge.evidence, ("44", "16"), words::edge(&last_name(&edge.to), edge.evidence))
}

/// The parts of an arrow; the style sheet shows those that the evidence calls for.
const ARROW: [(Option<&str>, &str); 4] = [
    (Some("edge-line"), "M43 8H6"),
    (None, "M9 4L3 8l6 4"),
    (Some("edge-cross"), "M21 3l8 10M29 3l-8 10"),
    (Some("edge-twin"), "M43 12H30q-6 0-8-4"),
];

fn arrow(evidence: EdgeEvidence, (width, height): (&'static str, &'static str), title: String) -> AnyView {
    let is_named = !title.is_empty();
    let label = is_named.then(|| title.clone());
    view! {
        <svg
            class="edge"
            data-evidence=evidence.name()
            viewBox="0 0 44 16"
            width=width
            height=height
            role=is_named.then_some("img")
            aria-label=label
            aria-hidden=(!is_named).then_some("true")
        >
            <title>{title}</title>
            {ARROW.map(|(class, d)| view! { <path class=class d=d></path> }).collect_view()}
        </svg>
    }
}

fn legend(used: &[EdgeEvidence]) -> Option<AnyView> {
    let item = |evidence: &EdgeEvidence| {
        view! { <li class="legend-item">{arrow(*evidence, ("33", "12"), String::new())}{explained(anchor("edge", evidence.name()), erase(words::evidence(*evidence)))}</li> }
    };
    let items: Vec<_> = used.iter().map(item).collect();
    (!items.is_empty()).then(|| view! { <ul class="legend" aria-label="Legend">{items}</ul> })
}
