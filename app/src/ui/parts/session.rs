//! Names of contenders.

use crate::ui::format::{count, visible};
use crate::wire::{Access, Contender, LockRow, Recipe, Role, SessionId, SessionQuery};

/// Who a contender is: its label, else its session, else its znode.
pub(crate) fn holder_name(contender: &Contender) -> String {
    match (&contender.label, contender.session_id, &contender.node) {
        (Some(label), _, _) => visible(label),
        (None, Some(session), _) => session.to_string(),
        (None, None, Some(node)) => visible(node),
        (None, None, None) => "owner unknown".to_owned(),
    }
}

/// How many wait; unknown where waiters have no znode.
pub(crate) fn waiters_text(row: &LockRow) -> String {
    match row.recipe {
        Recipe::SingleNodeMutex | Recipe::Barrier if row.waiter_count == 0 => "?".to_owned(),
        Recipe::Membership => "–".to_owned(),
        _ => count(row.waiter_count),
    }
}

/// What a contender does, in a word or two.
pub(crate) fn role_word(contender: &Contender) -> &'static str {
    match (contender.role, contender.access) {
        (Role::Holder, Access::Exclusive) => "holds",
        (Role::Holder, Access::Read) => "reads",
        (Role::Holder, Access::Write) => "writes",
        (Role::Holder, Access::Lease) => "holds a lease",
        (Role::Holder, Access::Leader) => "leads",
        (Role::Holder, Access::Member) => "is in",
        (Role::Holder, Access::Item) => "in work",
        (Role::Waiter, Access::Exclusive) => "waits",
        (Role::Waiter, Access::Read) => "waits to read",
        (Role::Waiter, Access::Write) => "waits to write",
        (Role::Waiter, Access::Lease) => "waits for a lease",
        (Role::Waiter, Access::Leader) => "stands by",
        (Role::Waiter, Access::Member) => "gathers",
        (Role::Waiter, Access::Item) => "item",
    }
}

/// The page of a session.
pub(crate) fn session_url(ensemble: &str, id: SessionId) -> String {
    SessionQuery { ensemble: ensemble.to_owned(), id, ..SessionQuery::default() }.to_url()
}
