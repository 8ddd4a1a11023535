//! What one replica asks another over HTTP: a read-only address, for somebody whom the one that asks knows. Plain data, and
//! the trait of whoever carries it. The answer is made by `replica_answer`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use lockscope_wire::{Role, SignedBy};
use serde::{Deserialize, Serialize};

use super::Http;
use super::caller::Caller;
use super::problem::ErrorResponse;
use ::cluster::ANSWER_HEADERS;
use identity::{Actor, Scope};
use runtime::quota::{Full, Quota};

/// Where replicas ask.
pub const REPLICA_ASK: &str = "/api/v1/cluster/ask";
/// Bytes of an answer. A longer one is refused.
pub const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Requests that are answered for other replicas at once. Overflow policy: one more is refused with 503.
pub(super) const ANSWERED_MAX: usize = 32;
/// Requests that are sent to other replicas at once, and to one of them, so that one that hangs takes no room that is needed
/// for others. Overflow policy: one more is refused with 503.
const SENT_MAX: usize = 48;
const SENT_TO_ONE_MAX: usize = 16;

/// A replica that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaAddress {
    /// Its id.
    pub id: String,
    /// How it is reached, without a slash at the end.
    pub address: String,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct ReplicaAnswer {
    /// The status.
    pub status: u16,
    /// The values of [`ANSWER_HEADERS`]; empty where there is none.
    pub headers: [String; ANSWER_HEADERS.len()],
    /// The body, whole.
    pub body: Bytes,
}

/// Carries requests to other replicas: proves the cluster's secret, and has it proved.
pub trait ReplicaRequests: fmt::Debug + Send + Sync {
    /// Asks one, and waits for so long; what went wrong is one sentence that does not name it.
    fn ask<'a>(
        &'a self,
        of: &'a ReplicaAddress,
        body: Bytes,
        within: Duration,
    ) -> BoxFuture<'a, Result<ReplicaAnswer, String>>;

    /// Hands a request on to one, once, and waits so long for the beginning of the answer.
    fn hand_on<'a>(
        &'a self,
        to: &'a ReplicaAddress,
        body: Bytes,
        within: Duration,
    ) -> BoxFuture<'a, Result<HandedOnReply, HandOnFailure>>;
}

/// An answer that comes in pieces, each proved before it is here.
pub struct HandedOnReply {
    /// What comes before its body.
    pub head: Bytes,
    /// The body. One sentence where it is cut off.
    pub pieces: BoxStream<'static, Result<Bytes, String>>,
}

/// Why nothing came back; one sentence each that does not name the replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandOnFailure {
    /// Nothing was sent.
    NotSent(String),
    /// It may have come, and what came of it is not known.
    NoAnswer(String),
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplicaRequest {
    /// Path and query.
    pub(super) target: String,
    /// For whom.
    name: String,
    /// With what role.
    role: Role,
    /// How the one that asks knows them.
    by: SignedBy,
    /// The ensembles that they may see; empty for all.
    ensembles: Vec<String>,
    /// The paths that they may see, with all below; empty for all.
    paths: Vec<String>,
    /// Whether they are shown what znodes carry, where they ask.
    pub(super) payloads: bool,
}

impl ReplicaRequest {
    pub(super) fn new(target: &str, caller: &Caller) -> Self {
        Self::for_actor(target, &caller.actor, caller.scope.payloads())
    }

    /// For somebody who is shown what znodes carry, or not.
    pub(super) fn for_actor(target: &str, actor: &Actor, payloads: bool) -> Self {
        let Actor { name, role, scope, by, address: _, through: _ } = actor.clone();
        let Scope { ensembles, paths } = scope;
        Self { target: target.to_owned(), name, role, by, ensembles, paths, payloads }
    }

    /// For this replica itself, which shows each viewer their part of what comes.
    pub(super) fn with_payloads(self) -> Self {
        Self { payloads: true, ..self }
    }

    /// For this replica itself, which compares what others have.
    pub(super) fn of_replica(target: &str, id: &str) -> Self {
        Self {
            target: target.to_owned(),
            name: format!("replica {id}"),
            role: Role::Auditor,
            by: SignedBy::Token,
            ensembles: Vec::new(),
            paths: Vec::new(),
            payloads: false,
        }
    }

    /// The same, of what is below some paths alone; empty for all.
    pub(super) fn below(self, paths: &[String]) -> Self {
        Self { paths: paths.to_vec(), ..self }
    }

    /// Whoever it is for, as far as the one that asks knows them.
    pub(super) fn actor(&self) -> Actor {
        Actor {
            name: self.name.clone(),
            role: self.role,
            scope: Scope { ensembles: self.ensembles.clone(), paths: self.paths.clone() },
            by: self.by,
            address: None,
            through: None,
        }
    }
}

/// Room for what is sent to other replicas, by their ids.
pub(super) fn room() -> Quota<String> {
    Quota::new(SENT_MAX, SENT_TO_ONE_MAX, Arc::default())
}

impl Http {
    /// The same, with a way to ask others.
    #[must_use]
    pub fn with_replica_requests(self, requests: Option<Arc<dyn ReplicaRequests>>) -> Self {
        Self { requests, ..self }
    }

    /// Asks another replica, and waits for so long.
    pub(super) async fn ask_replica(
        &self,
        of: &ReplicaAddress,
        request: &ReplicaRequest,
        within: Duration,
    ) -> Result<ReplicaAnswer, ErrorResponse> {
        let named = |why: String| {
            ErrorResponse::owner_unreachable(format!("the replica {} at {} does not answer: {why}", of.id, of.address))
        };
        let Some(requests) = &self.requests else {
            return Err(named("this server has no `secret_file` in [cluster]".to_owned()));
        };
        let _permit = self.forwarded.take(Some(of.id.clone())).map_err(|why| {
            let under_way = match why {
                Full::Caller(_) => format!("{SENT_TO_ONE_MAX} requests to the replica {}", of.id),
                Full::All => format!("{SENT_MAX} requests to other replicas"),
            };
            ErrorResponse::unavailable(format!("{under_way} are under way and no more are sent; try again later"))
        })?;
        let body = serde_json::to_vec(request).map_err(|error| ErrorResponse::internal(error.to_string()))?;
        requests.ask(of, body.into(), within).await.map_err(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_hangs_leaves_room_for_others() {
        let room = room();
        let of_one: Vec<_> = (0..SENT_TO_ONE_MAX).map(|_| room.take(Some("a".to_owned())).unwrap()).collect();
        assert_eq!(room.take(Some("a".to_owned())).err(), Some(Full::Caller(SENT_TO_ONE_MAX)));
        assert!(room.take(Some("b".to_owned())).is_ok());
        drop(of_one);
        assert!(room.take(Some("a".to_owned())).is_ok());
    }
}
