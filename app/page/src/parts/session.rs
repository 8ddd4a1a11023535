//! Names of contenders.

use crate::format::{count, visible};
use lockscope_wire::{Access, Contender, ContenderRole, LockRow, Missing, Recipe, SessionId, SessionQuery};

/// Who a contender is: its label, else its session, else its znode.
pub(crate) fn holder_name(contender: &Contender) -> String {
    match (&contender.label, contender.session_id, &contender.node) {
        (Some(label), _, _) => visible(label),
        (None, Some(session), _) => session.to_string(),
        (None, None, Some(node)) => visible(node),
        (None, None, None) => "owner unknown".to_owned(),
    }
}

/// How many wait; the least there are where some may be missing, and not known where none can be seen.
pub(crate) fn waiters_text(row: &LockRow) -> String {
    match row.waiter_count {
        _ if matches!(row.recipe, Recipe::Membership | Recipe::Queue) => "–".to_owned(),
        // They stand by, or gather: they wait for no lock.
        Some(1..) if row.oldest_wait_at_ms.is_none() => "–".to_owned(),
        None => "?".to_owned(),
        Some(waiters) if row.is_complete() => count(waiters),
        Some(waiters) => format!("≥ {}", count(waiters)),
    }
}

/// Why a number of waiters is not the whole of them; empty where it is.
pub(crate) fn missing_words(missing: &[Missing]) -> &'static str {
    match missing.first() {
        None => "",
        Some(Missing::UnreadableChildren) => "Some znodes here may not be read: there may be more",
        Some(Missing::Unswept) => "This directory is still being looked through: there may be more",
        Some(Missing::WatchesNotRead) => {
            "Waiters have no znode here, and the servers' tables of watches were not read since the lock changed hands"
        }
        Some(Missing::WaitersWithoutZnodes) => {
            "Waiters have no znode here; clients that poll, or watch a list of children, are in no table of watches"
        }
    }
}

/// What a contender does, in a word or two.
pub(crate) fn role_word(contender: &Contender) -> &'static str {
    match (contender.role, contender.access) {
        (ContenderRole::Holder, Access::Exclusive) => "holds",
        (ContenderRole::Holder, Access::Read) => "reads",
        (ContenderRole::Holder, Access::Write) => "writes",
        (ContenderRole::Holder, Access::Lease) => "holds a lease",
        (ContenderRole::Holder, Access::Leader) => "leads",
        (ContenderRole::Holder, Access::Member) => "is in",
        (ContenderRole::Holder, Access::Item) => "in work",
        (ContenderRole::Waiter, Access::Exclusive) => "waits",
        (ContenderRole::Waiter, Access::Read) => "waits to read",
        (ContenderRole::Waiter, Access::Write) => "waits to write",
        (ContenderRole::Waiter, Access::Lease) => "waits for a lease",
        (ContenderRole::Waiter, Access::Leader) => "stands by",
        (ContenderRole::Waiter, Access::Member) => "gathers",
        (ContenderRole::Waiter, Access::Item) => "item",
    }
}

/// The page of a session.
pub(crate) fn session_url(ensemble: &str, id: SessionId) -> String {
    SessionQuery { ensemble: ensemble.to_owned(), id, ..SessionQuery::default() }.to_url()
}
