//! What the page of alerts shows, as plain values.

use lockscope_view::api::Backtest;
use lockscope_view::{Alert, AlertState, Alerts};

#[derive(Clone, Debug, Default)]
pub struct AlertsView {
    /// All alerts that this person may see, with silences, rules and routes; the page picks those of `filter`.
    pub alerts: Alerts,
    pub now_ms: i64,
    pub filter: AlertFilter,
    pub may_act: bool,
    pub is_signed_in: bool,
    pub done: Option<AlertDone>,
    /// Why a form did nothing.
    pub wrong: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlertFilter {
    #[default]
    All,
    /// Those that fire, silenced or not.
    Firing,
    /// Those that are not so for long enough yet.
    Pending,
    Resolved,
    Silenced,
}

impl AlertFilter {
    /// All, in the order in which they are offered.
    pub const ALL: [Self; 5] = [Self::All, Self::Firing, Self::Pending, Self::Resolved, Self::Silenced];

    /// Its name in an address, as `state`; `all` may be left out.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Firing => "firing",
            Self::Pending => "pending",
            Self::Resolved => "resolved",
            Self::Silenced => "silenced",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filter| filter.name() == name)
    }

    /// Address of the page with this choice, without scheme and host.
    pub fn url(self) -> String {
        match self {
            Self::All => "/alerts".to_owned(),
            _ => format!("/alerts?state={}", self.name()),
        }
    }

    pub fn takes(self, alert: &Alert) -> bool {
        match self {
            Self::All => true,
            Self::Firing => alert.state == AlertState::Firing,
            Self::Pending => alert.state == AlertState::Pending,
            Self::Resolved => alert.state == AlertState::Resolved,
            Self::Silenced => alert.silenced_by.is_some(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertDone {
    Acknowledged,
    Silenced,
    SilenceEnded,
}

impl AlertDone {
    const ALL: [Self; 3] = [Self::Acknowledged, Self::Silenced, Self::SilenceEnded];

    /// Its name in an address, as `done`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::Silenced => "silenced",
            Self::SilenceEnded => "silence_ended",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.name() == name)
    }

    /// Address of the page that says so: where a form leads that did its work.
    pub fn url(self) -> String {
        format!("/alerts?done={}", self.name())
    }
}

/// It fires, and nobody silenced it.
pub(super) fn is_loud(alert: &Alert) -> bool {
    alert.state == AlertState::Firing && alert.silenced_by.is_none()
}

#[derive(Clone, Debug, Default)]
pub struct TriedView {
    pub toml: String,
    /// Over how many hours, up to now.
    pub hours: u32,
    /// When it would have fired; None: nothing was tried.
    pub tried: Option<Backtest>,
    /// Why nothing can be said.
    pub wrong: Option<String>,
    pub now_ms: i64,
}

impl TriedView {
    pub const HOURS: [u32; 4] = [1, 6, 24, 168];
    pub const URL: &str = "/alerts/test";
}
