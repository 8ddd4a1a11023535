//! Signing in and out.

use std::net::IpAddr;

use axum::http::HeaderMap;
use lockscope_view::{AuditKind, Role};

use super::device::{self, DEVICE_MS_MAX};
use super::grant::NAME_CHARS_MAX;
use super::password::TooBusy;
use super::request_credentials::cookie_of;
use super::revocation::RevocationReason;
use super::secret::Secret;
use super::sessions::{Basis, ClosedSession, Holder};
use super::{Access, Grant, ListenScope};
use lockscope_audit::Actor;

#[derive(Clone, Debug)]
pub struct NewSession {
    pub actor: Actor,
    id: Secret,
    /// What their browser is known by from now on, when they brought a password.
    device: Option<Secret>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInError {
    /// Name and password, or token, do not fit. Which of them is not disclosed.
    Wrong,
    /// The link was opened before, or is too old.
    Link,
    /// The token may do more than look, and only that is asked for.
    TooMuch,
    /// Too many failures: again after so many seconds.
    Wait(u64),
    Busy,
}

impl SignInError {
    pub fn words(self) -> String {
        match self {
            Self::Wrong => "Wrong name, password or token.".to_owned(),
            Self::Link => {
                "This link was used already, or is older than 15 minutes. Start the demo again for a new one."
                    .to_owned()
            }
            Self::TooMuch => {
                "This token may do more than look, and whoever stands before a wallboard could use it. Make one for it: lockscope token new --name wall --role viewer."
                    .to_owned()
            }
            Self::Wait(seconds) if seconds < 120 => format!("too many failed sign-ins; try again in {seconds} s"),
            Self::Wait(seconds) => format!("too many failed sign-ins; try again in {} minutes", seconds.div_ceil(60)),
            Self::Busy => "too many people sign in at this moment; try again in a few seconds".to_owned(),
        }
    }
}

impl NewSession {
    /// The cookie that carries the session. Strict: no other site can make a browser send it.
    pub fn cookie(&self, access: &Access) -> String {
        cookie(access, self.id.expose(), "")
    }

    /// The cookie by which the browser is known when they sign in again.
    pub fn device_cookie(&self, access: &Access) -> Option<String> {
        let reach = access.inner().reach;
        let secure = if reach.is_plain() { "" } else { "; Secure" };
        let (name, seconds) = (device_cookie_name(reach), DEVICE_MS_MAX / 1_000);
        let device = self.device.as_ref()?;
        Some(format!("{name}={}; Path=/; HttpOnly; SameSite=Strict{secure}; Max-Age={seconds}", device.expose()))
    }
}

fn device_cookie_name(reach: ListenScope) -> String {
    format!("{}-device", reach.cookie_name())
}

fn cookie(access: &Access, value: &str, more: &str) -> String {
    let reach = access.inner().reach;
    let secure = if reach.is_plain() { "" } else { "; Secure" };
    format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}", reach.cookie_name())
}

impl Access {
    /// The cookie that takes a session's away.
    pub fn no_cookie(&self) -> String {
        cookie(self, "", "; Max-Age=0")
    }

    /// Signs in by name and password.
    ///
    /// # Errors
    /// See [`SignInError`]. While somebody has to wait, a right password is refused like a wrong one.
    pub async fn by_password(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        name: &str,
        password: Secret,
    ) -> Result<NewSession, SignInError> {
        let address = self.client(headers, peer);
        let begun_at_ms = self.inner().clock.now_ms();
        // Whether or not the name is known: how long it takes must not show it.
        self.look().await;
        let user = self.state().users.get(name).cloned();
        let brought = cookie_of(headers, &device_cookie_name(self.inner().reach));
        let device =
            brought.zip(user.as_ref()).and_then(|(cookie, user)| device::recognise(&cookie, user, begun_at_ms));
        let begun = self.state().limits.begin(name, address, device, begun_at_ms);
        let tried = match begun {
            Ok(tried) => tried,
            Err(wait_ms) => {
                self.refused(name, address, "too many failed sign-ins").await;
                return Err(SignInError::Wait(wait_ms.unsigned_abs().div_ceil(1_000)));
            }
        };
        let fits = self.inner().passwords.fits(password, user.as_ref().map(super::UserRecord::hash), address).await;
        let now_ms = self.inner().clock.now_ms();
        let user = match fits {
            // Removed or changed while the password was looked at is not there.
            Ok(true) => user.filter(|user| self.state().users.has(user)),
            Ok(false) => None,
            Err(TooBusy) => {
                self.state().limits.withdraw(&tried, now_ms);
                return Err(SignInError::Busy);
            }
        };
        let Some(user) = user else {
            self.refused(name, address, "wrong name or password").await;
            return Err(SignInError::Wrong);
        };
        self.state().limits.succeed(&tried, now_ms);
        let device = Some(device::issue(&user, now_ms));
        let holder = Holder { name: user.name.clone(), grant: user.grant.clone(), basis: Basis::User(Box::new(user)) };
        Ok(NewSession { device, ..self.open(headers, address, holder).await })
    }

    /// Signs in by token. No limit holds here: nobody guesses 256 bits, and nobody may lock a token out. `only`: the role
    /// it has to have, as for a screen that anybody may stand before.
    pub async fn by_token(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        token: &Secret,
        only: Option<Role>,
    ) -> Result<NewSession, SignInError> {
        let address = self.client(headers, peer);
        let Ok((record, _)) = self.token(token.expose().trim()).await else {
            self.refused("a token", address, "an unknown token").await;
            return Err(SignInError::Wrong);
        };
        if only.is_some_and(|only| record.grant.role != only) {
            self.refused("a token", address, "a token that may do more than look, for a wallboard").await;
            return Err(SignInError::TooMuch);
        }
        let holder = Holder { name: record.name, grant: record.grant, basis: Basis::Token(record.id) };
        Ok(self.open(headers, address, holder).await)
    }

    /// Signs in by a one-time link, which is used up by that.
    pub async fn by_link(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        key: &Secret,
    ) -> Result<NewSession, SignInError> {
        let address = self.client(headers, peer);
        let now_ms = self.inner().clock.now_ms();
        let opened: Option<(String, Grant)> = self.state().links.open(key, now_ms);
        let Some((name, grant)) = opened else {
            self.refused("a link", address, "a link that was used or is too old").await;
            return Err(SignInError::Link);
        };
        Ok(self.open(headers, address, Holder { name, grant, basis: Basis::Link }).await)
    }

    pub fn is_demo(&self) -> bool {
        self.rules().settings.is_demo
    }

    /// Whether whoever asks may be an operator: of the demo, which only this machine reaches.
    pub fn offers_operator(&self) -> bool {
        self.is_demo() && !self.inner().reach.is_public
    }

    /// Signs in whoever tries the demo, as its operator.
    ///
    /// # Errors
    /// This is no demo, or others reach it.
    pub async fn by_demo(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<NewSession, SignInError> {
        if !self.offers_operator() {
            return Err(SignInError::Link);
        }
        let holder = Holder { name: "demo".to_owned(), grant: Grant::everywhere(Role::Operator), basis: Basis::Link };
        Ok(self.open(headers, self.client(headers, peer), holder).await)
    }

    /// Whom a one-time link would sign in, with what rights; None when it was used or is too old. Looking uses nothing
    /// up: a preview of the link may do it.
    pub fn look_at_link(&self, key: &Secret) -> Option<(String, Grant)> {
        let now_ms = self.inner().clock.now_ms();
        self.state().links.look(key, now_ms)
    }

    /// Ends the session whose cookie came along, and every live socket of it. Who it was, if anybody.
    pub async fn sign_out(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<Actor> {
        let id = self.cookie(headers)?;
        let closed = {
            let mut state = self.state();
            let closed = state.sessions.close(&id, RevocationReason::SignedOut);
            self.note(&state);
            closed
        };
        let actor = closed?.holder.actor(self.client(headers, peer));
        self.record(AuditKind::SignedOut, Some(actor.clone()), RevocationReason::SignedOut.words().to_owned()).await;
        self.share_now().await;
        Some(actor)
    }

    /// Opens a session with a new id. The one that the browser had before ends.
    pub(super) async fn open(&self, headers: &HeaderMap, address: Option<IpAddr>, holder: Holder) -> NewSession {
        let actor = holder.actor(address);
        let before = self.cookie(headers);
        let now_ms = self.inner().clock.now_ms();
        let (id, closed) = {
            let mut state = self.state();
            let before = before.and_then(|id| state.sessions.close(&id, RevocationReason::Replaced));
            let (id, mut closed) = state.sessions.open(holder, now_ms);
            closed.extend(before);
            self.note(&state);
            (id, closed)
        };
        for ClosedSession { holder, why, .. } in closed {
            self.record(AuditKind::SignedOut, Some(holder.actor(None)), why.words().to_owned()).await;
        }
        self.record(AuditKind::SignedIn, Some(actor.clone()), format!("signed in by {}", actor.by)).await;
        self.share_now().await;
        NewSession { actor, id, device: None }
    }

    /// Sign-ins that were refused since the start.
    pub fn refused_sign_ins(&self) -> u64 {
        self.state().refusals.all()
    }

    /// Sign-ins that were sent away since too many waited: of all, and of one address.
    pub fn crowded_sign_ins(&self) -> (u64, u64) {
        self.inner().passwords.refusals().counted()
    }

    /// Records a refusal: who they said they were, cut and made visible, and where from. Never what they showed.
    pub(super) async fn refused(&self, name: &str, address: Option<IpAddr>, why: &str) {
        let now_ms = self.inner().clock.now_ms();
        if !self.state().refusals.count(now_ms) {
            return;
        }
        let from = address.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string());
        let name: String = name.chars().take(NAME_CHARS_MAX).collect();
        self.record(AuditKind::Refused, None, format!("sign-in of {name:?} from {from} refused: {why}")).await;
    }
}
