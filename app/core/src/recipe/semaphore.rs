//! Up to a maximum of leases. Curator keeps leases in `leases/` and a mutex in `locks/`: only the client that holds
//! the mutex may ask for a lease, so the newest lease is merely asked for while its session still owns the first
//! znode of `locks/`. kazoo keeps leases in the directory itself, the maximum in that directory's data, and its
//! mutex in the sibling `<directory>-__lock__`. Curator's maximum is nowhere in ZooKeeper.
//!
//! Sources: Curator `InterProcessSemaphoreV2`, kazoo `recipe/lock.py` (`Semaphore`).

use super::{Access, Dialect, LINE, NodeRole, Recipe, Rule, Shape, after_hex_uuid};

/// The family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        label: "Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex",
        recipe: Recipe::Semaphore,
        access: Access::Lease,
        role: NodeRole::Lease,
        evidence: "names are _c_<uuid>-lease-<sequence>",
        matches: |name| name.is_curator("-lease-"),
        dialect: Dialect::CuratorLock,
        composite: Some(Shape::LeasesAndLocks),
        ..LINE
    },
    Rule {
        label: "kazoo Semaphore",
        recipe: Recipe::Semaphore,
        access: Access::Lease,
        role: NodeRole::Lease,
        evidence: "names are <32 hex>, beside a queue named -__lock__ or under a directory whose data is a number",
        matches: |name| after_hex_uuid(name.full) == Some(""),
        dialect: Dialect::Kazoo,
        composite: Some(Shape::LeasesAndSibling),
        ..LINE
    },
];
