//! Everything that changes while the server runs: who is known, who is signed in, who tries. One lock holds it.

use std::path::Path;

use super::ended::{Ended, Ending};
use super::limits::Limits;
use super::links::Links;
use super::refusals::Refusals;
use super::sessions::{Basis, Closed, Sessions};
use super::tokens::{BadToken, TOKENS_FILE, TokenRecord, Tokens};
use super::users::{USERS_FILE, UserRecord, Users};
use super::watched::Watched;
use super::{Right, Settings};

/// Who is known now.
#[derive(Debug)]
pub(super) struct State {
    token_file: Watched,
    user_file: Watched,
    pub(super) tokens: Tokens,
    pub(super) users: Users,
    pub(super) sessions: Sessions,
    pub(super) links: Links,
    pub(super) limits: Limits,
    pub(super) refusals: Refusals,
    /// Sessions that ended and were not recorded yet; as many as there can be sessions, roughly, between two looks.
    pub(super) closed: Vec<Closed>,
}

impl State {
    pub(super) fn new(dir: Option<&Path>) -> Self {
        Self {
            token_file: Watched::new(dir.map(|dir| dir.join(TOKENS_FILE))),
            user_file: Watched::new(dir.map(|dir| dir.join(USERS_FILE))),
            tokens: Tokens::default(),
            users: Users::default(),
            sessions: Sessions::default(),
            links: Links::default(),
            limits: Limits::new(),
            refusals: Refusals::default(),
            closed: Vec::new(),
        }
    }

    /// Takes in what changed on disk; what rested on something that is gone ends at once.
    pub(super) fn refresh(&mut self, now_ms: i64) {
        let tokens = self.token_file.changed(now_ms);
        let users = self.user_file.changed(now_ms);
        self.take(tokens, users, now_ms);
    }

    /// The same at once: a token or a user that is not known here may have been made a moment ago.
    pub(super) fn look_again(&mut self, now_ms: i64) {
        let tokens = self.token_file.changed_now(now_ms);
        let users = self.user_file.changed_now(now_ms);
        self.take(tokens, users, now_ms);
    }

    fn take(&mut self, tokens: Option<Vec<TokenRecord>>, users: Option<Vec<UserRecord>>, now_ms: i64) {
        if tokens.is_none() && users.is_none() {
            return;
        }
        if let Some(tokens) = tokens {
            self.tokens.replace(tokens);
        }
        if let Some(users) = users {
            self.users.replace(users);
        }
        self.sweep(now_ms);
    }

    /// Whose token it is, be it as new as it may.
    pub(super) fn token(&mut self, token: &str, now_ms: i64) -> Result<(&TokenRecord, Ended), BadToken> {
        if self.tokens.find(token, now_ms).err() == Some(BadToken::Unknown) {
            self.look_again(now_ms);
        }
        self.tokens.find(token, now_ms)
    }

    /// The user of this name, be they as new as they may.
    pub(super) fn user(&mut self, name: &str, now_ms: i64) -> Option<&UserRecord> {
        if self.users.get(name).is_none() {
            self.look_again(now_ms);
        }
        self.users.get(name)
    }

    /// Ends what is over.
    pub(super) fn sweep(&mut self, now_ms: i64) {
        self.tokens.expire(now_ms);
        self.links.sweep(now_ms);
        let (tokens, users) = (&self.tokens, &self.users);
        let gone = |basis: &Basis| match basis {
            Basis::User(record) => (!users.has(record)).then_some(Ending::Removed),
            Basis::Token(id) => (!tokens.has(id, now_ms)).then_some(Ending::Revoked),
            Basis::Link => None,
            #[cfg(feature = "oidc")]
            Basis::OpenId => None,
        };
        let closed = self.sessions.sweep(now_ms, gone);
        self.closed.extend(closed);
    }

    /// Whether anybody at all could use a right.
    pub(super) fn any_may(&self, right: Right, settings: &Settings, now_ms: i64) -> bool {
        let role_may = |grant: &super::Grant| super::actor::role_may(grant.role, right);
        self.tokens.any_may(right, now_ms)
            || self.users.any_may(right)
            || self.links.any(now_ms, role_may)
            || self.sessions.any(now_ms, |holder| role_may(&holder.grant))
            || settings.proxy.as_ref().is_some_and(|proxy| proxy.may(right))
            || settings.openid.as_ref().is_some_and(|openid| openid.may(right))
    }

    /// Whether there is a token, a user or a link to sign in with.
    pub(super) fn can_sign_in(&self, now_ms: i64) -> bool {
        !self.tokens.is_empty() || !self.users.is_empty() || self.links.any(now_ms, |_| true)
    }
}
