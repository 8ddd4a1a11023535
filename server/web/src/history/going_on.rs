//! Lives of contenders that go on: of the lock as it is now.

use lockscope_view::{Contender, LockQuery, Scope, SessionId};

use lockscope_view::past::{Hold, Spent};

use super::ask::Asked;
use crate::Http;
use crate::problem::ErrorResponse;

/// Those that go on at a lock, of its first 500 contenders.
pub(super) fn still(
    http: &Http,
    scope: &Scope,
    ensemble: &str,
    asked: &Asked,
    now_ms: i64,
) -> Result<Vec<Hold>, ErrorResponse> {
    if asked.path.is_empty() || asked.before.is_some() || !asked.is_up_to_now(now_ms) {
        return Ok(Vec::new());
    }
    let (ensemble, path) = (ensemble.to_owned(), asked.path.clone());
    let (_, view) = http.hub.look(LockQuery { ensemble, path, offset: 0, limit: 500 }, scope)?;
    let Some(page) = view.body.filter(|page| page.head.row.path == asked.path) else { return Ok(Vec::new()) };
    let is_meant = |one: &&Contender| {
        asked.session.is_none_or(|session| one.session_id == Some(SessionId(session.0)))
            && (asked.client.is_empty() || host(one).as_deref() == Some(&asked.client))
    };
    let rows = page.window.rows.iter().filter(is_meant);
    Ok(rows.filter_map(|one| going_on(one, &asked.path, now_ms, scope.payloads())).collect())
}

/// The ensemble and the path of the lock that an address means: it may leave the only ensemble out, and name a znode in the
/// lock. As they came where there is none now.
pub(super) fn lock_named(
    http: &Http,
    scope: &Scope,
    ensemble: &str,
    path: &str,
) -> Result<(String, String), ErrorResponse> {
    let (ensemble, path) = (ensemble.to_owned(), path.to_owned());
    let query = LockQuery { ensemble: ensemble.clone(), path: path.clone(), limit: 1, ..LockQuery::default() };
    let there = http.hub.look(query, scope)?.1.body;
    Ok(there.map_or((ensemble, path), |page| (page.head.row.ensemble, page.head.row.path)))
}

pub(super) fn host(contender: &Contender) -> Option<String> {
    let address = &contender.client.as_ref()?.address;
    Some(address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host).to_owned())
}

/// One that is there now; None before it was read.
fn going_on(one: &Contender, lock: &str, now_ms: i64, payloads: bool) -> Option<Hold> {
    let joined_at_ms = one.created_at_ms.or(one.waiting_since_ms).or(one.holding_since_ms)?;
    let waited_until_ms = one.holding_since_ms.unwrap_or(now_ms);
    let wait_ms = if one.holding_is_lower_bound { 0 } else { (waited_until_ms - joined_at_ms).max(0) };
    Some(Hold {
        czxid: one.czxid?.to_string(),
        lock: lock.to_owned(),
        node: one.node.clone()?,
        session_id: one.session_id.map(|session| session.to_string()),
        label: one.label.clone().filter(|_| payloads),
        client: host(one),
        joined_at_ms,
        held_at_ms: one.holding_since_ms,
        left_at_ms: None,
        how: "still",
        wait_ms,
        hold_ms: one.holding_since_ms.map(|since| (now_ms - since).max(0)),
        is_lower_bound: one.holding_is_lower_bound || one.waiting_is_lower_bound,
        spent: Spent::default(),
    })
}
