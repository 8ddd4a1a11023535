//! Group membership: every member is in, nobody waits.
//!
//! Sources: kazoo `recipe/party.py`, ZooKeeper's recipe page. Service registries are no groups of this kind: their
//! names are addresses, and they are not shown.

use super::{Access, Confidence, Counts, LINE, NodeRole, Recipe, Rule, after_hex_uuid, party_identifier};

const MEMBER: Rule = Rule { recipe: Recipe::Membership, access: Access::Member, role: NodeRole::Member, ..LINE };

/// The family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        label: "kazoo Party",
        evidence: "names are <32 hex>__party__",
        matches: |name| after_hex_uuid(name.full).is_some_and(|rest| rest.starts_with("__party__")),
        ..MEMBER
    },
    Rule {
        label: "kazoo ShallowParty",
        evidence: "ephemeral children named <32 hex>-<identifier>",
        matches: |name| party_identifier(name.full).is_some(),
        counts: Counts::WhenOwned,
        ..MEMBER
    },
    Rule {
        label: "group membership",
        confidence: Confidence::Medium,
        evidence: "ephemeral children named member<sequence>",
        matches: |name| name.number.is_some() && matches!(name.stem, "member_" | "member-" | "member"),
        counts: Counts::WhenOwned,
        ..MEMBER
    },
];
