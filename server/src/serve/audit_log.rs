//! The record of acts of a server: opened where it is needed, and taken over from the server before.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use crate::config::Config;
use access::Access;
use audit::{self, Closed, Counted, Journal, Late, Records};
use release::ReleaseService;
use runtime::clock::Clock;
use runtime::tasks::spawn;

/// The record of acts: where it is written, where it is read, and who tells others of it.
pub(super) struct AuditParts {
    /// Where acts are written before they are done.
    pub(super) journal: Arc<dyn Journal>,
    /// Where they are read.
    pub(super) records: Arc<dyn Records>,
    /// What is counted of both.
    pub(super) counts: Arc<audit::Counts>,
    /// The same, where it is kept.
    pub(super) late: Option<Arc<Late>>,
}

impl AuditParts {
    /// What the configuration names; opened now when somebody may act or is to be told, or did act before. Without a record, or with one
    /// that can't be written, viewing goes on and whoever asks is told why.
    pub(super) async fn of(config: &Config, access: &Access, clock: &Clock) -> Self {
        let Some(dir) = &config.data_dir else {
            let closed = Arc::new(Closed::without_directory());
            return Self { journal: closed.clone(), records: closed, counts: Arc::default(), late: None };
        };
        warn_if_open_to_all(dir);
        let late = Arc::new(Late::new(dir.clone(), clock.clone()));
        let counts = Arc::<audit::Counts>::default();
        if (config.webhook.is_some() || access.has_credentials() || late.is_there())
            && let Err(error) = late.open().await
        {
            counts.note(true);
            tracing::error!("{error}; every release is refused until then");
        }
        let journal = Arc::new(Counted::new(late.clone(), counts.clone()));
        Self { journal, records: late.clone(), counts, late: Some(late) }
    }
}

/// Whoever may write where tokens and users are kept is an admin.
fn warn_if_open_to_all(dir: &Path) {
    // One that is not there yet is made for its owner alone.
    let Ok(found) = std::fs::metadata(dir) else { return };
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o002 != 0 {
        let dir = dir.display();
        tracing::error!("everybody on this machine may write to the data directory {dir} (mode {mode:o}), and so become an admin; chmod 700 {dir}");
    }
}

/// Settles what a server before left on record: now, or once the record is open.
pub(super) fn take_over(late: Option<&Arc<Late>>, releases: &ReleaseService) {
    let Some(late) = late.cloned() else { return };
    if let Some(requests) = late.take_requests() {
        return releases.take_over(&requests);
    }
    let releases = releases.clone();
    spawn("requests of a server before", async move {
        late.opened().await;
        if let Some(requests) = late.take_requests() {
            releases.take_over(&requests);
        }
    });
}
