//! `GET /api/v1/history`: what is kept of an ensemble's past, what is missing in it, and why.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::historian::HistoryHandle;
use lockscope_history::replay::complete_until;
use lockscope_history::store::{Coverage, Store, StoreError, generated_before};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Http;
use crate::api::share_past;
use crate::params::{Params, short};
use crate::problem::{ErrorResponse, echo};
use crate::shared_answers::AnswerRequest;
use lockscope_live::FILTER_CHARS_MAX;
use lockscope_view::{Scope, past};

/// What is kept of an ensemble's past.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HistoryJson {
    /// The ensemble.
    ensemble: String,
    /// What is observed is recorded.
    enabled: bool,
    /// Where it is kept: `sqlite` or `postgres`; null where nothing is, and while it is not open.
    store: Option<&'static str>,
    /// The oldest moment that is kept, ms since the epoch; null while none is.
    from_at_ms: Option<i64>,
    /// The newest one of which all is kept that happened.
    to_at_ms: Option<i64>,
    /// Up to this moment it was generated for the demo and not observed; null elsewhere.
    generated_until_at_ms: Option<i64>,
    /// What is missing in between, the newest 1,000.
    gaps: Vec<past::Gap>,
    /// Bytes on disk.
    bytes: u64,
    /// Bytes written a second, over the last while.
    rate_per_s: f64,
    /// Why nothing is recorded now; empty when all is well.
    why: String,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let mut ensemble = String::new();
    for (name, value) in pairs {
        ensemble = short(&name, &value, FILTER_CHARS_MAX)?;
    }
    Ok(share_past(&http, asked, move |http, scope| history_now(http, &scope, &ensemble)).await)
}

fn history_now(http: &Http, scope: &Scope, ensemble: &str) -> Result<Json<HistoryJson>, ErrorResponse> {
    let (name, handle) = http.recording(scope, ensemble)?;
    Ok(Json(HistoryJson::new(name, handle.as_ref())))
}

impl Http {
    /// The one ensemble that is meant, as far as it may be seen, and its recording.
    pub(crate) fn recording(
        &self,
        scope: &Scope,
        ensemble: &str,
    ) -> Result<(String, Option<HistoryHandle>), ErrorResponse> {
        let Some(moments) = &self.moments else { return Ok((ensemble.to_owned(), None)) };
        let mut fit = moments.recordings(scope).filter(|(name, _)| ensemble.is_empty() || *name == ensemble);
        let Some((name, handle)) = fit.next() else {
            return Err(ErrorResponse::not_found(format!("no ensemble is called {}", echo(ensemble))));
        };
        let others: Vec<String> = fit.map(|(name, _)| name).collect();
        if !others.is_empty() {
            let names = others.join(", ");
            return Err(ErrorResponse::bad_request(format!(
                "there are several ensembles: {name}, {names}; say which with ensemble="
            )));
        }
        Ok((name, handle))
    }
}

impl Http {
    /// The ensembles that somebody may see and that are recorded, by name: all of them, or the one that is named.
    pub(crate) fn recorded_ensembles(&self, scope: &Scope, named: &str) -> Vec<String> {
        let all = self.moments.iter().flat_map(|moments| moments.recordings(scope));
        let meant = all.filter(|(name, handle)| handle.is_some() && (named.is_empty() || *name == named));
        meant.map(|(name, _)| name.to_owned()).collect()
    }

    /// The recording of one, where its store is open to be asked.
    pub(crate) fn recorded(&self, scope: &Scope, ensemble: &str) -> Result<(String, Arc<dyn Store>), ErrorResponse> {
        let (name, handle) = self.recording(scope, ensemble)?;
        let Some(handle) = handle else {
            return Err(ErrorResponse::not_found(
                "this server keeps no history; set history = \"on\" and a data directory",
            ));
        };
        let store = handle.store().ok_or_else(|| ErrorResponse::unavailable("the history is not open yet"))?;
        Ok((name, store))
    }
}

impl HistoryJson {
    fn new(ensemble: String, handle: Option<&HistoryHandle>) -> Self {
        let Some(handle) = handle else {
            let why = "history is off: set history = \"on\" and a data directory".to_owned();
            return Self {
                ensemble,
                enabled: false,
                store: None,
                from_at_ms: None,
                to_at_ms: None,
                generated_until_at_ms: None,
                gaps: Vec::new(),
                bytes: 0,
                rate_per_s: 0.0,
                why,
            };
        };
        let (status, store) = (handle.status(), handle.store());
        let asked = store.as_ref().map(|store| {
            Ok::<_, StoreError>((
                store.gaps(TimeMs(0)..TimeMs(i64::MAX))?,
                store.coverage()?,
                generated_before(&**store)?,
                complete_until(&**store)?,
            ))
        });
        let why = status.why();
        let (gaps, coverage, generated, to, why) = match asked {
            None => (Vec::new(), Coverage::default(), None, None, why),
            Some(Ok((gaps, coverage, generated, to))) => (gaps, coverage, generated, to, why),
            // What was known last, and that it can't be asked for now.
            Some(Err(error)) => {
                let why = format!("{error}; its gaps can't be listed now");
                (Vec::new(), status.coverage, None, status.coverage.to, why)
            }
        };
        Self {
            ensemble,
            enabled: true,
            // Also of one that another server writes, and this one reads.
            store: status.store.or_else(|| store.map(|store| store.kind())),
            from_at_ms: coverage.from.map(|at| at.0),
            to_at_ms: to.map(|at| at.0),
            generated_until_at_ms: generated.map(|gap| gap.from.0),
            gaps: gaps.into_iter().map(past::Gap::from).collect(),
            bytes: coverage.bytes,
            rate_per_s: status.bytes_per_s,
            why,
        }
    }
}
