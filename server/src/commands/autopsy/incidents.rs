//! Incidents of an autopsy: the same objects as those of the API, with what ZooKeeper's audit log says of who is at their
//! root. Pure.

use lockscope_autopsy::audit_log::{AuditLog, Writer};
use lockscope_autopsy::{Coverage, LockReport, Report};
use lockscope_web::AllIncidents;
use serde::Serialize;
use serde_json::Value;

use crate::commands::query::incidents::Incident;
use crate::error::RunError;

/// All that were found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// As they are printed for scripts, the newest first.
    pub(super) objects: Vec<Value>,
    /// The same as they are read.
    pub(super) all: Vec<Incident>,
    /// Further ones.
    pub(super) left_out: u64,
}

impl Found {
    /// Reads them, and adds what is known of their roots.
    ///
    /// # Errors
    /// They are not as the API has them.
    pub(super) fn new(of: AllIncidents, writers: &AuditLog) -> Result<Self, RunError> {
        let AllIncidents { incidents: mut objects, left_out } = of;
        objects.iter_mut().for_each(|incident| name_root(incident, writers));
        let all: Result<Vec<Incident>, _> = objects.iter().map(serde::Deserialize::deserialize).collect();
        let all = all.map_err(|error| RunError::Internal(format!("an incident can't be read: {error}")))?;
        Ok(Self { objects, all, left_out })
    }
}

/// Says where the root of an incident wrote from, where that is not known, and as which user.
fn name_root(incident: &mut Value, writers: &AuditLog) {
    let session = incident["root_session_id"].as_str().and_then(|id| id.strip_prefix("0x"));
    let session = session.and_then(|id| u64::from_str_radix(id, 16).ok()).map(u64::cast_signed);
    let Some(Writer { address, user }) = session.and_then(|session| writers.writer(session)) else { return };
    if incident["root_host"].is_null() && !address.is_empty() {
        incident["root_host"] = (&**address).into();
    }
    if !user.is_empty() {
        incident["root_user"] = (&**user).into();
    }
}

/// Everything, for scripts.
#[derive(Debug, Serialize)]
pub(super) struct WholeReport<'a> {
    coverage: &'a Coverage,
    locks: &'a [LockReport],
    locks_left_out: u64,
    incidents: &'a [Value],
    incidents_left_out: u64,
    holds: u64,
}

/// Everything of a report and its incidents.
pub(super) fn whole<'a>(report: &'a Report, found: &'a Found) -> WholeReport<'a> {
    WholeReport {
        coverage: &report.coverage,
        locks: &report.locks,
        locks_left_out: report.locks_left_out,
        incidents: &found.objects,
        incidents_left_out: found.left_out,
        holds: report.holds,
    }
}
