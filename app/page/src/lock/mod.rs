//! The page of one lock: verdict, queue as a chain and as a table, and what is known besides.

mod chain;
mod facts;
mod freshness;
mod head;
mod holders;
mod queue;
mod queue_map;
mod queue_rows;
mod release;
mod stats;
mod ticket_words;
mod trust_words;
mod words;

use leptos::prelude::*;

use super::address::{borrowed, use_pairs};
use super::erase::{dynamic, erase, view};
use super::format::{middle, visible};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, lock_url, use_keys};
use super::release::release_dialog;
use super::sections::ServerSection;
use chain::{Chain, LINKS_MAX};
use facts::Facts;
use head::LockTitle;
use lockscope_view::{LockHead, LockQuery};
use queue::Queue;
use stats::Stats;

/// The lock page. Another lock's address makes the page anew.
#[component]
pub(crate) fn LockPageView() -> AnyView {
    let address = use_pairs();
    let query = Memo::new(move |_| address.with(|pairs| read_address(pairs)));
    dynamic(move || {
        let query = query.get();
        let title = query.as_ref().map_or(words::LOCK.to_owned(), |query| middle(&visible(&query.path), 60));
        view! {
            <Chrome here="lock" title=title>{match query {
                Ok(query) => erase(one(query)),
                Err(mistake) => absent(words::WHICH, "", &mistake),
            }}</Chrome>
        }
    })
}

fn read_address(pairs: &[(String, String)]) -> Result<LockQuery, String> {
    LockQuery::from_page_pairs(borrowed(pairs)).map_err(|error| error.to_string())
}

#[derive(Clone, Copy)]
struct LockState {
    live: Live,
    head: Memo<Option<LockHead>>,
}

impl LockState {
    /// So few are there, and they change so seldom, that they are drawn as a chain; the table says the same again.
    fn has_chain(self) -> bool {
        let total = self.live.lock(|page| page.map_or(0, |page| page.window.total)).unwrap_or_default();
        total <= LINKS_MAX && !self.is_fast()
    }

    /// It changes hands all the time: who has it this moment says little.
    fn is_fast(self) -> bool {
        self.head.with(|head| head.as_ref().is_some_and(|head| head.row.hand_offs_in_10_s.is_some()))
    }
}

fn one(query: LockQuery) -> AnyView {
    let live = Live::of_app();
    let first = initial_view(|source| source.lock(&query));
    let opened = live.open(query.clone(), first);
    let head = Memo::new(move |_| live.lock(|page| page.map(|page| page.head.clone())).flatten());
    let is_read = Memo::new(move |_| live.lock(|_| ()).is_some());
    let state = LockState { live, head };
    use_keys(|_| false);
    let is_there = Memo::new(move |_| head.with(Option::is_some));
    let query = StoredValue::new(query);
    let none = move || {
        let path = query.with_value(|query| query.path.clone());
        if !is_read.get() {
            return absent(words::NOT_READ, &path, "");
        }
        // It may have been there.
        view! {
            {absent(words::NO_LOCK, &path, words::NOTHING)}
            {query.with_value(|query| ServerSection::OverTime(query).element())}
        }
    };
    view! {
        {dynamic(move || {
            if is_there.get() {
                view! {
                    <LockTitle state=state />
                    <Chain state=state />
                    <Queue state=state opened=opened query=query.get_value() />
                    {ServerSection::TimeToLock.element()}
                    {query.with_value(|query| ServerSection::OverTime(query).element())}
                    <Stats state=state />
                    <Facts state=state />
                    <p><a class="tool" href=query.with_value(events_url) rel="external" data-testid="events-link">"What happened"</a> " " <a class="tool" href=query.with_value(incidents_url) rel="external">"Incidents"</a></p>
                }
            } else {
                none()
            }
        })}
        // Outside of what comes and goes with the lock: nothing live closes it.
        {release_dialog(query.with_value(|query| query.ensemble.clone()))}
    }
}

fn events_url(query: &LockQuery) -> String {
    lock_url(&query.ensemble, &query.path).replacen("/lock", "/events", 1)
}

fn incidents_url(query: &LockQuery) -> String {
    lock_url(&query.ensemble, &query.path).replacen("/lock", "/incidents", 1).replacen("path=", "q=", 1)
}

fn absent(title: &'static str, path: &str, text: &str) -> AnyView {
    let is_missing = text == words::NOTHING;
    view! {
        <div class="empty">
            <h1 class="empty-title" data-testid=is_missing.then_some("no-lock")>{title}</h1>
            <p class="break-all"><code><bdi>{visible(path)}</bdi></code></p>
            <p>{visible(text)}</p>
            <p><a href="/">"To the board"</a></p>
            {is_missing.then(|| view! { <p><a href="/status">"To the status"</a></p> })}
        </div>
    }
}
