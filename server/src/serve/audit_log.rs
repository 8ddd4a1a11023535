//! The audit log of a server: opened where it is needed, and taken over from the server before.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use crate::config::Config;
use lockscope_access::Access;
use lockscope_audit::{self, Journal, LazyLog, MeteredJournal, Records, UnavailableLog};
use lockscope_release::ReleaseService;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::tasks::spawn;

pub(super) struct AuditParts {
    /// Where acts are written before they are done.
    pub(super) journal: Arc<dyn Journal>,
    pub(super) records: Arc<dyn Records>,
    pub(super) counts: Arc<lockscope_audit::JournalCounts>,
    /// None where it is not kept.
    pub(super) log: Option<Arc<LazyLog>>,
}

impl AuditParts {
    /// What the configuration names; opened now when somebody may release or is to be notified, or did release before.
    /// Without a record, or with one that can't be written, viewing goes on and releases are refused with the reason.
    pub(super) async fn of(config: &Config, access: &Access, clock: &Clock) -> Self {
        let Some(dir) = &config.data_dir else {
            let closed = Arc::new(UnavailableLog::without_directory());
            return Self { journal: closed.clone(), records: closed, counts: Arc::default(), log: None };
        };
        warn_if_open_to_all(dir);
        let log = Arc::new(LazyLog::new(dir.clone(), clock.clone()));
        let counts = Arc::<lockscope_audit::JournalCounts>::default();
        if (config.webhook.is_some() || access.has_credentials() || log.is_there())
            && let Err(error) = log.open().await
        {
            counts.note(true);
            tracing::error!("{error}; every release is rejected until then");
        }
        let journal = Arc::new(MeteredJournal::new(log.clone(), counts.clone()));
        Self { journal, records: log.clone(), counts, log: Some(log) }
    }
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
pub(super) fn take_over(log: Option<&Arc<LazyLog>>, releases: &ReleaseService, stop: &CancellationToken) {
    let Some(log) = log.cloned() else { return };
    if let Some(requests) = log.take_requests() {
        return releases.take_over(&requests);
    }
    let (releases, stop) = (releases.clone(), stop.clone());
    spawn("requests of a server before", async move {
        if stop.run_until_cancelled(log.opened()).await.is_none() {
            return;
        }
        if let Some(requests) = log.take_requests() {
            releases.take_over(&requests);
        }
    });
}
