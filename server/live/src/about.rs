//! What no model knows of the server.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What no model knows.
#[derive(Clone, Debug)]
pub struct About {
    pub version: String,
    pub started_at_ms: i64,
    /// Whether nobody may release; kept in line by whoever knows the people.
    pub read_only: Arc<AtomicBool>,
}
