//! The audit log of a server: opened where it is needed, and taken over from the server before.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use crate::config::Config;
use lockscope_access::Access;
use lockscope_audit::AuditLog;
use lockscope_release::ReleaseService;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::tasks::spawn;

/// What the configuration names; opened now when somebody may release or is to be notified, or did release before.
/// Without a record, or with one that can't be written, viewing goes on and releases are refused with the reason.
pub(super) async fn open(config: &Config, access: &Access, clock: &Clock) -> Arc<AuditLog> {
    let Some(dir) = &config.data_dir else { return Arc::default() };
    warn_if_open_to_all(dir);
    let log = AuditLog::new(dir.clone(), clock.clone());
    if (config.webhook.is_some() || access.has_credentials() || log.is_there())
        && let Err(error) = log.open_early().await
    {
        tracing::error!("{error}; every release is rejected until then");
    }
    Arc::new(log)
}

/// Whoever may write where tokens and users are kept is an admin.
fn warn_if_open_to_all(dir: &Path) {
    // One that is not there yet is made for its owner alone.
    let Ok(found) = std::fs::metadata(dir) else { return };
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o002 != 0 {
        let dir = dir.display();
        tracing::error!(
            "everybody on this machine may write to the data directory {dir} (mode {mode:o}), and so become an admin; chmod 700 {dir}"
        );
    }
}

/// Settles what a server before left on record: now, or once the record is open.
pub(super) fn take_over(log: &Arc<AuditLog>, releases: &ReleaseService, stop: &CancellationToken) {
    if !log.is_kept() {
        return;
    }
    if let Some(requests) = log.take_requests() {
        return releases.take_over(&requests);
    }
    let (log, releases, stop) = (log.clone(), releases.clone(), stop.clone());
    spawn("requests of a server before", async move {
        if stop.run_until_cancelled(log.opened()).await.is_none() {
            return;
        }
        if let Some(requests) = log.take_requests() {
            releases.take_over(&requests);
        }
    });
}
