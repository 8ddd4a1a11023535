//! Sign-in sessions that several servers know: what is told of them, and what is believed.
//!
//! What others tell holds no secret: a session goes by the hash of its id, and each row is sealed with a secret that all
//! these servers have and the place of the rows has not: that of their identity in ZooKeeper, and without one what is in
//! their files (the hash of the password or token that somebody signed in with, or the provider's client secret). So whoever
//! can write where the rows are signs nobody in, and who was removed here stays out. What somebody may do is taken from the
//! files here, not from the row.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lockscope_runtime::mac::{hmac_hex, is_hmac_hex};
use lockscope_runtime::shared_rows::{Exchange, SENT_MAX, SharedRow, Sharer};
use lockscope_view::Role;
use serde::{Deserialize, Serialize};

use super::revocation::RevocationReason;
use super::secret::{Digest, Secret};
use super::sessions::{AGE_MS_MAX, Basis, EndedSession, Holder, IDLE_MS_MAX, Session, Sessions};
use super::sharing::Sharing;
use super::state::State;
use super::{Access, Settings};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SealedSession {
    claim: Claim,
    seal: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    name: String,
    basis: ClaimedBasis,
    began_at_ms: i64,
    /// Where it began.
    replica: String,
    /// What it rests on, as that was there: a mark of the hash. By it the server where it began knows, after a restart,
    /// that a password or token was changed meanwhile.
    mark: String,
}

/// What it rests on, by which it is looked up here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ClaimedBasis {
    User,
    Token { id: String },
    OpenId { role: Role },
}

impl Access {
    /// Shares sessions with other servers from now on; only the first call counts. `replica`: this server's name among
    /// them; `secret`: what all of them know and nobody else, if there is such a thing.
    pub fn share(&self, replica: String, secret: Option<Secret>, exchange: Arc<dyn Exchange>) {
        if self.inner().sharing.set(Sharing { exchange, replica, secret }).is_ok() {
            self.state().sessions.is_shared = true;
        }
    }

    /// What all these servers know and nobody else, if there is such a thing.
    pub(super) fn shared_secret(&self) -> Option<&Secret> {
        self.inner().sharing.get()?.secret.as_ref()
    }

    /// Looks whether another server knows a session that this one does not. False where it would be of no use.
    pub(super) async fn ask_the_others(&self, id: &Digest) -> bool {
        let Some(sharing) = self.inner().sharing.get() else { return false };
        if self.state().sessions.ended.contains_key(id) {
            return false;
        }
        sharing.exchange.exchange().await
    }

    /// Tells the others at once, or once they can be told.
    pub(super) async fn share_now(&self) {
        if let Some(sharing) = self.inner().sharing.get() {
            // What can't be told now is kept and told later; whoever exchanges says so.
            let _ = sharing.exchange.exchange().await;
        }
    }

    /// Takes rows; gives those of which nothing is known here.
    fn take_rows(&self, sharing: &Sharing, rows: Vec<SharedRow>, is_whole: bool) -> Vec<SharedRow> {
        let (now_ms, rules) = (self.inner().clock.now_ms(), self.rules());
        let mut state = self.state();
        let told: Vec<(Digest, SharedRow)> =
            rows.into_iter().filter_map(|row| Some((Digest::try_from(row.key.clone()).ok()?, row))).collect();
        if is_whole {
            tell_again(&mut state.sessions, &told);
        }
        let mut unknown = Vec::new();
        for (id, row) in told {
            let stamp = row.stamp.min(now_ms);
            if row.is_over {
                state.sessions.end_elsewhere(&id, RevocationReason::SignedOut, now_ms);
            } else if let Some(ended) = state.sessions.ended.get_mut(&id) {
                // The others are told again.
                ended.is_sent = false;
            } else if let Some(session) = state.sessions.open.get_mut(&id) {
                session.asked_at_ms = session.asked_at_ms.max(stamp);
                session.shared_at_ms = session.shared_at_ms.max(Some(stamp));
            } else if now_ms.saturating_sub(stamp) >= IDLE_MS_MAX {
                // It ended by itself, and its row stays for a while.
            } else if let Some((holder, claim)) = holder(&state, sharing, &rules.settings, &id, &row.body, now_ms) {
                let is_ours = claim.replica == sharing.replica;
                if is_ours && mark(&state, sharing, &claim) != claim.mark {
                    let expires_at_ms = claim.began_at_ms.saturating_add(AGE_MS_MAX);
                    state.sessions.ended.insert(id, EndedSession { expires_at_ms, is_sent: false, was_open: true });
                    continue;
                }
                let closed = state.sessions.make_room(&holder.name);
                state.closed.extend(closed);
                let from = (!is_ours).then_some(claim.replica);
                state.sessions.insert(id, holder, (claim.began_at_ms, stamp), from, row.body);
            } else {
                unknown.push(row);
            }
        }
        state.sweep(now_ms);
        self.note(&state);
        unknown
    }
}

/// What is known to be shared and is not there has to be told again.
fn tell_again(sessions: &mut Sessions, told: &[(Digest, SharedRow)]) {
    let there: std::collections::HashSet<Digest> = told.iter().map(|(id, _)| *id).collect();
    let missing = sessions.open.iter_mut().filter(|(id, _)| !there.contains(*id));
    missing.for_each(|(_, session)| session.shared_at_ms = None);
}

impl Sharer for Access {
    fn kind(&self) -> &'static str {
        "session"
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        let Some(sharing) = self.inner().sharing.get() else { return Vec::new() };
        let (now_ms, rules) = (self.inner().clock.now_ms(), self.rules());
        let state = self.state();
        let unsent = state.sessions.ended.iter().filter(|(_, ended)| !ended.is_sent);
        let ended = unsent.map(|(id, ended)| SharedRow {
            key: (*id).into(),
            body: String::new(),
            stamp: 0,
            is_over: true,
            expires_at_ms: ended.expires_at_ms,
        });
        let new = state.sessions.open.iter().filter(|(_, session)| session.is_unshared(now_ms));
        let new = new.filter_map(|(id, session)| {
            // Whoever began it tells of it, with a mark that only they can make.
            if let Some(sealed) = &session.sealed {
                return Some(row_of(id, session, sealed.clone()));
            }
            let basis = match &session.holder.basis {
                Basis::User(_) => ClaimedBasis::User,
                Basis::Token(id) => ClaimedBasis::Token { id: id.clone() },
                // It was for whoever started this server.
                Basis::Link => return None,
                #[cfg(feature = "oidc")]
                Basis::OpenId => ClaimedBasis::OpenId { role: session.holder.grant.role },
            };
            let (name, began_at_ms, replica) =
                (session.holder.name.clone(), session.began_at_ms, sharing.replica.clone());
            let mut claim = Claim { name, basis, began_at_ms, replica, mark: String::new() };
            claim.mark = mark(&state, sharing, &claim);
            let seal = hmac_hex(&key(&state, sharing, &rules.settings, &claim)?, &sealed(id, &claim)?);
            Some(row_of(id, session, serde_json::to_string(&SealedSession { claim, seal }).ok()?))
        });
        ended.chain(new).take(SENT_MAX).collect()
    }

    fn sent(&self, rows: &[SharedRow]) {
        let mut state = self.state();
        for row in rows {
            let Ok(id) = Digest::try_from(row.key.clone()) else { continue };
            if row.is_over {
                state.sessions.ended.entry(id).and_modify(|ended| ended.is_sent = true);
            } else if let Some(session) = state.sessions.open.get_mut(&id) {
                session.shared_at_ms = Some(row.stamp);
            }
        }
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let Some(sharing) = self.inner().sharing.get() else { return };
            let unknown = self.take_rows(sharing, rows, is_whole);
            if !unknown.is_empty() {
                // Somebody may have been put into the files a moment ago. Whom they don't name then is not let in.
                self.look().await;
                self.take_rows(sharing, unknown, false);
            }
        })
    }
}

/// Who holds a session that another server tells of; None where that can't be believed, or is over.
fn holder(
    state: &State,
    sharing: &Sharing,
    settings: &Settings,
    id: &Digest,
    body: &str,
    now_ms: i64,
) -> Option<(Holder, Claim)> {
    let SealedSession { claim, seal } = serde_json::from_str(body).ok()?;
    let key = key(state, sharing, settings, &claim)?;
    if !is_hmac_hex(&key, &sealed(id, &claim)?, &seal) || now_ms.saturating_sub(claim.began_at_ms) >= AGE_MS_MAX {
        return None;
    }
    let name = claim.name.clone();
    let holder = match &claim.basis {
        ClaimedBasis::User => {
            let user = state.users.get(&name)?.clone();
            Holder { name, grant: user.grant.clone(), basis: Basis::User(Box::new(user)) }
        }
        ClaimedBasis::Token { id } => {
            let token = state.tokens.by_id(id, now_ms).filter(|token| token.name == name)?;
            Holder { name, grant: token.grant.clone(), basis: Basis::Token(id.clone()) }
        }
        #[cfg(feature = "oidc")]
        ClaimedBasis::OpenId { role } => {
            // Where nobody signs in by a provider any more, nobody is signed in by one.
            settings.openid.as_ref()?;
            Holder { name, grant: super::Grant::everywhere(*role), basis: Basis::OpenId }
        }
        #[cfg(not(feature = "oidc"))]
        ClaimedBasis::OpenId { .. } => return None,
    };
    Some((holder, claim))
}

fn row_of(id: &Digest, session: &Session, body: String) -> SharedRow {
    let expires_at_ms = session.began_at_ms.saturating_add(AGE_MS_MAX);
    SharedRow { key: (*id).into(), body, stamp: session.asked_at_ms, is_over: false, expires_at_ms }
}

fn kept_hash(state: &State, claim: &Claim) -> Option<String> {
    match &claim.basis {
        ClaimedBasis::User => state.users.get(&claim.name).map(super::UserRecord::hash),
        ClaimedBasis::Token { id } => state.tokens.by_id(id, i64::MIN).map(super::TokenRecord::hash),
        ClaimedBasis::OpenId { .. } => None,
    }
}

/// A mark of what a session rests on here, of which nothing can be learned; empty where there is nothing to mark.
fn mark(state: &State, sharing: &Sharing, claim: &Claim) -> String {
    let Some(hash) = kept_hash(state, claim) else { return String::new() };
    let key = sharing.secret.as_ref().map_or("", Secret::expose);
    hmac_hex(key, &format!("lockscope mark\n{hash}"))
}

/// What only these servers have; None where there is nothing like that.
fn key(state: &State, sharing: &Sharing, settings: &Settings, claim: &Claim) -> Option<String> {
    if let Some(secret) = &sharing.secret {
        return Some(secret.expose().to_owned());
    }
    match &claim.basis {
        ClaimedBasis::User | ClaimedBasis::Token { .. } => kept_hash(state, claim),
        ClaimedBasis::OpenId { .. } => {
            let openid = settings.openid.as_ref()?;
            let secret = openid.client_secret.as_ref().filter(|secret| !secret.is_empty())?;
            Some(format!("{}\n{}\n{}", openid.issuer, openid.client_id, secret.expose()))
        }
    }
}

/// What a row's seal covers.
fn sealed(id: &Digest, claim: &Claim) -> Option<String> {
    let claim = serde_json::to_string(claim).ok()?;
    Some(format!("lockscope session\n{}\n{claim}", String::from(*id)))
}

#[cfg(test)]
#[path = "shared_sessions_tests.rs"]
mod tests;
