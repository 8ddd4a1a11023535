//! Requests that another server carries out, since it has the plan or watches the ensemble: what this server's own record
//! says of them. It is durable before anything is sent, so whoever gets no answer has a place to begin.

use lockscope_wire::{AuditKind, Outcome};

use super::refusal::{Rejection, RejectionReason};
use super::service::{RefusalSubject, ReleaseService};
use audit::{AuditError, Entry};
use identity::Actor;

/// A request that is handed on.
#[derive(Clone, Debug)]
pub struct HandedOn {
    /// Which server is asked.
    pub to: String,
    /// The number by which both records name it.
    pub request_id: String,
    /// What is asked for, like `release`.
    pub what: &'static str,
    /// The plan; empty where it is about none.
    pub plan_id: String,
    /// Why, as it was given.
    pub reason: String,
}

impl HandedOn {
    fn entry(&self, actor: &Actor, detail: String) -> Entry {
        Entry {
            actor: Some(actor.clone()),
            reason: Some(self.reason.trim().to_owned()).filter(|reason| !reason.is_empty()),
            ..Entry::of_server(AuditKind::HandedOn, detail)
        }
    }

    /// What both records call it.
    fn named(&self) -> String {
        let plan = if self.plan_id.is_empty() { String::new() } else { format!(", plan {}", self.plan_id) };
        format!("{} by the replica {}, request {}{plan}", self.what, self.to, self.request_id)
    }
}

impl ReleaseService {
    /// A request that another server handed on is refused: whoever it is for may do nothing here.
    pub async fn refuse_handed_on(&self, actor: &Actor, sentence: &str) {
        let refused = Rejection::new(RejectionReason::Right, sentence);
        self.note_refusal(actor, RefusalSubject::default(), &refused).await;
    }

    /// Puts a request on record before it is handed on; the number of its record.
    ///
    /// # Errors
    /// It is not on record in time. Nothing may be sent then.
    pub async fn hand_on(&self, actor: &Actor, request: &HandedOn) -> Result<u64, AuditError> {
        self.log()
            .note(request.entry(actor, format!("{}: its outcome is in that replica's log", request.named())))
            .await
    }

    /// Puts on record that no answer came: since it could not be sent, or (Err) for another reason, so that what came of it
    /// is not known here. Nothing depends on that this can be written.
    pub async fn lost(&self, actor: &Actor, request: &HandedOn, record: u64, why: Result<&str, &str>) {
        let told = match why {
            Ok(why) => format!("nothing was sent: {why}"),
            Err(why) => format!("no answer came: {why}"),
        };
        let entry = Entry {
            intent: Some(record),
            outcome: why.is_err().then(|| Outcome::Unknown.name()),
            ..request.entry(actor, format!("{}: {told}", request.named()))
        };
        if let Err(error) = self.log().note(entry).await {
            tracing::warn!(%error, request_id = request.request_id, "a lost answer is not on record");
        }
    }
}
