//! What this replica does and makes for others: `POST /api/v1/cluster/hand-on`. Who hands a request on proves to have the
//! cluster's secret over this very body, and is believed once, by this very process. What is asked passes the same routes,
//! rights and limits as if whoever it is for had asked here; the answer goes back in pieces that are proved one by one.

use axum::Router;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use tokio::sync::OwnedSemaphorePermit;
use tower_service::Service as _;

use super::compact::COMPACT;
use super::handed_on::{HANDED_ON_HEADERS, HandedOnContent, HandedOnHead, HandedOnKind, HandedOnRequest, kind_of};
use super::middleware::{authentication, panicked};
use super::problem::ErrorResponse;
use super::replica_answer::ForwardedCaller;
use super::replica_live::refused;
use super::{Http, alerts, bounded, history};
use ::cluster::{PIECE_BYTES_MAX, PIECES_TYPE, PieceWriter};
use access::{FormKey, Principal};

pub(super) async fn answer(
    State(http): State<Http>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ErrorResponse> {
    let (door, cluster) = http.door()?;
    let (now_ms, us) = (http.hub.now_ms(), (cluster.id(), cluster.address()));
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let greeting = door.secret.verify_handed_on(header, us, now_ms, &body).map_err(refused)?;
    door.handed_on.take(&greeting, now_ms).map_err(refused)?;
    let mut pieces = PieceWriter::new(door.secret.clone(), greeting.clone(), cluster.address());
    // From here on whoever asks is one of us, and every answer is proved to them.
    let (answer, place) = match http.take_handed_on(&body, &greeting.from, cluster.since_ms()).await {
        Ok((answer, place)) => (answer, Some(place)),
        Err(refused) => (refused.into_response(), None),
    };
    let (parts, body) = answer.into_parts();
    let named = |name: &axum::http::HeaderName| {
        let value = parts.headers.get(name)?.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    };
    let headers = HANDED_ON_HEADERS.iter().filter_map(named).collect();
    let head = HandedOnHead { status: parts.status.as_u16(), headers, now_ms: http.hub.now_ms() };
    let head = serde_json::to_vec(&head).map_err(|error| ErrorResponse::internal(error.to_string()))?;
    let head = pieces.write(&head, false);
    let rest = Sending { body: body.into_data_stream(), given: Bytes::new(), pieces, _place: place };
    let rest = unfold(Some(rest), |sending| async {
        let mut sending = sending?;
        match sending.next().await {
            Some(Ok(bytes)) => Some((Ok(sending.pieces.write(&bytes, false)), Some(sending))),
            // Without its last piece nobody takes it for whole.
            Some(Err(error)) => Some((Err(error), None)),
            None => Some((Ok(sending.pieces.write(&[], true)), None)),
        }
    });
    let all = futures_util::stream::iter([Ok::<_, axum::Error>(head)]).chain(rest);
    let mut response = Response::new(Body::from_stream(all));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PIECES_TYPE));
    Ok(response)
}

/// What is still to be sent.
struct Sending {
    body: BodyDataStream,
    /// What the body gave and is not written yet.
    given: Bytes,
    pieces: PieceWriter,
    _place: Option<OwnedSemaphorePermit>,
}

impl Sending {
    /// As much as one piece takes: of a body that is one text no second one is made of it all.
    async fn next(&mut self) -> Option<Result<Bytes, axum::Error>> {
        if self.given.is_empty() {
            match self.body.next().await? {
                Ok(bytes) => self.given = bytes,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(self.given.split_to(self.given.len().min(PIECE_BYTES_MAX))))
    }
}

impl Http {
    async fn take_handed_on(
        &self,
        body: &[u8],
        from: &str,
        process_since_ms: i64,
    ) -> Result<(Response, OwnedSemaphorePermit), ErrorResponse> {
        let request: HandedOnRequest = serde_json::from_slice(body)
            .map_err(|error| ErrorResponse::bad_request(format!("{error}; replicas need the same version")))?;
        if request.process_since_ms != process_since_ms {
            let sentence = "this replica was started anew since that was signed, and did nothing of it; try again";
            return Err(ErrorResponse::unavailable(sentence));
        }
        let asked = request.asked();
        let content = match asked.content {
            HandedOnContent::None => (None, Body::empty()),
            HandedOnContent::Json(text) => (Some("application/json"), Body::from(text)),
            HandedOnContent::Form(text) => (Some("application/x-www-form-urlencoded"), Body::from(text)),
        };
        let inner = Request::builder().method(asked.method.method()).uri(&asked.target).body(content.1);
        let mut inner = inner.map_err(|_| {
            ErrorResponse::bad_request("the address that is asked for is none; replicas need the same version")
        })?;
        let Some(kind) = kind_of(asked.method, inner.uri()) else {
            let path = super::problem::echo(inner.uri().path());
            let sentence = format!("{path} is not done for other replicas; replicas need the same version");
            return Err(ErrorResponse::bad_request(sentence));
        };
        let place = self.handed_on.taken(kind).clone().try_acquire_owned().map_err(|_| {
            ErrorResponse::unavailable(
                "too many requests that other replicas handed on are under way, and nothing of this one was done; try again later",
            )
        })?;
        self.handed_on.counts.taken(kind);
        let mut actor = request.actor(from);
        if kind == HandedOnKind::Act {
            actor = match self.access.known_here(&actor).await {
                Ok(known) => known,
                Err(why) => {
                    let sentence = format!("{} may do nothing at this replica: {why}", actor.name);
                    if let Some(service) = &self.release_service {
                        service.refuse_handed_on(&actor, &sentence).await;
                    }
                    return Err(ErrorResponse::new(StatusCode::FORBIDDEN, sentence));
                }
            };
            // Instants, not ages: the one that asks shows them by its own clock.
            inner.headers_mut().insert(axum::http::header::ACCEPT, COMPACT);
        }
        if let Some(content_type) = content.0 {
            inner.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let principal = Principal::forwarded(actor, FormKey::new(request.form_key.clone()));
        inner.extensions_mut().insert(ForwardedCaller { principal, payloads: request.payloads });
        let mut router = self.router_for_others(kind);
        let response = match router.call(inner).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        Ok((response, place))
    }

    /// The router of what is handed on: the same without what is of a connection.
    fn router_for_others(&self, kind: HandedOnKind) -> Router {
        let own = self.rows();
        let own = match self.pages.get().filter(|_| kind == HandedOnKind::Page) {
            None => own,
            Some(pages) => {
                let pages = pages.clone().layer(from_fn_with_state(self.clone(), history::show_moments));
                own.merge(pages.layer(from_fn_with_state(self.clone(), alerts::banner::add)))
            }
        };
        own.layer(from_fn_with_state(self.clone(), history::refuse_the_present))
            .layer(from_fn_with_state(self.clone(), authentication::authenticate))
            .layer(from_fn(panicked::caught))
            .layer(from_fn_with_state(self.clone(), bounded))
    }
}
