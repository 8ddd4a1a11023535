//! Heads of audit logs, where the others see them: one persistent znode a replica.

use futures_util::future;
use serde::{Deserialize, Serialize};
use zookeeper_client::{Acls, CreateMode, Error};

use crate::cluster::Cluster;
use crate::document::{DocumentError, refused};
use crate::member::{BYTES_MAX, MEMBERS_MAX, is_id};

/// The head of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// Number of the last record.
    pub id: u64,
    /// Its hash.
    pub hash: String,
    /// Number of the last that is not about heads alone.
    pub acts: u64,
}

impl Cluster {
    /// Shows the head of this replica's log.
    ///
    /// # Errors
    /// When it is not known to be shown.
    pub async fn show_head(&self, head: &LogHead) -> Result<(), DocumentError> {
        let client = self.connected()?;
        let path = format!("{}/{}", self.paths().heads(), self.id());
        let data = serde_json::to_vec(head).unwrap_or_default();
        let acl = self.acl();
        match client.set_data(&path, &data, None).await {
            Ok(_) => Ok(()),
            Err(Error::NoNode) => {
                let options = CreateMode::Persistent.with_acls(Acls::new(&acl));
                client.create(&path, &data, &options).await.map(drop).map_err(|error| refused(&error))
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// The heads of the others' logs, by replica; of at most 64.
    ///
    /// # Errors
    /// When they can't be read now.
    pub async fn heads(&self) -> Result<Vec<(String, LogHead)>, DocumentError> {
        let client = self.connected()?;
        let dir = self.paths().heads();
        let mut names = client.list_children(&dir).await.map_err(|error| refused(&error))?;
        names.sort_unstable();
        names.retain(|name| name != self.id() && is_id(name));
        names.truncate(MEMBERS_MAX);
        let paths: Vec<String> = names.iter().map(|name| format!("{dir}/{name}")).collect();
        let read = future::join_all(paths.iter().map(|path| client.get_data(path))).await;
        let parse = |bytes: Vec<u8>| serde_json::from_slice(bytes.get(..BYTES_MAX.min(bytes.len()))?).ok();
        let heads = names.into_iter().zip(read);
        Ok(heads.filter_map(|(name, read)| Some((name, parse(read.ok()?.0)?))).collect())
    }
}
