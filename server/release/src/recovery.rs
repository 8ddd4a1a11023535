//! After a start: requests of a server before whose outcome is not on record. A read of each znode shows some; who did
//! it can't be known any more, and is not claimed. Those that ended are remembered for whoever asks again.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future;
use lockscope_live::project::ForcedRelease;
use lockscope_view::{AuditKind, AuditRecord, Outcome, SignedBy, Zxid};
use tokio::sync::watch;

use super::ensemble::EnsembleHandle;
use super::execute::Execution;
use super::service::ReleaseService;
use lockscope_audit::{CompletedRequest, Entry, PlanRef, Requests};
use lockscope_runtime::tasks::spawn;

/// How long an ensemble gets to be reached and asked; longer, and the state is reported as unknown.
const LOOK_MAX: Duration = Duration::from_secs(60);
/// How often it is looked for one that is not watched yet: a server of several watches only once it knows what it owns.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A request without an outcome, and where to send it.
struct OpenRequest {
    intent: AuditRecord,
    sender: Option<watch::Sender<Option<Execution>>>,
}

impl ReleaseService {
    /// Takes over the requests of a previous server: outcomes are kept for repeated requests, releases for those who show
    /// who held before, open requests are recovered.
    pub fn take_over(&self, requests: &Requests) {
        for ended in requests.completed() {
            forced(ended).into_iter().for_each(|forced| self.0.forced.note(forced));
            if let Some(sender) = self.remember(&ended.intent) {
                sender.send_replace(execution(ended));
            }
        }
        let mut by_ensemble: BTreeMap<Option<String>, Vec<OpenRequest>> = BTreeMap::new();
        for intent in requests.open() {
            let left = OpenRequest { sender: self.remember(intent), intent: intent.clone() };
            by_ensemble.entry(intent.ensemble.clone()).or_default().push(left);
        }
        if by_ensemble.is_empty() {
            return;
        }
        tracing::warn!(
            count = requests.open_count(),
            "requests of a previous server have no outcome in the audit log; recovering them now"
        );
        let service = self.clone();
        spawn("outcomes of a server before", async move {
            future::join_all(by_ensemble.into_values().map(|left| service.settle(left))).await;
        });
    }

    /// From now on a repeated request gets this outcome.
    fn remember(&self, intent: &AuditRecord) -> Option<watch::Sender<Option<Execution>>> {
        let by = SignedBy::ALL.into_iter().find(|by| intent.actor_by.ends_with(&format!(" by {by}")))?;
        let plan_id = intent.plan_id.as_ref()?;
        Some(self.state().requests.begin(intent.at_ms, plan_id, (intent.actor.clone(), by)))
    }

    /// An ensemble, as soon as this server watches it; None where it does not within [`LOOK_MAX`].
    async fn watched(&self, name: &Option<String>) -> Option<EnsembleHandle> {
        let found = async {
            loop {
                if let Ok(ensemble) = self.ensemble(name) {
                    return ensemble;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(LOOK_MAX, found).await.ok()
    }

    /// Gives requests of one ensemble their outcome.
    async fn settle(&self, left: Vec<OpenRequest>) {
        let asked: Vec<(String, Zxid)> =
            left.iter().filter_map(|left| left.intent.path.clone().zip(left.intent.czxid)).collect();
        let ensemble = match left.first() {
            Some(left) => self.watched(&left.intent.ensemble).await,
            None => None,
        };
        let paths: Vec<String> = asked.iter().map(|(path, _)| path.clone()).collect();
        let there = match ensemble {
            Some(ensemble) if !paths.is_empty() => ensemble.there(&paths, LOOK_MAX).await,
            Some(_) | None => Vec::new(),
        };
        let there: BTreeMap<(String, Zxid), Option<Zxid>> =
            asked.into_iter().zip(there).filter_map(|(asked, there)| Some((asked, there?.map(Zxid)))).collect();
        for OpenRequest { intent, sender } in left {
            let key = intent.path.clone().zip(intent.czxid);
            let entry = outcome(&intent, sentence(&intent, key.and_then(|key| there.get(&key).copied())));
            let detail = entry.detail.clone();
            let id = self.0.log.late_outcome(intent.id, entry).await;
            if let Some(sender) = sender {
                let mut unknown = Execution::of(Outcome::Unknown, detail);
                unknown.result.audit_id = Some(id);
                sender.send_replace(Some(unknown));
            }
        }
    }
}

fn outcome(intent: &AuditRecord, detail: String) -> Entry {
    let kind = match intent.kind {
        AuditKind::RevokeIntent => AuditKind::RevokeOutcome,
        AuditKind::LabStarted => AuditKind::LabEnded,
        _ => AuditKind::ReleaseOutcome,
    };
    let plan = intent.plan_id.clone().zip(intent.czxid).map(|(id, czxid)| PlanRef { id, czxid });
    Entry {
        ensemble: intent.ensemble.clone(),
        lock: intent.lock.clone(),
        path: intent.path.clone(),
        plan,
        outcome: Some(Outcome::Unknown.name()),
        ..Entry::of_server(kind, detail)
    }
}

/// What is known; `there`: what is at the path now, where that was read.
fn sentence(intent: &AuditRecord, there: Option<Option<Zxid>>) -> String {
    let before = "Lockscope ended before this outcome was on record.";
    let (Some(path), Some(planned)) = (&intent.path, intent.czxid) else { return before.to_owned() };
    let (gone, not_told) = (format!("{planned} is gone"), "by this request or otherwise, that can't be known");
    match there {
        None => format!("{before} What is at {path} now could not be read."),
        Some(None) => format!("{before} Looked at after the start: {gone}, {not_told}."),
        Some(Some(there)) if there == planned => {
            format!("{before} Looked at after the start: {planned} is still there.")
        }
        Some(Some(there)) => {
            format!("{before} Looked at after the start: {gone}, {not_told}; {there} is at its path now.")
        }
    }
}

/// The hold that a request ended; None where it ended none, or that is not known.
fn forced(ended: &CompletedRequest) -> Option<ForcedRelease> {
    let CompletedRequest { intent, outcome } = ended;
    let is_release = intent.kind == AuditKind::ReleaseIntent;
    let is_done = outcome.outcome.as_deref() == Some(Outcome::Released.name());
    (is_release && is_done).then_some(())?;
    Some(ForcedRelease {
        ensemble: intent.ensemble.clone()?,
        path: intent.path.clone()?,
        czxid: intent.czxid?,
        by: intent.actor.clone(),
        record: Some(outcome.id),
    })
}

/// An outcome as it is on record. Who held then is not.
fn execution(ended: &CompletedRequest) -> Option<Execution> {
    let CompletedRequest { intent, outcome: record } = ended;
    let outcome = Outcome::ALL.into_iter().find(|outcome| Some(outcome.name()) == record.outcome.as_deref())?;
    let mut execution = Execution::of(outcome, record.detail.clone());
    execution.result.verified = outcome == Outcome::Released;
    execution.result.took_ms = record.at_ms - intent.at_ms;
    execution.result.audit_id = Some(record.id);
    Some(execution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_told_and_who_did_it_is_not_claimed() {
        let entry =
            Entry { path: Some("/a/lock-1".to_owned()), ..Entry::of_server(AuditKind::ReleaseIntent, String::new()) };
        let line = serde_json::json!({
            "id": 7, "at_ms": 0, "kind": "release_intent", "actor": "anna", "actor_by": "operator by token", "path": entry.path,
            "czxid": Zxid(0x17), "detail": "", "hash": "",
        });
        let mut intent: AuditRecord = serde_json::from_value(line).unwrap();
        let cases = [
            (None, "could not be read"),
            (Some(None), "0x17 is gone, by this request or otherwise"),
            (Some(Some(Zxid(0x17))), "0x17 is still there"),
            (
                Some(Some(Zxid(0x18))),
                "0x17 is gone, by this request or otherwise, that can't be known; 0x18 is at its path now",
            ),
        ];
        for (there, expected) in cases {
            let sentence = sentence(&intent, there);
            assert!(sentence.contains(expected), "{sentence}");
        }
        intent.czxid = None;
        assert_eq!(sentence(&intent, None), "Lockscope ended before this outcome was on record.");
        assert_eq!(outcome(&intent, String::new()).outcome, Some("unknown"));
    }
}
