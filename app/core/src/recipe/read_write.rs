//! Readers share, writers exclude; both queue by one counter. A writer holds when nobody is before it, a reader
//! when no writer is. A waiting writer watches the znode right before it; a waiting reader watches the *first*
//! writer with Curator, and the *nearest* writer before it with kazoo, menagerie and ZooKeeper's documentation.
//!
//! Sources: Curator `InterProcessReadWriteLock`, kazoo `recipe/lock.py` (`ReadLock`, `WriteLock`), menagerie
//! `ReentrantZkReadWriteLock`, ZooKeeper's recipe page "Shared Locks".

use super::{Access, Confidence, Counts, Dialect, LINE, Recipe, Rule};

const CURATOR: Rule = Rule {
    label: "Curator InterProcessReadWriteLock",
    recipe: Recipe::ReadWrite,
    evidence: "names hold __READ__ or __WRIT__",
    dialect: Dialect::CuratorReadWrite,
    ..LINE
};

const MENAGERIE: Rule = Rule {
    label: "menagerie ReentrantZkReadWriteLock",
    recipe: Recipe::ReadWrite,
    evidence: "names are readLock-<sequence> or writeLock-<sequence>",
    ..LINE
};

const DOCUMENTED: Rule = Rule {
    label: "read/write lock of ZooKeeper's documentation",
    recipe: Recipe::ReadWrite,
    confidence: Confidence::Medium,
    evidence: "ephemeral children named read-<sequence> or write-<sequence>",
    counts: Counts::WhenOwned,
    ..LINE
};

/// The family. kazoo's writers are named as its `Lock`: they are writers where a `__rlock__` was seen.
pub(super) const RULES: &[Rule] = &[
    Rule { access: Access::Read, matches: |name| name.is_curator("-__READ__"), ..CURATOR },
    Rule { access: Access::Write, matches: |name| name.is_curator("-__WRIT__"), ..CURATOR },
    Rule {
        label: "kazoo ReadLock and WriteLock",
        recipe: Recipe::ReadWrite,
        access: Access::Read,
        evidence: "names are <32 hex>__rlock__<sequence>",
        matches: |name| name.is_kazoo("__rlock__"),
        dialect: Dialect::Kazoo,
        ..LINE
    },
    Rule { access: Access::Read, matches: |name| name.number.is_some() && name.stem == "readLock-", ..MENAGERIE },
    Rule { access: Access::Write, matches: |name| name.number.is_some() && name.stem == "writeLock-", ..MENAGERIE },
    Rule { access: Access::Read, matches: |name| name.number.is_some() && name.stem == "read-", ..DOCUMENTED },
    Rule { access: Access::Write, matches: |name| name.number.is_some() && name.stem == "write-", ..DOCUMENTED },
];
