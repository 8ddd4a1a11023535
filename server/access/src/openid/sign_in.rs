//! Signing in by OpenID Connect: away to the provider, and back from it.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::HOST;
use lockscope_view::visible;

use super::client::{AuthorizationResponse, OidcClient, PART_BYTES_MAX};
use super::fault::OpenIdFault;
use super::pending::PENDING_MS_MAX;
use super::provider::AuthorizationRequest;
use crate::authenticator::Rules;
use crate::request_credentials::cookie_of;
use crate::{Access, NewSession, OpenId, Secret};

/// Whom a refusal is of when no name is known.
const SOMEBODY: &str = "somebody by OpenID Connect";

pub struct AuthorizationRedirect {
    pub to: String,
    /// Lax: the way back is a navigation from another site.
    pub cookie: String,
}

fn oidc_client(rules: &Rules) -> Result<&OidcClient, OpenIdFault> {
    rules.openid.as_ref().ok_or_else(|| {
        OpenIdFault::Refused(
            "nobody signs in by OpenID Connect here; set `oidc_issuer` and `oidc_client_id`, or sign in otherwise"
                .to_owned(),
        )
    })
}

impl Access {
    /// Begins a sign-in. `next`: where to go afterwards, a path of ours.
    ///
    /// # Errors
    /// When the provider can't be asked.
    pub async fn openid_begin(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        next: &str,
    ) -> Result<AuthorizationRedirect, OpenIdFault> {
        let rules = self.rules();
        let client = oidc_client(&rules)?;
        let redirect = match &client.settings.redirect {
            Some(redirect) => redirect.clone(),
            None => {
                // The host was looked at already: it is one of ours.
                let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
                let scheme = if self.inner().reach.is_plain() { "http" } else { "https" };
                format!("{scheme}://{host}{}", OpenId::BACK)
            }
        };
        let AuthorizationRequest { to, state, proof } = client.provider.send(redirect, next.to_owned()).await?;
        let (cookie, address) = (Secret::random(), self.client(headers, peer));
        let now_ms = self.inner().clock.now_ms();
        client.pending(|pending| pending.add(&cookie, &state, address, proof, now_ms));
        Ok(AuthorizationRedirect { to, cookie: self.openid_cookie(cookie.expose(), PENDING_MS_MAX / 1_000) })
    }

    /// Ends one: who it is, and where they wanted to go.
    ///
    /// # Errors
    /// When it is not believed; that is recorded.
    pub async fn openid_end(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        back: &AuthorizationResponse<'_>,
    ) -> Result<(NewSession, String), OpenIdFault> {
        let rules = self.rules();
        let client = oidc_client(&rules)?;
        let address = self.client(headers, peer);
        let now_ms = self.inner().clock.now_ms();
        let cookie = cookie_of(headers, &self.openid_cookie_name());
        let state = Some(back.state)
            .filter(|state| !state.is_empty() && state.len() <= PART_BYTES_MAX)
            .map(|state| Secret::new(state.to_owned()));
        let proof = cookie
            .zip(state)
            .and_then(|(cookie, state)| client.pending(|pending| pending.take(&cookie, &state, now_ms)));
        match client.who(back, proof).await {
            Ok((holder, next)) => Ok((self.open(headers, address, holder).await, next)),
            Err(fault) => {
                self.refused(SOMEBODY, address, &visible(&fault.to_string())).await;
                Err(fault)
            }
        }
    }

    /// The cookie that takes the way's own away.
    pub fn no_openid_cookie(&self) -> String {
        self.openid_cookie("", 0)
    }

    fn openid_cookie_name(&self) -> String {
        format!("{}-openid", self.inner().reach.cookie_name())
    }

    fn openid_cookie(&self, value: &str, seconds: i64) -> String {
        let secure = if self.inner().reach.is_plain() { "" } else { "; Secure" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}; Max-Age={seconds}", self.openid_cookie_name())
    }
}
