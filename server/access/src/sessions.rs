//! Sign-in sessions: kept in memory, under the hash of an id that only the browser has. Where servers share them, what
//! changed is marked here for [`super::shared_sessions`].

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use lockscope_view::SignedBy;

use super::grant::Grant;
use super::revocation::{Revocation, RevocationReason, Revoker};
use super::secret::{Digest, Secret};
use super::users::UserRecord;
use lockscope_audit::Actor;

/// Sessions at once; the one that was quiet longest makes room.
pub const SESSIONS_MAX: usize = 1_000;
/// Sessions of one name; the oldest makes room, so that nobody crowds others out.
pub const SESSIONS_A_NAME_MAX: usize = 20;
/// A session ends when nothing was asked for this long.
pub const IDLE_MS_MAX: i64 = 30 * 60 * 1_000;
/// No session lasts longer.
pub const AGE_MS_MAX: i64 = 12 * 60 * 60 * 1_000;

/// How often the others are told that a session is in use.
pub(super) const TOUCH_MS: i64 = 60 * 1_000;
/// Sessions that ended here before their time and are remembered, so that no other server brings them back. Overflow
/// policy: the one that expires first is forgotten.
const ENDED_MAX: usize = 20_000;

/// What a session rests on; it ends with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    User(Box<UserRecord>),
    /// The token of this id.
    Token(String),
    /// A one-time link, which is used up.
    Link,
    /// What an OpenID provider signed; it has no expiry.
    #[cfg(feature = "oidc")]
    OpenId,
}

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
        self.grant.actor(self.name.clone(), by, address)
    }
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) holder: Holder,
    pub(super) began_at_ms: i64,
    pub(super) asked_at_ms: i64,
    revoker: Revoker,
    /// The server where somebody signed in; None: this one.
    pub(super) from: Option<String>,
    /// As of when the others know that it is in use; None: they don't know it.
    pub(super) shared_at_ms: Option<i64>,
    /// As the others told of it, word for word; None of one that began since the start.
    pub(super) sealed: Option<String>,
}

impl Session {
    pub(super) fn is_unshared(&self, now_ms: i64) -> bool {
        let is_known = self.shared_at_ms.is_some_and(|at_ms| self.asked_at_ms.saturating_sub(at_ms) < TOUCH_MS);
        !is_known && self.ending(now_ms).is_none()
    }

    pub(super) fn ending(&self, now_ms: i64) -> Option<RevocationReason> {
        if now_ms.saturating_sub(self.began_at_ms) >= AGE_MS_MAX {
            return Some(RevocationReason::TooOld);
        }
        (now_ms.saturating_sub(self.asked_at_ms) >= IDLE_MS_MAX).then_some(RevocationReason::Idle)
    }
}

#[derive(Clone, Debug)]
pub(super) struct ClosedSession {
    pub(super) holder: Holder,
    pub(super) why: RevocationReason,
    /// Whether its end is recorded here: one that ends by itself is where it began.
    pub(super) is_recorded: bool,
}

/// A session that ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndedSession {
    /// When it would have ended anyway, ms since the epoch.
    pub(super) expires_at_ms: i64,
    /// Whether the others know.
    pub(super) is_sent: bool,
    /// Whether it was open here.
    pub(super) was_open: bool,
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) open: HashMap<Digest, Session>,
    /// Those that ended before their time; empty where nothing is shared.
    pub(super) ended: BTreeMap<Digest, EndedSession>,
    pub(super) is_shared: bool,
}

impl Sessions {
    /// Opens one and gives its id; what had to make room is given too.
    pub(super) fn open(&mut self, holder: Holder, now_ms: i64) -> (Secret, Vec<ClosedSession>) {
        let closed = self.make_room(&holder.name);
        let id = Secret::random();
        let (began_at_ms, asked_at_ms, revoker) = (now_ms, now_ms, Revoker::new());
        let session =
            Session { holder, began_at_ms, asked_at_ms, revoker, from: None, shared_at_ms: None, sealed: None };
        self.open.insert(id.digest(), session);
        (id, closed)
    }

    /// Keeps one that began elsewhere, or here before a restart. `at_ms`: when it began and when it was used last.
    pub(super) fn insert(
        &mut self,
        id: Digest,
        holder: Holder,
        (began_at_ms, asked_at_ms): (i64, i64),
        from: Option<String>,
        sealed: String,
    ) {
        let (revoker, shared_at_ms, sealed) = (Revoker::new(), Some(asked_at_ms), Some(sealed));
        self.open.insert(id, Session { holder, began_at_ms, asked_at_ms, revoker, from, shared_at_ms, sealed });
    }

    /// Ends what has to make room for one more of a name.
    pub(super) fn make_room(&mut self, name: &str) -> Vec<ClosedSession> {
        let mut closed = Vec::new();
        let of_name: Vec<_> = self.open.iter().filter(|(_, session)| session.holder.name == name).collect();
        if of_name.len() >= SESSIONS_A_NAME_MAX {
            let oldest = of_name.iter().min_by_key(|(id, session)| (session.began_at_ms, **id)).map(|(id, _)| **id);
            closed.extend(oldest.and_then(|id| self.close(&id, RevocationReason::Replaced)));
        }
        if self.open.len() >= SESSIONS_MAX {
            let quietest = self.open.iter().min_by_key(|(id, session)| (session.asked_at_ms, **id)).map(|(id, _)| *id);
            closed.extend(quietest.and_then(|id| self.close(&id, RevocationReason::Replaced)));
        }
        closed
    }

    /// Who holds a session, if it is open still.
    pub(super) fn find(&self, id: &Digest, now_ms: i64) -> Option<(&Holder, Revocation)> {
        let session = self.open.get(id).filter(|session| session.ending(now_ms).is_none())?;
        Some((&session.holder, session.revoker.revocation()))
    }

    /// Something was asked by hand.
    pub(super) fn touch(&mut self, id: &Digest, now_ms: i64) {
        if let Some(session) = self.open.get_mut(id).filter(|session| session.ending(now_ms).is_none()) {
            session.asked_at_ms = session.asked_at_ms.max(now_ms);
        }
    }

    /// Ends one. The others learn of it, where it ends before its time.
    pub(super) fn close(&mut self, id: &Digest, why: RevocationReason) -> Option<ClosedSession> {
        let is_by_time = matches!(why, RevocationReason::Idle | RevocationReason::TooOld);
        if let Some(session) = self.open.get(id).filter(|_| self.is_shared && !is_by_time) {
            let expires_at_ms = session.began_at_ms.saturating_add(AGE_MS_MAX);
            self.remember(*id, EndedSession { expires_at_ms, is_sent: false, was_open: true });
        }
        self.drop_one(id, why)
    }

    /// Ends one that was ended elsewhere. Whoever can write the rows may write that of a session again: it stays over for as
    /// long as it can live, also where it was never open.
    pub(super) fn end_elsewhere(&mut self, id: &Digest, why: RevocationReason, now_ms: i64) {
        // It was recorded where it was ended.
        let was_open = self.drop_one(id, why).is_some();
        if !self.ended.contains_key(id) && (was_open || self.ended.len() < ENDED_MAX) {
            let expires_at_ms = now_ms.saturating_add(AGE_MS_MAX);
            self.remember(*id, EndedSession { expires_at_ms, is_sent: true, was_open });
        }
    }

    /// Of too many, those go first that were never open here: anybody may have made them up.
    fn remember(&mut self, id: Digest, ended: EndedSession) {
        self.ended.insert(id, ended);
        if self.ended.len() > ENDED_MAX {
            let first = self.ended.iter().min_by_key(|(_, ended)| (ended.was_open, ended.expires_at_ms));
            let first = first.map(|(id, _)| *id);
            first.and_then(|id| self.ended.remove(&id));
        }
    }

    /// Ends one that is over by itself, or elsewhere.
    fn drop_one(&mut self, id: &Digest, why: RevocationReason) -> Option<ClosedSession> {
        let session = self.open.remove(id)?;
        session.revoker.revoke(why);
        let is_by_time = matches!(why, RevocationReason::Idle | RevocationReason::TooOld);
        Some(ClosedSession { holder: session.holder, why, is_recorded: session.from.is_none() || !is_by_time })
    }

    /// Ends what is over, and what rests on something that is gone.
    pub(super) fn sweep(
        &mut self,
        now_ms: i64,
        gone: impl Fn(&Basis) -> Option<RevocationReason>,
    ) -> Vec<ClosedSession> {
        self.ended.retain(|_, ended| now_ms < ended.expires_at_ms);
        let ending = |session: &Session| session.ending(now_ms).or_else(|| gone(&session.holder.basis));
        let over: Vec<_> = self.open.iter().filter_map(|(id, session)| Some((*id, ending(session)?))).collect();
        over.into_iter().filter_map(|(id, why)| self.close(&id, why)).collect()
    }

    pub(super) fn any(&self, now_ms: i64, fits: impl Fn(&Holder) -> bool) -> bool {
        self.open.values().any(|session| session.ending(now_ms).is_none() && fits(&session.holder))
    }
}

#[cfg(test)]
mod tests {
    use lockscope_view::Role;

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
        assert_eq!((sessions.open.len(), closed), (SESSIONS_A_NAME_MAX, 50 - SESSIONS_A_NAME_MAX));
        assert!(sessions.find(&first.digest(), 50).is_none());
        (0..2 * SESSIONS_MAX).for_each(|at| drop(sessions.open(holder(&at.to_string()), 100)));
        assert_eq!(sessions.open.len(), SESSIONS_MAX);
    }
}
