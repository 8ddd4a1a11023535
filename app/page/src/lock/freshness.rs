//! How far the page can be trusted, in one line: the view, the link, the clock, the clients, the watches.

use leptos::prelude::*;

use crate::erase::{erase, view};
use crate::explain::explained_term;
use crate::format::plural;
use crate::parts::{self, Age, filled, mark, rows_in_parts};
use lockscope_wire::{AsOf, LockHead, RootState, Trust};

/// The line; `is_live`: nothing between ZooKeeper and this page is in doubt.
#[component]
pub(super) fn Freshness(head: Memo<Option<LockHead>>, is_live: Memo<bool>) -> AnyView {
    let shown = Memo::new(move |_| {
        head.with(|head| head.as_ref().map(|head| items(&head.as_of, &head.trust, is_live.get())).unwrap_or_default())
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

    /// The same, followed by an age and more words.
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

/// How an item begins that has a word which explains itself.
#[derive(Clone, Copy)]
struct Jargon {
    lead: &'static str,
    word: &'static str,
    term: &'static str,
}

const JARGON: [Jargon; 3] = [
    Jargon { lead: "as of ", word: "zxid", term: "zxid" },
    Jargon { lead: "", word: "clients", term: "evidence" },
    Jargon { lead: "", word: "watches", term: "watch" },
];

impl Jargon {
    fn of(text: &str) -> Option<Self> {
        JARGON.into_iter().find(|of| text.strip_prefix(of.lead).is_some_and(|rest| rest.starts_with(of.word)))
    }

    fn bytes(self) -> usize {
        self.lead.len() + self.word.len()
    }
}

fn view_item(as_of: &AsOf) -> Option<Item> {
    let text = format!("as of zxid {}", as_of.zxid);
    (as_of.zxid.0 != 0).then(|| Item::sure(text, "The newest transaction that the view is known to include"))
}

fn link(as_of: &AsOf, is_live: bool) -> Option<Item> {
    let title = "The watched root of this lock";
    Some(match as_of.state {
        state if state.is_current() && !is_live => Item::doubtful("link unknown", title),
        RootState::Live => Item::sure("link live", title),
        state if as_of.since_ms > 0 => Item::doubtful(format!("link {state} for "), title).since(as_of.since_ms, ""),
        state => Item::doubtful(format!("link {state}"), title),
    })
}

fn clock(trust: &Trust) -> Item {
    let title = "Our clock against the ensemble's, by how much that may be wrong: ages of waits and holds are no surer";
    let text = clock_text(trust.clock_offset_ms, trust.clock_error_ms);
    Item { is_doubtful: trust.clock_error_ms.is_none(), ..Item::sure(text, title) }
}

/// Our clock against the ensemble's, in words.
fn clock_text(offset_ms: Option<i64>, error_ms: Option<i64>) -> String {
    let error = error_ms.map_or("unknown".to_owned(), |ms| format!("{} ms", ms.max(0)));
    offset_ms.map_or("clock not compared yet".to_owned(), |ms| format!("clocks differ by {} ms (±{error})", ms.abs()))
}

fn clients(trust: &Trust) -> Item {
    let title = "When every member was asked who is connected to it";
    let heard = format!("{} of {} servers", trust.members_heard, trust.members);
    match trust.connections_at_ms {
        Some(at_ms) => Item::sure("clients seen ", title).since(at_ms, format!(" ago ({heard})")),
        None if trust.members == 0 => Item::doubtful("clients not known: no server was asked", title),
        None => Item::doubtful(format!("clients from {heard} only"), title),
    }
}

fn watches(trust: &Trust) -> Item {
    let title = "When every member was asked who watches what";
    match trust.watches_at_ms {
        Some(at_ms) => Item::sure("watches read ", title).since(at_ms, " ago"),
        None => Item::sure("watches: reading…", title),
    }
}

fn behind(trust: &Trust) -> Option<Item> {
    let title = "Against the newest transaction that a member reported";
    let behind = trust.zxid_behind?.max(0).unsigned_abs();
    let text = match behind {
        0 => "up to date".to_owned(),
        _ => format!("behind by {}", plural(behind, "transaction", "transactions")),
    };
    Some(Item { is_doubtful: behind > 0, ..Item::sure(text, title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_never_surer_than_known() {
        assert_eq!(clock_text(None, None), "clock not compared yet");
        assert_eq!(clock_text(Some(12), Some(4)), "clocks differ by 12 ms (±4 ms)");
        assert_eq!(clock_text(Some(-3), None), "clocks differ by 3 ms (±unknown)");
    }

    #[test]
    fn who_was_not_asked_is_told() {
        let nobody = clients(&Trust::default());
        assert!(nobody.is_doubtful && nobody.before == "clients not known: no server was asked");
        let some = clients(&Trust { members: 3, members_heard: 2, ..Trust::default() });
        assert!(some.is_doubtful && some.before == "clients from 2 of 3 servers only");
        let all = clients(&Trust { members: 3, members_heard: 3, connections_at_ms: Some(8_000), ..Trust::default() });
        assert!(!all.is_doubtful && all.since_ms == Some(8_000));
    }
}
