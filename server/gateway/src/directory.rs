//! Which ensembles others watch, and who. Plain data, told by whoever knows the cluster.

use std::collections::BTreeMap;

use lockscope_wire::EnsembleColor;

/// A replica that watches something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerAddress {
    /// Its id.
    pub id: String,
    /// How it is reached, without a slash at the end.
    pub address: String,
}

/// An ensemble that this replica does not watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its name.
    pub name: String,
    /// Its colour; None for the only one when it was given no name.
    pub color: Option<EnsembleColor>,
    /// The connect string.
    pub connect: String,
    /// What it is, for filters.
    pub labels: BTreeMap<String, String>,
    /// Who watches it, the first of them first.
    pub owners: Vec<OwnerAddress>,
}

/// All of them, in the order of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Ensembles that others watch.
    pub foreign: Vec<Foreign>,
    /// Why it is not known who watches what; empty where it is.
    pub why: String,
}
