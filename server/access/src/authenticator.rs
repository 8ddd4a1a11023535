//! Resolves requests to people. The order is: bearer token, session cookie, trusted proxy's header, nobody.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use lockscope_view::{AuditKind, Person, Preferences, Role, SignedBy};
use parking_lot::{Mutex, MutexGuard, RwLock};

use super::account_files::AccountFiles;
use super::form_key::FormKey;
use super::grant::ANONYMOUS;
use super::password::Passwords;
use super::preferences::{PreferenceStore, PreferencesError};
use super::request_credentials::{Denied, bearer, cookie_of};
use super::secret::{Digest, Secret};
use super::sessions::ClosedSession;
use super::sharing::Sharing;
use super::state::State;
use super::tokens::{BadToken, TokenRecord};
use super::{Grant, ListenScope, Revocation, Settings};
use lockscope_audit::{Actor, Entry, Journal, QuotaOwner, Right};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;

/// How often it is looked what is over, and what changed on disk. With a look itself less than a second.
const TEND_EVERY: Duration = Duration::from_millis(500);

/// Knows who may come in; cheap to clone.
#[derive(Clone)]
pub struct Access(Arc<Inner>);

pub(super) struct Inner {
    rules: RwLock<Arc<Rules>>,
    pub(super) reach: ListenScope,
    pub(super) clock: Clock,
    state: Mutex<State>,
    files: AccountFiles,
    preferences: PreferenceStore,
    /// Whether the files can't be looked at just now.
    is_stuck: AtomicBool,
    pub(super) passwords: Passwords,
    journal: OnceLock<Arc<dyn Journal>>,
    /// Makes the keys of forms of people whom a proxy signs in, where servers share no secret.
    form_secret: Secret,
    read_only: Arc<AtomicBool>,
    /// Other servers that know the same sessions; unset where there are none.
    pub(super) sharing: OnceLock<Sharing>,
}

/// What is set of people, and whoever signs them in elsewhere.
pub(super) struct Rules {
    pub(super) settings: Settings,
    #[cfg(feature = "oidc")]
    pub(super) openid: Option<super::openid::OidcClient>,
}

impl Rules {
    fn new(
        settings: Settings,
        #[cfg_attr(not(feature = "oidc"), expect(unused_variables, reason = "for OpenID Connect"))] clock: &Clock,
    ) -> Arc<Self> {
        Arc::new(Self {
            #[cfg(feature = "oidc")]
            openid: settings.openid.clone().map(|openid| super::openid::OidcClient::new(openid, clock.clone())),
            settings,
        })
    }
}

/// Who asks, as far as it is known.
#[derive(Clone, Debug)]
pub struct Principal {
    pub actor: Actor,
    /// Notified when that ends.
    pub revocation: Revocation,
    /// Whose share of the server is used: that of the sign-in, not of all who share a name or an address.
    pub owner: QuotaOwner,
    /// What forms of theirs that act have to carry.
    pub forms: FormKey,
    /// The session whose cookie came along.
    pub(super) session: Option<Digest>,
}

impl Principal {
    pub(super) fn new(actor: Actor, revocation: Revocation, forms: FormKey, session: Option<Digest>) -> Self {
        let owner = actor.quota_owner();
        let owner = session.map_or_else(|| owner.clone(), |session| owner.member(String::from(session)));
        Self { actor, revocation, owner, forms, session }
    }

    /// Whether the request carried a session's cookie.
    pub fn is_signed_in(&self) -> bool {
        self.session.is_some()
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("settings", &self.rules().settings).finish_non_exhaustive()
    }
}

impl Access {
    /// Knows those whose tokens and names are kept in a directory; without one, nobody.
    pub fn new(dir: Option<PathBuf>, settings: Settings, reach: ListenScope, clock: Clock) -> Self {
        let (files, published) = AccountFiles::open(dir.as_deref());
        let state = Mutex::new(State::new(published, clock.now_ms()));
        let preferences = PreferenceStore::new(dir.as_deref(), &clock);
        let inner = Inner {
            rules: RwLock::new(Rules::new(settings, &clock)),
            reach,
            clock,
            state,
            files,
            preferences,
            is_stuck: AtomicBool::new(false),
            passwords: Passwords::new(),
            journal: OnceLock::new(),
            form_secret: Secret::random(),
            read_only: Arc::new(AtomicBool::new(true)),
            sharing: OnceLock::new(),
        };
        let access = Self(Arc::new(inner));
        access.note(&access.state());
        access
    }

    /// Everybody may look and nobody may do anything: for a server that keeps nothing.
    pub fn open_to_all(clock: Clock) -> Self {
        Self::new(None, Settings::default(), ListenScope::LOOPBACK, clock)
    }

    /// Where sign-ins are recorded from now on; only the first counts.
    pub fn record_in(&self, journal: Arc<dyn Journal>) {
        // A second journal is a mistake of the composition and changes nothing.
        let _ = self.0.journal.set(journal);
    }

    pub(super) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.0.rules.read())
    }

    /// Sets anew who may come in, from the next request on. Who signed in stays as they are.
    pub fn set(&self, settings: Settings) {
        let rules = Rules::new(settings, &self.0.clock);
        *self.0.rules.write() = rules;
        self.note(&self.state());
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    /// The state, with what was read from disk lately. No I/O: nobody waits here for more than a few lines of code.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.state.lock();
        if state.take_published(self.0.clock.now_ms()) {
            self.note(&state);
        }
        state
    }

    /// Has the files looked at: somebody may have been put there, or taken out, a moment ago. When they can't be, what
    /// was read before stays in force, and only [`Access::tend`] tries on.
    pub async fn look(&self) {
        if !self.0.is_stuck.load(Ordering::Relaxed) {
            self.try_to_look().await;
        }
    }

    async fn try_to_look(&self) {
        let is_stuck = !self.0.files.look().await;
        if self.0.is_stuck.swap(is_stuck, Ordering::Relaxed) == is_stuck {
            return;
        }
        if is_stuck {
            tracing::error!(
                "the files of tokens and users can't be read, since the data directory does not answer; the last state that was read stays in force"
            );
        } else {
            tracing::info!("the files of tokens and users can be read again");
        }
    }

    /// Whose token it is, be it as new as it may.
    pub(super) async fn token(&self, token: &str) -> Result<(TokenRecord, Revocation), BadToken> {
        let now_ms = self.0.clock.now_ms();
        let find = || self.state().tokens.find(token, now_ms).map(|(record, revocation)| (record.clone(), revocation));
        match find() {
            Err(BadToken::Unknown) => {
                self.look().await;
                find()
            }
            found => found,
        }
    }

    /// Keeps the mark in line.
    pub(super) fn note(&self, state: &State) {
        let may =
            self.offers_operator() || state.any_may(Right::Release, &self.rules().settings, self.0.clock.now_ms());
        self.0.read_only.store(!may, Ordering::Relaxed);
    }

    /// Who asks.
    ///
    /// # Errors
    /// When something was shown that can't be believed, or nothing where something is needed.
    pub async fn resolve(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Principal, Denied> {
        let address = self.client(headers, peer);
        if headers.contains_key(AUTHORIZATION) {
            let token = bearer(headers)?;
            let (record, revocation) = self.token(token.expose()).await.map_err(|why| match why {
                BadToken::Unknown => Denied::Token("the token is not known here; it may have been revoked"),
                BadToken::Expired => Denied::Token("the token has expired; make a new one with `lockscope token new`"),
            })?;
            let actor = record.grant.actor(record.name, SignedBy::Token, address);
            return Ok(Principal::new(actor, revocation, FormKey::default(), None));
        }
        if let Some(principal) = self.by_cookie(headers, address).await {
            return Ok(principal);
        }
        if let Some((name, grant)) =
            self.rules().settings.proxy.as_ref().map_or(Ok(None), |proxy| proxy.identify(headers, peer))?
        {
            let forms = FormKey::of(self.shared_secret().unwrap_or(&self.0.form_secret), &name);
            let actor = grant.actor(name, SignedBy::Proxy, address);
            return Ok(Principal::new(actor, Revocation::never(), forms, None));
        }
        // Whoever stays beyond this machine has to say who they are, unless the operator said otherwise.
        if self.rules().settings.anonymous.unwrap_or(!self.0.reach.is_public) {
            let actor = Grant::everywhere(Role::Viewer).actor(ANONYMOUS.to_owned(), SignedBy::Nobody, address);
            return Ok(Principal::new(actor, Revocation::never(), FormKey::default(), None));
        }
        Err(Denied::Nobody)
    }

    /// Decides which addresses are proxies that stand for many, as it is set now. `is_behind`: one is there, named or
    /// not.
    pub fn proxies(&self, is_behind: bool) -> impl Fn(IpAddr) -> bool + Send + Sync + 'static {
        let access = self.clone();
        move |address| {
            let rules = access.rules();
            let named = rules.settings.proxy.as_ref().filter(|proxy| !proxy.addresses.is_empty());
            named.map_or(is_behind, |proxy| proxy.is_trusted(Some(address)))
        }
    }

    /// Where a request came from, as far as that can be trusted.
    pub fn client(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<IpAddr> {
        let peer = peer.map(|peer| peer.to_canonical());
        self.rules().settings.proxy.as_ref().map_or(peer, |proxy| proxy.client(headers, peer))
    }

    pub fn person(&self, actor: &Actor) -> Person {
        let can_sign_in = self.can_sign_in();
        let (may_release, may_audit) = (actor.may(Right::Release), actor.may(Right::ReadAudit));
        // Whether there is a history, who serves it knows.
        // The server knows.
        let (keeps_history, has_fleet) = (false, false);
        let (name, role, by) = (actor.name.clone(), actor.role, actor.by);
        Person { name, role, by, may_release, may_audit, can_sign_in, keeps_history, has_fleet }
    }

    /// What somebody keeps of how the page is shown.
    ///
    /// # Errors
    /// When nobody asks, nothing is kept here, or it can't be read.
    pub async fn preferences(&self, actor: &Actor) -> Result<Preferences, PreferencesError> {
        self.0.preferences.read(actor).await
    }

    /// Keeps what is a change of what is kept, and gives it with its new revision.
    ///
    /// # Errors
    /// The same, and when it was changed meanwhile or can't be kept.
    pub async fn set_preferences(&self, actor: &Actor, next: Preferences) -> Result<Preferences, PreferencesError> {
        self.0.preferences.replace(actor, next).await
    }

    pub fn can_sign_in(&self) -> bool {
        self.has_openid() || self.has_secrets() || self.offers_operator()
    }

    /// Whether somebody has a token or a password.
    pub fn has_accounts(&self) -> bool {
        self.state().has_accounts()
    }

    /// Whether there is a token, a user or a link to sign in with.
    pub fn has_secrets(&self) -> bool {
        self.state().can_sign_in(self.0.clock.now_ms())
    }

    pub fn has_openid(&self) -> bool {
        self.rules().settings.openid.is_some()
    }

    /// Whether there is anybody who may come in by name: what listening beyond loopback needs.
    pub fn has_credentials(&self) -> bool {
        self.has_credentials_with(&self.rules().settings)
    }

    pub fn has_credentials_with(&self, settings: &Settings) -> bool {
        settings.openid.is_some()
            || settings.proxy.as_ref().is_some_and(|proxy| proxy.header.is_some())
            || self.has_secrets()
    }

    /// Whether nobody there is may release.
    pub fn is_read_only(&self) -> bool {
        self.note(&self.state());
        self.0.read_only.load(Ordering::Relaxed)
    }

    /// The same as a mark that is kept in line, at least once a second while [`Access::run`] runs.
    pub fn read_only(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.read_only)
    }

    /// Makes a link that signs in whoever opens it first, within a quarter of an hour. The path is a secret.
    pub fn one_time_link(&self, name: &str, role: Role) -> String {
        let now_ms = self.0.clock.now_ms();
        let mut state = self.state();
        let key = state.links.add(name, Grant::everywhere(role), now_ms);
        self.note(&state);
        format!("/sign-in/once?key={}", key.expose())
    }

    /// Ends and records what is over, and takes in what changed on disk.
    pub async fn tend(&self) {
        self.try_to_look().await;
        let now_ms = self.0.clock.now_ms();
        let (closed, left_out) = {
            let mut state = self.state();
            state.sweep(now_ms);
            self.note(&state);
            (std::mem::take(&mut state.closed), state.refusals.left_out(now_ms))
        };
        for ClosedSession { holder, why, .. } in closed.into_iter().filter(|closed| closed.is_recorded) {
            self.record(AuditKind::SignedOut, Some(holder.actor(None)), why.words().to_owned()).await;
        }
        if let Some(count) = left_out {
            self.record(
                AuditKind::Refused,
                None,
                format!("{count} more refused sign-ins within a minute are not recorded one by one"),
            )
            .await;
        }
    }

    /// Tends until `stop` is cancelled.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(TEND_EVERY) => self.tend().await,
            }
        }
    }

    /// Logs a sign-in event. Signing in goes on when that fails: releases are rejected then, viewing is not.
    pub(super) async fn record(&self, kind: AuditKind, actor: Option<Actor>, detail: String) {
        let Some(journal) = self.0.journal.get() else { return };
        let entry = Entry { actor, ..Entry::of_server(kind, detail) };
        if let Err(error) = journal.append(entry).await {
            tracing::error!(%error, "{kind} could not be recorded");
        }
    }

    /// The id of the session whose cookie came along. Two such cookies are somebody's trick, and none is taken.
    pub(super) fn cookie(&self, headers: &HeaderMap) -> Option<Digest> {
        cookie_of(headers, self.0.reach.cookie_name()).map(|id| id.digest())
    }
}
