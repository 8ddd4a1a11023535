//! What is set of identities, and what follows from where the server can be reached.

use super::{OpenId, Proxy};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether somebody without a name may look; None: as [`ListenScope`] has it.
    pub anonymous: Option<bool>,
    pub proxy: Option<Proxy>,
    /// Which OpenID provider is believed; always None in a build without the feature `oidc`.
    pub openid: Option<OpenId>,
    /// This is the demo: whoever is at this machine may try it as an operator.
    pub is_demo: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenScope {
    /// From beyond this machine: it listens there, or a proxy stands before it.
    pub is_public: bool,
    /// Browsers come by https, whoever ends it.
    pub is_https: bool,
}

impl ListenScope {
    pub const LOOPBACK: Self = Self { is_public: false, is_https: false };

    /// What the session's cookie is called. The prefix makes browsers insist on https, on the whole path and on this
    /// very host; plain http on loopback can't have it, and nobody else is on that wire.
    pub fn cookie_name(self) -> &'static str {
        if self.is_plain() { "lockscope" } else { "__Host-lockscope" }
    }

    /// Whether cookies may go over plain http.
    pub fn is_plain(self) -> bool {
        !self.is_https && !self.is_public
    }
}
