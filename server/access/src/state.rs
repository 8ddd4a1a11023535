//! Everything that changes while the server runs: who is known, who is signed in, who tries. One lock holds it.

use tokio::sync::watch;

use super::Settings;
use super::account_files::Accounts;
use super::limits::Limits;
use super::one_time_links::OneTimeLinks;
use super::revocation::RevocationReason;
use super::sessions::{Basis, ClosedSession, Sessions};
use super::tokens::Tokens;
use super::users::Users;
use lockscope_audit::{Refusals, Right};

#[derive(Debug)]
pub(super) struct State {
    /// Who is in the files, as they were read last.
    published: watch::Receiver<Accounts>,
    pub(super) tokens: Tokens,
    pub(super) users: Users,
    pub(super) sessions: Sessions,
    pub(super) links: OneTimeLinks,
    pub(super) limits: Limits,
    pub(super) refusals: Refusals,
    /// Sessions that ended and were not recorded yet; as many as there can be sessions, roughly, between two looks.
    pub(super) closed: Vec<ClosedSession>,
}

impl State {
    pub(super) fn new(published: watch::Receiver<Accounts>, now_ms: i64) -> Self {
        let mut state = Self {
            published,
            tokens: Tokens::default(),
            users: Users::default(),
            sessions: Sessions::default(),
            links: OneTimeLinks::default(),
            limits: Limits::new(),
            refusals: Refusals::default(),
            closed: Vec::new(),
        };
        state.published.mark_changed();
        state.take_published(now_ms);
        state
    }

    /// Takes in what was published since; what rested on something that is gone ends at once. False: nothing was.
    pub(super) fn take_published(&mut self, now_ms: i64) -> bool {
        // Nobody publishes any more: what came last counts.
        if !self.published.has_changed().unwrap_or(false) {
            return false;
        }
        let Accounts { tokens, users } = self.published.borrow_and_update().clone();
        self.tokens.replace(tokens);
        self.users.replace(users);
        self.sweep(now_ms);
        true
    }

    pub(super) fn sweep(&mut self, now_ms: i64) {
        self.tokens.expire(now_ms);
        self.links.sweep(now_ms);
        let (tokens, users) = (&self.tokens, &self.users);
        let gone = |basis: &Basis| match basis {
            Basis::User(record) => (!users.has(record)).then_some(RevocationReason::Removed),
            Basis::Token(id) => (!tokens.has(id, now_ms)).then_some(RevocationReason::Revoked),
            Basis::Link => None,
            #[cfg(feature = "oidc")]
            Basis::OpenId => None,
        };
        let closed = self.sessions.sweep(now_ms, gone);
        self.closed.extend(closed);
    }

    pub(super) fn any_may(&self, right: Right, settings: &Settings, now_ms: i64) -> bool {
        let role_may = |grant: &super::Grant| lockscope_audit::role_may(grant.role, right);
        self.tokens.any_may(right, now_ms)
            || self.users.any_may(right)
            || self.links.any(now_ms, role_may)
            || self.sessions.any(now_ms, |holder| role_may(&holder.grant))
            || settings.proxy.as_ref().is_some_and(|proxy| proxy.may(right))
            || settings.openid.as_ref().is_some_and(|openid| openid.may(right))
    }

    /// Whether there is a token, a user or a link to sign in with.
    pub(super) fn can_sign_in(&self, now_ms: i64) -> bool {
        self.has_accounts() || self.links.any(now_ms, |_| true)
    }

    /// Whether there is a token or a user.
    pub(super) fn has_accounts(&self) -> bool {
        !self.tokens.is_empty() || !self.users.is_empty()
    }
}
