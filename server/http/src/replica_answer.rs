//! What this replica answers to others over HTTP: `POST /api/v1/cluster/ask`. Who asks proves to have the cluster's secret
//! over this very body, and so do we over the answer. What is asked passes the same routes, rights and limits as if whoever
//! it is for had asked here.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use tower_service::Service as _;

use super::elsewhere::may_be_forwarded;
use super::middleware::{authentication, panicked};
use super::problem::ErrorResponse;
use super::replica_live::refused;
use super::replica_request::{ANSWER_BYTES_MAX, ReplicaRequest};
use super::{Http, bounded, history};
use ::cluster::{ANSWER_HEADERS, PROOF_HEADER, answer_text};
use access::Principal;

/// For whom another replica asks. Only this module makes one, so no request from the network carries it.
#[derive(Clone)]
pub(super) struct ForwardedCaller {
    pub(super) principal: Principal,
    /// Whether they are shown what znodes carry, where they ask.
    pub(super) payloads: bool,
}

pub(super) async fn answer(
    State(http): State<Http>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ErrorResponse> {
    let (door, cluster) = http.door()?;
    let (now_ms, us) = (http.hub.now_ms(), (cluster.id(), cluster.address()));
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let greeting = door.secret.verify_request(header, us, now_ms, &body).map_err(refused)?;
    door.taken.take(&greeting, now_ms).map_err(refused)?;
    let asked: ReplicaRequest = serde_json::from_slice(&body)
        .map_err(|error| ErrorResponse::bad_request(format!("{error}; replicas need the same version")))?;
    let Ok(_permit) = http.answered.clone().try_acquire_owned() else {
        return Err(ErrorResponse::unavailable("too many requests of other replicas are under way; try again later"));
    };
    let (Parts { status, headers, .. }, answer) = http.answer_forwarded(&asked).await?;
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let values = ANSWER_HEADERS.map(value);
    let about = answer_text(status.as_u16(), &values, &answer);
    let proof = door.secret.sign_answer(&greeting, cluster.address(), &about);
    let proof = HeaderValue::from_str(&proof).map_err(|_| ErrorResponse::internal("a proof is no header"))?;
    let mut response = Response::new(Body::from(answer));
    *response.status_mut() = status;
    response.headers_mut().insert(HeaderName::from_static(PROOF_HEADER), proof);
    for (name, value) in ANSWER_HEADERS.into_iter().zip(values) {
        // An absent one is sent empty, so that no other value is put in its place on the way.
        let value = HeaderValue::from_str(&value).map_err(|_| ErrorResponse::internal("a header has no value"))?;
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
    Ok(response)
}

impl Http {
    /// The router of what is asked for by another replica: the same without pages, and without what is of a connection.
    fn own_router(&self) -> Router {
        self.rows()
            .layer(from_fn_with_state(self.clone(), history::refuse_the_present))
            .layer(from_fn_with_state(self.clone(), authentication::authenticate))
            .layer(from_fn(panicked::caught))
            .layer(from_fn_with_state(self.clone(), bounded))
    }

    /// The answer of the route that was asked for.
    async fn answer_forwarded(&self, asked: &ReplicaRequest) -> Result<(Parts, Bytes), ErrorResponse> {
        let mut request =
            Request::builder().method(Method::GET).uri(&asked.target).body(Body::empty()).map_err(|_| {
                ErrorResponse::bad_request(
                    "the address that is asked for is none; replicas need the same version".to_owned(),
                )
            })?;
        let (actor, uri) = (asked.actor(), request.uri().clone());
        if let Some(moment) = self.moment_for_replica(&uri, &actor, asked.payloads).await {
            let answer = moment.map_or_else(ErrorResponse::into_response, |body| Body::from(body).into_response());
            return whole(answer).await;
        }
        if !may_be_forwarded(request.uri()) {
            return Err(ErrorResponse::bad_request(format!(
                "{} is not answered for other replicas; replicas need the same version",
                request.uri().path()
            )));
        }
        let principal = Principal::forwarded(actor, access::FormKey::default());
        request.extensions_mut().insert(ForwardedCaller { principal, payloads: asked.payloads });
        let mut router: Router = self.own_router();
        let response = match router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        whole(response).await
    }
}

async fn whole(response: Response) -> Result<(Parts, Bytes), ErrorResponse> {
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, ANSWER_BYTES_MAX).await.map_err(|_| {
        ErrorResponse::unavailable(format!(
            "the answer has more than {} MiB, which no replica hands on; ask this one, or for less",
            ANSWER_BYTES_MAX / 1024 / 1024
        ))
    })?;
    Ok((parts, body))
}
