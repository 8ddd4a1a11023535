//! How this server asks other replicas over HTTP: the client of `gateway`, as `http` needs it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::unfold;

use crate::config::Config;
use crate::error::RunError;
use cluster::Cluster;
use gateway::{GatewaySettings, HandOnError, OwnerAddress, ReplicaClient};
use http::{
    ANSWER_BYTES_MAX, HandOnFailure, HandedOnReply, REPLICA_ASK, ReplicaAddress, ReplicaAnswer, ReplicaRequests,
};
use runtime::clock::Clock;

#[derive(Debug)]
struct ReplicaHttp(ReplicaClient);

impl ReplicaRequests for ReplicaHttp {
    fn ask<'a>(
        &'a self,
        of: &'a ReplicaAddress,
        body: Bytes,
        within: Duration,
    ) -> BoxFuture<'a, Result<ReplicaAnswer, String>> {
        Box::pin(async move {
            let owner = OwnerAddress { id: of.id.clone(), address: of.address.trim_end_matches('/').to_owned() };
            let answer = self.0.post(&owner, REPLICA_ASK, body, within).await?;
            let gateway::Answer { status, headers, body } = answer;
            Ok(ReplicaAnswer { status, headers, body })
        })
    }

    fn hand_on<'a>(
        &'a self,
        to: &'a ReplicaAddress,
        body: Bytes,
        within: Duration,
    ) -> BoxFuture<'a, Result<HandedOnReply, HandOnFailure>> {
        Box::pin(async move {
            let owner = OwnerAddress { id: to.id.clone(), address: to.address.trim_end_matches('/').to_owned() };
            let (head, pieces) = self.0.hand_on(&owner, body, within).await.map_err(|error| match error {
                HandOnError::NotSent(why) => HandOnFailure::NotSent(why),
                HandOnError::NoAnswer(why) => HandOnFailure::NoAnswer(why),
            })?;
            let pieces = unfold(Some(pieces), |pieces| async {
                let mut pieces = pieces?;
                match pieces.next().await {
                    Ok(Some(piece)) => Some((Ok(piece), Some(pieces))),
                    Ok(None) => None,
                    Err(why) => Some((Err(why), None)),
                }
            });
            Ok(HandedOnReply { head, pieces: Box::pin(pieces) })
        })
    }
}

/// None where this server is alone, or the cluster has no secret.
pub(super) fn of(
    config: &Config,
    cluster: Option<&Cluster>,
    clock: &Clock,
) -> Result<Option<Arc<dyn ReplicaRequests>>, RunError> {
    let secret = config.cluster.as_ref().and_then(|own| own.secret.clone());
    let (Some(cluster), Some(secret)) = (cluster, secret) else { return Ok(None) };
    let settings = GatewaySettings { id: cluster.id().to_owned(), secret };
    let client = ReplicaClient::new(settings, clock.clone(), ANSWER_BYTES_MAX)
        .map_err(|error| RunError::Internal(error.to_string()))?;
    Ok(Some(Arc::new(ReplicaHttp(client))))
}
