//! Revocation of a permission while its owner still has sockets open: every one of them is notified.

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationReason {
    SignedOut,
    Idle,
    /// The session lasted as long as one may.
    TooOld,
    /// The token was revoked or changed.
    Revoked,
    Expired,
    /// The user was removed or changed.
    Removed,
    /// Newer sessions took its place.
    Replaced,
}

impl RevocationReason {
    pub const ALL: [Self; 7] =
        [Self::SignedOut, Self::Idle, Self::TooOld, Self::Revoked, Self::Expired, Self::Removed, Self::Replaced];

    /// In words; short enough for a close frame.
    pub fn words(self) -> &'static str {
        match self {
            Self::SignedOut => "signed out",
            Self::Idle => "signed out after 30 minutes without a request; sign in again",
            Self::TooOld => "signed out after 12 hours; sign in again",
            Self::Revoked => "the token was revoked",
            Self::Expired => "the token ran out; make a new one",
            Self::Removed => "the user was removed or changed; sign in again",
            Self::Replaced => "signed out by newer sign-ins; sign in again",
        }
    }
}

/// Revokes a permission, once. Dropping it revokes too, so that no socket outlives its permission.
#[derive(Debug)]
pub(super) struct Revoker(watch::Sender<Option<RevocationReason>>);

impl Revoker {
    pub(super) fn new() -> Self {
        Self(watch::channel(None).0)
    }

    pub(super) fn revoke(&self, why: RevocationReason) {
        self.0.send_if_modified(|sent| {
            let is_first = sent.is_none();
            sent.get_or_insert(why);
            is_first
        });
    }

    pub(super) fn revocation(&self) -> Revocation {
        Revocation(Some(self.0.subscribe()))
    }
}

/// Is notified of a revocation; cheap to clone.
#[derive(Clone, Debug)]
pub struct Revocation(Option<watch::Receiver<Option<RevocationReason>>>);

impl Revocation {
    /// Of a permission that is never revoked while the server runs.
    pub fn never() -> Self {
        Self(None)
    }

    pub async fn revoked(&self) -> RevocationReason {
        let Some(sent) = &self.0 else { return std::future::pending().await };
        // An error means that the revoker was dropped.
        sent.clone().wait_for(Option::is_some).await.ok().and_then(|sent| *sent).unwrap_or(RevocationReason::Revoked)
    }

    pub fn reason(&self) -> Option<RevocationReason> {
        let sent = self.0.as_ref()?;
        let why = *sent.borrow();
        why.or_else(|| sent.has_changed().is_err().then_some(RevocationReason::Revoked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_counts_and_reaches_late_receivers() {
        let revoker = Revoker::new();
        let early = revoker.revocation();
        assert_eq!(early.reason(), None);
        revoker.revoke(RevocationReason::Idle);
        revoker.revoke(RevocationReason::TooOld);
        assert_eq!(
            (early.revoked().await, revoker.revocation().reason()),
            (RevocationReason::Idle, Some(RevocationReason::Idle))
        );
    }

    #[tokio::test]
    async fn nothing_outlives_its_revoker_and_reasons_fit_a_close_frame() {
        let revoker = Revoker::new();
        let revocation = revoker.revocation();
        drop(revoker);
        assert_eq!(
            (revocation.revoked().await, revocation.reason()),
            (RevocationReason::Revoked, Some(RevocationReason::Revoked))
        );
        assert_eq!(Revocation::never().reason(), None);
        // A close frame has room for 123 bytes.
        assert!(RevocationReason::ALL.iter().all(|why| why.words().len() <= 123));
    }
}
