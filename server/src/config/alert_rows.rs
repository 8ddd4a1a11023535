//! The rows of the table about alerts.

use super::table::FileSection::{Alert, Route};
use super::table::Layering::File;
use super::table::TakesEffect::Reload;
use super::table::{Kind, Setting};

pub(super) const ALERT_NAME: Setting = Kind(Alert, File, Reload).row(
    "name",
    "1 to 64 letters, digits, dots, dashes, underscores",
    "",
    "\"orders-stuck\"",
    "the rule's name; required",
);
pub(super) const ALERT_WHEN: Setting = Kind(Alert, File, Reload).row(
        "when",
        "verdicts, codes of findings, waiting > TIME, held > TIME, depth > NUMBER, not_held > TIME, unseen > TIME; at most 16",
        "",
        "[\"stuck\", \"waiting > 30s\"]",
        "it fires when one of these is so; required",
    );
pub(super) const ALERT_PATH: Setting = Kind(Alert, File, Reload).row(
    "path",
    "a path; * is any part of one name, ** any names",
    "**",
    "\"/orders/*\"",
    "the locks that it is about; for unseen, the watched roots",
);
pub(super) const ALERT_ENSEMBLE: Setting = Kind(Alert, File, Reload).row(
    "ensemble",
    "the name of an ensemble",
    "each of them",
    "\"default\"",
    "the ensemble that it is about",
);
pub(super) const ALERT_FOR: Setting = Kind(Alert, File, Reload).row(
    "for",
    "a time like 30s, 5m, 2h; at most 7d",
    "0s",
    "\"30s\"",
    "for how long it must be so before it fires",
);
pub(super) const ALERT_SEVERITY: Setting =
    Kind(Alert, File, Reload).row("severity", "info, warning, critical", "warning", "\"critical\"", "how bad that is");
pub(super) const ALERT_ROUTE: Setting =
    Kind(Alert, File, Reload).row("route", "names of [[route]] tables", "all of them", "[\"on-call\"]", "who is told");
pub(super) const ROUTE_NAME: Setting = Kind(Route, File, Reload).row(
    "name",
    "1 to 64 letters, digits, dots, dashes, underscores",
    "",
    "\"on-call\"",
    "the receiver's name; required",
);
pub(super) const ROUTE_KIND: Setting = Kind(Route, File, Reload).row(
    "kind",
    "alertmanager, pagerduty, slack, teams, feishu, dingtalk, wecom, webhook",
    "",
    "\"alertmanager\"",
    "what it is; required",
);
pub(super) const ROUTE_URL: Setting = Kind(Route, File, Reload).row(
    "url",
    "an https:// address, or http:// to this machine",
    "PagerDuty's own; else none",
    "\"https://alertmanager.example\"",
    "where it is",
);
pub(super) const ROUTE_URL_FILE: Setting = Kind(Route, File, Reload).row(
    "url_file",
    "a file or credential:NAME",
    "none",
    "\"credential:chat-url\"",
    "a file with the address, where that is a secret of its own, as those of chats are",
);
pub(super) const ROUTE_SECRET_FILE: Setting = Kind(Route, File, Reload).row(
    "secret_file",
    "a file or credential:NAME",
    "none",
    "\"credential:alert-secret\"",
    "what signs messages; PagerDuty's routing key; a bearer token for Alertmanager. Required for webhook and pagerduty",
);
pub(super) const ROUTE_ALLOW_HTTP: Setting = Kind(Route, File, Reload).row(
    "allow_http",
    "on, off",
    "off",
    "\"on\"",
    "alerts may go to another machine in the clear",
);
pub(super) const ROUTE_REPEAT: Setting = Kind(Route, File, Reload).row(
    "repeat",
    "a time of a minute or more",
    "1m for alertmanager, else never",
    "\"4h\"",
    "after how long it is told again of what still fires",
);
