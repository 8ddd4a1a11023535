//! What ends a server by itself, and what its operator should know at the start.

use crate::config::Config;
use crate::error::RunError;
use lockscope_audit::Right;
use lockscope_live::Hub;

/// Ends when ZooKeeper was never reached within the time given; never, when none was given or it was reached.
pub(super) async fn unreachable_within(hub: &Hub, config: &Config) -> RunError {
    let Some(timeout) = config.connect_timeout else { return std::future::pending().await };
    let mut revisions = hub.projection().revisions();
    let linked = async {
        while !hub.projection().is_linked() {
            if revisions.changed().await.is_err() {
                break;
            }
        }
    };
    match tokio::time::timeout(timeout, linked).await {
        Ok(()) => std::future::pending().await,
        Err(_) => RunError::Unreachable { connect: config.connects(), timeout_ms: timeout.as_millis() },
    }
}

pub(super) fn warn_read_only() {
    let roles = Right::Release.roles().into_iter().map(|role| role.name()).collect::<Vec<_>>().join(" or ");
    tracing::warn!(
        "this server is read-only: nobody has the role {roles}; `lockscope token new --name NAME --role operator` makes a token, `lockscope \
         user set --name NAME --role operator` a user, both without a restart"
    );
}
