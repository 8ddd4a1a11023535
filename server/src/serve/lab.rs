//! The lab as a part of the server: begun, shown, served and ended with it.

use std::sync::Arc;
use std::time::Duration;

use lockscope_audit::Journal;
use lockscope_lab::{Lab, LabService};
use lockscope_live::Projector;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::tasks;
use lockscope_web::Http;

use crate::config::Config;

/// How long a run that is stopped gets to be cleared.
const CLEAR_MAX: Duration = Duration::from_secs(15);

/// The lab; off where the configuration does not allow it. Cheap to clone.
#[derive(Clone)]
pub struct LabParts {
    service: LabService,
}

impl LabParts {
    /// As the configuration has it; runs that ended are kept beside the audit log.
    pub(super) fn start(config: &Config, journal: Arc<dyn Journal>, clock: &Clock) -> Self {
        let lab = config.lab.as_ref().map_or_else(Lab::off, |lab| {
            let kept = config.data_dir.as_ref().map(|dir| dir.join("lab"));
            Lab::new(lab.places(&config.ensembles), lab.limits, kept, clock.clone())
        });
        let sweeper = lab.clone();
        tasks::spawn("lab_sweep", async move { sweeper.sweep().await });
        Self { service: LabService::new(lab, journal, clock.clone()) }
    }

    pub(super) fn project(&self, projector: Projector) -> Projector {
        if self.service.lab().is_off() { projector } else { projector.with_lab(Arc::new(self.service.clone())) }
    }

    pub(super) fn serve(&self, http: Http) -> Http {
        http.with_lab(self.service.clone())
    }

    pub fn reload(&self, config: &Config) {
        if let Some(lab) = &config.lab {
            self.service.lab().set_limits(lab.limits);
        }
    }

    /// Stops the run that is under way, and waits until it is cleared.
    pub(super) async fn close(&self) {
        if !self.service.close(CLEAR_MAX).await {
            tracing::warn!(
                "a run of the lab was not cleared within {CLEAR_MAX:?}; the next start removes what it left"
            );
        }
    }
}
