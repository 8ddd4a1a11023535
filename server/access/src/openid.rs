//! Identities that an OpenID provider signs: what is set of it. Asking the provider is behind the feature `oidc`.

#[cfg(feature = "oidc")]
mod claims;
#[cfg(feature = "oidc")]
mod client;
#[cfg(feature = "oidc")]
mod fault;
#[cfg(feature = "oidc")]
mod fetch;
#[cfg(feature = "oidc")]
mod pending;
#[cfg(feature = "oidc")]
mod provider;
#[cfg(feature = "oidc")]
mod sign_in;

use std::collections::BTreeMap;

use lockscope_view::Role;

#[cfg(feature = "oidc")]
pub use self::client::AuthorizationResponse;
#[cfg(feature = "oidc")]
pub(super) use self::client::OidcClient;
#[cfg(feature = "oidc")]
pub use self::fault::OpenIdFault;
#[cfg(feature = "oidc")]
pub use self::sign_in::AuthorizationRedirect;
use super::Secret;
use lockscope_audit::Right;

/// Which provider is believed, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenId {
    /// Its address, as it writes it itself.
    pub issuer: String,
    pub client_id: String,
    /// How it knows us; None: it needs nothing but the proof of each sign-in.
    pub client_secret: Option<Secret>,
    /// Where it sends people back to; None: to the address they came by.
    pub redirect: Option<String>,
    /// The claim that holds a name; None: the first there is of those usual.
    pub name_claim: Option<String>,
    pub groups_claim: String,
    /// What a group may do; of several the one that may most counts.
    pub roles: BTreeMap<String, Role>,
    /// The role of those in none of these groups; None: they may not come in.
    pub role: Option<Role>,
}

impl OpenId {
    /// Where people come back to, on every server.
    pub const BACK: &'static str = "/sign-in/openid/back";

    /// Whether an address may be asked: encrypted, or, where the provider itself is on this machine, on this machine.
    pub fn is_safe(url: &reqwest::Url, may_be_plain: bool) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_here = || {
            host == "localhost"
                || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        };
        match url.scheme() {
            "https" => !host.is_empty(),
            "http" => may_be_plain && is_here(),
            _ => false,
        }
    }

    pub(super) fn may(&self, right: Right) -> bool {
        self.roles.values().chain(&self.role).any(|role| lockscope_audit::role_may(*role, right))
    }
}
