//! The truth: an ordinary client beside the observer that makes changes and reads trees node by node.

use std::collections::BTreeMap;
use std::time::Duration;

use lockscope_core::znode::join_path;
use zookeeper_client::{Acls, Client, CreateMode, Error, Stat};

use super::believed::Node;

/// An ordinary client.
pub(crate) struct Truth {
    pub(crate) client: Client,
}

/// Opens a session of its own.
pub(crate) async fn open(connect: &str) -> Client {
    Client::connector().with_session_timeout(Duration::from_secs(30)).connect(connect).await.expect("a session")
}

impl Truth {
    pub(crate) async fn new(connect: &str) -> Self {
        Self { client: open(connect).await }
    }

    /// Makes persistent znodes, parents included.
    pub(crate) async fn make(&self, path: &str) {
        self.client.mkdir(path, &CreateMode::Persistent.with_acls(Acls::anyone_all())).await.expect("mkdir");
    }

    /// Makes an ephemeral sequential znode; gives its path.
    pub(crate) async fn queue(&self, prefix: &str) -> String {
        queue(&self.client, prefix).await
    }

    pub(crate) async fn delete(&self, path: &str) {
        self.client.delete(path, None).await.expect("delete");
    }

    pub(crate) async fn trees(&self, roots: &[String]) -> BTreeMap<String, (Stat, Vec<u8>)> {
        let mut all = BTreeMap::new();
        for root in roots {
            all.extend(self.tree(root).await);
        }
        all
    }

    async fn tree(&self, root: &str) -> BTreeMap<String, (Stat, Vec<u8>)> {
        let mut tree = BTreeMap::new();
        let mut waiting = vec![root.to_owned()];
        while let Some(path) = waiting.pop() {
            if path.starts_with("/zookeeper") {
                continue;
            }
            let (data, stat) = match self.client.get_data(&path).await {
                Ok(read) => read,
                Err(Error::NoNode) => continue,
                Err(error) => panic!("{path}: {error}"),
            };
            if stat.num_children > 0 {
                let children = self.client.list_children(&path).await.unwrap_or_default();
                waiting.extend(children.iter().map(|child| join_path(&path, child)));
            }
            tree.insert(path, (stat, data));
        }
        tree
    }
}

/// Makes an ephemeral sequential znode; gives its path.
pub(crate) async fn queue(client: &Client, prefix: &str) -> String {
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = client.create(prefix, b"", &options).await.expect("create");
    format!("{prefix}{sequence}")
}

/// The first difference in what identifies a znode, in words. Counters of a directory are not compared: they move
/// without an event of the directory itself.
pub(crate) fn difference(
    real: &BTreeMap<String, (Stat, Vec<u8>)>,
    believed: &BTreeMap<String, Node>,
) -> Option<String> {
    for (path, (stat, data)) in real {
        let Some(node) = believed.get(path) else { return Some(format!("{path} is real but not believed")) };
        let Some(facts) = &node.facts else { return Some(format!("{path} has not been read")) };
        let owner = facts.owner.map_or(0, |owner| owner.0);
        if (facts.czxid.0, facts.mzxid.0, owner, facts.version)
            != (stat.czxid, stat.mzxid, stat.ephemeral_owner, stat.version)
        {
            return Some(format!("{path} is {stat:?} but believed {facts:?}"));
        }
        if facts.payload.as_ref().is_some_and(|payload| **payload != data[..data.len().min(256)]) {
            return Some(format!("{path} has another payload"));
        }
    }
    believed.keys().find(|path| !real.contains_key(*path)).map(|path| format!("{path} is believed but not real"))
}
