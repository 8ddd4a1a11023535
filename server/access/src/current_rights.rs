//! Whether somebody who was allowed something before still is: what was approved is looked at again when it is used.

use lockscope_view::SignedBy;

use super::Access;
use lockscope_audit::{Actor, Right};

impl Access {
    /// Whether somebody who asked before still has a right at a place: their token or user is there, and given that. Of
    /// those whom a proxy, a provider or a link vouched for nothing newer is known. As the files were read last:
    /// whoever wants to know it as of now has them looked at first ([`Access::look`]).
    pub fn is_still_allowed(&self, actor: &Actor, right: Right, ensemble: &str, path: &str) -> bool {
        let now_ms = self.inner().clock.now_ms();
        let state = self.state();
        let grant = match actor.by {
            SignedBy::Token => state.tokens.grant_of(&actor.name, now_ms),
            SignedBy::Password => state.users.get(&actor.name).map(|user| &user.grant),
            SignedBy::Link | SignedBy::Proxy | SignedBy::OpenId => return actor.may_at(right, ensemble, path),
            SignedBy::Nobody => None,
        };
        let now = grant.map(|grant| Actor { role: grant.role, scope: grant.scope(), ..actor.clone() });
        now.is_some_and(|actor| actor.may_at(right, ensemble, path))
    }
}
