//! Where a release stands, and whether what it was planned for is still what is seen. Pure.

use crate::format::visible;
use lockscope_wire::{Contender, ContenderRole, LockPage, RootState};

/// One way through the dialog. Only the person at it moves it on: nothing live does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// No dialog.
    Closed,
    /// The server was asked about this znode, and has not answered.
    Asked(String),
    /// It said something that can't be ordered: why there is no plan, or what came of an order. About this znode.
    Told(String),
    /// A plan is shown.
    Planned(Planned),
    /// It is ordered, and the answer is not here.
    Ordered(Planned),
}

/// What has to be known of a plan while it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Planned {
    /// Its name.
    pub(super) plan_id: String,
    /// The znode.
    pub(super) path: String,
    /// The lock: what has to be typed.
    pub(super) lock: String,
    /// Identity of the znode, as it is printed.
    pub(super) czxid: String,
    /// Its owner, as it is printed; empty for none.
    pub(super) session: String,
    /// Data version, as it is printed.
    pub(super) version: String,
    /// It held, and did not wait.
    pub(super) held: bool,
    /// Until when it can be ordered.
    pub(super) expires_at_ms: i64,
}

impl Stage {
    /// The znode it is about.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Closed => "",
            Self::Asked(path) | Self::Told(path) => path,
            Self::Planned(planned) | Self::Ordered(planned) => &planned.path,
        }
    }
}

/// What the live view shows of a planned znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The same as when it was planned.
    Same,
    /// Outside of the rows that are shown; the server looks again before it deletes.
    NotShown,
    /// It is gone.
    Gone,
    /// Another znode, or another session's, has its path.
    Other,
    /// Its data was written.
    Written,
    /// It moved from waiting to holding or back.
    Moved,
    /// The view is not live.
    Old,
    /// The page is paused, so it does not know.
    Paused,
}

impl Seen {
    /// What is said, and why nothing can be ordered now; empty while it can.
    pub(super) fn objection(self) -> &'static str {
        match self {
            Self::Same | Self::NotShown => "",
            Self::Gone => "It is gone: nothing is left to release.",
            Self::Other => "Another znode has its place now. This plan is not for that one.",
            Self::Written => "Its data was written since this plan was made.",
            Self::Moved => "It moved in the queue since this plan was made: what a release does is not what is written here.",
            Self::Old => "The view of this lock is not live, so nothing can be ordered.",
            Self::Paused => "The page is paused and shows the past. Let it go on first.",
        }
    }
}

/// Compares a plan with the page below the dialog; None: the lock is gone.
pub(super) fn compare(page: Option<&LockPage>, plan: &Planned) -> Seen {
    let Some(page) = page else { return Seen::Gone };
    if page.head.as_of.state != RootState::Live {
        return Seen::Old;
    }
    let (window, row) = (&page.window, &page.head.row);
    let Some(now) = window.rows.iter().chain(&row.holders).find(|contender| contender.path == plan.path) else {
        let all_are_shown = window.offset == 0 && window.total as usize <= window.rows.len();
        return if all_are_shown { Seen::Gone } else { Seen::NotShown };
    };
    same(now, plan)
}

fn same(now: &Contender, plan: &Planned) -> Seen {
    let session = now.session_id.map(|session| session.to_string()).unwrap_or_default();
    if now.czxid.is_some_and(|czxid| czxid.to_string() != plan.czxid) || session != plan.session {
        Seen::Other
    } else if now.version.to_string() != plan.version {
        Seen::Written
    } else if (now.role == ContenderRole::Holder) != plan.held {
        Seen::Moved
    } else {
        Seen::Same
    }
}

/// Whether what was typed allows the order: the path to the letter, as it is shown where it can't be typed, and a reason.
pub(super) fn is_confirmed(plan: &Planned, confirm: &str, reason: &str) -> bool {
    (confirm == plan.lock || confirm == visible(&plan.lock)) && reason.trim().chars().count() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::samples::{page, plan};
    use lockscope_wire::{SessionId, Window, Zxid};

    fn planned() -> Planned {
        let (path, lock) = ("/order/lock-0000000001".to_owned(), "/order".to_owned());
        let (czxid, session, version) = ("0x5".to_owned(), "0x7".to_owned(), "0".to_owned());
        Planned { plan_id: "abc".to_owned(), path, lock, czxid, session, version, held: true, expires_at_ms: 60_000 }
    }

    #[test]
    fn what_differs_from_the_plan_is_told() {
        let changed = |change: &dyn Fn(&mut LockPage)| {
            let mut page = page(&plan());
            change(&mut page);
            compare(Some(&page), &planned())
        };
        assert_eq!(changed(&|_| {}), Seen::Same);
        assert_eq!(changed(&|page| page.window.rows[0].czxid = Some(Zxid(99))), Seen::Other);
        assert_eq!(changed(&|page| page.window.rows[0].session_id = Some(SessionId(99))), Seen::Other);
        assert_eq!(changed(&|page| page.window.rows[0].version = 1), Seen::Written);
        assert_eq!(changed(&|page| page.window.rows[0].role = ContenderRole::Waiter), Seen::Moved);
        assert_eq!(changed(&|page| page.head.as_of.state = RootState::Stale), Seen::Old);
        assert_eq!(changed(&|page| page.window = Window { total: 0, offset: 0, rows: Vec::new() }), Seen::Gone);
        assert_eq!(changed(&|page| page.window = Window { total: 900, offset: 300, rows: Vec::new() }), Seen::NotShown);
        assert_eq!(compare(None, &planned()), Seen::Gone);
    }

    #[test]
    fn an_order_takes_the_path_to_the_letter_and_a_reason() {
        let cases = [
            ("/order", "stuck since noon", true),
            ("/order ", "stuck", false),
            ("/Order", "stuck", false),
            ("", "stuck", false),
            ("/order", "  x ", false),
        ];
        for (confirm, reason, expected) in cases {
            assert_eq!(is_confirmed(&planned(), confirm, reason), expected, "{confirm:?} {reason:?}");
        }
    }
}
