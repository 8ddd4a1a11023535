//! Checks of who plans or requests a release, and of what they typed. Pure.

use lockscope_view::{ReleaseOrder, ReleasePlan, visible};

use super::refusal::{Rejection, RejectionReason};
use lockscope_audit::text::is_shown;
use lockscope_audit::{Actor, Right};

/// Characters a reason has at most, and at least of those that show something.
const REASON_CHARS: std::ops::RangeInclusive<usize> = 3..=500;
/// Characters of a path that was refused that go on record.
const PATH_CHARS_MAX: usize = 1_024;

/// What somebody typed, short enough for the record.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(PATH_CHARS_MAX).collect()
}

pub(super) fn may(actor: &Actor) -> Result<(), Rejection> {
    let denied = || {
        Rejection::new(
            RejectionReason::Right,
            format!("{} ({}) may not release locks; that takes the operator role.", actor.name, actor.described()),
        )
    };
    actor.may(Right::Release).then_some(()).ok_or_else(denied)
}

pub(super) fn check_right(actor: &Actor, ensemble: &str, lock: &str) -> Result<(), Rejection> {
    may(actor)?;
    actor.may_at(Right::Release, ensemble, lock).then_some(()).ok_or_else(|| out_of_scope(actor, ensemble, lock))
}

pub(super) fn out_of_scope(actor: &Actor, ensemble: &str, path: &str) -> Rejection {
    Rejection::new(
        RejectionReason::Right,
        format!("{} may not release {path} of {ensemble}: it is out of their scope.", actor.name),
    )
}

/// The lock's path is typed exactly, with what can't be typed as it is shown, and there is a reason.
pub(super) fn check_words(plan: &ReleasePlan, order: &ReleaseOrder) -> Result<(), Rejection> {
    if order.confirm != plan.lock && order.confirm != visible(&plan.lock) {
        return Err(Rejection::new(
            RejectionReason::Confirm,
            format!("To confirm, type the lock's path exactly: {}.", plan.lock),
        ));
    }
    check_reason(order)
}

/// There is a reason that somebody can read.
fn check_reason(order: &ReleaseOrder) -> Result<(), Rejection> {
    let length = order.reason.trim().chars().count();
    let shown = order.reason.chars().filter(|char| is_shown(*char)).count();
    let (least, most) = (REASON_CHARS.start(), REASON_CHARS.end());
    if shown < *least || length > *most {
        let told = if length > *most { length } else { shown };
        return Err(Rejection::new(
            RejectionReason::Reason,
            format!("Give a reason of {least} to {most} characters; this one has {told}."),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_shows_something() {
        let is_reason = |reason: &str| {
            let order = ReleaseOrder { plan_id: String::new(), confirm: String::new(), reason: reason.to_owned() };
            check_reason(&order).is_ok()
        };
        assert!(is_reason("old") && is_reason("\u{9580}\u{9580}\u{9580}") && is_reason(&"x".repeat(500)));
        for reason in [
            "",
            "no",
            "  a b  ",
            "\u{200b}\u{200b}\u{200b}\u{200b}\u{200b}",
            "a\u{202e}\u{202e}\u{ad}",
            &"x".repeat(501),
        ] {
            assert!(!is_reason(reason), "{reason:?}");
        }
    }
}
