//! Looks up the members: reads and watches `/zookeeper/config` in a session of its own, and resolves host names.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::timeout;
use zookeeper_client::{Client, Error, OneshotWatcher};

use super::super::connect_string::split_chroot;
use super::config::Config;
use super::roster::{self, MemberAddress, Resolved};

const CONFIG_MAX: Duration = Duration::from_secs(10);
/// How long all names together may take.
const RESOLVE_MAX: Duration = Duration::from_secs(2);
const ADDRESSES_MAX: usize = 64;

/// Who the members are, by what the ensemble says of itself.
pub(super) struct Lookup {
    pub(super) places: Vec<MemberAddress>,
    /// Why others may be members as well; None when these are all.
    pub(super) doubt: Option<String>,
    /// Tells when it says otherwise. None for a server that is alone: it becomes a member only by being started again.
    pub(super) watch: Option<(Client, OneshotWatcher)>,
}

/// Reads it in the session that watched it before, which sees nothing older, else in a new one.
///
/// # Errors
/// Why it says nothing now.
pub(super) async fn look(config: Config, session: Option<Client>) -> Result<Lookup, String> {
    let read = timeout(CONFIG_MAX, read(&config, session)).await;
    let (text, watch) = read.map_err(|_| "it was not read in time")?.map_err(|error| error.to_string())?;
    let listed = roster::listed(&text);
    let resolved = resolve(roster::names(&config.connect, &listed, &config.admin_urls)).await;
    let places = roster::places(&config.connect, &listed, &config.admin_urls, &resolved);
    let all = text.lines().filter(|line| line.trim().starts_with("server.")).count();
    let doubt = match roster::unplaced(&listed, &places, &resolved).first() {
        Some(number) => Some(format!(
            "write where clients reach server {number} at the end of its line, like `server.{number}=HOST:2888:3888;2181`, or name it in --zk"
        )),
        // A server that is alone lists nobody.
        None => (all > listed.len() || (all == 0 && places.len() > 1))
            .then(|| format!("it lists {all}, of which {} can be asked", places.len())),
    };
    Ok(Lookup { places, doubt, watch: Some(watch).filter(|_| all > 0) })
}

/// The text; it lies outside of any chroot.
async fn read(config: &Config, session: Option<Client>) -> Result<(String, (Client, OneshotWatcher)), Error> {
    let client = if let Some(client) = session.filter(|client| !client.state().is_terminated()) {
        client
    } else {
        let connector = config.credentials.connector(config.session_timeout)?.with_fail_eagerly();
        config.credentials.open_ours(connector, split_chroot(&config.connect).0).await?
    };
    let (data, _, watcher) = client.get_and_watch_config().await?;
    Ok((String::from_utf8_lossy(&data).into_owned(), (client, watcher)))
}

async fn resolve(names: BTreeSet<String>) -> Resolved {
    futures_util::future::join_all(names.into_iter().map(resolve_one)).await.into_iter().flatten().collect()
}

async fn resolve_one(name: String) -> Option<(String, BTreeSet<SocketAddr>)> {
    let found = timeout(RESOLVE_MAX, tokio::net::lookup_host(&name)).await;
    let addresses = found.ok()?.ok()?.take(ADDRESSES_MAX).collect();
    Some((name, addresses))
}
