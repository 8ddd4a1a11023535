//! `GET /api/v1/cluster`: which servers watch the same, and who leads; and the same as a section of
//! the status page, `GET /status/cluster`.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_page::cluster_markup;
use lockscope_view::{Cluster, Scope};

use super::Http;
use super::caller::Caller;
use super::params::Params;
use super::problem::ErrorResponse;
use super::shared_answers::{Answer, AnswerRequest};

const MEDIA_TYPE: &str = "text/html; charset=utf-8";

pub(super) async fn show(
    State(http): State<Http>,
    Caller { scope, .. }: Caller,
    _: Params,
) -> Result<Json<Cluster>, ErrorResponse> {
    Ok(Json(http.cluster_for(&scope)))
}

/// The section of the status page, as markup; nothing where there is no cluster.
pub(super) async fn section(
    State(http): State<Http>,
    asked: AnswerRequest,
    _: Params,
) -> Result<Response, ErrorResponse> {
    let (own, scope) = (http.clone(), asked.scope.clone());
    let make = move || Answer::text(MEDIA_TYPE, Ok(cluster_markup(&own.cluster_for(&scope), own.hub.now_ms())));
    Ok(http.shared.answer(asked, make).await)
}

impl Http {
    fn cluster_for(&self, scope: &Scope) -> Cluster {
        let Some(cluster) = &self.cluster else { return Cluster::default() };
        let mut view = cluster.view();
        if view.ensemble.as_ref().is_some_and(|ensemble| !scope.covers_ensemble(ensemble)) {
            // Neither where it is, nor what ZooKeeper said there.
            (view.root, view.ensemble) = (None, None);
            view.shared_memory.iter_mut().for_each(|memory| memory.why.clear());
            if !view.why.is_empty() {
                view.why = "this replica is no member at present".to_owned();
            }
        }
        view
    }
}
