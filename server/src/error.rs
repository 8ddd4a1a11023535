//! What can go wrong with the process as a whole, and the exit code for it.

use std::net::SocketAddr;

use crate::config::ConfigError;
use lockscope_live::engine::EngineError;

/// Exit code when what was to be checked is not as it should be.
pub const EXIT_BROKEN: u8 = 1;
/// Exit code of a bad configuration (EX_USAGE).
pub const EXIT_CONFIG: u8 = 64;
/// Exit code when what was to be read is damaged (EX_DATAERR).
pub const EXIT_DAMAGED: u8 = 65;
/// Exit code when what was asked for does not exist (EX_NOINPUT).
pub const EXIT_MISSING: u8 = 66;
/// Exit code when a needed service can't be had (EX_UNAVAILABLE).
pub const EXIT_UNAVAILABLE: u8 = 69;
/// Exit code of a failure of our own (EX_SOFTWARE).
pub const EXIT_INTERNAL: u8 = 70;
/// Exit code when it can't be known right now (EX_TEMPFAIL).
pub const EXIT_UNSURE: u8 = 75;
/// Exit code when a server wants to know who asks, or knows and refuses (EX_NOPERM).
pub const EXIT_DENIED: u8 = 77;

/// Exit code of whoever was interrupted, as shells have it.
pub const EXIT_INTERRUPTED: u8 = 130;

/// Why the process ends other than by a signal.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{0}")]
    Config(#[from] ConfigError),
    #[error("--listen {listen} can't be used ({source}); {remedy}")]
    Listen { listen: SocketAddr, remedy: &'static str, source: std::io::Error },
    #[error(
        "--zk {connect} could not be reached within --connect-timeout {timeout_ms} ms; check the address and that ZooKeeper runs, or leave --connect-timeout out to keep trying"
    )]
    Unreachable { connect: String, timeout_ms: u128 },
    /// A part that this command needs can't be started.
    #[error("{0}")]
    Unavailable(String),
    /// The audit record is not whole.
    #[error("{0}")]
    Broken(String),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Unsure(String),
    #[error("{0}")]
    Denied(String),
    /// Nothing went wrong: the answer is on standard output, and in this exit code.
    #[error("answered with {0}")]
    Answered(u8),
    #[error("stopped before the end")]
    Interrupted,
    #[error("the engine ended: {0}; the view would be stale from now on, restart Lockscope")]
    Engine(#[from] EngineError),
    #[error("{0}")]
    Internal(String),
}

impl RunError {
    /// The command line or the configuration is wrong.
    pub(crate) fn wrong(sentence: impl Into<String>) -> Self {
        Self::Config(ConfigError(sentence.into()))
    }

    pub fn has_message(&self) -> bool {
        !matches!(self, Self::Answered(_))
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Broken(_) => EXIT_BROKEN,
            Self::Interrupted => EXIT_INTERRUPTED,
            Self::Missing(_) => EXIT_MISSING,
            Self::Unsure(_) => EXIT_UNSURE,
            Self::Denied(_) => EXIT_DENIED,
            Self::Answered(code) => *code,
            Self::Config(_) => EXIT_CONFIG,
            Self::Listen { .. } | Self::Unreachable { .. } | Self::Unavailable(_) => EXIT_UNAVAILABLE,
            Self::Engine(_) | Self::Internal(_) => EXIT_INTERNAL,
        }
    }
}
