//! With whom sessions are shared.

use std::sync::Arc;

use lockscope_runtime::shared_rows::Exchange;

use super::Secret;

/// Other servers that know the same sessions.
pub(super) struct Sharing {
    pub(super) exchange: Arc<dyn Exchange>,
    /// This server's name among them.
    pub(super) replica: String,
    /// What all of them know and nobody else; None where there is nothing like that.
    pub(super) secret: Option<Secret>,
}
