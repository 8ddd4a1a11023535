//! Incidents of an autopsy: the same objects as those of the API, with what ZooKeeper's audit log says of who is at their
//! root. Pure.

use lockscope_autopsy::audit_log::{AuditLog, Writer};
use lockscope_autopsy::{Coverage, LockReport, Report};
use lockscope_view::SessionId;
use lockscope_view::past::Incident;
use lockscope_web::AllIncidents;
use serde::Serialize;

#[derive(Debug, Default)]
pub(super) struct Found {
    /// The newest first.
    pub(super) all: Vec<NamedIncident>,
    pub(super) left_out: u64,
}

/// An incident, and as which user who is at its root wrote.
#[derive(Debug, Serialize)]
pub(super) struct NamedIncident {
    #[serde(flatten)]
    pub(super) incident: Incident,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_user: Option<String>,
}

impl Found {
    /// Adds what is known of their roots.
    pub(super) fn new((all, left_out): AllIncidents, writers: &AuditLog) -> Self {
        let all = all.into_iter().map(|incident| NamedIncident::new(incident, writers)).collect();
        Self { all, left_out: left_out as u64 }
    }
}

impl NamedIncident {
    /// Says where the root of an incident wrote from, where that is not known, and as which user.
    pub(super) fn new(mut incident: Incident, writers: &AuditLog) -> Self {
        let session: Option<SessionId> = incident.root_session_id.as_ref().and_then(|id| id.parse().ok());
        let writer = session.and_then(|session| writers.writer(session.0));
        let Some(Writer { address, user }) = writer else { return Self { incident, root_user: None } };
        if incident.root_host.is_none() && !address.is_empty() {
            incident.root_host = Some(address.to_string());
        }
        Self { incident, root_user: Some(user.to_string()).filter(|user| !user.is_empty()) }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct WholeReport<'a> {
    coverage: &'a Coverage,
    locks: &'a [LockReport],
    locks_left_out: u64,
    incidents: &'a [NamedIncident],
    incidents_left_out: u64,
    holds: u64,
}

pub(super) fn whole<'a>(report: &'a Report, found: &'a Found) -> WholeReport<'a> {
    WholeReport {
        coverage: &report.coverage,
        locks: &report.locks,
        locks_left_out: report.locks_left_out,
        incidents: &found.all,
        incidents_left_out: found.left_out,
        holds: report.holds,
    }
}
