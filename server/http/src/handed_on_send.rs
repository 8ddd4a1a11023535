//! How this replica hands a request on to another that carries it out, and what it says where no answer comes.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::BytesMut;
use futures_util::stream::{BoxStream, StreamExt as _, unfold};
use identity::QuotaOwner;
use lockscope_wire::COMPACT_TYPE;
use runtime::quota::{Full, Permit};

use super::caller::Caller;
use super::handed_on::{Asked, HANDED_ON_HEADERS, HandedOnHead, HandedOnKind, HandedOnRequest};
use super::handed_on_counts::HandedOnEnd;
use super::problem::ErrorResponse;
use super::replica_request::{HandOnFailure, ReplicaAddress};
use super::{BODY_BYTES_MAX, Http};

/// Bytes of the answer to an act.
const ACT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A replica that is there, and the process that it is.
#[derive(Clone, Debug)]
pub(super) struct ReplicaProcess {
    pub(super) at: ReplicaAddress,
    since_ms: i64,
}

/// An answer, as far as it is there.
pub(super) struct HandedOnAnswer {
    pub(super) head: HandedOnHead,
    pieces: BoxStream<'static, Result<Bytes, String>>,
    /// Given back with the answer.
    place: Permit<QuotaOwner>,
}

/// Why there is none.
#[derive(Clone, Debug)]
pub(super) enum NotHandedOn {
    /// Nothing was sent, and this is why.
    NotSent(ErrorResponse),
    /// What came of it is not known: one sentence that does not name the replica.
    NoAnswer(String),
}

impl NotHandedOn {
    /// For what does no harm when it is asked for again.
    pub(super) fn unreachable(self, of: &ReplicaAddress) -> ErrorResponse {
        match self {
            Self::NotSent(refused) => refused,
            Self::NoAnswer(why) => named(of, &why),
        }
    }
}

fn named(of: &ReplicaAddress, why: &str) -> ErrorResponse {
    ErrorResponse::owner_unreachable(format!("the replica {} at {} does not answer: {why}", of.id, of.address))
}

/// A number for a request that is handed on.
pub(super) fn request_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}

impl Http {
    /// Another replica of this name, if it is there and can be asked.
    pub(super) fn other_replica(&self, id: &str) -> Option<ReplicaProcess> {
        let cluster = self.cluster.as_ref().filter(|cluster| self.requests.is_some() && cluster.id() != id)?;
        let found = cluster.view().replicas.into_iter().find(|replica| replica.id == id)?;
        let address = found.address.trim_end_matches('/').to_owned();
        Some(ReplicaProcess { at: ReplicaAddress { id: found.id, address }, since_ms: found.since_ms })
    }

    /// Hands a request on, once, and waits for the beginning of the answer for so long.
    pub(super) async fn hand_on(
        &self,
        to: &ReplicaProcess,
        (kind, asked, request_id): (HandedOnKind, &Asked, &str),
        caller: &Caller,
        within: Duration,
    ) -> Result<HandedOnAnswer, NotHandedOn> {
        let answered = self.sent_on(to, (kind, asked, request_id), caller, within).await;
        let end = match &answered {
            Ok(_) => HandedOnEnd::Answered,
            Err(NotHandedOn::NotSent(_)) => HandedOnEnd::NotSent,
            Err(NotHandedOn::NoAnswer(_)) => HandedOnEnd::NoAnswer,
        };
        self.handed_on.counts.sent(kind, end);
        answered
    }

    async fn sent_on(
        &self,
        to: &ReplicaProcess,
        (kind, asked, request_id): (HandedOnKind, &Asked, &str),
        caller: &Caller,
        within: Duration,
    ) -> Result<HandedOnAnswer, NotHandedOn> {
        let not_sent = |refused| Err(NotHandedOn::NotSent(refused));
        let Some(requests) = &self.requests else {
            return not_sent(named(&to.at, "this server has no `secret_file` in [cluster]"));
        };
        let place = match self.handed_on.sent(kind).take(Some(caller.principal.owner.group().clone())) {
            Ok(place) => place,
            Err(why) => {
                let whose = if why == Full::All { "" } else { "of yours " };
                return not_sent(ErrorResponse::too_many(
                    format!(
                        "as many requests {whose}are handed on to other replicas as may be, and this one was not; try again when some have an answer"
                    ),
                    Duration::from_secs(1),
                ));
            }
        };
        let request = HandedOnRequest::new(asked, request_id, to.since_ms, caller);
        let body = match serde_json::to_vec(&request) {
            Ok(body) if body.len() <= BODY_BYTES_MAX => body,
            Ok(_) => {
                let sentence = "that is too long to be handed on to another replica; ask the one that watches it";
                return not_sent(ErrorResponse::new(StatusCode::PAYLOAD_TOO_LARGE, sentence));
            }
            Err(error) => return not_sent(ErrorResponse::internal(error.to_string())),
        };
        let reply = requests.hand_on(&to.at, body.into(), within).await.map_err(|failure| match failure {
            HandOnFailure::NotSent(why) => NotHandedOn::NotSent(named(&to.at, &why)),
            HandOnFailure::NoAnswer(why) => NotHandedOn::NoAnswer(why),
        })?;
        let head = serde_json::from_slice(&reply.head)
            .map_err(|_| NotHandedOn::NoAnswer("it answers nonsense; replicas need the same version".to_owned()))?;
        Ok(HandedOnAnswer { head, pieces: reply.pieces, place })
    }
}

impl HandedOnAnswer {
    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.head.status).unwrap_or(StatusCode::BAD_GATEWAY)
    }

    /// Whether its body is in the compact encoding, which no refusal is.
    pub(super) fn is_compact(&self) -> bool {
        self.head.headers.iter().any(|(name, value)| name == "content-type" && value == COMPACT_TYPE)
    }

    /// The whole body, within bounds.
    pub(super) async fn whole(&mut self) -> Result<Bytes, String> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.pieces.next().await {
            let piece = piece?;
            if whole.len() + piece.len() > ACT_BYTES_MAX {
                return Err(format!("its answer has more than {} MiB", ACT_BYTES_MAX / 1024 / 1024));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    /// The same answer with a body that was read.
    pub(super) fn with_body(&self, body: Bytes) -> Response {
        self.dressed(Body::from(body))
    }

    /// The same answer, piece by piece as it comes: no more than one piece is kept. One that is cut off is cut off here.
    pub(super) fn streamed(self) -> Response {
        let Self { head, pieces, place } = self;
        let rest = unfold(Some((pieces, place)), |rest| async {
            let (mut pieces, place) = rest?;
            match pieces.next().await? {
                Ok(bytes) => Some((Ok(bytes), Some((pieces, place)))),
                Err(why) => {
                    tracing::warn!("a file of another replica was cut off: {why}");
                    Some((Err(std::io::Error::other(why)), None))
                }
            }
        });
        let body = Body::from_stream(rest);
        dressed(&head, body)
    }

    fn dressed(&self, body: Body) -> Response {
        dressed(&self.head, body)
    }
}

fn dressed(head: &HandedOnHead, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(head.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in &head.headers {
        let known = HANDED_ON_HEADERS.iter().find(|known| known.as_str() == name);
        // Nobody is led to another server.
        let leads_away = name == "location" && (!value.starts_with('/') || value.starts_with("//"));
        if let (Some(name), Ok(value)) = (known.filter(|_| !leads_away), HeaderValue::from_str(value)) {
            response.headers_mut().insert(HeaderName::clone(name), value);
        }
    }
    response
}
