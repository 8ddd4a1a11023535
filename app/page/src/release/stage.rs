//! Where a release stands, and whether what it was planned for is still what is seen. Pure.

use crate::format::visible;
use lockscope_view::{Contender, LockPage, ReleasePlan, ReleaseResult, RootState};

/// One way through the dialog. Only the person at it moves it on: nothing live does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stage {
    Closed,
    /// The server was asked for a plan of this znode, and has not answered.
    Asked(String),
    /// There is no plan of this znode, and why.
    Refused(String, String),
    /// The sign-in of whoever released this znode ended, and when; nothing was sent.
    SignedOut(String, i64),
    Planned(ReleasePlan),
    /// It is sent, and the answer is not here.
    Sent(ReleasePlan),
    /// What came of it, with the znode.
    Done(String, ReleaseResult),
}

impl Stage {
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Closed => "",
            Self::Asked(path) | Self::Refused(path, _) | Self::SignedOut(path, _) | Self::Done(path, _) => path,
            Self::Planned(plan) | Self::Sent(plan) => &plan.path,
        }
    }

    /// The dialog is open, and no request was sent.
    pub(super) fn is_before_request(&self) -> bool {
        matches!(self, Self::Asked(_) | Self::Refused(..) | Self::Planned(_))
    }

    pub(super) fn plan(&self) -> Option<&ReleasePlan> {
        if let Self::Planned(plan) | Self::Sent(plan) = self { Some(plan) } else { None }
    }
}

/// What the live view shows of a planned znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Same,
    /// Outside of the rows that are shown; the server looks again before it deletes.
    NotShown,
    Gone,
    /// Another znode, or another session's, has its path.
    Other,
    Written,
    /// It moved from waiting to holding or back.
    Moved,
    /// The view is not live.
    Old,
    /// The page is paused, so it does not know.
    Paused,
}

/// Compares a plan with the page below the dialog; None: the lock is gone.
pub(super) fn compare(page: Option<&LockPage>, plan: &ReleasePlan) -> Seen {
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

fn same(now: &Contender, plan: &ReleasePlan) -> Seen {
    if now.czxid.is_some_and(|czxid| czxid != plan.czxid) || now.session_id != plan.session_id {
        Seen::Other
    } else if now.version != plan.version {
        Seen::Written
    } else if now.role != plan.holder.role {
        Seen::Moved
    } else {
        Seen::Same
    }
}

/// Whether what was typed allows the order: the path to the letter, as it is shown where it can't be typed, and a
/// reason.
pub(super) fn is_confirmed(plan: &ReleasePlan, confirm: &str, reason: &str) -> bool {
    (confirm == plan.lock || confirm == visible(&plan.lock)) && reason.trim().chars().count() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::tests::{page, plan};
    use lockscope_view::{ContenderRole, SessionId, Window, Zxid};

    #[test]
    fn what_differs_from_the_plan_is_told() {
        let changed = |change: &dyn Fn(&mut LockPage)| {
            let mut page = page(&plan());
            change(&mut page);
            compare(Some(&page), &plan())
        };
        assert_eq!(changed(&|_| {}), Seen::Same);
        assert_eq!(changed(&|page| page.window.rows[0].czxid = Some(Zxid(99))), Seen::Other);
        assert_eq!(changed(&|page| page.window.rows[0].session_id = Some(SessionId(99))), Seen::Other);
        assert_eq!(changed(&|page| page.window.rows[0].version = 1), Seen::Written);
        assert_eq!(changed(&|page| page.window.rows[0].role = ContenderRole::Waiter), Seen::Moved);
        assert_eq!(changed(&|page| page.head.as_of.state = RootState::Stale), Seen::Old);
        assert_eq!(changed(&|page| page.window = Window { total: 0, offset: 0, rows: Vec::new() }), Seen::Gone);
        assert_eq!(changed(&|page| page.window = Window { total: 900, offset: 300, rows: Vec::new() }), Seen::NotShown);
        assert_eq!(compare(None, &plan()), Seen::Gone);
    }

    #[test]
    fn what_is_sent_is_not_taken_back_when_a_sign_in_ends() {
        assert!(Stage::Asked("/order/a".to_owned()).is_before_request() && Stage::Planned(plan()).is_before_request());
        assert!(!Stage::Sent(plan()).is_before_request() && !Stage::Closed.is_before_request());
        assert_eq!(Stage::SignedOut("/order/a".to_owned(), 5).path(), "/order/a");
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
            assert_eq!(is_confirmed(&plan(), confirm, reason), expected, "{confirm:?} {reason:?}");
        }
    }
}
