//! What can go wrong with what is kept of people.

/// One clear sentence; never with a secret in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AccessError(pub String);
