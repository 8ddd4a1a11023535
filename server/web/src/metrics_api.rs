//! `/metrics`: the numbers as far as whoever asks may see them.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::response::Response;
use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

use super::Http;
use super::shared_answers::{Answer, AnswerRequest};
use crate::metrics::{MetricSources, Sockets};
use lockscope_history::historian::HistoryStatus;
use lockscope_view::Scope;

pub(super) async fn metrics(State(http): State<Http>, asked: AnswerRequest) -> Response {
    let (own, scope) = (http.clone(), asked.scope.clone());
    http.shared.answer(asked, move || Answer::Text(CONTENT_TYPE, exposed(&own, &scope).into())).await
}

fn exposed(http: &Http, scope: &Scope) -> String {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let clients = (http.limits.sockets_max as usize).saturating_sub(http.sockets.available_permits());
    let sockets = Sockets {
        clients: clients as u64,
        opened: read(&http.counts.sockets_opened),
        frames_sent: read(&http.counts.frames_sent),
        slow_closed: read(&http.counts.slow_closed),
        frames_refused: read(&http.counts.refused_frames),
        guarded: read(&http.counts.guarded),
    };
    let sources = MetricSources {
        hub: &http.hub,
        sockets,
        access: &http.access,
        release_service: http.release_service.as_ref(),
        lab_runs: http.lab_runs(),
        recordings: recordings(http, scope),
        alerts: http.alerts.as_ref().map(|desk| desk.view()),
        cluster: http.cluster.as_ref(),
        limited: http.limited(),
    };
    http.metrics.expose(&sources, scope)
}

/// How each recording is of which something may be seen.
fn recordings(http: &Http, scope: &Scope) -> Vec<(String, HistoryStatus)> {
    let all = http.moments.iter().flat_map(|moments| moments.recordings(scope));
    all.filter_map(|(name, handle)| Some((name, handle?.status()))).collect()
}
