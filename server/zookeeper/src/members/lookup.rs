//! Looks up the members: reads `/zookeeper/config` in a short session of its own, and resolves host names.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::timeout;

use super::config::Config;
use super::roster::{self, MemberAddress, Resolved};

/// How long reading the configuration may take.
const CONFIG_MAX: Duration = Duration::from_secs(10);
/// How long all names together may take.
const RESOLVE_MAX: Duration = Duration::from_secs(2);
/// Addresses of one name that are looked at.
const ADDRESSES_MAX: usize = 64;

/// The members by what the ensemble says of itself; None when it says nothing now.
pub(super) async fn look(config: Config) -> Option<Vec<MemberAddress>> {
    let text = match timeout(CONFIG_MAX, read(&config)).await {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => {
            tracing::debug!(%error, "/zookeeper/config could not be read");
            return None;
        }
        Err(_) => {
            tracing::debug!("/zookeeper/config was not read in time");
            return None;
        }
    };
    let listed = roster::listed(&text);
    let resolved = resolve(roster::names(&config.connect, &listed, &config.admin_urls)).await;
    Some(roster::places(&config.connect, &listed, &config.admin_urls, &resolved))
}

/// The text; it lies outside of any chroot.
async fn read(config: &Config) -> Result<String, zookeeper_client::Error> {
    let servers = roster::servers(&config.connect);
    let connector = config.credentials.connector(config.session_timeout)?.with_fail_eagerly();
    let client = config.credentials.open(connector, servers).await?;
    let (data, _) = client.get_config().await?;
    Ok(String::from_utf8_lossy(&data).into_owned())
}

async fn resolve(names: BTreeSet<String>) -> Resolved {
    futures_util::future::join_all(names.into_iter().map(resolve_one)).await.into_iter().flatten().collect()
}

async fn resolve_one(name: String) -> Option<(String, BTreeSet<SocketAddr>)> {
    let found = timeout(RESOLVE_MAX, tokio::net::lookup_host(&name)).await;
    let addresses = found.ok()?.ok()?.take(ADDRESSES_MAX).collect();
    Some((name, addresses))
}
