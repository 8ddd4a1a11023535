//! The rows of the table about several servers.

use super::table::FileSection::Cluster;
use super::table::Layering::{File, Variable};
use super::table::TakesEffect::Restart;
use super::table::{Kind, Setting};

pub(super) const ROOT: Setting = Kind(Cluster, Variable, Restart).row(
    "root",
    "a path, not / and not ZooKeeper's own",
    "",
    "\"/lockscope\"",
    "the znode below which replicas meet; the same for all; required",
);
pub(super) const ENSEMBLE: Setting = Kind(Cluster, File, Restart).row(
    "ensemble",
    "the name of an ensemble",
    "the first",
    "\"default\"",
    "the ensemble that this znode is in; written to as whoever releases there",
);
pub(super) const ID: Setting = Kind(Cluster, Variable, Restart).row(
    "id",
    "1 to 64 letters, digits, dots, dashes, underscores, colons",
    "the host's name and the port",
    "\"lockscope-0\"",
    "the id of this replica, which no other has",
);
pub(super) const ADDRESS: Setting = Kind(Cluster, Variable, Restart).row(
    "address",
    "an http:// or https:// address",
    "the first origin, else where it listens",
    "\"https://lockscope-0.example:3000\"",
    "how people reach this replica",
);
pub(super) const ALLOW_OPEN_CLUSTER: Setting = Kind(Cluster, Variable, Restart).row(
    "allow_open_cluster",
    "on, off",
    "off",
    "true",
    "meet without an identity for releases, where anybody who reaches ZooKeeper can forge who leads and what was released",
);
