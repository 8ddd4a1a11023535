//! Lives of contenders that go on: of the lock as it is now.

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::derive::{harm_by_name, is_trouble, verdict_of};
use lockscope_history::incident::{Life, Present};
use lockscope_view::past::{Hold, Spent};
use lockscope_view::{Contender, FindingRow, LockPage, LockQuery, RootState, Scope, SessionId};

use super::ask::Asked;
use crate::Http;
use crate::problem::ErrorResponse;

/// Contenders of a lock that are there now and looked at.
const CONTENDERS_MAX: u32 = 500;

/// Those that go on at a lock, of its first contenders.
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
    let Some(page) = lock_now(http, scope, ensemble, &asked.path)? else { return Ok(Vec::new()) };
    let is_meant = |one: &&Contender| {
        asked.session.is_none_or(|session| one.session_id == Some(SessionId(session.0)))
            && (asked.client.is_empty() || host(one).as_deref() == Some(&asked.client))
    };
    let rows = page.window.rows.iter().filter(is_meant);
    Ok(rows.filter_map(|one| going_on(one, &asked.path, now_ms, scope.payloads())).collect())
}

/// A lock as it is now, with its first contenders.
fn lock_now(http: &Http, scope: &Scope, ensemble: &str, path: &str) -> Result<Option<Box<LockPage>>, ErrorResponse> {
    let (ensemble, named) = (ensemble.to_owned(), path.to_owned());
    let (_, view) = http.hub.look(LockQuery { ensemble, path: named, offset: 0, limit: CONTENDERS_MAX }, scope)?;
    Ok(view.body.filter(|page| page.head.row.path == path))
}

/// What incidents have to know of a lock as it is now.
pub(super) fn present(http: &Http, scope: &Scope, ensemble: &str, lock: &str) -> Present {
    let Ok(Some(page)) = lock_now(http, scope, ensemble, lock) else { return Present::default() };
    let row = &page.head.row;
    let verdict = verdict_of(row.verdict.name()).unwrap_or(Verdict::Unknown);
    let hurts = |finding: &FindingRow| harm_by_name(&finding.code, finding.severity as u8).is_some();
    Present {
        is_in_trouble: is_trouble(verdict) || page.head.findings.iter().any(hurts),
        is_live: row.state == RootState::Live,
        lives: page.window.rows.iter().filter_map(|one| life(one, lock, row.recipe.name())).collect(),
    }
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

fn host(contender: &Contender) -> Option<String> {
    let address = &contender.client.as_ref()?.address;
    Some(address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host).to_owned())
}

/// When one came that is there now; None before it was read.
fn joined_at_ms(one: &Contender) -> Option<i64> {
    one.created_at_ms.or(one.waiting_since_ms).or(one.holding_since_ms)
}

fn life(one: &Contender, lock: &str, recipe: &str) -> Option<Life> {
    Some(Life {
        czxid: Zxid(one.czxid?.0),
        lock: lock.into(),
        is_waited_for: Life::is_waiting_in(recipe),
        recipe: recipe.into(),
        session: one.session_id.map(|session| lockscope_core::znode::SessionId(session.0)),
        label: one.label.as_deref().map(Into::into),
        host: host(one).map(Into::into),
        joined_at: TimeMs(joined_at_ms(one)?),
        held_at: one.holding_since_ms.map(TimeMs),
        left_at: None,
        how: None,
        roots: Vec::new(),
    })
}

fn going_on(one: &Contender, lock: &str, now_ms: i64, payloads: bool) -> Option<Hold> {
    let joined_at_ms = joined_at_ms(one)?;
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
        how: "still".into(),
        wait_ms,
        hold_ms: one.holding_since_ms.map(|since| (now_ms - since).max(0)),
        is_lower_bound: one.holding_is_lower_bound || one.waiting_is_lower_bound,
        spent: Spent::default(),
    })
}
