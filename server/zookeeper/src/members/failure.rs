//! Why a member gave no answer, in the same words for both transports.

use std::time::Duration;

use lockscope_core::evidence::Trouble;

use super::admin::Identity;
use super::fault::{Malformed, quote};

/// The longest answer that is taken, over HTTP or as a four-letter word.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) trouble: Trouble,
    /// It concerns the way, not the question: the other questions would fare no better.
    pub(super) whole_way: bool,
    pub(super) is_too_long: bool,
    /// A clause with a subject: what came back.
    pub(super) said: String,
}

impl Failure {
    pub(super) fn new(trouble: Trouble, whole_way: bool, said: impl Into<String>) -> Self {
        Self { trouble, whole_way, is_too_long: false, said: said.into() }
    }

    /// Nobody listens.
    pub(super) fn nobody() -> Self {
        Self::new(Trouble::Off, true, "nobody listens there (connection refused)")
    }

    pub(super) fn timed_out() -> Self {
        Self::new(Trouble::Broken, true, format!("no whole answer came within {} s", ANSWER_MAX.as_secs()))
    }

    /// The network or the name.
    pub(super) fn unreachable(said: &str) -> Self {
        Self::new(Trouble::Broken, true, format!("it could not be asked ({})", quote(said)))
    }

    /// More than is taken.
    pub(super) fn endless() -> Self {
        let said = format!("the answer is longer than {} MiB", BODY_BYTES_MAX / (1024 * 1024));
        Self { is_too_long: true, ..Self::new(Trouble::Broken, false, said) }
    }

    pub(super) fn forbidden(said: &str) -> Self {
        Self::new(Trouble::Denied, false, format!("it refuses ({said})"))
    }

    /// There is no such command.
    pub(super) fn absent(said: &str) -> Self {
        Self::new(Trouble::Off, false, format!("it has no such command ({said})"))
    }

    /// An AdminServer of somebody else.
    pub(super) fn stranger(who: Identity) -> Self {
        let said =
            format!("another member answers there (server id {}, client port {})", who.server_id, who.client_port);
        Self::new(Trouble::Broken, true, said)
    }
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        let trouble = match malformed {
            Malformed::Denied => Trouble::Denied,
            Malformed::Refused { .. } => Trouble::Off,
            Malformed::NotServing
            | Malformed::Empty
            | Malformed::CutOff
            | Malformed::TooMany { .. }
            | Malformed::Strange { .. } => Trouble::Broken,
        };
        let is_too_long = matches!(malformed, Malformed::TooMany { .. });
        Self { is_too_long, ..Self::new(trouble, false, malformed.to_string()) }
    }
}
