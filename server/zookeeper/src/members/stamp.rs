//! A connection of our own to a member that reports session expiry on its monotonic clock, as AdminServers do. Its
//! answer is stamped with that clock right before its connections are requested; without it, that clock can be related
//! to ours only when some client of that member happens to send something.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use zookeeper_client::{Client, Error};

use super::cooldown::Rest;
use crate::Credentials;

/// How long a session may take; the member's other answers wait for it.
const OPEN_MAX: Duration = Duration::from_secs(1);
const ANSWER_MAX: Duration = Duration::from_millis(500);

pub(super) struct Stamp {
    credentials: Credentials,
    session_timeout: Duration,
    client: Option<Client>,
    rest: Rest,
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamp").field("is_open", &self.client.is_some()).finish_non_exhaustive()
    }
}

impl Stamp {
    /// None yet; `credentials` and `session_timeout` are those of the session that will be opened.
    pub(super) fn new(credentials: Credentials, session_timeout: Duration) -> Self {
        Self { credentials, session_timeout, client: None, rest: Rest::default() }
    }

    /// The same for another member.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.credentials.clone(), self.session_timeout)
    }

    /// Has the member at this address answer us now, by a session that stays open.
    pub(super) async fn renew(&mut self, address: &str) {
        self.client.take_if(|client| client.state().is_terminated());
        if self.client.is_none() && !self.rest.is_on(Instant::now()) {
            match timeout(OPEN_MAX, self.open(address)).await {
                Ok(Ok(client)) => {
                    self.rest.worked();
                    self.client = Some(client);
                }
                Ok(Err(error)) => {
                    tracing::debug!(%error, address, "no session to place a member's clock with");
                    self.rest.failed(Instant::now());
                }
                Err(_) => self.rest.failed(Instant::now()),
            }
        }
        if let Some(client) = &self.client {
            // The answer itself is not used; without one, the stamp before it stays.
            let _ = timeout(ANSWER_MAX, client.check_stat("/")).await;
        }
    }

    pub(super) fn end(&mut self) {
        self.client = None;
    }

    async fn open(&self, address: &str) -> Result<Client, Error> {
        let connector = self.credentials.connector(self.session_timeout)?.with_fail_eagerly();
        self.credentials.open_ours(connector, address).await
    }
}
