//! The audit log, as auditors read it.

use serde::{Deserialize, Serialize};

use super::Zxid;
use super::name::named_enum;

named_enum! {
    /// What a record is of.
    AuditKind {
        /// A log began, or went on after a start of the server.
        Started = "started",
        /// Somebody signed in.
        SignedIn = "signed_in",
        /// Somebody signed out, or a session ran out.
        SignedOut = "signed_out",
        /// A sign-in, or an act, was refused.
        Refused = "refused",
        /// A release is about to be sent.
        ReleaseIntent = "release_intent",
        /// How that release ended.
        ReleaseOutcome = "release_outcome",
        /// A holder is about to be asked to let go.
        RevokeIntent = "revoke_intent",
        /// How asking ended.
        RevokeOutcome = "revoke_outcome",
        /// A second person approved an order.
        Approved = "approved",
        /// A run of the lab began.
        LabStarted = "lab_started",
        /// A run of the lab ended.
        LabEnded = "lab_ended",
        /// Somebody looks at an alert.
        AlertAcknowledged = "alert_acknowledged",
        /// Nobody is told of some alerts for a while.
        AlertsSilenced = "alerts_silenced",
        /// A silence was ended before its time.
        SilenceEnded = "silence_ended",
        /// A warning of lock orders is silenced.
        OrderSnoozed = "order_snoozed",
        /// The silence of a warning of lock orders was ended before its time.
        OrderSnoozeEnded = "order_snooze_ended",
        /// Heads of the audit logs of other replicas.
        HeadsSeen = "heads_seen",
        /// Another replica was asked to do what somebody ordered here, by a former version.
        HandedOn = "handed_on",
    }
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditRecord {
    /// Counts from 1 without gaps.
    pub id: u64,
    /// When, ms since the Unix epoch.
    pub at_ms: i64,
    /// What it is of.
    pub kind: AuditKind,
    /// Who.
    pub actor: String,
    /// Role and way of signing in, like `operator by token`.
    pub actor_by: String,
    /// Where from; null for the server itself.
    pub address: Option<String>,
    /// The replica where it was asked for; not there where that is the one whose log this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// Ensemble.
    pub ensemble: Option<String>,
    /// The lock.
    pub lock: Option<String>,
    /// The znode.
    pub path: Option<String>,
    /// Which incarnation of it a request is about; not there where a record is of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub czxid: Option<Zxid>,
    /// The plan that was ordered; not there where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
    /// The record of the intent that this is the outcome of.
    pub intent: Option<u64>,
    /// How it ended; the names of [`super::Outcome`] for releases.
    pub outcome: Option<String>,
    /// The reason that was given.
    pub reason: Option<String>,
    /// More, in words: what was seen, what was verified, why it was refused.
    pub detail: String,
    /// SHA-256 over the record before and this one, in hexadecimal.
    pub hash: String,
    /// Whose log it is in, where an answer has records of several; in no log, and in no hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica: Option<String>,
}

/// Answer of `GET /api/v1/audit`, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditPage {
    /// Records in the log.
    pub total: u64,
    /// Requests whose intent is on record and whose outcome is not: those that are being carried out, and those that a
    /// start of the server has still to settle.
    #[serde(default)]
    pub open_requests: u64,
    /// Where the log is on the server's disk.
    pub file: String,
    /// Why nothing more can be written; empty while all is well.
    pub trouble: String,
    /// Why the webhook is behind; empty while it is not, or when there is none.
    #[serde(default)]
    pub delivery_trouble: String,
    /// What to give as `before` to go on to older records; null when there are none.
    #[serde(default)]
    pub next_before: Option<u64>,
    /// Whose log it is; not there where this server is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica: Option<String>,
    /// Logs of other replicas, of which nothing is in this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_shown: Vec<OtherAuditLog>,
    /// Why it is not known how far those are, and whether there are more; empty while it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub not_shown_trouble: String,
    /// A part of it.
    pub records: Vec<AuditRecord>,
}

/// The audit log of another replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherAuditLog {
    /// Whose it is.
    pub replica: String,
    /// The number of its last record, as it showed that itself; null where that is not known.
    pub last_id: Option<u64>,
    /// Whether the replica is there now.
    pub is_there: bool,
}
