//! Whether somebody who was allowed something before still is: what was approved is looked at again when it is used. And
//! what somebody may do here whom another replica knows.

use lockscope_wire::SignedBy;

use super::Access;
use identity::Actor;
use identity::Right;

/// Why whom another replica knows may do nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKnownHere {
    /// No such token or user, or it ran out.
    #[error("it has no token or user of that name; give all replicas the same")]
    Name,
    /// It believes nobody who comes that way.
    #[error("it knows nobody who signs in that way; give all replicas the same settings")]
    Way,
    /// What they are given there and here has nothing in common.
    #[error("what they are given there and here has nothing in common; give all replicas the same tokens and users")]
    Nothing,
}

impl Access {
    /// Somebody whom another replica authenticated, with what they may do there and here: the lower role, and what both
    /// scopes cover. Has the files looked at before.
    ///
    /// # Errors
    /// They may do nothing here.
    pub async fn known_here(&self, actor: &Actor) -> Result<Actor, NotKnownHere> {
        self.look().await;
        let now_ms = self.inner().clock.now_ms();
        let rules = self.rules();
        let settings = &rules.settings;
        let vouched = |is_believed: bool| if is_believed { Ok(actor.clone()) } else { Err(NotKnownHere::Way) };
        let grant = {
            let state = self.state();
            match actor.by {
                SignedBy::Token => state.tokens.grant_of(&actor.name, now_ms).cloned(),
                SignedBy::Password => state.users.get(&actor.name).map(|user| user.grant.clone()),
                // Who these are is told by others, whom both replicas have to believe.
                SignedBy::Proxy => return vouched(settings.proxy.is_some()),
                SignedBy::OpenId => return vouched(settings.openid.is_some()),
                SignedBy::Link | SignedBy::Nobody => return Err(NotKnownHere::Way),
            }
        };
        let grant = grant.ok_or(NotKnownHere::Name)?;
        let scope = actor.scope.with(&grant.scope()).ok_or(NotKnownHere::Nothing)?;
        Ok(Actor { role: identity::lower(actor.role, grant.role), scope, ..actor.clone() })
    }

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
