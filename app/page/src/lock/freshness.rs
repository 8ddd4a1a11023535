//! How far the page can be trusted, in one line: the view, the link, the clock, the clients, the watches.

use leptos::prelude::*;

use super::trust_words::{self as words, Jargon};
use crate::erase::{erase, view};
use crate::explain::explained_term;
use crate::parts::{self, Age, filled, mark, rows_in_parts};
use crate::past;
use lockscope_view::{AsOf, LockHead, RootState, Trust};

/// The line; `is_live`: nothing between ZooKeeper and this page is in doubt.
#[component]
pub(super) fn Freshness(head: Memo<Option<LockHead>>, is_live: Memo<bool>) -> AnyView {
    let is_past = past::is_shown();
    let shown = Memo::new(move |_| {
        let of = |head: &LockHead| {
            let (as_of, trust) = (&head.as_of, &head.trust);
            if is_past { items_of_then(as_of, trust) } else { items(as_of, trust, is_live.get()) }
        };
        head.with(|head| head.as_ref().map(of).unwrap_or_default())
    });
    view! {
        <ul class="trust" aria-label="How far this can be trusted" data-testid="trust">{rows_in_parts(shown, |item| item.title, draw)}</ul>
    }
}

fn items(as_of: &AsOf, trust: &Trust, is_live: bool) -> Vec<Item> {
    let items = [
        view_item(as_of),
        link(as_of, is_live),
        Some(clock(trust)),
        Some(clients(trust)),
        Some(watches(trust)),
        behind(trust),
    ];
    items.into_iter().flatten().collect()
}

/// The same on a page of the past, which the server alone draws. The link that there is now is no matter of then.
fn items_of_then(as_of: &AsOf, trust: &Trust) -> Vec<Item> {
    items(as_of, trust, true).into_iter().map(|item| of_then(item, as_of, trust)).collect()
}

fn of_then(item: Item, as_of: &AsOf, trust: &Trust) -> Item {
    let (before, after) = match item.title {
        words::LINK if as_of.state == RootState::Live => (words::LINK_WAS_LIVE.to_owned(), String::new()),
        words::LINK if item.since_ms.is_some() => (words::link_was_for(as_of.state), String::new()),
        words::LINK => (words::link_was(as_of.state), String::new()),
        words::CLIENTS if item.since_ms.is_some() => (item.before, words::heard_before(trust)),
        // What would help now is no matter of then.
        words::CLIENTS => (item.before, String::new()),
        words::WATCHES if item.since_ms.is_some() => (item.before, words::BEFORE_THEN.to_owned()),
        words::BEHIND => (words::was_behind(transactions_behind(trust).unwrap_or_default()), String::new()),
        _ => (item.before, item.after),
    };
    Item { before, after, ..item }
}

/// Words around an age, where there is one.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    before: String,
    since_ms: Option<i64>,
    after: String,
    title: &'static str,
    is_doubtful: bool,
}

impl Item {
    fn sure(text: impl Into<String>, title: &'static str) -> Self {
        Self { before: text.into(), since_ms: None, after: String::new(), title, is_doubtful: false }
    }

    fn doubtful(text: impl Into<String>, title: &'static str) -> Self {
        Self { is_doubtful: true, ..Self::sure(text, title) }
    }

    fn since(self, since_ms: i64, after: impl Into<String>) -> Self {
        Self { since_ms: Some(since_ms), after: after.into(), ..self }
    }
}

/// An item. Its jargon explains itself and stays; the words after it are a text of their own, since the transaction that
/// the view is of changes all the time.
fn draw(item: parts::Item<Item>) -> AnyView {
    let (title, jargon) = item.fixed(|item| (item.title, Jargon::of(&item.before)));
    let words = move |item: &Item| filled(item.before.get(jargon.map_or(0, Jargon::bytes)..)?.to_owned());
    let age = |since_ms: &Option<i64>| erase(since_ms.map(|since_ms| view! { <Age since_ms=Some(since_ms) /> }));
    let after = |after: &String| erase(filled(after.clone()));
    view! {
        <li class="trust-item" data-doubt=item.text(|item| mark(item.is_doubtful).map(str::to_owned)) title=title>
            {jargon.map(|jargon| view! { {jargon.lead} {explained_term(jargon.term, jargon.word)} })}
            <span>{item.text(words)}</span>
            {item.part(|item| item.since_ms, age)}
            {item.part(|item| item.after.clone(), after)}
        </li>
    }
}

fn view_item(as_of: &AsOf) -> Option<Item> {
    (as_of.zxid.0 != 0).then(|| Item::sure(words::as_of(as_of.zxid), words::AS_OF))
}

fn link(as_of: &AsOf, is_live: bool) -> Option<Item> {
    let title = words::LINK;
    Some(match as_of.state {
        state if state.is_current() && !is_live => Item::doubtful(words::LINK_UNKNOWN, title),
        RootState::Live => Item::sure(words::LINK_LIVE, title),
        state if as_of.since_ms > 0 => Item::doubtful(words::link_for(state), title).since(as_of.since_ms, ""),
        state => Item::doubtful(words::link_is(state), title),
    })
}

fn clock(trust: &Trust) -> Item {
    let text = words::clock_text(trust.clock_offset_ms, trust.clock_error_ms);
    Item { is_doubtful: trust.clock_error_ms.is_none(), ..Item::sure(text, words::CLOCK) }
}

fn clients(trust: &Trust) -> Item {
    let title = words::CLIENTS;
    match trust.connections_at_ms {
        Some(at_ms) => Item::sure(words::CLIENTS_SEEN, title).since(at_ms, words::ago_heard(trust)),
        None => {
            let heard = if trust.members == 0 { words::CLIENTS_UNKNOWN.to_owned() } else { words::clients_from(trust) };
            Item { after: words::CLIENTS_HELP.to_owned(), ..Item::doubtful(heard, title) }
        }
    }
}

fn watches(trust: &Trust) -> Item {
    let title = words::WATCHES;
    match trust.watches_at_ms {
        Some(at_ms) => Item::sure(words::WATCHES_READ, title).since(at_ms, words::AGO),
        None => Item::sure(words::WATCHES_UNREAD, title),
    }
}

fn transactions_behind(trust: &Trust) -> Option<u64> {
    Some(trust.zxid_behind?.max(0).unsigned_abs())
}

fn behind(trust: &Trust) -> Option<Item> {
    let behind = transactions_behind(trust)?;
    Some(Item { is_doubtful: behind > 0, ..Item::sure(words::behind(behind), words::BEHIND) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_page_of_the_past_nothing_reads_as_now() {
        let (state, why, zxid) = (RootState::Live, String::new(), lockscope_view::Zxid(7));
        let as_of = AsOf { state, since_ms: 0, why, zxid, ..AsOf::default() };
        let trust = Trust {
            members: 3,
            members_heard: 3,
            connections_at_ms: Some(8_000),
            watches_at_ms: Some(8_000),
            zxid_behind: Some(0),
            ..Trust::default()
        };
        let said = |is_past| -> Vec<String> {
            let items = if is_past { items_of_then(&as_of, &trust) } else { items(&as_of, &trust, true) };
            items.iter().map(|item| format!("{}|{}", item.before, item.after)).collect()
        };
        let then = ["link was live then|", "clients seen | before (3 of 3 servers)", "watches read | before"];
        assert!(then.iter().all(|item| said(true).iter().any(|said| said == item)), "{:?}", said(true));
        assert!(said(true).contains(&"was up to date then|".to_owned()), "{:?}", said(true));
        assert!(said(false).contains(&"link live|".to_owned()) && said(false).contains(&"up to date|".to_owned()));
        let stale = AsOf { state: RootState::Stale, since_ms: 5, ..as_of };
        let item = items_of_then(&stale, &trust).into_iter().find(|item| item.title == words::LINK);
        assert_eq!(item.map(|item| item.before).as_deref(), Some("link was stale then, for "));
    }

    #[test]
    fn who_was_not_asked_is_told() {
        let nobody = clients(&Trust::default());
        assert!(nobody.is_doubtful && nobody.before == "clients not known: no server was asked");
        let some = clients(&Trust { members: 3, members_heard: 2, ..Trust::default() });
        assert!(some.is_doubtful && some.before == "clients from 2 of 3 servers only");
        assert!(
            [&nobody, &some]
                .iter()
                .all(|item| item.after.contains("`4lw.commands.whitelist=srvr,cons,dump,wchp,mntr`"))
        );
        let all = clients(&Trust { members: 3, members_heard: 3, connections_at_ms: Some(8_000), ..Trust::default() });
        assert!(!all.is_doubtful && all.since_ms == Some(8_000));
    }
}
