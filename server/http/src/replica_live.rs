//! The way in for other replicas: `GET /api/v1/cluster/live`, a live socket on which each subscription says what it may
//! show. Who asks proves to have the cluster's secret, and so do we; it opens nothing else.

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use hyper::upgrade::OnUpgrade;
use lockscope_wire::SUBPROTOCOL_BIN;

use super::caller::PayloadChanges;
use super::live::READ_BYTES_MAX;
use super::payloads::Payloads;
use super::problem::ErrorResponse;
use super::socket::Socket;
use super::socket_audience::Audience;
use super::socket_stream::{SocketStream, switching};
use super::{Counts, Http};
use ::cluster::{Cluster, GreetingError, Greetings, PROOF_HEADER, ReplicaSecret};
use access::Principal;
use feed::Encoding;
use runtime::tasks;

/// How other replicas come in.
#[derive(Clone, Debug)]
pub(super) struct ReplicaDoor {
    pub(super) secret: ReplicaSecret,
    pub(super) taken: Greetings,
    /// Of requests that were handed on: whoever asks for much keeps nobody from acting.
    pub(super) handed_on: Greetings,
}

impl ReplicaDoor {
    pub(super) fn new(secret: ReplicaSecret) -> Self {
        Self { secret, taken: Greetings::default(), handed_on: Greetings::default() }
    }
}

pub(super) async fn live(
    State(http): State<Http>,
    on_upgrade: Option<Extension<OnUpgrade>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ErrorResponse> {
    let (door, cluster) = http.door()?;
    let (now_ms, us) = (http.hub.now_ms(), (cluster.id(), cluster.address()));
    let greeting = door.secret.read(greeting_of(&headers), us, now_ms).map_err(refused)?;
    if let Err(error) = upgrade {
        return Err(ErrorResponse::new(error.status(), format!("{}; open a WebSocket here", error.body_text())));
    }
    let Some(Extension(on_upgrade)) = on_upgrade else {
        return Err(ErrorResponse::bad_request(
            "this connection can't become a WebSocket; open one of HTTP/1.1".to_owned(),
        ));
    };
    if http.draining.is_cancelled() {
        return Err(ErrorResponse::unavailable("the server is shutting down; connect to another"));
    }
    door.taken.take(&greeting, now_ms).map_err(refused)?;
    let Ok(permit) = http.sockets.clone().try_acquire_owned() else {
        return Err(ErrorResponse::unavailable(format!(
            "{} live sockets are open and no more are taken; try again later",
            http.limits.sockets_max
        )));
    };
    Counts::add(&http.counts.sockets_opened);
    let proof = door.secret.prove(&greeting, cluster.address());
    let mut answer = switching(&headers, SUBPROTOCOL_BIN);
    let proof = HeaderValue::from_str(&proof).map_err(|_| ErrorResponse::internal("a proof is no header"))?;
    answer.headers_mut().insert(HeaderName::from_static(PROOF_HEADER), proof);
    let payloads = PayloadChanges::begin(&http);
    let audience = Audience::Replica { payloads: *http.payloads.borrow() != Payloads::Nobody };
    let principal = Principal::replica(&greeting.from);
    tasks::spawn("socket of a replica", async move {
        if let Some(socket) = SocketStream::open(on_upgrade, &http.limits, READ_BYTES_MAX).await {
            Socket::new(http, socket, Encoding::Binary, principal, (audience, payloads)).run().await;
        }
        drop(permit);
    });
    Ok(answer)
}

fn greeting_of(headers: &HeaderMap) -> &str {
    headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl Http {
    /// The way in for other replicas, and this replica.
    ///
    /// # Errors
    /// Where no other replica may ask this server.
    pub(super) fn door(&self) -> Result<(&ReplicaDoor, &Cluster), ErrorResponse> {
        self.replicas.as_ref().zip(self.cluster.as_ref()).ok_or_else(|| {
            let why = "no other replica may ask this server; that needs `secret_file` in [cluster]";
            ErrorResponse::not_found(why.to_owned())
        })
    }
}

pub(super) fn refused(error: GreetingError) -> ErrorResponse {
    let status = match error {
        // Nothing that a person or a script could mend by showing who they are.
        GreetingError::Missing => StatusCode::NOT_FOUND,
        GreetingError::NotOurs | GreetingError::Clocks(_) | GreetingError::Used => StatusCode::FORBIDDEN,
        GreetingError::TooMany => StatusCode::SERVICE_UNAVAILABLE,
    };
    ErrorResponse::new(status, error.to_string())
}
