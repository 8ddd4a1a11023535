//! Alerts over HTTP: what fires and what did, who looks at it, and what is silenced.

pub(super) mod acts;
pub(super) mod api;
pub(super) mod backtest;
pub(super) mod banner;
pub(super) mod pages;
pub(super) mod view;

use std::fmt;
use std::sync::Arc;

use lockscope_alerts::service::Alerts;
use lockscope_audit::Journal;

#[derive(Clone)]
pub struct AlertDesk {
    pub(super) alerts: Alerts,
    journal: Arc<dyn Journal>,
}

impl AlertDesk {
    /// Acts are recorded in this audit log before they take effect.
    pub fn new(alerts: Alerts, journal: Arc<dyn Journal>) -> Self {
        Self { alerts, journal }
    }

    pub(super) fn view(&self) -> lockscope_view::Alerts {
        self.alerts.view()
    }
}

impl fmt::Debug for AlertDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlertDesk").field("alerts", &self.alerts).finish_non_exhaustive()
    }
}
