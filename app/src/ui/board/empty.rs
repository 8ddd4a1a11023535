//! Why there is nothing to see: not read yet, nothing there, or nothing that matches.

use super::state::BoardState;
use crate::ui::format::{middle, plural, visible};
use crate::ui::html::Html;
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
pub(super) fn empty_state(state: BoardState) -> Html {
    let text = |text: &str| Html::of("p", &[], text);
    let (title, words) = match state.live.board(|board| why(Some(board))).unwrap_or(Empty::NotRead) {
        Empty::NotRead => ("Not read yet", text("The locks appear here as soon as ZooKeeper has answered. The line above tells how that goes.")),
        Empty::NoLocks(roots) => {
            let root = |root: &String| Html::tag("li", &[], Html::of("code", &[], root));
            let list = Html::tag("ul", &[("class", "empty-roots")], Html::all(roots.iter().map(root).collect()));
            let words = text("Everything was read, and nothing there is a lock. One that is taken now appears at once.");
            ("No locks under these roots", Html::all(vec![words, list]))
        }
        Empty::NoMatch(locks) => {
            let words = Html::text(&format!("None of {} matches. ", plural(locks.into(), "lock", "locks")));
            let all = Html::of("a", &[("href", "/")], "Show all");
            ("No match for the filter", Html::tag("p", &[], Html::all(vec![words, all])))
        }
    };
    let inner = Html::all(vec![Html::of("h2", &[("class", "empty-title")], title), words]);
    Html::tag("div", &[("class", "empty"), ("data-testid", "empty")], inner)
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
