//! How the lock was recognised, what else lies in its directory, and its Stat.

use leptos::prelude::*;

use super::LockState;
use crate::ui::format::{count, middle, visible};
use crate::wire::StatRow;

/// The facts.
#[component]
pub(super) fn Facts(state: LockState) -> impl IntoView {
    view! {
        <div class="sides">
            <Recognition state=state />
            <Stat state=state />
        </div>
        <ForeignChildren state=state />
    }
}

#[component]
fn Recognition(state: LockState) -> impl IntoView {
    let evidence = Memo::new(move |_| state.head.with(|head| head.as_ref().map(|head| head.recognised_by.clone()).unwrap_or_default()));
    let items = move || evidence.get().into_iter().map(|text| view! { <li>{visible(&text)}</li> }).collect_view();
    view! {
        <section class="part" aria-labelledby="recognised-title">
            <h2 class="part-title" id="recognised-title">"Recognised by"</h2>
            <ul class="bullets">{items}</ul>
            <Show when=move || evidence.with(Vec::is_empty)>
                <p class="quiet">"Names seen before; nobody is here now."</p>
            </Show>
        </section>
    }
}

#[component]
fn ForeignChildren(state: LockState) -> impl IntoView {
    let foreign = Memo::new(move |_| state.head.with(|head| head.as_ref().map(|head| head.foreign.clone()).unwrap_or_default()));
    let items = move || {
        let rows = foreign.get().into_iter().map(|child| {
            let path = visible(&child.path);
            view! { <li><code title=path.clone()><bdi>{middle(&path, 90)}</bdi></code> ": " {visible(&child.reason)}</li> }
        });
        rows.collect_view()
    };
    view! {
        <Show when=move || foreign.with(|foreign| !foreign.is_empty())>
            <section class="part" aria-labelledby="foreign-title">
                <h2 class="part-title" id="foreign-title">"Not part of the lock"</h2>
                <ul class="bullets">{items}</ul>
            </section>
        </Show>
    }
}

#[component]
fn Stat(state: LockState) -> impl IntoView {
    let stat = Memo::new(move |_| state.head.with(|head| head.as_ref().and_then(|head| head.stat.clone())));
    let is_read = move || stat.with(Option::is_some);
    let show = move |read: fn(&StatRow) -> String| move || stat.with(|stat| stat.as_ref().map(read));
    view! {
        <section class="part" aria-labelledby="stat-title">
            <h2 class="part-title" id="stat-title">"Znode"</h2>
            <Show when=is_read fallback=|| view! { <p class="quiet">"Created after the last full read: its Stat comes with the next one."</p> }>
                <dl class="pairs">
                    <dt>"czxid"</dt><dd class="mono">{show(|stat| stat.czxid.to_string())}</dd>
                    <dt>"mzxid"</dt><dd class="mono">{show(|stat| stat.mzxid.to_string())}</dd>
                    <dt>"pzxid"</dt><dd class="mono">{show(|stat| stat.pzxid.to_string())}</dd>
                    <dt>"version"</dt><dd>{show(|stat| stat.version.to_string())}</dd>
                    <dt>"cversion"</dt><dd>{show(|stat| stat.cversion.to_string())}</dd>
                    <dt>"children"</dt><dd>{show(|stat| count(stat.children))}</dd>
                    <dt>"children ever"</dt><dd>{show(|stat| count(stat.creates_ever))}</dd>
                </dl>
            </Show>
        </section>
    }
}
