//! What is to be recorded, and the record it becomes.

use lockscope_view::{AuditKind, AuditRecord, Zxid};

use super::text::{DETAIL_CHARS_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX, REASON_CHARS_MAX, bounded};
use crate::Actor;

/// The actor of records of the server itself.
const SERVER: &str = "lockscope";

/// What is to be recorded. The log adds number, time and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: AuditKind,
    /// Who; None for the server itself.
    pub actor: Option<Actor>,
    pub ensemble: Option<String>,
    pub lock: Option<String>,
    /// The znode.
    pub path: Option<String>,
    pub plan: Option<PlanRef>,
    /// The intent that this is the outcome of.
    pub intent: Option<u64>,
    pub outcome: Option<&'static str>,
    /// The reason that was given; cut to a bound by the log.
    pub reason: Option<String>,
    /// More, in words; never a secret.
    pub detail: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRef {
    pub id: String,
    /// The znode that was planned for.
    pub czxid: Zxid,
}

impl Entry {
    pub fn of_server(kind: AuditKind, detail: String) -> Self {
        Self {
            kind,
            actor: None,
            ensemble: None,
            lock: None,
            path: None,
            plan: None,
            intent: None,
            outcome: None,
            reason: None,
            detail,
        }
    }

    /// The record, every text bounded and with nothing hidden in it; number and hash are the chain's.
    pub(super) fn into_record(self, at_ms: i64) -> AuditRecord {
        let name = |text: String| bounded(&text, NAME_CHARS_MAX);
        let path = |text: String| bounded(&text, PATH_CHARS_MAX);
        let (actor, actor_by, address) = match self.actor {
            None => (SERVER.to_owned(), "the server itself".to_owned(), None),
            Some(actor) => {
                (name(actor.name.clone()), actor.described(), actor.address.map(|address| address.to_string()))
            }
        };
        AuditRecord {
            id: 0,
            at_ms,
            kind: self.kind,
            actor,
            actor_by,
            address,
            through: None,
            ensemble: self.ensemble.map(name),
            lock: self.lock.map(path),
            path: self.path.map(path),
            czxid: self.plan.as_ref().map(|plan| plan.czxid),
            plan_id: self.plan.map(|plan| name(plan.id)),
            intent: self.intent,
            outcome: self.outcome.map(|outcome| bounded(outcome, NAME_CHARS_MAX)),
            reason: self.reason.map(|reason| bounded(&reason, REASON_CHARS_MAX)),
            detail: bounded(&self.detail, DETAIL_CHARS_MAX),
            hash: String::new(),
            replica: None,
        }
    }
}
