//! A build without PostgreSQL: each replica has sign-ins and silences of its own.

use std::path::PathBuf;
use std::sync::Arc;

use access::Access;
use alerts::service::Alerts;
use audit::SharedHeads;
use cluster::Cluster;
use runtime::clock::Clock;
use runtime::shutdown::CancellationToken;
use runtime::tasks::TaskTracker;

use crate::config::Config;
use crate::error::RunError;

/// Shares nothing.
#[expect(clippy::unnecessary_wraps, reason = "as with a database")]
pub(super) fn start(
    _: &Config,
    _: Option<&Cluster>,
    _: (&Access, &Alerts, Option<PathBuf>),
    _: &Clock,
    _: (&TaskTracker, &CancellationToken),
) -> Result<Option<Arc<SharedHeads>>, RunError> {
    Ok(None)
}
