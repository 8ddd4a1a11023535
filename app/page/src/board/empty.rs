//! Why there is nothing to see: no server reached, not read yet, not allowed, nothing there, or nothing that matches. And
//! what can be done about it.

use super::state::BoardState;
use crate::format::{middle, plural, visible};
use crate::html::Html;
use lockscope_wire::{Board, RootBrief, RootState};

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
        () if !head.roots.is_empty() && head.roots.iter().all(|root| matches!(root.state, RootState::Denied | RootState::Gone)) => Empty::Shut,
        () => Empty::NoLocks,
    }
}

/// The state in words.
pub(super) fn empty_state(state: BoardState) -> Html {
    let now_ms = state.live.now_ms_untracked();
    state.live.board(|board| words(board, now_ms)).unwrap_or_else(|| titled("unread", "Not read yet", Html::default()))
}

fn words(board: &Board, now_ms: i64) -> Html {
    let list = roots(&board.head.roots, now_ms);
    match why(board) {
        Empty::NotReached => titled("unread", "Connecting to ZooKeeper", list),
        Empty::NotRead => titled("unread", "Reading the tree", list),
        Empty::Shut => titled("unread", "No root can be read", list),
        Empty::NoLocks => {
            let lead = "A lock is a directory of numbered znodes, as Curator, kazoo and ZooKeeper's recipes make it. One that is taken shows \
                        here at once. To see one, in zkCli:";
            let code = |line: &str| Html::of("code", &[], line);
            let lines = Html::tag("div", &[("class", "empty-try")], Html::all(vec![code("create /my-lock"), code("create -s -e /my-lock/lock- me")]));
            titled("none", "No locks here yet", Html::all(vec![list, Html::of("p", &[], lead), lines]))
        }
        Empty::NoMatch => {
            // Order and grouping are remembered.
            let link = Html::of("a", &[("class", "tool"), ("href", "/"), ("data-testid", "clear-filter")], "Clear the filter");
            let words = format!("None of {} matches.", plural(board.head.totals.locks.into(), "lock", "locks"));
            titled("filter", "No match for the filter", Html::all(vec![Html::of("p", &[], &words), link]))
        }
    }
}

fn titled(why: &str, title: &str, inner: Html) -> Html {
    let inner = Html::all(vec![Html::of("h2", &[("class", "empty-title")], title), inner]);
    Html::tag("div", &[("class", "empty"), ("data-testid", "empty"), ("data-why", why)], inner)
}

/// Each root, how it stands, and what helps.
fn roots(roots: &[RootBrief], now_ms: i64) -> Html {
    let root = |root: &RootBrief| {
        let since = Some(root.since_ms).filter(|since_ms| *since_ms > 0 && root.state != RootState::Live);
        let line = vec![
            Html::tag("code", &[], Html::of("bdi", &[], &middle(&visible(&root.path), 60))),
            Html::of("span", &[("class", "state"), ("data-state", root.state.name())], &format!(" {} ", root.state.name())),
            Html::age(since, false, now_ms),
            Html::text(&format!(" {}", root.why)),
            Html::of("p", &[], &root.help),
        ];
        Html::tag("li", &[], Html::all(line))
    };
    Html::tag("ul", &[("class", "empty-roots")], Html::all(roots.iter().map(root).collect()))
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
        assert!(words(&board, 9).into_string().contains("Grant the READ"));
        board.head.roots.push(root(RootState::Live));
        assert_eq!(why(&board), Empty::NoLocks);
        board.head.totals.locks = 3;
        assert_eq!(why(&board), Empty::NoMatch);
    }
}
