//! One's own znode among others: taken, waited with, left. What all recipes share.

use lockscope_core::znode::{join_path, split_path};
use zookeeper_client::{Acls, Client, CreateMode, Error, EventType, OneshotWatcher};

/// A znode of one's own. It goes with its session when it is not left.
#[must_use]
#[derive(Debug)]
pub(super) struct QueueNode {
    path: String,
}

impl QueueNode {
    /// Queues up: an ephemeral znode with a sequence number.
    pub(super) async fn queue_up(client: &Client, directory: &str, prefix: &str, label: &str) -> Result<Self, Error> {
        let prefix = join_path(directory, prefix);
        let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        let (_, sequence) = client.create(&prefix, label.as_bytes(), &options).await?;
        Ok(Self { path: format!("{prefix}{sequence}") })
    }

    /// Takes one fixed name.
    pub(super) async fn take(client: &Client, path: String, label: &str) -> Result<Self, Error> {
        client.create(&path, label.as_bytes(), &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await?;
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    fn split(&self) -> (&str, &str) {
        split_path(&self.path).unwrap_or(("/", &self.path))
    }

    pub(super) fn directory(&self) -> &str {
        self.split().0
    }

    pub(super) fn name(&self) -> &str {
        self.split().1
    }

    /// Waits until nobody is in front. `in_front` picks whom to wait for next from all names and one's own.
    pub(super) async fn turn(
        &self,
        client: &Client,
        in_front: impl Fn(&[String], &str) -> Option<String>,
    ) -> Result<(), Error> {
        loop {
            let names = client.list_children(self.directory()).await?;
            if !names.iter().any(|name| name == self.name()) {
                // Released by an operator: the round is over.
                return Err(Error::NoNode);
            }
            let Some(before) = in_front(&names, self.name()) else { return Ok(()) };
            gone_or_changed(client, &join_path(self.directory(), &before)).await?;
        }
    }

    /// Waits until one's directory holds at most so many.
    pub(super) async fn until_at_most(&self, client: &Client, max: usize) -> Result<(), Error> {
        loop {
            let (names, watcher) = client.list_and_watch_children(self.directory()).await?;
            if !names.iter().any(|name| name == self.name()) {
                return Err(Error::NoNode);
            }
            if names.len() <= max {
                return Ok(());
            }
            wait(watcher).await?;
        }
    }

    pub(super) async fn leave(self, client: &Client) -> Result<(), Error> {
        remove(client, &self.path).await
    }
}

/// Deletes a znode that somebody else may delete as well.
pub(super) async fn remove(client: &Client, path: &str) -> Result<(), Error> {
    match client.delete(path, None).await {
        Ok(()) | Err(Error::NoNode) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Waits until something happens to a znode, or not at all when there is none.
pub(super) async fn gone_or_changed(client: &Client, path: &str) -> Result<(), Error> {
    // `exists` and not a read, as some libraries do: it also waits for what one may not read.
    let (stat, watcher) = client.check_and_watch_stat(path).await?;
    if stat.is_some() { wait(watcher).await.map(|_| ()) } else { Ok(()) }
}

/// Waits until a directory has a child; gives them all, in order of their names.
pub(super) async fn inhabited(client: &Client, directory: &str) -> Result<Vec<String>, Error> {
    loop {
        let (mut names, watcher) = client.list_and_watch_children(directory).await?;
        if !names.is_empty() {
            names.sort();
            return Ok(names);
        }
        wait(watcher).await?;
    }
}

/// Waits for one event and gives its kind; a session that ended is an error.
pub(super) async fn wait(watcher: OneshotWatcher) -> Result<EventType, Error> {
    let event = watcher.changed().await;
    let is_over = event.event_type == EventType::Session && event.session_state.is_terminated();
    if is_over { Err(Error::SessionExpired) } else { Ok(event.event_type) }
}
