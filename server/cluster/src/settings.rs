//! What a replica is told about its cluster.

use std::fmt;
use std::time::Duration;

use lockscope_zookeeper::Credentials;

/// Where the cluster meets, and as whom this replica comes.
#[derive(Clone)]
pub struct Settings {
    /// Connect string of the ensemble.
    pub connect: String,
    /// Who we are there; what is created belongs to this identity.
    pub credentials: Credentials,
    /// After how long without a word a replica counts as gone.
    pub session_timeout: Duration,
    /// The cluster's root: a path.
    pub root: String,
    /// This replica's id, which no other has.
    pub id: String,
    /// How others reach it.
    pub address: String,
    /// Its version.
    pub version: String,
    /// The name of the ensemble that the cluster meets in.
    pub ensemble: String,
    /// Names of the ensembles that this replica watches.
    pub watched: Vec<String>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("id", &self.id).field("root", &self.root).finish_non_exhaustive()
    }
}
