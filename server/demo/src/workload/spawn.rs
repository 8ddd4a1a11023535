//! Keeps each contender going: a session, rounds of contention, a new session when the old one is lost.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::cut::CutLine;
use super::pace::Pace;
use super::sample_client::SampleClient;
use super::scenes::{Play, Scene};
use super::{barrier, deadlock, duplicate, hang, mutex, opposite, queue, read_write, semaphore};

/// Pause after a failed session.
const RETRY: Duration = Duration::from_millis(500);
/// How long opening the sample's first session may take.
const FIRST_SESSION: Duration = Duration::from_secs(6);
const TIDY_MAX: Duration = Duration::from_secs(6);
/// Contenders come within this time, not all at once.
const ARRIVE_MS: std::ops::Range<u64> = 0..2_000;

#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// No session, or its directories can't be made.
    #[error("the sample workload can't use the ZooKeeper at {connect}: {source}")]
    ZooKeeper { connect: String, source: Error },
}

/// One round of a recipe; what the client took is given back, or goes with the session when the round fails.
async fn round(client: SampleClient<'_>) -> Result<(), Error> {
    match client.scene.play {
        Play::Lock(style) | Play::LockOnce(style) | Play::LockAndDie(style) => mutex::round(client, style).await,
        Play::Fixed => mutex::fixed_round(client).await,
        Play::ReadWrite(access) => read_write::round(client, access).await,
        Play::Permit(permits) => semaphore::round(client, permits).await,
        Play::Meet(members) => barrier::round(client, members).await,
        Play::Produce => queue::produce(client).await,
        Play::Consume => queue::consume(client).await,
        Play::Cross(side) => deadlock::round(client, side).await,
        Play::Opposite(leg) => opposite::round(client, leg).await,
        Play::Duplicate => duplicate::round(client).await,
        Play::Hang(style) => hang::round(client, style).await,
    }
}

pub(super) fn directories(scene: &Scene) -> Vec<String> {
    match scene.play {
        Play::Permit(_) => vec![semaphore::leases(scene.directory), semaphore::locks(scene.directory)],
        Play::Cross(_) => deadlock::locks(scene.directory).to_vec(),
        Play::Opposite(leg) => opposite::locks(scene.directory, leg).to_vec(),
        Play::Lock(_)
        | Play::LockOnce(_)
        | Play::LockAndDie(_)
        | Play::Fixed
        | Play::ReadWrite(_)
        | Play::Meet(_)
        | Play::Produce
        | Play::Consume
        | Play::Duplicate
        | Play::Hang(_) => vec![scene.directory.to_owned()],
    }
}

/// Makes the directories of all scenes, free of what an earlier sample may have left.
pub(super) async fn prepare(connect: &str, scenes: &[Scene]) -> Result<(), WorkloadError> {
    let prepare = async {
        let client = Client::connector().with_session_timeout(FIRST_SESSION).connect(connect).await?;
        for directory in scenes.iter().flat_map(directories) {
            client.mkdir(&directory, &CreateMode::Persistent.with_acls(Acls::anyone_all())).await?;
        }
        clear(&client, scenes).await
    };
    prepare.await.map_err(|source| WorkloadError::ZooKeeper { connect: connect.to_owned(), source })
}

/// Takes away what would outlive the sample's sessions.
pub(super) async fn tidy(connect: &str, scenes: &[Scene]) -> Result<(), WorkloadError> {
    let tidy = async {
        let client = Client::connector().with_session_timeout(FIRST_SESSION).connect(connect).await?;
        clear(&client, scenes).await
    };
    let tidied = tokio::time::timeout(TIDY_MAX, tidy).await.unwrap_or(Err(Error::Timeout));
    tidied.map_err(|source| WorkloadError::ZooKeeper { connect: connect.to_owned(), source })
}

async fn clear(client: &Client, scenes: &[Scene]) -> Result<(), Error> {
    for scene in scenes {
        match scene.play {
            Play::Produce => queue::clear(client, scene.directory).await?,
            Play::Meet(_) => barrier::clear(client, scene.directory).await?,
            // All they have is ephemeral.
            Play::Lock(_)
            | Play::LockOnce(_)
            | Play::LockAndDie(_)
            | Play::Fixed
            | Play::ReadWrite(_)
            | Play::Permit(_)
            | Play::Consume
            | Play::Cross(_)
            | Play::Opposite(_)
            | Play::Duplicate
            | Play::Hang(_) => {}
        }
    }
    Ok(())
}

pub(super) async fn keep_going(scene: Scene, connect: Arc<str>, pace: Pace, stop: CancellationToken) {
    let contention = async {
        loop {
            match life(&scene, &connect, pace).await {
                Ok(()) if matches!(scene.play, Play::LockOnce(_)) => return,
                Ok(()) => {}
                Err(error) => {
                    tracing::debug!(%error, label = %scene.label, "a sample contender starts over");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    };
    tokio::select! {
        () = contention => {}
        // Dropping the session closes it.
        () = stop.cancelled() => {}
    }
}

/// One session's life: many rounds, or one and an untimely end.
async fn life(scene: &Scene, connect: &str, pace: Pace) -> Result<(), Error> {
    if let Play::LockAndDie(style) = scene.play {
        pace.pause(&scene.pause_ms).await;
        return die_holding(scene, connect, pace, style).await;
    }
    pace.pause(&ARRIVE_MS).await;
    let timeout = Duration::from_millis(scene.session_timeout_ms);
    let client = Client::connector().with_session_timeout(timeout).connect(connect).await?;
    let client = SampleClient { client: &client, scene, pace };
    loop {
        round(client).await?;
        if matches!(scene.play, Play::LockOnce(_)) {
            return Ok(());
        }
        pace.pause(&scene.pause_ms).await;
    }
}

/// Acquires through a line that is then cut: the server gets no sign that the session's client is gone.
async fn die_holding(scene: &Scene, connect: &str, pace: Pace, style: super::names::Style) -> Result<(), Error> {
    let Some(server) = connect.split(',').next() else { return Ok(()) };
    let (server, chroot) = server.find('/').map_or((server, ""), |at| server.split_at(at));
    let chroot = connect.find('/').map_or(chroot, |at| connect.split_at(at).1);
    let line = CutLine::open(server.to_owned()).await.map_err(|_| Error::ConnectionLoss)?;
    // Detached: dropping the client must not close the session. How long it then lives on is part of the pace.
    let timeout = pace.some(&(scene.session_timeout_ms..scene.session_timeout_ms));
    let connector = Client::connector().with_session_timeout(timeout).with_detached();
    let client = connector.connect(&format!("{}{chroot}", line.address())).await?;
    let _held = mutex::acquire(&client, scene.directory, style, &scene.label).await?;
    pace.pause(&scene.hold_ms).await;
    drop(line);
    drop(client);
    Ok(())
}
