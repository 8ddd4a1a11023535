//! What a projector shows beside the models: runs of a lab, the settings in force, recordings.

use std::sync::Arc;

use lockscope_view::{ConfigStatus, HistoryStatus, LabRun};
use tokio::sync::watch;

pub trait LabSource: Send + Sync {
    fn run(&self, id: &str) -> Option<Arc<LabRun>>;
    /// Rises with every change of any.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// How the settings in force stand to their file.
pub trait ConfigState: Send + Sync {
    fn status(&self) -> ConfigStatus;
    /// Rises with every change.
    fn changes(&self) -> watch::Receiver<u64>;
}

pub trait HistorySource: Send + Sync {
    /// That of an ensemble; None where nothing is recorded.
    fn status(&self, ensemble: &str) -> Option<HistoryStatus>;
    /// Rises with every change of any that is shown.
    fn changes(&self) -> watch::Receiver<u64>;
}
