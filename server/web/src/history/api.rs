//! `GET /api/v1/history`: what is kept of an ensemble's past, what is missing in it, and why.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::historian::HistoryHandle;
use lockscope_history::replay::complete_until;
use lockscope_history::store::{Coverage, Store, StoreError, generated_before};

use crate::Http;
use crate::api::share_past;
use crate::params::{Params, short};
use crate::problem::{ErrorResponse, echo};
use crate::shared_answers::AnswerRequest;
use lockscope_live::FILTER_CHARS_MAX;
use lockscope_view::api::KeptHistory;
use lockscope_view::{Scope, past};

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

fn history_now(http: &Http, scope: &Scope, ensemble: &str) -> Result<Json<KeptHistory>, ErrorResponse> {
    let (name, handle) = http.recording(scope, ensemble)?;
    Ok(Json(kept(name, handle.as_ref())))
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

fn kept(ensemble: String, handle: Option<&HistoryHandle>) -> KeptHistory {
    let Some(handle) = handle else {
        let why = "history is off: set history = \"on\" and a data directory".to_owned();
        return KeptHistory { ensemble, why, ..KeptHistory::default() };
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
    KeptHistory {
        ensemble,
        enabled: true,
        // Also of one that another server writes, and this one reads.
        store: status.store.or_else(|| store.map(|store| store.kind())).map(str::to_owned),
        from_at_ms: coverage.from.map(|at| at.0),
        to_at_ms: to.map(|at| at.0),
        generated_until_at_ms: generated.map(|gap| gap.from.0),
        gaps: gaps.into_iter().map(past::Gap::from).collect(),
        bytes: coverage.bytes,
        rate_per_s: status.bytes_per_s,
        why,
    }
}
