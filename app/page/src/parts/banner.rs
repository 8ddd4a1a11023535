//! The line that says how far the page can be trusted: live, or since when not.

use crate::erase::{dynamic, view};
use leptos::prelude::*;

use super::time::Age;
use super::zone::Instant;
use crate::format::age;
use crate::live::{Connection, Live};
use lockscope_view::live::{LinkState, link_state, link_words as words};
use lockscope_view::{AsOf, Freshness};

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

/// How the open view stands. Reactive.
pub(crate) fn current(live: Live) -> LinkState {
    let as_of = as_of(live);
    let (connection, freshness) = (live.connection(), live.freshness());
    // It moves on all the time, and matters only where something is wrong.
    let is_wrong = freshness == Freshness::Stale || connection != Connection::Open;
    let known_at_ms = is_wrong.then(|| live.known_at_ms()).flatten();
    let mut link_state = link_state(connection, as_of.as_ref(), live.awaits_data(), freshness, known_at_ms);
    if link_state.state == "stale" && live.is_link_lost() {
        link_state.state = "lost";
        link_state.word = words::LINK_LOST;
    }
    link_state
}

pub(super) fn as_of(live: Live) -> Option<AsOf> {
    live.body(lockscope_view::live::as_of)
}

#[component]
pub(crate) fn LinkBanner() -> AnyView {
    #[cfg(feature = "ssr")]
    if let Some(past) = use_context::<crate::ports::PastView>() {
        let live = Live::of_app();
        return crate::past::band(&past, move || as_of(live).map(|as_of| as_of.why_in_the_past()));
    }
    let live = Live::of_app();
    let link_state = Memo::new(move |_| current(live));
    // Of what is live the age, and the transaction for whoever asks.
    let zxid = move || as_of(live).filter(|as_of| as_of.zxid.0 != 0).map(|as_of| words::as_of(as_of.zxid));
    let is_live = Memo::new(move |_| link_state.with(LinkState::is_live) && as_of(live).is_some());
    let fresh = Memo::new(move |_| {
        let is_late = link_state.with(|link_state| link_state.state == "late");
        let age = live.known_at_ms().filter(|_| is_live.get()).map(|at_ms| age(at_ms, live.now_ms()));
        age.map(|age| if is_late { words::old(&age) } else { words::ago(&age) })
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
