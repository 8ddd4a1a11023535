//! Leader elections that queue like a mutex: the lowest number leads, each other waits for the one before.
//!
//! Sources: Curator `LeaderLatch`, ZooKeeper recipes `LeaderElectionSupport`.

use super::{Access, Confidence, Family, Place, Recipe, Rule, Ties, after_curator_guid};

/// The family.
pub(super) const FAMILY: Family = Family {
    recipe: Recipe::Election,
    access: Access::Leader,
    place: Place::Sequence,
    rules: &[
        Rule {
            label: "Curator LeaderLatch",
            confidence: Confidence::High,
            evidence: "names are _c_<uuid>-latch-<sequence>; zookeeper-client's new_curator(\"latch-\") writes the same",
            matches: |name| name.number.is_some() && after_curator_guid(name.stem) == Some("-latch-"),
            strong: true,
            ties: Ties::AllHold,
        },
        Rule {
            label: "ZooKeeper recipes LeaderElectionSupport",
            confidence: Confidence::Medium,
            evidence: "names are n_<sequence>",
            matches: |name| name.number.is_some() && name.stem == "n_",
            strong: false,
            ties: Ties::NameDecides,
        },
    ],
};
