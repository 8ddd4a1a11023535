//! The ensembles of the service, which come and go while it runs.

use super::ensemble::EnsembleHandle;
use super::refusal::{Rejection, RejectionReason};
use super::service::ReleaseService;

impl ReleaseService {
    pub fn add(&self, ensemble: EnsembleHandle) {
        self.0.counts.add(&ensemble.info.name);
        self.0.ensembles.push(ensemble);
    }

    /// Plans and executes releases of one no more. What is under way goes on.
    pub fn remove(&self, name: &str) {
        self.0.ensembles.take(|ensemble| ensemble.info.name == name);
    }

    pub(super) fn ensemble(&self, ensemble: &Option<String>) -> Result<EnsembleHandle, Rejection> {
        let ensembles = self.0.ensembles.now();
        match ensemble.as_deref().filter(|name| !name.is_empty()) {
            None if ensembles.len() == 1 => ensembles.first().ok_or(()),
            None => return Err(Rejection::new(RejectionReason::NotFound, "There are several ensembles; name one.")),
            Some(name) => ensembles.iter().find(|ensemble| ensemble.info.name == name).ok_or(()),
        }
        .cloned()
        .map_err(|()| {
            Rejection::new(
                RejectionReason::NotFound,
                format!("There is no ensemble {:?}.", ensemble.as_deref().unwrap_or_default()),
            )
        })
    }
}
