//! The provider as its client sees it: who went there, and who came back.

use parking_lot::Mutex;

use super::fault::{OpenIdFault, said};
use super::pending::{PendingSignIns, Proof};
use super::provider::{AGAIN, Provider};
use crate::sessions::{Basis, Holder};
use crate::{Grant, OpenId};
use lockscope_runtime::clock::Clock;

/// Longest code, state or issuer that is looked at.
pub(super) const PART_BYTES_MAX: usize = 4_096;

/// The provider, and who went there.
#[derive(Debug)]
pub(crate) struct OidcClient {
    pub(super) settings: OpenId,
    pub(super) provider: Provider,
    pending: Mutex<PendingSignIns>,
}

/// What somebody brings back from the provider.
#[derive(Clone, Copy, Default)]
pub struct AuthorizationResponse<'a> {
    pub code: &'a str,
    /// What we gave along.
    pub state: &'a str,
    /// The issuer; empty when not sent.
    pub issuer: &'a str,
    pub error: &'a str,
    pub description: &'a str,
}

impl OidcClient {
    pub(crate) fn new(settings: OpenId, clock: Clock) -> Self {
        Self { provider: Provider::new(settings.clone(), clock), settings, pending: Mutex::default() }
    }

    pub(super) fn pending<T>(&self, with: impl FnOnce(&mut PendingSignIns) -> T) -> T {
        with(&mut self.pending.lock())
    }

    /// Who came back, and where they wanted to go.
    pub(super) async fn who(
        &self,
        back: &AuthorizationResponse<'_>,
        proof: Option<Proof>,
    ) -> Result<(Holder, String), OpenIdFault> {
        let proof = proof.ok_or_else(|| {
            let why = "this sign-in was not begun in this browser, was used already, or took longer than 10 minutes";
            OpenIdFault::refused(why, "begin again at /sign-in")
        })?;
        // What a stranger's link says is not repeated; this is after state and cookie did fit.
        if !back.error.is_empty() {
            let more =
                if back.description.is_empty() { String::new() } else { format!(" ({})", said(back.description)) };
            return Err(OpenIdFault::refused(&format!("the provider said {}{more}", said(back.error)), AGAIN));
        }
        if !back.issuer.is_empty() && back.issuer != self.settings.issuer {
            return Err(OpenIdFault::refused(&format!("another provider answered: {}", said(back.issuer)), AGAIN));
        }
        if back.code.is_empty() || back.code.len() > PART_BYTES_MAX {
            return Err(OpenIdFault::refused("the provider sent no code", AGAIN));
        }
        let who = self.provider.who(back.code, &proof).await?;
        Ok((Holder { name: who.name, grant: Grant::everywhere(who.role), basis: Basis::OpenId }, proof.next))
    }
}
