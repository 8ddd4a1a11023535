//! Reconnect: a new session while the link of the current one is down. The client crate backs off without a bound; we
//! try in parallel ten to twenty times a second, and the first that connects is used. None of our state depends on a session.

use std::time::Duration;

use futures_util::future::{self, BoxFuture, FutureExt};
use zookeeper_client::Client;

use super::config::ObserverConfig;
use lockscope_runtime::backoff::Backoff;

/// The crate tries several times within this; then we do too.
const GIVE_WAY: Duration = Duration::from_secs(1);
/// Waits between attempts: a link that is back is not noticed by anything else.
pub(super) const RETRY_FIRST: Duration = Duration::from_millis(50);
pub(super) const RETRY_CAP: Duration = Duration::from_millis(100);
/// A new attempt is worth more than one that hangs: its first packet may meet a link that is back. The crate's own
/// attempts go on meanwhile, for links that are slow.
const ATTEMPT_MAX: Duration = Duration::from_secs(2);

/// The search, while there is one.
#[derive(Default)]
pub(super) struct Reconnect(Option<BoxFuture<'static, Client>>);

impl Reconnect {
    /// The link went.
    pub(super) fn begin(&mut self, config: &ObserverConfig) {
        self.0 = Some(search(config.clone()).boxed());
    }

    /// The link came back.
    pub(super) fn end(&mut self) {
        self.0 = None;
    }

    /// Waits for the new session; for ever while nobody searches.
    pub(super) async fn found(&mut self) -> Client {
        match &mut self.0 {
            Some(search) => search.await,
            None => future::pending().await,
        }
    }
}

async fn search(config: ObserverConfig) -> Client {
    let mut backoff = Backoff::new(RETRY_FIRST, RETRY_CAP).ok();
    tokio::time::sleep(GIVE_WAY).await;
    loop {
        match tokio::time::timeout(ATTEMPT_MAX, config.open_once()).await {
            Ok(Ok(client)) => return client,
            Ok(Err(error)) => tracing::debug!(%error, "no new session"),
            Err(_) => tracing::debug!("no new session in time"),
        }
        tokio::time::sleep(pause(&mut backoff)).await;
    }
}

pub(super) fn pause(backoff: &mut Option<Backoff>) -> Duration {
    backoff.as_mut().map_or(RETRY_CAP, |backoff| backoff.next(rand::random()))
}
