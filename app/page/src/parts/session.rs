//! Names of contenders, and addresses of the pages of sessions and locks.

use super::words;
use crate::format::visible;
use lockscope_view::{Contender, LockQuery, SessionId, SessionQuery};

/// Who a contender is: its label, else its session, else its znode.
pub(crate) fn holder_name(contender: &Contender) -> String {
    match (&contender.label, contender.session_id, &contender.node) {
        (Some(label), _, _) => visible(label),
        (None, Some(session), _) => session.to_string(),
        (None, None, Some(node)) => visible(node),
        (None, None, None) => words::OWNER_UNKNOWN.to_owned(),
    }
}

pub(crate) fn session_url(ensemble: &str, id: SessionId) -> String {
    SessionQuery { ensemble: ensemble.to_owned(), id, ..SessionQuery::default() }.to_url()
}

pub(crate) fn lock_url(ensemble: &str, path: &str) -> String {
    LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() }.to_url()
}
