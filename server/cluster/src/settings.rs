//! What a replica is told about its cluster.

use std::fmt;
use std::time::Duration;

use lockscope_zookeeper::Credentials;

/// Where the cluster meets, and as whom this replica comes.
#[derive(Clone)]
pub struct Settings {
    pub connect: String,
    /// Who we are there; what is created belongs to this identity.
    pub credentials: Credentials,
    pub session_timeout: Duration,
    pub root: String,
    /// This replica's id, which no other has.
    pub id: String,
    pub address: String,
    pub version: String,
    /// The name of the ensemble that the cluster meets in.
    pub ensemble: String,
    pub watched: Vec<String>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("id", &self.id).field("root", &self.root).finish_non_exhaustive()
    }
}
