//! What is said where a view comes from another replica and does not come.

use crate::directory::{Directory, Foreign, OwnerAddress};
use crate::link::{BYTES_MAX, VIEWS_MAX};

/// A connection that was never open.
pub(crate) const CONNECTING: &str = "this server connects to it for the first time";

/// It was open, and was closed in order.
pub(crate) const CLOSED: &str = "it closed the connection; it restarts or shuts down";

/// It was open, and broke.
pub(crate) const BROKEN: &str = "the connection broke";

/// What came is of another version.
pub(crate) const OTHER_VERSION: &str = "it runs another version of Lockscope; give all replicas the same one";

/// What came in answer can't be another replica's.
pub(crate) const NO_PROOF: &str =
    "what answers at its address does not have the cluster's secret; check `address` and `secret_file` of that replica";

/// Who could not be reached, and why.
pub(crate) fn lost(owner: &OwnerAddress, why: &str) -> String {
    format!("the replica {} at {}, which watches it, can't be reached: {why}", owner.id, owner.address)
}

/// It answered nothing for too long.
pub(crate) fn silent(ms: u128) -> String {
    format!("it has answered nothing for {ms} ms; it hangs, or the network between the two does")
}

/// No connection came to be.
pub(crate) fn unreachable(why: &str) -> String {
    format!("no connection ({why})")
}

/// It answered, and refused.
pub(crate) fn refused(status: u16, detail: &str) -> String {
    format!("it refuses ({status}): {detail}")
}

/// What it sent is too old to be called live.
pub(crate) fn late(owner: &OwnerAddress) -> String {
    format!("what comes of the replica {} at {}, which watches it, is too late to be live", owner.id, owner.address)
}

/// What it answered is not what was asked.
pub(crate) fn other_kind(owner: &OwnerAddress) -> String {
    format!("the replica {} at {} answers something else than it was asked: {OTHER_VERSION}", owner.id, owner.address)
}

/// It is asked for as many views as may be.
pub(crate) fn too_many(owner: &OwnerAddress) -> String {
    format!(
        "the replica {} at {}, which watches it, is asked for {VIEWS_MAX} views or {} MiB already and for no more; look at one that is open already, or try again later",
        owner.id,
        owner.address,
        BYTES_MAX / 1024 / 1024
    )
}

/// It sent more than is read.
pub(crate) fn too_long(bytes: usize) -> String {
    format!("it sent a message of more than {} MiB, which is not read", bytes / 1024 / 1024)
}

/// Nothing came yet.
pub(crate) fn awaited(owner: &OwnerAddress) -> String {
    format!("the first answer of the replica {} at {}, which watches it, is awaited", owner.id, owner.address)
}

/// Nobody watches it.
pub(crate) fn nobody(directory: &Directory, foreign: Option<&Foreign>) -> String {
    let name = foreign.map_or("it", |foreign| &foreign.name);
    if directory.why.is_empty() {
        format!("no replica that is there watches {name}; one takes it over soon")
    } else {
        format!("it is not known which replica watches {name}: {}", directory.why)
    }
}

/// A window that reaches further than what is merged.
pub(crate) fn too_deep(rows_max: u32) -> String {
    format!("rows beyond {rows_max} are not put together where several replicas have them; name one with `ensemble`")
}

/// Something that only a replica that watches an ensemble can do.
pub(crate) fn elsewhere(foreign: &Foreign) -> String {
    let owners: Vec<&str> = foreign.owners.iter().map(|owner| &*owner.address).collect();
    let name = &foreign.name;
    match owners.as_slice() {
        [] => {
            format!("the ensemble {name} is watched by another replica, and none is there at present; try again later")
        }
        owners => format!("the ensemble {name} is watched by another replica; ask {}", owners.join(" or ")),
    }
}
