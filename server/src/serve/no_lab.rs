//! The same of a build without the lab: nothing.

use std::sync::Arc;

use lockscope_audit::Journal;
use lockscope_live::Projector;
use lockscope_runtime::clock::Clock;
use lockscope_web::Http;

use crate::config::Config;

/// No lab.
#[derive(Clone)]
pub struct LabParts;

impl LabParts {
    pub(super) fn start(_: &Config, _: Arc<dyn Journal>, _: &Clock) -> Self {
        Self
    }

    pub(super) fn project(&self, projector: Projector) -> Projector {
        projector
    }

    pub(super) fn serve(&self, http: Http) -> Http {
        http
    }

    /// Nothing to take on.
    pub fn reload(&self, _: &Config) {}

    pub(super) async fn close(&self) {}
}
