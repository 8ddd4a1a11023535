//! Every contender in queue order; of a long queue only the rows on screen are drawn.

use leptos::html::Div;
use leptos::prelude::*;

use super::LockState;
use super::chain::evidence_words;
use crate::copy::copy_button;
use crate::current_user::CurrentUser;
use crate::format::{count, middle, plural, visible};
use crate::html::{Html, Living, use_rows};
use crate::live::{FETCH_ROWS, Opened, Viewport, use_fetch, use_places, use_viewport};
use crate::parts::{liveness_chip, only_on, session_url};
use crate::release::release_button;
use lockscope_wire::{Contender, ContenderRole, Edge, LockQuery, View};

/// Longest name of a znode on a row; the whole is in its title.
const NODE_CHARS: usize = 40;

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
    let may_release = CurrentUser::of_app().may_release();
    let first = use_rows(body, move || {
        let now_ms = state.live.now_ms_untracked();
        slots.with(|slots| ensemble.with_value(|ensemble| Html::all(slots.iter().map(|slot| row(slot, ensemble, may_release, now_ms)).collect())))
    });
    view! {
        <section class="part" id="contenders" aria-labelledby="queue-title">
            <h2 class="part-title" id="queue-title">{move || plural(total.get().into(), "contender", "contenders")}</h2>
            <Living class="hidden-waiters" html=Signal::derive(move || hidden_waiters(state)) />
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
                <div class="queue-body" role="rowgroup" node_ref=body inner_html=first></div>
            </div>
        </section>
    }
}

/// How many wait without a znode; nothing for none.
fn hidden_waiters(state: LockState) -> Html {
    match state.head.with(|head| head.as_ref().map_or(0, |head| head.hidden_waiters)) {
        0 => Html::default(),
        1 => Html::of("p", &[("class", "quiet"), ("data-testid", "hidden-waiters")], "1 waiter is seen only by its watch."),
        many => Html::of(
            "p",
            &[("class", "quiet"), ("data-testid", "hidden-waiters")],
            &format!("{} waiters are seen only by their watches.", count(many)),
        ),
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

fn row(slot: &Slot, ensemble: &str, may_release: bool, now_ms: i64) -> Html {
    let contender = &slot.contender;
    let name = contender.node.clone().unwrap_or_default();
    let href = contender.session_id.map(|session| session_url(ensemble, session)).unwrap_or_default();
    let place = if contender.role == ContenderRole::Holder { "holds".to_owned() } else { contender.position.to_string() };
    let label = contender.label.as_deref().map(|label| middle(&visible(label), 36)).unwrap_or_default();
    let time = match contender.holding_since_ms {
        Some(since_ms) => Html::age(Some(since_ms), contender.holding_is_lower_bound, now_ms),
        None => Html::wait(contender.waiting_since_ms, contender.waiting_is_lower_bound, now_ms),
    };
    let edge = contender.waits_for.first();
    let whole = edge.map(|edge| format!("{}, {}", visible(&edge.to), evidence_words(edge.evidence))).unwrap_or_default();
    let cell = |class: &str, column: &str, title: &str, inner: Html| {
        Html::tag("span", &[("class", class), ("role", "cell"), ("data-col", column), ("title", title)], inner)
    };
    let session = vec![
        Html::of("a", &[("class", "queue-id"), ("href", &href)], &session_text(contender)),
        Html::text(" "),
        Html::of("span", &[("class", "queue-label")], &label),
    ];
    let cells = vec![
        cell("cell queue-place", "", "", Html::text(&place)),
        cell("cell queue-node", "node", &visible(&name), Html::all(vec![node(contender), copy_znode(contender), only_on(&contender.only_on)])),
        cell(
            "cell cell-number queue-sequence",
            "sequence",
            "",
            Html::text(&contender.sequence.map(|sequence| sequence.to_string()).unwrap_or_default()),
        ),
        cell("cell queue-session", "session", "", Html::all(session)),
        cell("cell cell-number queue-time", "time", "", time),
        cell("cell queue-waits", "waits-for", &whole, edge.map(|edge| waits_for(edge, contender.waits_for.len())).unwrap_or_default()),
        cell(
            "cell queue-alive",
            "liveness",
            "",
            Html::all(vec![
                liveness_chip(contender.liveness, contender.runs_out.as_ref(), now_ms),
                release_button(contender.node.as_deref(), &contender.path, may_release),
            ]),
        ),
    ];
    let (key, at) = (format!("{} {:?}", contender.path, contender.session_id), (slot.at + 2).to_string());
    let attributes = [
        ("class", "queue-row contender"),
        ("role", "row"),
        ("data-key", &*key),
        ("data-node", &*name),
        ("data-role", contender.role.name()),
        ("data-hidden", if is_hidden(contender) { "true" } else { "" }),
        ("aria-rowindex", &at),
    ];
    Html::tag("div", &attributes, Html::all(cells))
}

fn session_text(contender: &Contender) -> String {
    match (contender.session_id, contender.ephemeral) {
        (Some(session), _) => session.to_string(),
        (None, Some(false)) => "none: persistent".to_owned(),
        (None, _) => "not known".to_owned(),
    }
}

/// Copies the znode's path, where it has one.
fn copy_znode(contender: &Contender) -> Html {
    contender.node.as_ref().map(|_| copy_button(&contender.path, "znode path")).unwrap_or_default()
}

/// It waits, and has no znode that says so.
fn is_hidden(contender: &Contender) -> bool {
    contender.node.is_none() && contender.role == ContenderRole::Waiter
}

fn node(contender: &Contender) -> Html {
    let text = match (&contender.node, contender.waits_for.first()) {
        (Some(node), _) => middle(&visible(node), NODE_CHARS),
        (None, Some(edge)) => format!("no znode; watches {}", middle(&last_name(&edge.to), NODE_CHARS / 2)),
        (None, None) => "no znode".to_owned(),
    };
    Html::of("bdi", &[("class", "queue-name")], &text)
}

/// The last name of a path.
fn last_name(path: &str) -> String {
    visible(path.rsplit('/').next().unwrap_or(path))
}

/// A mark for how it is known, then the znode waited for.
fn waits_for(edge: &Edge, edges: usize) -> Html {
    let name = middle(&last_name(&edge.to), 30);
    let name = if edges > 1 { format!("{name} and {} more", edges - 1) } else { name };
    Html::all(vec![
        Html::of("span", &[("class", "how"), ("data-evidence", edge.evidence.name())], ""),
        Html::of("bdi", &[], &name),
        Html::of("span", &[("class", "sr-only")], &format!(", {}", evidence_words(edge.evidence))),
    ])
}
