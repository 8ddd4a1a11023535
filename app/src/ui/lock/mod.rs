//! The page of one lock: verdict, queue as a chain and as a table, and what is known besides.

mod chain;
mod facts;
mod head;
mod queue;
mod stats;

use leptos::prelude::*;
use leptos_meta::Title;

use super::address::{borrowed, use_pairs};
use super::at_once::any;
use super::first::first;
use super::format::{middle, visible};
use super::live::Live;
use super::parts::{Chrome, use_keys};
use crate::wire::{Body, LockHead, LockQuery, View};
use chain::Chain;
use facts::Facts;
use head::LockTitle;
use queue::Queue;
use stats::Stats;

/// The lock page. Another lock's address makes the page anew.
#[component]
pub(crate) fn LockPageView() -> impl IntoView {
    let address = use_pairs();
    let query = Memo::new(move |_| address.with(|pairs| read_address(pairs)));
    move || match query.get() {
        Ok(query) => any(view! { <OneLock query=query /> }),
        Err(mistake) => any(view! { <NoPath mistake=mistake /> }),
    }
}

fn read_address(pairs: &[(String, String)]) -> Result<LockQuery, String> {
    LockQuery::from_pairs(borrowed(pairs)).map_err(|error| error.to_string())
}

/// What the parts of the page read.
#[derive(Clone, Copy)]
struct LockState {
    live: Live,
    head: Memo<Option<LockHead>>,
    is_read: Memo<bool>,
}

#[component]
fn OneLock(query: LockQuery) -> impl IntoView {
    let live = Live::of_app();
    let first = first(|source| source.lock(&query));
    let opened = live.open(View::Lock(query.clone()), first, |page| Body::Lock(page.map(Box::new)));
    let head = Memo::new(move |_| live.lock(|page| page.map(|page| page.head.clone())).flatten());
    let is_read = Memo::new(move |_| live.lock(|_| ()).is_some());
    let state = LockState { live, head, is_read };
    use_keys(|_| false);
    let is_there = Memo::new(move |_| head.with(Option::is_some));
    let short = middle(&visible(&query.path), 60);
    let path = StoredValue::new(query.path.clone());
    let query = StoredValue::new(query);
    view! {
        <Title text=format!("{short} · Lockscope") />
        <Chrome here="lock">
            {any(view! {
                {move || {
                if is_there.get() {
                    any(view! {
                        <LockTitle state=state path=path.get_value() />
                        <Chain state=state />
                        <Stats state=state />
                        <Facts state=state />
                        <Queue state=state opened=opened query=query.get_value() />
                    })
                } else {
                    any(view! { <Absent state=state path=path.get_value() /> })
                }
            }}
            })}
        </Chrome>
    }
}

/// Nothing at this path, or nothing read yet.
#[component]
fn Absent(state: LockState, path: String) -> impl IntoView {
    let shown = visible(&path);
    let text = move || {
        let shown = shown.clone();
        if state.is_read.get() {
            any(view! {
                <h1 class="empty-title" data-testid="no-lock">"No lock at this path"</h1>
                <p class="break-all"><code><bdi>{shown}</bdi></code></p>
                <p>"Nothing that Lockscope has read is a lock with this path. If one is taken here, this page shows it at once. The "
                    <a href="/status">"status"</a> " tells which roots are read."</p>
            })
        } else {
            any(view! {
                <h1 class="empty-title">"Not read yet"</h1>
                <p class="break-all"><code><bdi>{shown}</bdi></code></p>
            })
        }
    };
    view! {
        <div class="empty">
            {text}
            <p><a href="/">"To the board"</a></p>
        </div>
    }
}

/// The address names no path.
#[component]
fn NoPath(mistake: String) -> impl IntoView {
    view! {
        <Chrome here="lock">
            {any(view! {
                <div class="empty">
                <h1 class="empty-title">"Which lock?"</h1>
                <p>{visible(&mistake)}</p>
                <p><a href="/">"To the board"</a></p>
            </div>
            })}
        </Chrome>
    }
}
