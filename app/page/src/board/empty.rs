//! Why there is nothing to see: no server reached, not read yet, not allowed, nothing there, or nothing that matches.
//! And what can be done about it.

use leptos::prelude::*;

use super::state::BoardState;
use super::words;
use crate::erase::{dynamic, view};
use crate::format::{middle, visible};
use crate::parts::{Age, no_match};
use lockscope_view::{Board, BoardQuery, RootBrief, RootState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    /// No session: nothing was ever read.
    NotReached,
    /// Being read.
    NotRead,
    /// No root can be read.
    Shut,
    NoLocks,
    NoMatch,
}

fn why(board: &Board) -> Empty {
    let head = &board.head;
    let any = |state: RootState| head.as_of.state == state || head.roots.iter().any(|root| root.state == state);
    match () {
        () if head.totals.locks > 0 => Empty::NoMatch,
        () if any(RootState::Stale) => Empty::NotReached,
        () if any(RootState::Syncing) => Empty::NotRead,
        () if !head.roots.is_empty()
            && head.roots.iter().all(|root| matches!(root.state, RootState::Denied | RootState::Gone)) =>
        {
            Empty::Shut
        }
        () => Empty::NoLocks,
    }
}

/// The state in words; nothing while there are rows.
#[component]
pub(super) fn EmptyState(state: BoardState, total: Signal<u32>) -> AnyView {
    let roots_and_why = Memo::new(move |_| state.live.board(|board| (why(board), board.head.roots.clone())));
    let told = move || {
        let filter = state.query.with(only_text);
        roots_and_why.with(|known| known.as_ref().map(|(why, roots)| told(*why, roots, filter.as_deref())))
    };
    dynamic(move || (total.get() == 0).then(|| told().unwrap_or_else(|| titled("unread", words::NOT_READ, ()))))
}

fn told(why: Empty, roots: &[RootBrief], filter: Option<&str>) -> AnyView {
    let list = || view! { <ul class="empty-roots">{roots.iter().map(root).collect_view()}</ul> };
    match why {
        Empty::NotReached => titled("unread", words::CONNECTING, list()),
        Empty::NotRead => titled("unread", words::READING, list()),
        Empty::Shut => titled("unread", words::NO_ROOT, list()),
        Empty::NoLocks => {
            let inner = view! {
                {list()}
                <p>{words::WHAT_A_LOCK_IS}</p>
                <div class="empty-try"><code>"create /my-lock"</code><code>"create -s -e /my-lock/lock- me"</code></div>
            };
            titled("none", words::NO_LOCKS, inner)
        }
        Empty::NoMatch => {
            // Order and grouping are remembered.
            let clear = view! { <a class="tool" href="/" data-testid="clear-filter">"Clear the filter"</a> };
            titled("filter", no_match(words::LOCK, filter), clear)
        }
    }
}

/// The text of a filter, where the board is asked for nothing else.
fn only_text(query: &BoardQuery) -> Option<String> {
    let is_all =
        query.recipe.is_none() && query.verdict.is_none() && query.root.is_empty() && query.ensemble.is_empty();
    (is_all && !query.q.is_empty()).then(|| query.q.clone())
}

fn titled(why: &'static str, title: impl Into<String>, inner: impl IntoView + 'static) -> AnyView {
    let title = title.into();
    view! {
        <div class="empty" data-testid="empty" data-why=why>
            <h2 class="empty-title">{title}</h2>
            {inner}
        </div>
    }
}

fn root(root: &RootBrief) -> AnyView {
    let since_ms = Some(root.since_ms).filter(|since_ms| *since_ms > 0 && root.state != RootState::Live);
    view! {
        <li>
            <code><bdi>{middle(&visible(&root.path), 60)}</bdi></code>
            <span class="state" data-state=root.state.name()>{format!(" {} ", root.state.name())}</span>
            <Age since_ms=since_ms />
            {format!(" {}", visible(&root.why))}
            <p>{visible(&root.help)}</p>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_read_is_not_nothing_there() {
        let mut board = Board::default();
        assert_eq!(why(&board), Empty::NotRead);
        board.head.as_of.state = RootState::Stale;
        assert_eq!(why(&board), Empty::NotReached);
        board.head.as_of.state = RootState::Denied;
        let root = |state| RootBrief {
            tag: None,
            path: "/a".to_owned(),
            state,
            since_ms: 5,
            why: String::new(),
            locks: 0,
            help: "Grant the READ".to_owned(),
        };
        board.head.roots = vec![root(RootState::Denied), root(RootState::Gone)];
        assert_eq!(why(&board), Empty::Shut);
        let drawn = Owner::new_root(None).with(|| told(Empty::Shut, &board.head.roots, None).to_html());
        assert!(drawn.contains("Grant the READ"));
        board.head.roots.push(root(RootState::Live));
        assert_eq!(why(&board), Empty::NoLocks);
        board.head.totals.locks = 3;
        assert_eq!(why(&board), Empty::NoMatch);
        let q = "a<b>\u{202e}".to_owned();
        let query = BoardQuery { q, ..BoardQuery::default() };
        let said = |query: &BoardQuery| {
            let text = only_text(query);
            Owner::new_root(None).with(|| told(Empty::NoMatch, &[], text.as_deref()).to_html())
        };
        assert!(said(&query).contains("No lock matches \"a&lt;b&gt;␥\"."), "{}", said(&query));
        let stuck = BoardQuery { verdict: Some(lockscope_view::Verdict::Stuck), ..query };
        assert!(said(&stuck).contains("No lock matches the filter."), "its text may well match");
    }
}
