//! Sign-in sessions: kept in memory only, under the hash of an id that only the browser has.

use std::collections::HashMap;
use std::net::IpAddr;

use lockscope_wire::SignedBy;

use super::grant::Grant;
use super::revocation::{Revocation, RevocationReason, Revoker};
use super::secret::{Digest, Secret};
use super::users::UserRecord;
use identity::Actor;

/// Sessions at once; the one that was quiet longest makes room.
pub const SESSIONS_MAX: usize = 1_000;
/// Sessions of one name; the oldest makes room, so that nobody crowds others out.
pub const SESSIONS_A_NAME_MAX: usize = 20;
/// A session ends when nothing was asked for this long.
pub const IDLE_MS_MAX: i64 = 30 * 60 * 1_000;
/// No session lasts longer.
pub const AGE_MS_MAX: i64 = 12 * 60 * 60 * 1_000;

/// What a session rests on; it ends with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// A user's password.
    User(Box<UserRecord>),
    /// The token of this id.
    Token(String),
    /// A one-time link, which is used up.
    Link,
    /// What an OpenID provider signed; it has no expiry.
    #[cfg(feature = "oidc")]
    OpenId,
}

/// Who signed in.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) name: String,
    pub(super) grant: Grant,
    pub(super) basis: Basis,
}

impl Holder {
    pub(super) fn actor(&self, address: Option<IpAddr>) -> Actor {
        let by = match self.basis {
            Basis::User(_) => SignedBy::Password,
            Basis::Token(_) => SignedBy::Token,
            Basis::Link => SignedBy::Link,
            #[cfg(feature = "oidc")]
            Basis::OpenId => SignedBy::OpenId,
        };
        Actor { name: self.name.clone(), role: self.grant.role, scope: self.grant.scope(), by, address }
    }
}

#[derive(Debug)]
struct Session {
    holder: Holder,
    began_at_ms: i64,
    asked_at_ms: i64,
    revoker: Revoker,
}

impl Session {
    fn ending(&self, now_ms: i64) -> Option<RevocationReason> {
        if now_ms.saturating_sub(self.began_at_ms) >= AGE_MS_MAX {
            return Some(RevocationReason::TooOld);
        }
        (now_ms.saturating_sub(self.asked_at_ms) >= IDLE_MS_MAX).then_some(RevocationReason::Idle)
    }
}

/// A session that ended.
#[derive(Clone, Debug)]
pub(super) struct ClosedSession {
    pub(super) holder: Holder,
    pub(super) why: RevocationReason,
}

/// Every open session.
#[derive(Debug, Default)]
pub(super) struct Sessions(HashMap<Digest, Session>);

impl Sessions {
    /// Opens one and gives its id; what had to make room is given too.
    pub(super) fn open(&mut self, holder: Holder, now_ms: i64) -> (Secret, Vec<ClosedSession>) {
        let mut closed = Vec::new();
        let of_name: Vec<_> = self.0.iter().filter(|(_, session)| session.holder.name == holder.name).collect();
        if of_name.len() >= SESSIONS_A_NAME_MAX {
            let oldest = of_name.iter().min_by_key(|(id, session)| (session.began_at_ms, **id)).map(|(id, _)| **id);
            closed.extend(oldest.and_then(|id| self.close(&id, RevocationReason::Replaced)));
        }
        if self.0.len() >= SESSIONS_MAX {
            let quietest = self.0.iter().min_by_key(|(id, session)| (session.asked_at_ms, **id)).map(|(id, _)| *id);
            closed.extend(quietest.and_then(|id| self.close(&id, RevocationReason::Replaced)));
        }
        let id = Secret::random();
        self.0
            .insert(id.digest(), Session { holder, began_at_ms: now_ms, asked_at_ms: now_ms, revoker: Revoker::new() });
        (id, closed)
    }

    /// Who holds a session, if it is open still.
    pub(super) fn find(&self, id: &Digest, now_ms: i64) -> Option<(&Holder, Revocation)> {
        let session = self.0.get(id).filter(|session| session.ending(now_ms).is_none())?;
        Some((&session.holder, session.revoker.revocation()))
    }

    /// Something was asked by hand.
    pub(super) fn touch(&mut self, id: &Digest, now_ms: i64) {
        if let Some(session) = self.0.get_mut(id).filter(|session| session.ending(now_ms).is_none()) {
            session.asked_at_ms = session.asked_at_ms.max(now_ms);
        }
    }

    /// Ends one.
    pub(super) fn close(&mut self, id: &Digest, why: RevocationReason) -> Option<ClosedSession> {
        let session = self.0.remove(id)?;
        session.revoker.revoke(why);
        Some(ClosedSession { holder: session.holder, why })
    }

    /// Ends what is over, and what rests on something that is gone.
    pub(super) fn sweep(
        &mut self,
        now_ms: i64,
        gone: impl Fn(&Basis) -> Option<RevocationReason>,
    ) -> Vec<ClosedSession> {
        let ending = |session: &Session| session.ending(now_ms).or_else(|| gone(&session.holder.basis));
        let over: Vec<_> = self.0.iter().filter_map(|(id, session)| Some((*id, ending(session)?))).collect();
        over.into_iter().filter_map(|(id, why)| self.close(&id, why)).collect()
    }

    /// Whether somebody who signed in fits.
    pub(super) fn any(&self, now_ms: i64, fits: impl Fn(&Holder) -> bool) -> bool {
        self.0.values().any(|session| session.ending(now_ms).is_none() && fits(&session.holder))
    }
}

#[cfg(test)]
mod tests {
    use lockscope_wire::Role;

    use super::*;

    fn holder(name: &str) -> Holder {
        Holder { name: name.to_owned(), grant: Grant::everywhere(Role::Operator), basis: Basis::Link }
    }

    #[test]
    fn a_session_ends_when_idle_and_when_old_whatever_was_asked() {
        let mut sessions = Sessions::default();
        let (id, _) = sessions.open(holder("a"), 0);
        let id = id.digest();
        assert!(sessions.find(&id, IDLE_MS_MAX - 1).is_some());
        assert!(sessions.find(&id, IDLE_MS_MAX).is_none(), "also before anybody swept");
        sessions.touch(&id, IDLE_MS_MAX);
        assert!(sessions.find(&id, IDLE_MS_MAX).is_none(), "what is over is not revived");
        let (id, _) = sessions.open(holder("b"), 0);
        let id = id.digest();
        let revocation = sessions.find(&id, 0).unwrap().1;
        let step = IDLE_MS_MAX / 2;
        (1..AGE_MS_MAX / step).for_each(|at| sessions.touch(&id, at * step));
        assert!(sessions.find(&id, AGE_MS_MAX - 1).is_some());
        assert!(sessions.find(&id, AGE_MS_MAX).is_none());
        assert_eq!(sessions.sweep(AGE_MS_MAX, |_| None).len(), 2);
        assert_eq!(revocation.reason(), Some(RevocationReason::TooOld));
    }

    #[test]
    fn a_name_and_all_names_together_have_a_maximum() {
        let mut sessions = Sessions::default();
        let (first, _) = sessions.open(holder("a"), 0);
        let closed: usize = (1..50).map(|at| sessions.open(holder("a"), at).1.len()).sum();
        assert_eq!((sessions.0.len(), closed), (SESSIONS_A_NAME_MAX, 50 - SESSIONS_A_NAME_MAX));
        assert!(sessions.find(&first.digest(), 50).is_none());
        (0..2 * SESSIONS_MAX).for_each(|at| drop(sessions.open(holder(&at.to_string()), 100)));
        assert_eq!(sessions.0.len(), SESSIONS_MAX);
    }
}
