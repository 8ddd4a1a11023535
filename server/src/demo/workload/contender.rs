//! One round of contention, as the recipes' libraries do it: queue up, wait for the one before, hold.

use app::domain::znode::{join_path, split_path};
use zookeeper_client::{Acls, Client, CreateMode, Error, EventType, OneshotWatcher};

use super::scenes::{Scene, Style};
use super::spawn::pause;

/// A lock that is held.
#[must_use]
pub(super) struct Held {
    path: String,
}

impl Held {
    /// Gives it back.
    pub(super) async fn release(self, client: &Client) -> Result<(), Error> {
        match client.delete(&self.path, None).await {
            // Somebody else released it for us; the round is over all the same.
            Ok(()) | Err(Error::NoNode) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Acquires the lock and holds it for a while.
pub(super) async fn round(client: &Client, scene: &Scene) -> Result<Held, Error> {
    let path = match scene.style {
        Style::Fixed => take_fixed(client, scene).await?,
        Style::Plain | Style::WriteLock | Style::Curator | Style::Kazoo => queue_up(client, scene).await?,
    };
    pause(&scene.hold_ms).await;
    Ok(Held { path })
}

/// The name before the sequence number.
fn prefix(client: &Client, style: Style) -> String {
    let hex = || format!("{:032x}", rand::random::<u128>());
    match style {
        Style::Plain | Style::Fixed => "lock-".to_owned(),
        Style::WriteLock => format!("x-{}-", client.session_id().0),
        Style::Curator => {
            let hex = hex();
            format!("_c_{}-{}-{}-{}-{}-lock-", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
        }
        Style::Kazoo => format!("{}__lock__", hex()),
    }
}

/// The predecessor recipe: a sequential ephemeral znode, and a watch on the one before.
async fn queue_up(client: &Client, scene: &Scene) -> Result<String, Error> {
    let prefix = join_path(scene.directory, &prefix(client, scene.style));
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = client.create(&prefix, scene.label.as_bytes(), &options).await?;
    let path = format!("{prefix}{sequence}");
    loop {
        let children = client.list_children(scene.directory).await?;
        let Some((_, own)) = split_path(&path).filter(|(_, own)| children.iter().any(|name| name == own)) else {
            // Released by an operator: queue up again in the next round.
            return Err(Error::NoNode);
        };
        let before = children.iter().filter(|name| order(name) < order(own)).max_by_key(|name| order(name));
        let Some(before) = before else { return Ok(path) };
        let (stat, watcher) = client.check_and_watch_stat(&join_path(scene.directory, before)).await?;
        if stat.is_some() {
            wait(watcher).await?;
        }
    }
}

/// The digits at the end of a name; they order a queue whatever comes before them.
fn order(name: &str) -> &str {
    let start = name.len().saturating_sub(10);
    name.get(start..).unwrap_or(name)
}

/// The herd recipe: everyone wants the same znode, and everyone wakes when it goes.
async fn take_fixed(client: &Client, scene: &Scene) -> Result<String, Error> {
    let path = join_path(scene.directory, "lock");
    let options = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
    loop {
        match client.create(&path, scene.label.as_bytes(), &options).await {
            Ok(_) => return Ok(path),
            Err(Error::NodeExists) => {}
            Err(error) => return Err(error),
        }
        let (stat, watcher) = client.check_and_watch_stat(&path).await?;
        if stat.is_some() {
            wait(watcher).await?;
        }
    }
}

/// Waits for one event; a session that ended is an error.
async fn wait(watcher: OneshotWatcher) -> Result<(), Error> {
    let event = watcher.changed().await;
    if event.event_type == EventType::Session && event.session_state.is_terminated() { Err(Error::SessionExpired) } else { Ok(()) }
}
