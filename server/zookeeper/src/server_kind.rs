//! What kind of server an ensemble has, as `srvr` says: one whose watch events are known to be wrong is not believed from
//! the start. Where nobody may ask, `root::trust` finds it out by the first event.

use std::future;

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::config::ObserverConfig;
use super::members::ask_word;
use super::members::four_letter::srvr::is_clickhouse;
use super::root::Distrust;

/// Servers that are asked.
const SERVERS_MAX: usize = 16;

/// The question, until it is answered.
#[derive(Default)]
pub(super) struct ServerKind(Option<BoxFuture<'static, Option<Distrust>>>);

impl ServerKind {
    /// Asks the servers of a connect string, each once.
    pub(super) fn ask(config: &ObserverConfig) -> Self {
        let servers = config.plain_servers();
        let is_wrong =
            |server: String| async move { ask_word(&server, "srvr").await.is_ok_and(|text| is_clickhouse(&text)) };
        let mut answers: FuturesUnordered<_> = servers.into_iter().take(SERVERS_MAX).map(is_wrong).collect();
        let any = async move {
            while let Some(is_wrong) = answers.next().await {
                if is_wrong {
                    return Some(Distrust::ClickHouse);
                }
            }
            None
        };
        Self(Some(any.boxed()))
    }

    /// Waits until one of them says that it is of a kind that is not believed; for ever where none does.
    pub(super) async fn found(&mut self) -> Distrust {
        let found = match &mut self.0 {
            Some(asked) => asked.await,
            None => future::pending().await,
        };
        self.0 = None;
        match found {
            Some(distrust) => distrust,
            None => future::pending().await,
        }
    }
}
