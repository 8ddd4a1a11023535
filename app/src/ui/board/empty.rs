//! Why there is nothing to see: not read yet, nothing there, or nothing that matches.

use leptos::prelude::*;

use crate::ui::at_once::any;

use super::state::BoardState;
use crate::ui::format::{middle, plural, visible};
use crate::wire::{Board, BoardHead, RootState};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Empty {
    NotRead,
    NoLocks(Vec<String>),
    NoMatch(u32),
}

fn why(board: Option<&Board>) -> Empty {
    let Some(board) = board else { return Empty::NotRead };
    if board.head.totals.locks > 0 {
        return Empty::NoMatch(board.head.totals.locks);
    }
    if is_unread(&board.head) {
        return Empty::NotRead;
    }
    Empty::NoLocks(board.head.roots.iter().map(|root| middle(&visible(&root.path), 60)).collect())
}

fn is_unread(head: &BoardHead) -> bool {
    let unread = |state: RootState| matches!(state, RootState::Syncing | RootState::Stale);
    if head.roots.is_empty() { unread(head.as_of.state) } else { head.roots.iter().any(|root| unread(root.state)) }
}

/// The state in words.
#[component]
pub(super) fn EmptyState(state: BoardState) -> impl IntoView {
    let empty = Memo::new(move |_| state.live.board(|board| why(Some(board))).unwrap_or(Empty::NotRead));
    let text = move || match empty.get() {
        Empty::NotRead => any(view! {
            <h2 class="empty-title">"Not read yet"</h2>
            <p>"The locks appear here as soon as ZooKeeper has answered. The line above tells how that goes."</p>
        }),
        Empty::NoLocks(roots) => any(view! {
            <h2 class="empty-title">"No locks under these roots"</h2>
            <p>"Everything was read, and nothing there is a lock. One that is taken now appears at once."</p>
            <ul class="empty-roots">{roots.into_iter().map(|root| view! { <li><code>{root}</code></li> }).collect_view()}</ul>
        }),
        Empty::NoMatch(locks) => any(view! {
            <h2 class="empty-title">"No match for the filter"</h2>
            <p>"None of " {plural(locks.into(), "lock", "locks")} " matches. " <a href="/">"Show all"</a></p>
        }),
    };
    view! { <div class="empty" data-testid="empty">{text}</div> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_read_is_not_nothing_there() {
        let mut board = Board::default();
        assert_eq!(why(None), Empty::NotRead);
        assert_eq!(why(Some(&board)), Empty::NotRead);
        board.head.as_of.state = RootState::Live;
        assert_eq!(why(Some(&board)), Empty::NoLocks(Vec::new()));
        board.head.totals.locks = 3;
        assert_eq!(why(Some(&board)), Empty::NoMatch(3));
    }
}
