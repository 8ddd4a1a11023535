//! Another replica of the cluster, as somebody who asks: the cluster's secret is checked elsewhere.

use lockscope_wire::{Role, SignedBy};

use super::{FormKey, Principal, Revocation};
use identity::{Actor, Scope};

impl Principal {
    /// Another replica, which asks for its own viewers; each of its subscriptions says what it may show.
    pub fn replica(id: &str) -> Self {
        let actor = Actor {
            name: format!("replica {id}"),
            role: Role::Viewer,
            scope: Scope::default(),
            by: SignedBy::Token,
            address: None,
            through: None,
        };
        Self::forwarded(actor, FormKey::default())
    }

    /// Somebody whom another replica authenticated, for one request that it forwards.
    pub fn forwarded(actor: Actor, forms: FormKey) -> Self {
        Self::new(actor, Revocation::never(), forms, None)
    }
}
