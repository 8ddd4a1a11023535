//! The line that says how far the page can be trusted: live, or since when not.

use crate::erase::{dynamic, view};
use leptos::prelude::*;

use super::link_words::{self as words, Words};
use super::time::Age;
use super::zone::Instant;
use crate::format::{age, visible};
use crate::live::{Connection, Live};
use lockscope_wire::{AsOf, Body, EnsembleTag, Link, RootState};

/// The line's work on pages that have none of the page's code. They show nothing live, so it asks whether the server is
/// there, each three seconds while somebody looks; as nobody, so that no sign-in is kept alive by it.
#[cfg(feature = "ssr")]
pub(crate) fn link_script() -> String {
    const SCRIPT: &str = "{const b=document.querySelector('[data-testid=link-banner]'),w=b.querySelector('.banner-word'),y=b.querySelector('.banner-why'),\
        was=[b.dataset.state,w.textContent,y.textContent],lost=['offline','WORD','WHY'];let asks=false;\
        const tell=([state,word,why])=>{if(b.dataset.state===state)return;b.dataset.state=state;w.textContent=word;y.textContent=why},\
        look=async()=>{if(asks||document.hidden)return;asks=true;let is=false;\
        try{is=(await fetch('/healthz',{cache:'no-store',credentials:'omit',signal:AbortSignal.timeout(3e3)})).ok}catch{}asks=false;tell(is?was:lost)};\
        setInterval(look,3e3);addEventListener('online',look);addEventListener('offline',look);document.addEventListener('visibilitychange',look)}";
    SCRIPT.replace("WORD", words::OFFLINE.0).replace("WHY", words::OFFLINE.1)
}

/// What the line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkState {
    /// `data-state` of the line.
    pub(crate) state: &'static str,
    /// The word in capitals.
    pub(crate) word: &'static str,
    /// Since when, where that matters.
    pub(crate) since_ms: Option<i64>,
    /// The rest, in words.
    pub(crate) why: String,
}

impl LinkState {
    /// True when the data on screen may be shown without doubt.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.state, "live" | "reduced" | "partial")
    }
}

/// What the banner says: `known_at_ms` is up to when what is shown is known to be true. That instant is what everything
/// that is not live is dated from, whatever comes in between, until it is live again.
fn link_state(
    connection: Connection,
    as_of: Option<&AsOf>,
    awaits_data: bool,
    is_fresh: bool,
    known_at_ms: Option<i64>,
) -> LinkState {
    let is_current = as_of.is_none_or(|as_of| as_of.state.is_current());
    let known_ms = if is_current { known_at_ms } else { as_of.map(|as_of| as_of.since_ms) };
    let since_ms = known_ms.filter(|since_ms| *since_ms > 0);
    let told = |state, (word, why): Words, since_ms| LinkState { state, word, since_ms, why: why.to_owned() };
    if connection == Connection::Lost {
        return told("offline", words::OFFLINE, since_ms);
    }
    if connection == Connection::SignedOut {
        return told("out", words::SIGNED_OUT, None);
    }
    if as_of.is_none() && !awaits_data {
        // A page that shows no data of its own, or the answer that there is no such lock.
        return told("live", words::CONNECTED, None);
    }
    let Some(as_of) = as_of else {
        return told("syncing", words::WAITING, None);
    };
    if is_current && matches!(connection, Connection::Back { .. }) {
        return told("syncing", words::RESYNCING, since_ms);
    }
    if is_current && !is_fresh {
        return told("stale", words::STALE, since_ms);
    }
    let why = visible(&as_of.why);
    let since_ms = Some(as_of.since_ms).filter(|since_ms| *since_ms > 0);
    let since_ms = since_ms.filter(|_| as_of.state != RootState::Live);
    let (word, otherwise) = words::root_link(as_of.state);
    let why = if why.is_empty() { otherwise.to_owned() } else { why };
    LinkState { state: as_of.state.name(), word, since_ms, why }
}

/// How the open view stands. Reactive.
pub(crate) fn current(live: Live) -> LinkState {
    let as_of = as_of(live);
    let (connection, is_fresh) = (live.connection(), live.is_fresh());
    // It moves on all the time, and matters only where something is wrong.
    let known_at_ms = if is_fresh && connection == Connection::Open { None } else { live.known_at_ms() };
    let mut link_state = link_state(connection, as_of.as_ref(), live.awaits_data(), is_fresh, known_at_ms);
    if link_state.state == "stale" && live.is_link_lost() {
        link_state.state = "lost";
        link_state.word = words::LINK_LOST;
    }
    link_state
}

/// How far the page can be trusted, and whose it is.
pub(super) fn as_of(live: Live) -> Option<AsOf> {
    live.body(|body| match body {
        Body::Board(board) => Some(board.head.as_of.clone()),
        Body::Lock(page) => page.as_ref().map(|page| page.head.as_of.clone()),
        Body::Waits(waits) => Some(waits.as_of.clone()),
        Body::Sessions(sessions) => Some(sessions.head.as_of.clone()),
        Body::Session(page) => page.as_ref().map(|page| page.as_of.clone()),
        Body::Lab(_) | Body::Events(_) | Body::QueueMap(_) => None,
        Body::Status(status) => status.ensembles.first().map(|ensemble| AsOf {
            state: match ensemble.link {
                Link::Live => RootState::Live,
                Link::Syncing => RootState::Syncing,
                Link::Stale | Link::Lost => RootState::Stale,
            },
            since_ms: ensemble.since_ms,
            why: ensemble.why.clone(),
            zxid: ensemble.zxid,
            ensemble: ensemble
                .color
                .filter(|_| status.ensembles.len() == 1)
                .map(|color| EnsembleTag { name: ensemble.name.clone(), color }),
        }),
    })
}

/// The line.
#[component]
pub(crate) fn LinkBanner() -> AnyView {
    #[cfg(feature = "ssr")]
    if let Some(past) = use_context::<crate::ports::PastView>() {
        return crate::past::band(&past);
    }
    let live = Live::of_app();
    let link_state = Memo::new(move |_| current(live));
    // Of what is live the age, and the transaction for whoever asks.
    let zxid = move || as_of(live).filter(|as_of| as_of.zxid.0 != 0).map(|as_of| words::as_of(as_of.zxid));
    let is_live = Memo::new(move |_| link_state.with(LinkState::is_live) && as_of(live).is_some());
    let fresh = Memo::new(move |_| {
        is_live
            .get()
            .then(|| words::ago(&live.known_at_ms().map_or_else(|| "…".to_owned(), |at_ms| age(at_ms, live.now_ms()))))
    });
    let since_ms = Memo::new(move |_| link_state.with(|link_state| link_state.since_ms));
    let since = move || {
        since_ms.get().map(|at_ms| {
            let is_old = link_state.with_untracked(|link_state| !link_state.is_live());
            view! { {words::before_instant(is_old)}<Instant at_ms=at_ms />" ("<Age since_ms=Some(at_ms) />" ago)" }
        })
    };
    let why = move || Some(link_state.get().why).filter(|why| !why.is_empty());
    let paused = move || live.is_paused().then_some(words::UPDATES_PAUSED);
    let word =
        move || if live.is_paused() && link_state.get().is_live() { words::PAUSED } else { link_state.get().word };
    let is_paused = move || live.is_paused().then_some("true");
    view! {
        <section class="banner" aria-label="Link" data-testid="link-banner" data-state=move || link_state.get().state data-paused=is_paused>
            <div class="banner-line">
                <span class="banner-dot" aria-hidden="true"></span>
                <strong class="banner-word" role="status">{word}</strong>
                <span class="banner-why">{why}</span>
                <span class="banner-since tabular-nums">{dynamic(since)}</span>
                // This page once more: the server leads to the form, and the form back here.
                <a class="banner-in" rel="external" href="">"Sign in again"</a>
                <span class="banner-fresh tabular-nums" title=zxid>{fresh}</span>
                <span class="banner-paused">{paused}</span>
                <span class="only-static">"Scripts are off: this is a snapshot. Reload to update."</span>
            </div>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_of(state: RootState, why: &str) -> AsOf {
        AsOf { state, since_ms: 5, why: why.to_owned(), ..AsOf::default() }
    }

    fn open(as_of: &AsOf) -> LinkState {
        link_state(Connection::Open, Some(as_of), false, true, Some(9))
    }

    #[test]
    fn a_lost_connection_outweighs_what_was_live() {
        let lost = link_state(Connection::Lost, Some(&as_of(RootState::Live, "")), false, true, Some(9));
        assert_eq!((lost.state, lost.since_ms), ("offline", Some(9)));
        assert!(!lost.is_live());
        let out = link_state(Connection::SignedOut, Some(&as_of(RootState::Live, "")), false, true, Some(9));
        assert_eq!((out.state, out.is_live()), ("out", false));
    }

    #[test]
    fn live_needs_data_that_is_young() {
        assert_eq!(link_state(Connection::Open, None, true, true, None).state, "syncing");
        assert!(open(&as_of(RootState::Live, "")).is_live());
        assert_eq!(open(&as_of(RootState::Stale, "disconnected")).why, "disconnected");
        let old = link_state(Connection::Open, Some(&as_of(RootState::Partial, "")), false, false, Some(9));
        assert_eq!((old.state, old.since_ms), ("stale", Some(9)));
    }

    #[test]
    fn whatever_the_reason_it_is_told_since_the_same_instant() {
        let (live, stale) = (as_of(RootState::Live, ""), as_of(RootState::Stale, "disconnected"));
        for connection in [Connection::Lost, Connection::Back { at_ms: 50 }, Connection::Open] {
            for is_fresh in [true, false] {
                let was_live = link_state(connection, Some(&live), false, is_fresh, Some(9));
                assert!(was_live.is_live() || was_live.since_ms == Some(9), "{was_live:?}");
                assert_eq!(was_live.is_live(), connection == Connection::Open && is_fresh);
                assert_eq!(
                    link_state(connection, Some(&stale), false, is_fresh, Some(9)).since_ms,
                    Some(5),
                    "as ZooKeeper's link has it"
                );
            }
        }
    }
}
