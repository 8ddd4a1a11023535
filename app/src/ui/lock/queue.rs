//! Every contender in queue order; of a long queue only the rows on screen are drawn.

use leptos::html::Div;
use leptos::prelude::*;

use super::LockState;
use crate::ui::format::{middle, plural, visible};
use crate::ui::live::{FETCH_ROWS, Opened, Viewport, use_fetch, use_places, use_viewport};
use crate::ui::parts::{Age, liveness_word, session_url};
use crate::wire::{Contender, LockQuery, Role, View};

#[derive(Clone, Debug, PartialEq)]
struct Slot {
    at: u32,
    contender: Contender,
}

/// The table.
#[component]
pub(super) fn Queue(
    state: LockState,
    /// The open view.
    opened: Opened,
    /// What it looks at.
    query: LockQuery,
) -> impl IntoView {
    let body = NodeRef::<Div>::new();
    let total = Memo::new(move |_| state.live.lock(|page| page.map_or(0, |page| page.window.total)).unwrap_or_default());
    let total_rows = Signal::derive(move || total.get());
    let shown = use_viewport(body, query.offset, total_rows);
    let slots = Memo::new(move |_| slots(state, shown.get()));
    use_places(body, Signal::derive(move || slots.with(|slots| slots.first().map(|slot| slot.at))), total_rows);
    let ensemble = StoredValue::new(query.ensemble.clone());
    let offset = query.offset;
    let look_at = move |offset| opened.look_at(View::Lock(LockQuery { offset, limit: FETCH_ROWS, ..query.clone() }));
    use_fetch(shown, offset, total_rows, Callback::new(look_at));
    view! {
        <section class="part" id="contenders" aria-labelledby="queue-title">
            <h2 class="part-title" id="queue-title">{move || plural(total.get().into(), "contender", "contenders")}</h2>
            <div class="board queue" role="table" aria-labelledby="queue-title" aria-rowcount=move || total.get() + 1>
                <div class="board-head" role="rowgroup">
                    <div class="queue-row" role="row" aria-rowindex="1">
                        <span class="cell" role="columnheader">"Place"</span>
                        <span class="cell" role="columnheader">"Node"</span>
                        <span class="cell cell-number" role="columnheader">"Sequence"</span>
                        <span class="cell" role="columnheader">"Session"</span>
                        <span class="cell cell-number" role="columnheader">"Held or waited"</span>
                        <span class="cell" role="columnheader">"Waits for"</span>
                        <span class="cell" role="columnheader">"Liveness"</span>
                    </div>
                </div>
                <div class="queue-body" role="rowgroup" node_ref=body>
                    <For each=move || slots.get() key=|slot| (slot.contender.path.clone(), slot.contender.session_id) let(slot)>
                        <ContenderRow first=slot slots=slots ensemble=ensemble />
                    </For>
                </div>
            </div>
        </section>
    }
}

fn slots(state: LockState, shown: Viewport) -> Vec<Slot> {
    let found = state.live.lock(|page| {
        let window = &page?.window;
        let rows = (window.offset..).zip(&window.rows).filter(|(at, _)| (shown.start..shown.end).contains(at));
        Some(rows.map(|(at, contender)| Slot { at, contender: contender.clone() }).collect())
    });
    found.flatten().unwrap_or_default()
}

#[component]
fn ContenderRow(first: Slot, slots: Memo<Vec<Slot>>, ensemble: StoredValue<String>) -> impl IntoView {
    let path = first.contender.path.clone();
    let session = first.contender.session_id;
    let name = first.contender.node.clone().unwrap_or_default();
    let href = session.map(|session| ensemble.with_value(|ensemble| session_url(ensemble, session)));
    let slot = Memo::new(move |old: Option<&Slot>| {
        let fresh = slots.with(|slots| slots.iter().find(|slot| slot.contender.path == path && slot.contender.session_id == session).cloned());
        fresh.or_else(|| old.cloned()).unwrap_or_else(|| first.clone())
    });
    let read = move |read: fn(&Contender) -> Option<String>| move || slot.with(|slot| read(&slot.contender));
    let is_holder = move || slot.with(|slot| slot.contender.role == Role::Holder);
    let since = Signal::derive(move || slot.with(|slot| slot.contender.holding_since_ms.or(slot.contender.waiting_since_ms)));
    let at_least = Signal::derive(move || slot.with(|slot| slot.contender.holding_is_lower_bound));
    view! {
        <div
            class="queue-row contender"
            role="row"
            data-node=name.clone()
            data-role=move || slot.with(|slot| slot.contender.role.name())
            aria-rowindex=move || slot.with(|slot| slot.at + 2)
        >
            <span class="cell queue-place" role="cell">{move || if is_holder() { "holds".to_owned() } else { slot.with(|slot| slot.contender.position.to_string()) }}</span>
            <span class="cell queue-node" role="cell" data-col="node" title=visible(&name)>
                {read(|contender| Some(contender.node.as_deref().map_or("no znode".to_owned(), |node| middle(&visible(node), 40))))}
            </span>
            <span class="cell cell-number queue-sequence" role="cell" data-col="sequence">{read(|contender| contender.sequence.map(|sequence| sequence.to_string()))}</span>
            <span class="cell queue-session" role="cell" data-col="session">
                <a class="queue-id" href=href>{read(session_text)}</a>
                " "
                <span class="queue-label">{read(|contender| contender.label.as_deref().map(|label| middle(&visible(label), 36)))}</span>
            </span>
            <span class="cell cell-number queue-time" role="cell" data-col="time"><Age since_ms=since at_least=at_least /></span>
            <span class="cell queue-waits" role="cell" data-col="waits-for" title=read(|contender| contender.waits_for.first().map(|edge| format!("{}, {}", visible(&edge.to), edge.evidence)))>
                {read(waits_for)}
            </span>
            <span class="cell queue-alive" role="cell" data-col="liveness"><Alive of=slot /></span>
        </div>
    }
}

fn session_text(contender: &Contender) -> Option<String> {
    match (contender.session_id, contender.ephemeral) {
        (Some(session), _) => Some(session.to_string()),
        (None, Some(false)) => Some("none: persistent".to_owned()),
        (None, _) => Some("not known".to_owned()),
    }
}

fn waits_for(contender: &Contender) -> Option<String> {
    let edge = contender.waits_for.first()?;
    let name = edge.to.rsplit('/').next().unwrap_or(&edge.to);
    let more = contender.waits_for.len() - 1;
    let name = middle(&visible(name), 30);
    Some(if more == 0 { name } else { format!("{name} and {more} more") })
}

/// Alive, and when the session runs out.
#[component]
fn Alive(of: Memo<Slot>) -> impl IntoView {
    let live = crate::ui::live::Live::of_app();
    let liveness = move || of.with(|slot| slot.contender.liveness);
    let runs_out = move || {
        let at_ms = of.with(|slot| slot.contender.expires_at_ms)?;
        Some(format!("runs out in {}", crate::ui::format::duration(at_ms - live.now_ms())))
    };
    view! {
        <span class="alive" data-liveness=move || liveness().name()>{move || liveness_word(liveness())}</span>
        <span class="alive-out">{runs_out}</span>
    }
}
