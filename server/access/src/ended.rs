//! When somebody's permission ends while they still listen: a word that every socket of theirs hears.

use tokio::sync::watch;

/// Why a permission ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// They signed out.
    SignedOut,
    /// Nothing was asked for too long.
    Idle,
    /// The session lasted as long as one may.
    TooOld,
    /// The token was revoked or changed.
    Revoked,
    /// The token ran out.
    Expired,
    /// The user was removed or changed.
    Removed,
    /// Newer sessions took its place.
    Replaced,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 7] = [Self::SignedOut, Self::Idle, Self::TooOld, Self::Revoked, Self::Expired, Self::Removed, Self::Replaced];

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

/// Says that a permission ended, once. Dropping it says so too, so that no socket outlives what allowed it.
#[derive(Debug)]
pub(super) struct Ender(watch::Sender<Option<Ending>>);

impl Ender {
    pub(super) fn new() -> Self {
        Self(watch::channel(None).0)
    }

    pub(super) fn end(&self, why: Ending) {
        self.0.send_if_modified(|told| {
            let is_first = told.is_none();
            told.get_or_insert(why);
            is_first
        });
    }

    pub(super) fn ended(&self) -> Ended {
        Ended(Some(self.0.subscribe()))
    }
}

/// Hears the end of a permission; cheap to clone.
#[derive(Clone, Debug)]
pub struct Ended(Option<watch::Receiver<Option<Ending>>>);

impl Ended {
    /// Of what does not end while the server runs.
    pub fn never() -> Self {
        Self(None)
    }

    /// Waits for the end.
    pub async fn ended(&self) -> Ending {
        let Some(told) = &self.0 else { return std::future::pending().await };
        // An error means that whoever would tell is gone.
        told.clone().wait_for(Option::is_some).await.ok().and_then(|told| *told).unwrap_or(Ending::Revoked)
    }

    /// The end, if it came.
    pub fn why(&self) -> Option<Ending> {
        let told = self.0.as_ref()?;
        let why = *told.borrow();
        why.or_else(|| told.has_changed().is_err().then_some(Ending::Revoked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_word_counts_and_reaches_who_asks_later() {
        let ender = Ender::new();
        let early = ender.ended();
        assert_eq!(early.why(), None);
        ender.end(Ending::Idle);
        ender.end(Ending::TooOld);
        assert_eq!((early.ended().await, ender.ended().why()), (Ending::Idle, Some(Ending::Idle)));
    }

    #[tokio::test]
    async fn nothing_outlives_its_ender_and_reasons_fit_a_close_frame() {
        let ender = Ender::new();
        let ended = ender.ended();
        drop(ender);
        assert_eq!((ended.ended().await, ended.why()), (Ending::Revoked, Some(Ending::Revoked)));
        assert_eq!(Ended::never().why(), None);
        // A close frame has room for 123 bytes.
        assert!(Ending::ALL.iter().all(|why| why.words().len() <= 123));
    }
}
