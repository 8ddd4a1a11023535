//! Alerts: what fires and what did, who was told, and who silenced what.

use serde::{Deserialize, Serialize};

use super::{AlertState, Severity};

/// Answer of `/api/v1/alerts`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alerts {
    /// Firing ones first, worst first; then pending ones, then those that are over, newest first.
    pub alerts: Vec<Alert>,
    /// Silences that have not ended.
    pub silences: Vec<Silence>,
    /// The rules, in the order of the configuration.
    pub rules: Vec<AlertRule>,
    /// Where alerts are sent.
    pub routes: Vec<AlertRoute>,
    /// Why alerts are not kept over a restart; empty when they are.
    pub trouble: String,
}

/// One alert: one rule at one lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alert {
    /// Which it is. It has another one when it fires anew after it was over.
    pub key: String,
    /// The rule's name.
    pub rule: String,
    /// The ensemble.
    pub ensemble: String,
    /// The lock's path.
    pub lock: String,
    /// How bad.
    pub severity: Severity,
    /// What became of it.
    pub state: AlertState,
    /// Since when it is so, ms since the epoch.
    pub since_at_ms: i64,
    /// When it fired; null while it is pending.
    pub fired_at_ms: Option<i64>,
    /// When it was over; null before.
    pub resolved_at_ms: Option<i64>,
    /// ZooKeeper can't be seen since then, and so neither whether it is still so; null when it can.
    pub unknown_since_ms: Option<i64>,
    /// What is wrong.
    pub sentence: String,
    /// The address of the moment, without scheme and host.
    pub link: String,
    /// Who silenced it, until when and why; null when nobody did.
    pub silenced_by: Option<Silence>,
    /// Who looks at it; null when nobody does.
    pub acked_by: Option<Acknowledgement>,
}

/// Somebody looks at an alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Acknowledgement {
    /// Who.
    pub by: String,
    /// Since when.
    pub at_ms: i64,
    /// What for.
    pub reason: String,
}

/// Alerts that nobody is told of for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Silence {
    /// Its number.
    pub id: u64,
    /// Which alerts.
    pub matchers: AlertMatchers,
    /// Who made it.
    pub by: String,
    /// When.
    pub at_ms: i64,
    /// Until when.
    pub until_at_ms: i64,
    /// Why.
    pub reason: String,
}

/// Which alerts are meant: all that are given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AlertMatchers {
    /// The rule's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The ensemble's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<String>,
    /// The lock's path, in which `*` stands for anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlertRule {
    /// Its name.
    pub name: String,
    /// It fires when one of these is so.
    pub when: Vec<String>,
    /// Of which locks; `*` stands for anything.
    pub path: String,
    /// Of which ensemble; null: of each.
    pub ensemble: Option<String>,
    /// For how long it must be so, ms.
    pub for_ms: i64,
    /// How bad that is.
    pub severity: Severity,
    /// Who is told, by the names of routes.
    pub routes: Vec<String>,
    /// It is there without any configuration.
    pub is_built_in: bool,
}

/// Where alerts are sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlertRoute {
    /// Its name.
    pub name: String,
    /// What it is: `alertmanager`, `pagerduty`, `slack`, `teams`, `feishu`, `dingtalk`, `wecom` or `webhook`.
    pub kind: String,
    /// Where, without what may be secret.
    pub url: String,
    /// Messages that wait to be sent.
    pub waiting: u64,
    /// When one was taken last, ms since the epoch; null when none was since the server started.
    pub sent_at_ms: Option<i64>,
    /// Why it takes none; empty when it does.
    pub trouble: String,
}
