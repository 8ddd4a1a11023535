//! What is known of the provider, and what it says of somebody. Its addresses and keys are kept for a while; a key that
//! is not among them makes us ask again, once in a while.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreJsonWebKeySet, CoreJwsSigningAlgorithm,
    CoreProviderMetadata,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError,
    Scope, SignatureVerificationError, TokenResponse as _,
};
use tokio::sync::Mutex;

use super::claims::{Claims, OpenIdUser};
use super::fault::{OpenIdFault, whole};
use super::fetch::Fetch;
use super::pending::Proof;
use crate::{OpenId, Secret};
use lockscope_runtime::clock::Clock;

/// Addresses and keys are asked for again after this long.
const LEARNED_MS_MAX: i64 = 60 * 60 * 1_000;
/// Keys are asked for once in so long, whoever shows unknown ones.
const KEYS_EVERY_MS: i64 = 60 * 1_000;
/// A provider that could not be asked is left alone for so long.
const FAILED_MS: i64 = 5_000;
/// How long everything may take that one request asks of the provider; shorter than what the request itself may.
const ALL_MAX: Duration = Duration::from_secs(8);
/// Signatures that are believed: none by a secret that both sides know, and never `none`.
const SIGNATURES: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

type Client =
    CoreClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointMaybeSet, EndpointMaybeSet>;

pub(super) struct AuthorizationRequest {
    pub(super) to: String,
    pub(super) state: Secret,
    pub(super) proof: Proof,
}

#[derive(Debug)]
struct Discovery {
    fetch: Fetch,
    metadata: CoreProviderMetadata,
    at_ms: i64,
}

#[derive(Debug, Default)]
struct Memory {
    learned: Option<Arc<Discovery>>,
    failed: Option<(i64, OpenIdFault)>,
    keys_asked_at_ms: Option<i64>,
}

#[derive(Debug)]
pub(super) struct Provider {
    settings: OpenId,
    clock: Clock,
    memory: Mutex<Memory>,
}

impl Provider {
    pub(super) fn new(settings: OpenId, clock: Clock) -> Self {
        Self { settings, clock, memory: Mutex::default() }
    }

    /// Where to send somebody who wants to sign in.
    pub(super) async fn send(&self, redirect: String, next: String) -> Result<AuthorizationRequest, OpenIdFault> {
        let learned = within(self.learn()).await?;
        let client = self.client(&learned.metadata, redirect.clone())?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let (state, nonce) = (Secret::random(), Secret::random());
        let told = (CsrfToken::new(state.expose().to_owned()), Nonce::new(nonce.expose().to_owned()));
        let (told_state, told_nonce) = told;
        let request = client.authorize_url(CoreAuthenticationFlow::AuthorizationCode, || told_state, || told_nonce);
        let scopes = ["profile", "email"].map(|scope| Scope::new(scope.to_owned()));
        let (to, _, _) = request.add_scopes(scopes).set_pkce_challenge(challenge).url();
        let proof = Proof { nonce, verifier: Secret::new(verifier.into_secret()), redirect, next };
        Ok(AuthorizationRequest { to: to.into(), state, proof })
    }

    pub(super) async fn who(&self, code: &str, proof: &Proof) -> Result<OpenIdUser, OpenIdFault> {
        let secret = self.settings.client_secret.as_ref().map_or("", Secret::expose);
        let who = within(self.exchange(code, proof)).await;
        who.map_err(|fault| fault.without(&[code, secret, proof.verifier.expose(), proof.nonce.expose()]))
    }

    async fn exchange(&self, code: &str, proof: &Proof) -> Result<OpenIdUser, OpenIdFault> {
        let learned = self.learn().await?;
        let client = self.client(&learned.metadata, proof.redirect.clone())?;
        let request = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|error| OpenIdFault::provider(&whole(&error)))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(proof.verifier.expose().to_owned()));
        let answer = request.request_async(&learned.fetch).await.map_err(|error| match error {
            RequestTokenError::ServerResponse(said) => {
                OpenIdFault::refused(&format!("the provider said {said}"), AGAIN)
            }
            // Its own form quotes what could not be read, and there may be a token in it.
            RequestTokenError::Parse(..) => OpenIdFault::provider("its answer for a code is no answer with tokens"),
            other => OpenIdFault::provider(&whole(&other)),
        })?;
        let token = answer.id_token().ok_or_else(|| OpenIdFault::provider("its answer has no ID token"))?;
        let nonce = Nonce::new(proof.nonce.expose().to_owned());
        let checked = match self.check(&client, token, &nonce) {
            Err(error) if is_unknown_key(&error) => match self.renew(&learned).await? {
                None => Err(error),
                Some(learned) => self.check(&self.client(&learned.metadata, proof.redirect.clone())?, token, &nonce),
            },
            checked => checked,
        };
        checked.map_err(|error| {
            OpenIdFault::refused(&format!("what the provider signed is not believed ({})", whole(&error)), AGAIN)
        })?;
        Claims::of(&token.to_string())?.who(&self.settings)
    }

    /// Signature, issuer, audience, time and nonce.
    fn check(&self, client: &Client, token: &CoreIdToken, nonce: &Nonce) -> Result<(), ClaimsVerificationError> {
        let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(self.clock.now_ms()).unwrap_or(0));
        let verifier = client.id_token_verifier().set_allowed_algs(SIGNATURES).set_time_fn(move || now.into());
        let claims = token.claims(&verifier, nonce)?;
        match claims.authorized_party() {
            Some(party) if party.as_str() != self.settings.client_id => {
                Err(ClaimsVerificationError::InvalidAudience("it was made for another party".to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn client(&self, metadata: &CoreProviderMetadata, redirect: String) -> Result<Client, OpenIdFault> {
        let secret = self.settings.client_secret.as_ref().map(|secret| ClientSecret::new(secret.expose().to_owned()));
        let redirect =
            RedirectUrl::new(redirect).map_err(|error| OpenIdFault::refused(&whole(&error), "set `oidc_redirect`"))?;
        let ways = metadata.token_endpoint_auth_methods_supported();
        let takes = |way| ways.is_none_or(|ways| ways.contains(&way));
        let way =
            if takes(CoreClientAuthMethod::ClientSecretBasic) { AuthType::BasicAuth } else { AuthType::RequestBody };
        let client = CoreClient::from_provider_metadata(
            metadata.clone(),
            ClientId::new(self.settings.client_id.clone()),
            secret,
        );
        Ok(client.set_redirect_uri(redirect).set_auth_type(way))
    }

    /// Addresses and keys, as last fetched. Concurrent sign-ins share one request.
    async fn learn(&self) -> Result<Arc<Discovery>, OpenIdFault> {
        let mut memory = self.memory.lock().await;
        let now_ms = self.clock.now_ms();
        if let Some(learned) =
            memory.learned.as_ref().filter(|learned| is_within(learned.at_ms, LEARNED_MS_MAX, now_ms))
        {
            return Ok(learned.clone());
        }
        if let Some((_, fault)) = memory.failed.as_ref().filter(|(at_ms, _)| is_within(*at_ms, FAILED_MS, now_ms)) {
            return Err(fault.clone());
        }
        // Remembered before it is tried: who gives up waiting has failed as well.
        memory.failed = Some((now_ms, OpenIdFault::provider("it did not answer a moment ago")));
        match self.discover(now_ms).await {
            Ok(learned) => {
                let learned = Arc::new(learned);
                (memory.learned, memory.failed) = (Some(learned.clone()), None);
                Ok(learned)
            }
            Err(fault) => {
                tracing::warn!("{fault}");
                memory.failed = Some((now_ms, fault.clone()));
                Err(fault)
            }
        }
    }

    async fn discover(&self, now_ms: i64) -> Result<Discovery, OpenIdFault> {
        let fetch = Fetch::new(&self.settings.issuer)?;
        let issuer =
            IssuerUrl::new(self.settings.issuer.clone()).map_err(|error| OpenIdFault::provider(&whole(&error)))?;
        let metadata = CoreProviderMetadata::discover_async(issuer, &fetch)
            .await
            .map_err(|error| OpenIdFault::provider(&whole(&error)))?;
        fetch.may_ask(metadata.authorization_endpoint().url())?;
        let token_endpoint =
            metadata.token_endpoint().ok_or_else(|| OpenIdFault::provider("it names no address for tokens"))?;
        fetch.may_ask(token_endpoint.url())?;
        Ok(Discovery { fetch, metadata, at_ms: now_ms })
    }

    /// The keys once more; None when that was done just now and brought nothing new.
    async fn renew(&self, old: &Arc<Discovery>) -> Result<Option<Arc<Discovery>>, OpenIdFault> {
        let mut memory = self.memory.lock().await;
        let now_ms = self.clock.now_ms();
        if let Some(newer) = memory.learned.as_ref().filter(|learned| !Arc::ptr_eq(learned, old)) {
            return Ok(Some(newer.clone()));
        }
        if memory.keys_asked_at_ms.is_some_and(|at_ms| is_within(at_ms, KEYS_EVERY_MS, now_ms)) {
            return Ok(None);
        }
        memory.keys_asked_at_ms = Some(now_ms);
        let keys = CoreJsonWebKeySet::fetch_async(old.metadata.jwks_uri(), &old.fetch).await;
        let keys = keys.map_err(|error| OpenIdFault::provider(&whole(&error)))?;
        let learned = Arc::new(Discovery {
            fetch: old.fetch.clone(),
            metadata: old.metadata.clone().set_jwks(keys),
            at_ms: old.at_ms,
        });
        memory.learned = Some(learned.clone());
        Ok(Some(learned))
    }
}

pub(super) const AGAIN: &str = "sign in again, or ask who runs the provider";

fn is_unknown_key(error: &ClaimsVerificationError) -> bool {
    matches!(error, ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey))
}

/// Also when the clock was set back.
fn is_within(at_ms: i64, span_ms: i64, now_ms: i64) -> bool {
    (0..span_ms).contains(&now_ms.saturating_sub(at_ms))
}

async fn within<T>(asked: impl Future<Output = Result<T, OpenIdFault>>) -> Result<T, OpenIdFault> {
    let done = tokio::time::timeout(ALL_MAX, asked).await;
    done.unwrap_or_else(|_| Err(OpenIdFault::provider("it did not answer in time")))
}
