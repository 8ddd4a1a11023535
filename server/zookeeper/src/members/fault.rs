//! What can be wrong with an answer, and how large one may be.

/// Connections of one member; a longer list is refused as a whole, since a cut list would make living clients look
/// gone.
pub const CONNECTIONS_MAX: usize = 100_000;
/// Sessions of one member.
pub const SESSIONS_MAX: usize = 200_000;
/// Paths of ephemerals of one member.
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
    Refused {
        /// What it said.
        said: String,
    },
    /// The server runs, but has no quorum or is still starting.
    #[error("it says that it is not currently serving requests")]
    NotServing,
    /// Nothing came.
    #[error("the answer was empty")]
    Empty,
    /// The end is missing.
    #[error("the answer was cut off")]
    CutOff,
    /// More than is taken.
    #[error("it has more than {max} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are taken.
        max: usize,
    },
    /// Not the expected form.
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

/// The beginning of what somebody said.
pub(super) fn quote(text: &str) -> String {
    text.trim().chars().take(QUOTE_CHARS_MAX).collect()
}

/// Counts one more of something that has a maximum.
pub(super) fn count(so_far: &mut usize, what: &'static str, max: usize) -> Result<(), Malformed> {
    *so_far += 1;
    if *so_far > max { Err(Malformed::TooMany { what, max }) } else { Ok(()) }
}
