//! How far the page can be trusted, in one line: the view, the link, the clock, the clients, the watches.

use crate::format::plural;
use crate::html::Html;
use lockscope_wire::{AsOf, RootState, Trust};

/// The line; `is_live`: nothing between ZooKeeper and this page is in doubt.
pub(super) fn freshness(as_of: &AsOf, trust: &Trust, is_live: bool, now_ms: i64) -> Html {
    let items =
        [view(as_of), link(as_of, is_live, now_ms), Some(clock(trust)), Some(clients(trust, now_ms)), Some(watches(trust, now_ms)), behind(trust)];
    let item = |item: Item| {
        let doubt = if item.is_doubtful { "true" } else { "" };
        Html::tag("li", &[("class", "trust-item"), ("data-doubt", doubt), ("title", item.title)], item.text)
    };
    let items = items.into_iter().flatten().map(item).collect();
    Html::tag("ul", &[("class", "trust"), ("aria-label", "How far this can be trusted"), ("data-testid", "trust")], Html::all(items))
}

struct Item {
    text: Html,
    title: &'static str,
    is_doubtful: bool,
}

impl Item {
    fn sure(text: Html, title: &'static str) -> Self {
        Self { text, title, is_doubtful: false }
    }

    fn doubtful(text: Html, title: &'static str) -> Self {
        Self { text, title, is_doubtful: true }
    }
}

/// Words around an age.
fn ago(before: &str, since_ms: i64, after: &str, now_ms: i64) -> Html {
    Html::all(vec![Html::text(before), Html::age(Some(since_ms), false, now_ms), Html::text(after)])
}

fn view(as_of: &AsOf) -> Option<Item> {
    let text = Html::text(&format!("as of zxid {}", as_of.zxid));
    (as_of.zxid.0 != 0).then(|| Item::sure(text, "The newest transaction that the view is known to include"))
}

fn link(as_of: &AsOf, is_live: bool, now_ms: i64) -> Option<Item> {
    let title = "The watched root of this lock";
    Some(match as_of.state {
        state if state.is_current() && !is_live => Item::doubtful(Html::text("link unknown"), title),
        RootState::Live => Item::sure(Html::text("link live"), title),
        state if as_of.since_ms > 0 => Item::doubtful(ago(&format!("link {state} for "), as_of.since_ms, "", now_ms), title),
        state => Item::doubtful(Html::text(&format!("link {state}")), title),
    })
}

fn clock(trust: &Trust) -> Item {
    let title = "Our clock against the ensemble's, by how much that may be wrong: ages of waits and holds are no surer";
    let text = clock_text(trust.clock_offset_ms, trust.clock_error_ms);
    Item { text: Html::text(&text), title, is_doubtful: trust.clock_error_ms.is_none() }
}

/// Our clock against the ensemble's, in words.
fn clock_text(offset_ms: Option<i64>, error_ms: Option<i64>) -> String {
    let error = error_ms.map_or("unknown".to_owned(), |ms| format!("{} ms", ms.max(0)));
    offset_ms.map_or("clock not compared yet".to_owned(), |ms| format!("clock ours {ms:+} ms ±{error}"))
}

fn clients(trust: &Trust, now_ms: i64) -> Item {
    let title = "When every member was asked who is connected to it";
    let heard = format!("{} of {} members", trust.members_heard, trust.members);
    match trust.connections_at_ms {
        Some(at_ms) => Item::sure(ago("clients as of ", at_ms, &format!(" ago ({heard})"), now_ms), title),
        None if trust.members == 0 => Item::doubtful(Html::text("clients not known: no member was asked"), title),
        None => Item::doubtful(Html::text(&format!("clients from {heard} only")), title),
    }
}

fn watches(trust: &Trust, now_ms: i64) -> Item {
    let title = "When every member was asked who watches what";
    match trust.watches_at_ms {
        Some(at_ms) => Item::sure(ago("watches as of ", at_ms, " ago", now_ms), title),
        None => Item::doubtful(Html::text("watches not read now"), title),
    }
}

fn behind(trust: &Trust) -> Option<Item> {
    let title = "Against the newest transaction that a member told of";
    let behind = trust.zxid_behind?.max(0).unsigned_abs();
    let text = Html::text(&format!("behind by {}", plural(behind, "transaction", "transactions")));
    Some(Item { text, title, is_doubtful: behind > 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_never_surer_than_known() {
        assert_eq!(clock_text(None, None), "clock not compared yet");
        assert_eq!(clock_text(Some(12), Some(4)), "clock ours +12 ms ±4 ms");
        assert_eq!(clock_text(Some(-3), None), "clock ours -3 ms ±unknown");
    }

    #[test]
    fn who_was_not_asked_is_told() {
        let nobody = clients(&Trust::default(), 9_000);
        assert!(nobody.is_doubtful && nobody.text == Html::text("clients not known: no member was asked"));
        let some = clients(&Trust { members: 3, members_heard: 2, ..Trust::default() }, 9_000);
        assert!(some.is_doubtful && some.text == Html::text("clients from 2 of 3 members only"));
        let all = clients(&Trust { members: 3, members_heard: 3, connections_at_ms: Some(8_000), ..Trust::default() }, 9_000);
        assert!(!all.is_doubtful && all.text.into_string().contains("1.0 s"));
    }
}
