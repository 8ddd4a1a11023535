//! What the page of alerts shows, as plain values.

use lockscope_view::{Alert, AlertState, Alerts};

/// What the page shows, and what may be done on it.
#[derive(Clone, Debug, Default)]
pub struct AlertsView {
    /// All alerts that this person may see, with silences, rules and routes; the page picks those of `filter`.
    pub alerts: Alerts,
    /// The instant at which it is looked at.
    pub now_ms: i64,
    /// Which alerts are listed.
    pub filter: AlertFilter,
    /// They may acknowledge and silence.
    pub may_act: bool,
    /// Somebody is signed in.
    pub is_signed_in: bool,
    /// What a form did.
    pub done: Option<AlertDone>,
    /// Why a form did nothing.
    pub wrong: Option<String>,
}

/// Which alerts are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlertFilter {
    /// All of them.
    #[default]
    All,
    /// Those that fire, silenced or not.
    Firing,
    /// Those that are not so for long enough yet.
    Pending,
    /// Those that are over.
    Resolved,
    /// Those that nobody is told of.
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

    /// The one of this name.
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

    /// Whether an alert is listed.
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

/// What a form did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertDone {
    /// An alert was acknowledged.
    Acknowledged,
    /// A silence was made.
    Silenced,
    /// A silence was ended.
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

    /// The one of this name.
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

/// What the page of a rule that is tried shows.
#[derive(Clone, Debug, Default)]
pub struct TriedView {
    /// The text of the rule, as it came.
    pub toml: String,
    /// Over how many hours, up to now.
    pub hours: u32,
    /// When it would have fired; None: nothing was tried.
    pub firings: Option<Vec<TriedFiring>>,
    /// Later ones that are not listed.
    pub left_out: usize,
    /// Milliseconds of that time of which nothing is known.
    pub unknown_ms: i64,
    /// The ensemble that was looked at.
    pub ensemble: String,
    /// Why nothing can be said.
    pub wrong: Option<String>,
    /// The instant at which it is looked at.
    pub now_ms: i64,
}

/// One time that a rule would have fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedFiring {
    /// The rule's name.
    pub rule: String,
    /// The lock's path.
    pub lock: String,
    /// When it would have fired, ms since the epoch.
    pub from_at_ms: i64,
    /// When it would have been over; None: not until now.
    pub to_at_ms: Option<i64>,
    /// What was wrong.
    pub sentence: String,
}

impl TriedView {
    /// Hours that can be chosen.
    pub const HOURS: [u32; 4] = [1, 6, 24, 168];
    /// The address of the page.
    pub const URL: &str = "/alerts/test";
}
