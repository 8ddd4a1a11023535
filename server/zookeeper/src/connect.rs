//! Opens a session, and notes that it is ours.

use std::time::Duration;

use zookeeper_client::{Client, Error};

use super::credentials::Credentials;

/// Connects; gives up when no server answers for about one session time-out.
pub(super) async fn connect(
    cluster: &str,
    credentials: &Credentials,
    session_timeout: Duration,
) -> Result<Client, Error> {
    let client = credentials.open(credentials.connector(session_timeout)?, cluster).await?;
    super::own_sessions::note(client.session_id().0);
    Ok(client)
}

/// The same, asking each server once.
pub(super) async fn connect_once(
    cluster: &str,
    credentials: &Credentials,
    session_timeout: Duration,
) -> Result<Client, Error> {
    let client = credentials.open(credentials.connector(session_timeout)?.with_fail_eagerly(), cluster).await?;
    super::own_sessions::note(client.session_id().0);
    Ok(client)
}
