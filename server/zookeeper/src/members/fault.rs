//! What can be wrong with an answer, and how large one may be.

/// Connections of one member; a longer list is refused as a whole, since a cut list would make living clients look
/// gone.
pub const CONNECTIONS_MAX: usize = 100_000;
pub const SESSIONS_MAX: usize = 200_000;
pub const EPHEMERALS_MAX: usize = 200_000;
/// Pairs of path and session in one table of watches.
pub const WATCHES_MAX: usize = 400_000;
/// Characters of a strange answer that are quoted.
const QUOTE_CHARS_MAX: usize = 60;

/// Why an answer can't be used. Reads well after "it answered, but".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The word is not in the whitelist.
    #[error("the word is not in its whitelist")]
    Denied,
    /// The command is not known or needs a right that we do not have.
    #[error("it refuses: {said}")]
    Refused { said: String },
    /// The server runs, but has no quorum or is still starting.
    #[error("it says that it is not currently serving requests")]
    NotServing,
    #[error("the answer was empty")]
    Empty,
    #[error("the answer was cut off")]
    CutOff,
    #[error("it has more than {max} {what}")]
    TooMany { what: &'static str, max: usize },
    #[error("the answer was not understood at {at:?}")]
    Strange {
        /// Where it stopped making sense.
        at: String,
    },
}

impl Malformed {
    /// Strange at this text, which is quoted in part.
    pub(super) fn strange(at: &str) -> Self {
        Self::Strange { at: quote(at) }
    }
}

pub(super) fn quote(text: &str) -> String {
    text.trim().chars().take(QUOTE_CHARS_MAX).collect()
}

pub(super) fn count(so_far: &mut usize, what: &'static str, max: usize) -> Result<(), Malformed> {
    *so_far += 1;
    if *so_far > max { Err(Malformed::TooMany { what, max }) } else { Ok(()) }
}
