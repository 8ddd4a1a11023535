//! Observes one ensemble until it is stopped, session after session. Owns reconnecting across sessions.

use std::sync::Arc;

use lockscope_core::observation::{Link, Observation, RootId};
use tokio::sync::mpsc;
use zookeeper_client::{Client, Error};

use super::child_watch::{ChildWatches, watch_children};
use super::config::ObserverConfig;
use super::link::LinkTeller;
use super::outbox::Outbox;
use super::reconnect::{RETRY_CAP, RETRY_FIRST, pause};
use super::request_counts::RequestCounts;
use super::root::{Room, RootWatch};
use super::session::{End, Session, Shared};
use super::watch::{Input, Why};
use super::watched_roots::WatchedRoots;
use lockscope_runtime::backoff::Backoff;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;

/// Batches that fit the channel to the consumer: a good capacity for it. When it is full, reads pause and events
/// wait in the observer's own bounded queue.
pub const BATCHES_MAX: usize = 64;

/// Watches the configured roots and sends what it learns, in batches, until `stop` is cancelled or either end of the
/// channels is dropped. `counts`: where it counts what it asks for.
pub async fn observe(
    config: ObserverConfig,
    clock: Clock,
    counts: Arc<RequestCounts>,
    sink: mpsc::Sender<Vec<Observation>>,
    stop: CancellationToken,
) {
    let child_watches = ChildWatches::new(config.roots().len());
    tokio::select! {
        () = sessions(Shared { config: &config, sink: &sink, child_watches: &child_watches, clock: &clock, counts: &counts }, &stop) => {}
        () = watch_children(&config, &child_watches, &counts) => {}
    }
}

async fn sessions(shared: Shared<'_>, stop: &CancellationToken) {
    let config = shared.config;
    let room = Room::new(config.znodes_max());
    let watches = (0..).zip(config.roots()).map(|(id, path)| {
        RootWatch::new(RootId(id), path, !config.has_chroot(), room.clone())
            .without(config.exclusions().clone(), Arc::clone(shared.counts))
    });
    let mut roots = WatchedRoots::new(watches);
    let mut out = Outbox::new(Arc::clone(shared.counts));
    let mut link = LinkTeller::default();
    link.tell(Link::Lost, None, "connecting", &mut out);
    let mut why = Why::FirstSync;
    let mut found = None;
    loop {
        let client = match found.take() {
            Some(client) => Some(client),
            None => next_session(config, &mut out, &mut link, shared.sink, stop).await,
        };
        let Some(client) = client else { return };
        tracing::info!(session = %client.session_id(), "ZooKeeper session made");
        shared.counts.session_made(client.session_id().0);
        match Session::new(client, &mut roots, &mut out, &mut link, shared).run(why, stop).await {
            End::Stopped => return,
            End::Over(state) => {
                tracing::warn!(%state, "ZooKeeper session over");
                link.tell(Link::Lost, None, "the session ended", &mut out);
            }
            End::Moved(client) => found = Some(client),
        }
        roots.drop_watchers();
        roots.each(|root| root.input(Input::Disconnected, &mut out));
        why = out.history.why_new_session();
    }
}

/// Makes a session, however long it takes. None: stopped.
async fn next_session(
    config: &ObserverConfig,
    out: &mut Outbox,
    link: &mut LinkTeller,
    sink: &mpsc::Sender<Vec<Observation>>,
    stop: &CancellationToken,
) -> Option<Client> {
    let mut backoff = Backoff::new(RETRY_FIRST, RETRY_CAP).ok();
    let mut told = None;
    loop {
        let attempt = attempt(config, out, sink);
        let result = tokio::select! {
            () = stop.cancelled() => return None,
            result = attempt => result?,
        };
        match result {
            Ok(client) => return Some(client),
            Err((error, why)) => {
                // Once for each reason: it is tried several times a second.
                if told.replace(why) != Some(why) {
                    tracing::warn!(%error, why, connect = config.connect(), "no ZooKeeper session");
                }
                link.tell(Link::Lost, None, why, out);
            }
        }
        tokio::select! {
            () = stop.cancelled() => return None,
            () = tokio::time::sleep(pause(&mut backoff)) => {}
        }
    }
}

/// Sends what is in the outbox, then tries to connect. None: the consumer is gone.
async fn attempt(
    config: &ObserverConfig,
    out: &mut Outbox,
    sink: &mpsc::Sender<Vec<Observation>>,
) -> Option<Result<Client, (Error, &'static str)>> {
    while !out.is_empty() {
        sink.reserve().await.ok()?.send(out.take_batch());
    }
    Some(match config.open_once().await {
        Ok(client) => Ok(client),
        Err(error) => {
            let why = config.why_lost(&error).await;
            Err((error, why))
        }
    })
}
