//! Who asks, by the cookie of a session: known here, or at another server a moment ago.

use std::net::IpAddr;

use axum::http::HeaderMap;

use super::secret::Digest;
use super::{Access, Principal};

impl Access {
    /// Whose session's cookie came along, if it is open.
    pub(super) async fn by_cookie(&self, headers: &HeaderMap, address: Option<IpAddr>) -> Option<Principal> {
        let id = self.cookie(headers)?;
        if let Some(principal) = self.signed_in(id, address) {
            return Some(principal);
        }
        // Another server may have signed them in a moment ago.
        if self.ask_the_others(&id).await { self.signed_in(id, address) } else { None }
    }

    /// Whose session it is.
    fn signed_in(&self, id: Digest, address: Option<IpAddr>) -> Option<Principal> {
        let now_ms = self.inner().clock.now_ms();
        let state = self.state();
        let (holder, revocation) = state.sessions.find(&id, now_ms)?;
        Some(Principal { actor: holder.actor(address), revocation, session: Some(id) })
    }

    /// A request was made by hand: a session in use does not expire.
    pub fn touch(&self, principal: &Principal) {
        if let Some(id) = &principal.session {
            let now_ms = self.inner().clock.now_ms();
            self.state().sessions.touch(id, now_ms);
        }
    }
}
