//! Keeps each contender going: a session, rounds of contention, a new session when the old one is lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::contender::round;
use super::cut::CutLine;
use super::scenes::{Manner, Scene, all};

/// Pause after a failed session.
const RETRY: Duration = Duration::from_millis(500);
/// How long opening the sample's first session may take.
const FIRST_SESSION: Duration = Duration::from_secs(6);

/// Why the sample can't run.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// No session, or its directories can't be made.
    #[error("the sample workload can't use the ZooKeeper at {connect}: {source}")]
    ZooKeeper {
        /// The connect string.
        connect: String,
        /// What went wrong.
        source: Error,
    },
}

/// Makes the directories of all scenes.
pub(super) async fn prepare(connect: &str) -> Result<(), WorkloadError> {
    let failed = |source| WorkloadError::ZooKeeper { connect: connect.to_owned(), source };
    let client = Client::connector().with_session_timeout(FIRST_SESSION).connect(connect).await.map_err(failed)?;
    for scene in all() {
        client.mkdir(scene.directory, &CreateMode::Persistent.with_acls(Acls::anyone_all())).await.map_err(failed)?;
    }
    Ok(())
}

/// Runs one contender until told to stop.
pub(super) async fn keep_going(scene: Scene, connect: Arc<str>, mut stop: watch::Receiver<bool>) {
    let contention = async {
        loop {
            match life(&scene, &connect).await {
                Ok(()) if scene.manner == Manner::Once => return,
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
        // Dropping the session closes it; an error means that nobody can stop us any more: the same.
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

/// One session's life: many rounds, or one and an untimely end.
async fn life(scene: &Scene, connect: &str) -> Result<(), Error> {
    match scene.manner {
        Manner::Releases => {
            let client = session(scene, connect, false).await?;
            loop {
                pause(&scene.pause_ms).await;
                round(&client, scene).await?.release(&client).await?;
            }
        }
        Manner::Once => {
            let client = session(scene, connect, false).await?;
            round(&client, scene).await?.release(&client).await
        }
        Manner::Dies => die_holding(scene, connect).await,
    }
}

/// Acquires through a line that is then cut: nothing tells the server that the session's client is gone.
async fn die_holding(scene: &Scene, connect: &str) -> Result<(), Error> {
    pause(&scene.pause_ms).await;
    let Some(server) = connect.split(',').next() else { return Ok(()) };
    let (server, chroot) = server.find('/').map_or((server, ""), |at| server.split_at(at));
    let chroot = connect.find('/').map_or(chroot, |at| connect.split_at(at).1);
    let line = CutLine::open(server.to_owned()).await.map_err(|_| Error::ConnectionLoss)?;
    let client = session(scene, &format!("{}{chroot}", line.address()), true).await?;
    let _held = round(&client, scene).await?;
    drop(line);
    drop(client);
    Ok(())
}

async fn session(scene: &Scene, connect: &str, detached: bool) -> Result<Client, Error> {
    let connector = Client::connector().with_session_timeout(Duration::from_millis(scene.session_timeout_ms));
    let connector = if detached { connector.with_detached() } else { connector };
    connector.connect(connect).await
}

/// Waits for a random time within `range_ms`.
pub(super) async fn pause(range_ms: &std::ops::Range<u64>) {
    if !range_ms.is_empty() {
        tokio::time::sleep(Duration::from_millis(rand::random_range(range_ms.clone()))).await;
    }
}
