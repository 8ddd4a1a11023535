//! Compares our clock with the ensemble's by ephemerals of our own, where the operator allows a path for them: the only
//! thing Lockscope ever writes, and each znode goes at once. A ctime lies between the moments before and after its
//! create.

use std::time::Duration;

use futures_util::FutureExt as _;
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use zookeeper_client::{Acls, Client, CreateMode, Error, SessionState};

use super::connect::connect;
use super::credentials::Credentials;
use runtime::clock::Clock;
use runtime::shutdown::CancellationToken;

/// Znodes made one after the other: the shortest round trip of them bounds the error.
const SAMPLES: usize = 8;
/// Pause between two comparisons.
const EVERY: Duration = Duration::from_secs(60);
/// Pause before another try.
const RETRY: Duration = Duration::from_secs(10);

/// Where, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockProbeConfig {
    /// Connect string; it was checked.
    pub connect: String,
    /// Who asks.
    pub credentials: Credentials,
    /// Time-out of the session.
    pub session_timeout: Duration,
    /// The znode below which ephemerals may be made; it must exist.
    pub path: String,
}

/// Compares now and then, and after each reconnect, since another leader may stamp then; until `stop`.
pub async fn compare_clocks(
    config: ClockProbeConfig,
    clock: Clock,
    sink: mpsc::Sender<Vec<Observation>>,
    stop: CancellationToken,
) {
    let comparing = async {
        while !sink.is_closed() {
            match session(&config, &clock, &sink).await {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(%error, path = config.path, "the clocks could not be compared below the scratch path; it must exist and allow CREATE and DELETE");
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = comparing => {}
    }
}

/// Ends well only when nobody listens any more.
async fn session(config: &ClockProbeConfig, clock: &Clock, sink: &mpsc::Sender<Vec<Observation>>) -> Result<(), Error> {
    let client = connect(&config.connect, &config.credentials, config.session_timeout).await?;
    let mut states = client.state_watcher();
    let mut tick = tokio::time::interval_at(Instant::now(), EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            state = states.changed() => match state {
                SessionState::SyncConnected => tick.reset(),
                SessionState::Disconnected | SessionState::ConnectedReadOnly => continue,
                SessionState::AuthFailed => return Err(Error::AuthFailed),
                SessionState::Expired | SessionState::Closed => return Err(Error::SessionExpired),
            },
        }
        // Cut off meanwhile: the next state shows it.
        let samples = match samples(&client, &config.path, clock).await {
            Err(Error::ConnectionLoss) => continue,
            samples => samples?,
        };
        if sink.send(samples).await.is_err() {
            return Ok(());
        }
    }
}

async fn samples(client: &Client, path: &str, clock: &Clock) -> Result<Vec<Observation>, Error> {
    let parent = path.trim_end_matches('/');
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        // No number at its end: nobody takes it for a contender.
        let name = format!("{parent}/lockscope-clock-{:016x}x", rand::random::<u64>());
        let sent_at = TimeMs(clock.now_ms());
        let (stat, _) = client.create(&name, b"", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await?;
        let told_at = TimeMs(clock.now_ms());
        // It goes with the session if this is not answered.
        client.delete(&name, Some(stat.version)).map(|_| ()).await;
        samples.push(Observation::ClockRead { sent_at, told_at, ctime_ms: stat.ctime });
    }
    Ok(samples)
}
