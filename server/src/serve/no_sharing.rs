//! A build without PostgreSQL: each replica has sign-ins and silences of its own.

use access::Access;
use alerts::service::Alerts;
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
    _: (&Access, &Alerts),
    _: &Clock,
    _: (&TaskTracker, &CancellationToken),
) -> Result<(), RunError> {
    Ok(())
}
