//! What is checked of whoever plans or orders, and of what they typed. Pure.

use app::wire::{ReleaseOrder, ReleasePlan, visible};

use super::refusal::{Refused, RefusedFor};
use crate::access::{Actor, Right};

/// Characters a reason has at least and at most.
const REASON_CHARS: std::ops::RangeInclusive<usize> = 3..=500;
/// Characters of a path that was refused that go on record.
const PATH_CHARS_MAX: usize = 1_024;

/// What somebody typed, short enough for the record.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(PATH_CHARS_MAX).collect()
}

pub(super) fn may(actor: &Actor) -> Result<(), Refused> {
    let denied =
        || Refused::new(RefusedFor::Right, format!("{} ({}) may not release locks; that takes the operator role.", actor.name, actor.described()));
    actor.may(Right::Release).then_some(()).ok_or_else(denied)
}

pub(super) fn check_right(actor: &Actor, ensemble: &str, lock: &str) -> Result<(), Refused> {
    may(actor)?;
    actor.may_at(Right::Release, ensemble, lock).then_some(()).ok_or_else(|| out_of_scope(actor, ensemble, lock))
}

pub(super) fn out_of_scope(actor: &Actor, ensemble: &str, path: &str) -> Refused {
    Refused::new(RefusedFor::Right, format!("{} may not release {path} of {ensemble}: it is out of their scope.", actor.name))
}

/// The lock's path is typed exactly, with what can't be typed as it is shown, and there is a reason.
pub(super) fn check_words(plan: &ReleasePlan, order: &ReleaseOrder) -> Result<(), Refused> {
    if order.confirm != plan.lock && order.confirm != visible(&plan.lock) {
        return Err(Refused::new(RefusedFor::Confirm, format!("To confirm, type the lock's path exactly: {}.", plan.lock)));
    }
    let length = order.reason.trim().chars().count();
    if !REASON_CHARS.contains(&length) {
        let (least, most) = (REASON_CHARS.start(), REASON_CHARS.end());
        return Err(Refused::new(RefusedFor::Reason, format!("Give a reason of {least} to {most} characters; this one has {length}.")));
    }
    Ok(())
}
