//! `GET /api/v1/history/diff`: two moments compared.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::differences::{Differences, FindingChange, HolderChange, Membership};
use schemars::JsonSchema;
use serde::Serialize;

use super::PastMoment;
use super::ask::{Asked, id};
use super::finding_text::readable;
use super::{Moment, MomentError};
use crate::Http;
use crate::api::{Pairs, share_past};
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;
use lockscope_live::VisibilityScope;

const TAKES: [&str; 4] = ["ensemble", "path", "from", "to"];

/// What differs between two moments.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiffJson {
    /// The ensemble.
    ensemble: String,
    /// The earlier moment, ms since the epoch.
    from_at_ms: i64,
    /// The later one.
    to_at_ms: i64,
    /// Contenders of the later moment alone.
    joined: Vec<MembershipJson>,
    /// Contenders of the earlier moment alone.
    left: Vec<MembershipJson>,
    /// Locks that others hold than before.
    holder_changed: Vec<HolderChangeJson>,
    /// Sessions that hold or wait at the later moment alone.
    sessions_new: Vec<String>,
    /// Sessions that held or waited at the earlier moment alone.
    sessions_gone: Vec<String>,
    /// Findings of the later moment alone.
    findings_raised: Vec<FindingChangeJson>,
    /// Findings of the earlier moment alone.
    findings_cleared: Vec<FindingChangeJson>,
    /// False when there are more than 1,000 of some, which are left out.
    complete: bool,
}

/// A contender.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MembershipJson {
    /// The lock.
    lock: String,
    /// The name of its znode.
    node: String,
    /// Identity of its znode; null before it was read.
    czxid: Option<String>,
    /// Its session; null for a persistent znode.
    session_id: Option<String>,
    /// Who it says it is.
    label: Option<String>,
}

/// A lock that others hold.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HolderChangeJson {
    /// The lock.
    lock: String,
    /// Who held it.
    before: Vec<MembershipJson>,
    /// Who holds it.
    after: Vec<MembershipJson>,
}

/// A finding that one of the moments has.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FindingChangeJson {
    /// The lock.
    lock: String,
    /// Its kind.
    code: &'static str,
    /// One sentence.
    text: String,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(pairs, &TAKES, 1)?;
    Ok(share_past(&http, asked, move |http, scope| compared(http, &scope, &of)).await)
}

fn compared(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<Json<DiffJson>, ErrorResponse> {
    let (ensemble, _) = http.recorded(scope, &asked.ensemble)?;
    let moments = http.moments.as_ref().ok_or(MomentError::NoHistory)?;
    // Without `to` the newest moment that is kept.
    let range = asked.range(http.newest_moment(scope) - 1)?;
    let at = |at_ms: i64| -> Result<Arc<PastMoment>, ErrorResponse> { Ok(moments.at(&Moment::At(at_ms), scope)?) };
    let (before, after) = (at(range.start.0)?, at(range.end.0)?);
    let is_meant = |path: &str| (asked.path.is_empty() || path == asked.path) && scope.covers(&ensemble, path);
    let mut differences = match (before.model(&ensemble), after.model(&ensemble)) {
        (Some(before), Some(after)) => Differences::between(before.observatory(), after.observatory(), is_meant),
        _ => return Err(ErrorResponse::unavailable("the history can't be read now")),
    };
    for change in differences.findings_raised.iter_mut().chain(&mut differences.findings_cleared) {
        change.text = readable(change.code.name(), &change.text, scope).into();
    }
    Ok(Json(DiffJson::new(ensemble, range.start.0, range.end.0, differences)))
}

impl DiffJson {
    fn new(ensemble: String, from_at_ms: i64, to_at_ms: i64, of: Differences) -> Self {
        Self {
            ensemble,
            from_at_ms,
            to_at_ms,
            joined: rows(of.joined),
            left: rows(of.left),
            holder_changed: rows(of.holder_changed),
            sessions_new: of.sessions_new.into_iter().map(|session| id(session.0)).collect(),
            sessions_gone: of.sessions_gone.into_iter().map(|session| id(session.0)).collect(),
            findings_raised: rows(of.findings_raised),
            findings_cleared: rows(of.findings_cleared),
            complete: of.is_complete,
        }
    }
}

fn rows<T, J: From<T>>(rows: Vec<T>) -> Vec<J> {
    rows.into_iter().map(J::from).collect()
}

impl From<Membership> for MembershipJson {
    fn from(of: Membership) -> Self {
        Self {
            lock: of.lock.to_string(),
            node: of.node.into(),
            czxid: of.czxid.map(|czxid| id(czxid.0)),
            session_id: of.session.map(|session| id(session.0)),
            label: of.label.map(Into::into),
        }
    }
}

impl From<HolderChange> for HolderChangeJson {
    fn from(of: HolderChange) -> Self {
        Self { lock: of.lock.to_string(), before: rows(of.before), after: rows(of.after) }
    }
}

impl From<FindingChange> for FindingChangeJson {
    fn from(of: FindingChange) -> Self {
        Self { lock: of.lock.to_string(), code: of.code.name(), text: of.text.into() }
    }
}
