//! `GET /api/v1/history/holds`: who held and who waited, the newest first.

use std::ops::{ControlFlow, Range};

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::store::rows::{Span, SpanQuery};
use lockscope_history::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::{Asked, CoverageJson, cursor, give_up_at, id, refused};
use super::charges::SpentJson;
use super::going_on::still;
use crate::Http;
use crate::api::{Pairs, share_past};
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;
use lockscope_live::VisibilityScope;

const TAKES: [&str; 8] = ["ensemble", "path", "session", "client", "from", "to", "limit", "before"];
/// Rows of one answer.
pub(crate) const HOLDS_MAX: usize = 1_000;
const HOLDS_USUAL: usize = 100;
/// Rows that are read at once; not all of them may be seen.
const PAGE: usize = 1_000;

/// Lives of contenders.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HoldsJson {
    /// The ensemble.
    ensemble: String,
    /// The newest first. Those that go on come before them, where a lock is asked for and the range reaches up to now.
    holds: Vec<HoldJson>,
    /// What goes into `before` for older ones; null when there is none.
    next_before: Option<String>,
    /// How much of the range is known.
    coverage: CoverageJson,
}

/// The life of a contender.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HoldJson {
    /// Identity of its znode.
    pub(super) czxid: String,
    /// The lock.
    pub(super) lock: String,
    /// The name of its znode.
    pub(super) node: String,
    /// Its session; null for a persistent znode.
    pub(super) session_id: Option<String>,
    /// Who it said it is; null where payloads are not shown.
    pub(super) label: Option<String>,
    /// The host of its client; null where that was not reported.
    pub(super) client: Option<String>,
    /// When its znode was created, on this server's clock.
    pub(super) joined_at_ms: i64,
    /// When it held first; null when it never did.
    pub(super) held_at_ms: Option<i64>,
    /// When its znode was gone; null while it is there.
    pub(super) left_at_ms: Option<i64>,
    /// How it ended: `released`, `gave_up`, `session_ended`, `forced` (through Lockscope), `unknown` (in a gap), or `still`.
    pub(super) how: &'static str,
    /// How long it waited.
    pub(super) wait_ms: i64,
    /// How long it held; null when it never did.
    pub(super) hold_ms: Option<i64>,
    /// It may have waited or held for longer.
    pub(super) is_lower_bound: bool,
    #[serde(flatten)]
    pub(super) spent: SpentJson,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let holds = Asked::read(pairs, &TAKES, HOLDS_MAX)?;
    Ok(share_past(&http, asked, move |http, scope| found(http, &scope, &holds)).await)
}

fn found(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<Json<HoldsJson>, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let now_ms = http.hub.now_ms();
    let range = asked.range(now_ms)?;
    let limit = SpanLimit { spans: asked.limit.unwrap_or(HOLDS_USUAL), bytes: usize::MAX };
    let (spans, next_before) =
        spans(&*store, scope, &ensemble, asked, &range, limit).map_err(|error| refused(error, &range))?;
    let mut holds = still(http, scope, &ensemble, asked, now_ms)?;
    let shown = Shown::new(scope, &ensemble);
    holds.extend(spans.into_iter().map(|span| HoldJson::ended(span, shown)));
    let coverage = CoverageJson::new(&*store, &range).map_err(|error| refused(error, &range))?;
    Ok(Json(HoldsJson { ensemble, holds, next_before, coverage }))
}

/// How many are enough, and how many bytes of names; there is always one.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanLimit {
    pub(super) spans: usize,
    pub(super) bytes: usize,
}

/// Bytes of what a life is called by.
fn bytes_of(span: &Span) -> usize {
    let of = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
    span.lock.len() + span.node.len() + of(&span.label) + of(&span.host)
}

/// Those that may be seen, until there are enough.
pub(super) fn spans(
    store: &dyn Store,
    scope: &VisibilityScope,
    ensemble: &str,
    asked: &Asked,
    range: &Range<TimeMs>,
    limit: SpanLimit,
) -> Result<(Vec<Span>, Option<String>), StoreError> {
    let some = |text: &str| (!text.is_empty()).then(|| text.into());
    let query = SpanQuery {
        range: range.clone(),
        lock: some(&asked.path),
        session: asked.session,
        host: some(&asked.client),
        joined_before: None,
        before: asked.before.map(|(left_at, czxid)| (TimeMs(left_at), Zxid(czxid))),
        limit: PAGE,
        give_up_at: Some(give_up_at()),
    };
    let (mut found, mut next, mut bytes) = (Vec::new(), None, 0_usize);
    each(store, query, |span| {
        if !scope.covers(ensemble, &span.lock) {
            return ControlFlow::Continue(());
        }
        bytes = bytes.saturating_add(bytes_of(&span));
        if found.len() == limit.spans || (bytes > limit.bytes && !found.is_empty()) {
            next = found.last().map(|span: &Span| cursor((span.left_at.0, span.czxid.0)));
            return ControlFlow::Break(());
        }
        found.push(span);
        ControlFlow::Continue(())
    })?;
    Ok((found, next))
}

/// Each that a query is for, the newest first, however many there are.
pub(super) fn each(
    store: &dyn Store,
    mut query: SpanQuery,
    mut take: impl FnMut(Span) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    query.limit = PAGE;
    loop {
        let page = store.spans(&query)?;
        let (is_last, last) = (page.len() < PAGE, page.last().map(|span| (span.left_at, span.czxid)));
        if page.into_iter().try_for_each(&mut take).is_break() || is_last {
            return Ok(());
        }
        query.before = last;
    }
}

/// What of a life is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    payloads: bool,
    /// Sessions that hold other locks than its own.
    elsewhere: bool,
}

impl Shown {
    pub(super) fn new(scope: &VisibilityScope, ensemble: &str) -> Self {
        Self { payloads: scope.payloads(), elsewhere: scope.covers(ensemble, "/") }
    }
}

impl HoldJson {
    pub(super) fn ended(span: Span, shown: Shown) -> Self {
        Self {
            czxid: id(span.czxid.0),
            lock: span.lock.into(),
            node: span.node.into(),
            session_id: span.session.map(|session| id(session.0)),
            label: span.label.filter(|_| shown.payloads).map(Into::into),
            client: span.host.map(Into::into),
            joined_at_ms: span.joined_at.0,
            held_at_ms: span.held_at.map(|at| at.0),
            left_at_ms: Some(span.left_at.0),
            how: span.how.name(),
            wait_ms: span.wait_ms,
            hold_ms: span.held_at.map(|at| span.left_at.since(at)),
            is_lower_bound: span.is_lower_bound,
            spent: span.charges.map(|charges| SpentJson::new(charges, shown.elsewhere)).unwrap_or_default(),
        }
    }
}
