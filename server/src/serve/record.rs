//! The record of acts of a server: opened where it is needed, and taken over from the server before.

use std::sync::Arc;

use crate::access::Access;
use crate::audit::{self, Closed, Counted, Journal, Late, Records};
use crate::clock::Clock;
use crate::config::Config;
use crate::release::Desk;

/// The record of acts: where it is written, where it is read, and who tells others of it.
pub(super) struct Record {
    /// Where acts are written before they are done.
    pub(super) journal: Arc<dyn Journal>,
    /// Where they are read.
    pub(super) records: Arc<dyn Records>,
    /// What is counted of both.
    pub(super) counts: Arc<audit::Counts>,
    /// The same, where it is kept.
    pub(super) late: Option<Arc<Late>>,
}

impl Record {
    /// What the configuration names; opened now when somebody may act or is to be told, or did act before. Without a record, or with one
    /// that can't be written, viewing goes on and whoever asks is told why.
    pub(super) async fn of(config: &Config, access: &Access, clock: &Clock) -> Self {
        let Some(dir) = &config.data_dir else {
            let closed = Arc::new(Closed::without_directory());
            return Self { journal: closed.clone(), records: closed, counts: Arc::default(), late: None };
        };
        let late = Arc::new(Late::new(dir.clone(), clock.clone()));
        let counts = Arc::<audit::Counts>::default();
        if (config.webhook.is_some() || access.has_credentials() || late.is_there())
            && let Err(error) = late.open().await
        {
            counts.note(true);
            tracing::error!("{error}; every act is refused until then");
        }
        let journal = Arc::new(Counted::new(late.clone(), counts.clone()));
        Self { journal, records: late.clone(), counts, late: Some(late) }
    }
}

/// Settles what a server before left on record: now, or once the record is open.
pub(super) fn take_over(late: Option<&Arc<Late>>, desk: &Desk) {
    let Some(late) = late.cloned() else { return };
    if let Some(requests) = late.take_requests() {
        return desk.take_over(&requests);
    }
    let desk = desk.clone();
    tokio::spawn(async move {
        late.opened().await;
        if let Some(requests) = late.take_requests() {
            desk.take_over(&requests);
        }
    });
}
