//! Recipes that their names give away and whose queues are not read yet. They are shown as what they are,
//! with the verdict `unknown`: better no holder than a wrong one.

use super::{Access, Confidence, Family, Name, Place, Recipe, Rule, Ties, after_curator_guid, after_hex_uuid};

const fn rule(label: &'static str, evidence: &'static str, matches: fn(&Name<'_>) -> bool) -> Rule {
    Rule { label, confidence: Confidence::High, evidence, matches, strong: true, ties: Ties::NameDecides }
}

/// The family.
pub(super) const FAMILY: Family = Family {
    recipe: Recipe::Unknown,
    access: Access::Exclusive,
    place: Place::Unread,
    rules: &[
        rule("Curator InterProcessReadWriteLock", "names hold __READ__ or __WRIT__", |name| {
            matches!(after_curator_guid(name.stem), Some("-__READ__" | "-__WRIT__"))
        }),
        rule("kazoo ReadLock or WriteLock", "names are <32 hex>__rlock__<sequence>", |name| {
            name.number.is_some() && after_hex_uuid(name.stem) == Some("__rlock__")
        }),
        rule("Curator InterProcessSemaphoreV2", "names are _c_<uuid>-lease-<sequence>", |name| after_curator_guid(name.stem) == Some("-lease-")),
        rule("kazoo Party", "names are <32 hex>__party__<sequence>", |name| after_hex_uuid(name.stem) == Some("__party__")),
        rule("kazoo Queue", "names are entry-<priority>-<sequence>", |name| name.number.is_some() && name.stem.starts_with("entry-")),
        rule("read/write lock of ZooKeeper's documentation", "names are read-<sequence> or write-<sequence>", |name| {
            name.number.is_some() && matches!(name.stem, "read-" | "write-" | "readLock-" | "writeLock-")
        }),
    ],
};
