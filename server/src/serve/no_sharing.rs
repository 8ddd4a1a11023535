//! A build without PostgreSQL: each replica has sign-ins and silences of its own.

use std::path::PathBuf;
use std::sync::Arc;

use lockscope_access::Access;
use lockscope_alerts::service::Alerts;
use lockscope_audit::SharedHeads;
use lockscope_cluster::Cluster;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::tasks::TaskTracker;

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
