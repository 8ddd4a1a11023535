//! Who asks, by the cookie of a session: known here, or at another server a moment ago.

use std::net::IpAddr;

use axum::http::HeaderMap;

use super::form_key::FormKey;
use super::request_credentials::cookie_of;
use super::secret::Secret;
use super::{Access, Principal};

impl Access {
    /// Whose session's cookie came along, if it is open.
    pub(super) async fn by_cookie(&self, headers: &HeaderMap, address: Option<IpAddr>) -> Option<Principal> {
        let id = cookie_of(headers, self.inner().reach.cookie_name())?;
        if let Some(principal) = self.signed_in(&id, address) {
            return Some(principal);
        }
        // Another server may have signed them in a moment ago.
        if self.ask_the_others(&id.digest()).await { self.signed_in(&id, address) } else { None }
    }

    fn signed_in(&self, secret: &Secret, address: Option<IpAddr>) -> Option<Principal> {
        let (now_ms, id) = (self.inner().clock.now_ms(), secret.digest());
        let state = self.state();
        let (holder, revocation) = state.sessions.find(&id, now_ms)?;
        let forms = FormKey::of(secret, "");
        Some(Principal::new(holder.actor(address), revocation, forms, Some(id)))
    }

    /// A request was made by hand: a session in use does not expire.
    pub fn touch(&self, principal: &Principal) {
        if let Some(id) = &principal.session {
            let now_ms = self.inner().clock.now_ms();
            self.state().sessions.touch(id, now_ms);
        }
    }
}
