//! What kind of server an ensemble has, as `srvr` says: one whose watch events are known to be wrong is not believed from
//! the start. Where nobody may ask, `root::trust` finds it out by the first event. The same answers tell how far the
//! servers are (`seen_history`).

use std::future;

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use lockscope_core::evidence::{Health, MemberRole};

use super::config::ObserverConfig;
use super::members::ask_word;
use super::members::four_letter::srvr::{self, is_clickhouse};
use super::root::Distrust;
use super::seen_history::ServersSaid;

const SERVERS_MAX: usize = 16;

/// The question, until it is answered.
#[derive(Default)]
pub(super) struct ServerKind(Option<BoxFuture<'static, (Option<Distrust>, ServersSaid)>>);

impl ServerKind {
    /// Asks the servers of a connect string, each once.
    pub(super) fn ask(config: &ObserverConfig) -> Self {
        let servers = config.plain_servers();
        let count = servers.len();
        let ask = |server: String| async move { ask_word(&server, "srvr").await };
        let mut answers: FuturesUnordered<_> = servers.into_iter().take(SERVERS_MAX).map(ask).collect();
        let all = async move {
            let mut healths = Vec::new();
            while let Some(text) = answers.next().await {
                match text {
                    Ok(text) if is_clickhouse(&text) => return (Some(Distrust::ClickHouse), ServersSaid::default()),
                    Ok(text) => healths.extend(srvr::parse(&text)),
                    Err(_) => {}
                }
            }
            (None, said(&healths, count))
        };
        Self(Some(all.boxed()))
    }

    /// Waits until they have answered: whether their kind is one that is not believed, and what they said. Once.
    pub(super) async fn found(&mut self) -> (Option<Distrust>, ServersSaid) {
        let Some(asked) = &mut self.0 else { return future::pending().await };
        let found = asked.await;
        self.0 = None;
        found
    }
}

/// What so many servers said together, of whom these answered.
fn said(healths: &[Health], count: usize) -> ServersSaid {
    let is_alone = |health: &&Health| health.role == Some(MemberRole::Standalone);
    let decides = |health: &Health| matches!(health.role, Some(MemberRole::Leader | MemberRole::Standalone));
    ServersSaid {
        newest: healths.iter().filter_map(|health| health.zxid).max(),
        is_whole: healths.len() == count || healths.iter().any(decides),
        alone: healths.iter().filter(is_alone).filter_map(|health| health.zxid).collect(),
    }
}
