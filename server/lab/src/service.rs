//! Where runs of the lab are ordered: who may, and the record of it. A run is on record before it begins, and its end
//! when it ended. Knows no route; what a run does is the lab's own.

use std::sync::Arc;
use std::time::Duration;

use lockscope_view::{AuditKind, FaultOrder, LabOrder, LabRun, LabRuns, LabState, Scope, ThrownFault};
use thiserror::Error;
use tokio::sync::{Mutex, watch};

use crate::{Lab, LabRefusal};
use lockscope_audit::{Actor, AuditError, Entry, Intent, Journal, RequestLog, Right};
use lockscope_live::LabSource;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::tasks::spawn;

/// How long a record may take before it counts as not to be written.
const RECORD_MAX: Duration = Duration::from_secs(8);
/// How long the record of the last run's end is waited for once the lab is closed.
const ENDED_MAX: Duration = Duration::from_secs(2);

/// Why something was not done: one sentence with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LabDenied {
    /// The actor may not, here.
    #[error("{0}")]
    Right(String),
    /// It can't be put on record.
    #[error("nothing was started: the record of it can't be written ({0})")]
    Audit(AuditError),
    #[error("Lockscope is shutting down and starts nothing more")]
    Closing,
    #[error(transparent)]
    Lab(#[from] LabRefusal),
}

/// The lab, with people before it. Cheap to clone.
#[derive(Clone)]
pub struct LabService(Arc<Inner>);

struct Inner {
    lab: Lab,
    log: RequestLog,
    /// Held while a run is being started: one after the other is on record and begins. True once it is closed.
    closing: Mutex<bool>,
    /// Runs whose end is not on record yet.
    followed: watch::Sender<usize>,
}

/// Counts a run as followed until it is dropped.
struct Followed(Arc<Inner>);

impl Followed {
    fn new(inner: &Arc<Inner>) -> Self {
        inner.followed.send_modify(|count| *count += 1);
        Self(Arc::clone(inner))
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.0.followed.send_modify(|count| *count -= 1);
    }
}

impl LabSource for LabService {
    fn run(&self, id: &str) -> Option<Arc<LabRun>> {
        self.0.lab.run(id)
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.lab.changes()
    }
}

impl LabService {
    pub fn new(lab: Lab, journal: Arc<dyn Journal>, clock: Clock) -> Self {
        let log = RequestLog::new(journal, clock, RECORD_MAX);
        Self(Arc::new(Inner { lab, log, closing: Mutex::new(false), followed: watch::Sender::new(0) }))
    }

    /// Begins a run and gives its id. Goes on when the future is dropped.
    ///
    /// # Errors
    /// When the actor may not, it can't be recorded, or the lab refuses; nothing was made then.
    pub async fn start(&self, actor: &Actor, order: LabOrder) -> Result<String, LabDenied> {
        let (service, actor) = (self.clone(), actor.clone());
        let begun = tokio::spawn(async move { service.begin(actor, order).await });
        begun.await.unwrap_or_else(|_| {
            Err(LabRefusal::NotNow(
                "the start broke off inside Lockscope; the audit log shows how far it came".to_owned(),
            )
            .into())
        })
    }

    /// Stops a run, as far as it still goes on.
    ///
    /// # Errors
    /// When there is none that the actor sees, or they may not.
    pub async fn stop(&self, actor: &Actor, scope: &Scope, id: &str) -> Result<Arc<LabRun>, LabDenied> {
        let run = self.checked(actor, scope, id).await?;
        self.0.lab.stop(id, &actor.name)?;
        Ok(self.0.lab.run(id).unwrap_or(run))
    }

    /// Throws a fault into a run.
    ///
    /// # Errors
    /// When there is none that the actor sees, they may not, or the lab refuses.
    pub async fn throw(
        &self,
        actor: &Actor,
        scope: &Scope,
        id: &str,
        order: FaultOrder,
    ) -> Result<ThrownFault, LabDenied> {
        self.checked(actor, scope, id).await?;
        Ok(self.0.lab.throw(id, order).await?)
    }

    /// A run, as far as it is.
    ///
    /// # Errors
    /// When there is none that may be seen.
    pub fn run(&self, scope: &Scope, id: &str) -> Result<Arc<LabRun>, LabRefusal> {
        let run = self.0.lab.run(id).filter(|run| scope.covers(&run.ensemble, &run.root));
        run.ok_or_else(|| LabRefusal::Unknown(id.chars().take(ID_CHARS_MAX).collect()))
    }

    /// Every run that may be seen, and where one may be ordered.
    pub fn runs(&self, scope: &Scope) -> LabRuns {
        let mut runs = self.0.lab.runs();
        runs.ensembles.retain(|name| self.0.lab.root_of(name).is_some_and(|root| scope.covers(name, root)));
        runs.runs.retain(|brief| self.run(scope, &brief.id).is_ok());
        runs
    }

    /// Whether any ensemble allows the lab.
    pub fn is_on(&self) -> bool {
        !self.0.lab.runs().ensembles.is_empty()
    }

    pub fn lab(&self) -> &Lab {
        &self.0.lab
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.lab.changes()
    }

    /// Starts no more, stops what runs and waits until that is cleared and on record, for so long at most; false when
    /// something was left.
    pub async fn close(&self, within: Duration) -> bool {
        *self.0.closing.lock().await = true;
        let is_cleared = self.0.lab.close(within).await;
        let mut followed = self.0.followed.subscribe();
        let ended = async {
            // It fails only without a sender, which is ours.
            let _ = followed.wait_for(|count| *count == 0).await;
            self.0.log.flush().await;
        };
        is_cleared && tokio::time::timeout(ENDED_MAX, ended).await.is_ok()
    }

    async fn begin(&self, actor: Actor, order: LabOrder) -> Result<String, LabDenied> {
        let inner = &self.0;
        let order = self.narrowed(&actor, order).await?;
        let closing = inner.closing.lock().await;
        let (order, place) = inner.lab.check(order)?;
        if !actor.may_at(Right::RunLab, &place.ensemble, &place.root) {
            return Err(self.denied(&actor, &place.ensemble).await);
        }
        if *closing {
            return Err(LabDenied::Closing);
        }
        // Looked at before it is put on record; nobody else starts one meanwhile.
        if let Some(busy) = inner.lab.runs().runs.into_iter().find(|run| !has_ended(run.state)) {
            return Err(LabRefusal::Busy(busy.id).into());
        }
        let (ensemble, root) = (place.ensemble, place.root);
        let entry = entry(AuditKind::LabStarted, Some(actor.clone()), &ensemble, &root, words(&order));
        let undone =
            entry_of_end(&ensemble, &root, LabState::Failed, "not begun: the record of it took too long".to_owned());
        let intent = inner.log.intent(entry, undone).await.map_err(LabDenied::Audit)?;
        match inner.lab.start(order, &actor.name) {
            Ok(id) => {
                spawn("record of a lab run", follow(Followed::new(inner), id.clone(), ensemble, root, intent));
                Ok(id)
            }
            Err(refusal) => {
                let ended = entry_of_end(&ensemble, &root, LabState::Failed, format!("not begun: {refusal}"));
                note(&inner.log, intent, ended).await;
                Err(refusal.into())
            }
        }
    }

    /// The order for an ensemble where the actor may run the lab. Outside of the scope, not even the existence of
    /// another is revealed.
    async fn narrowed(&self, actor: &Actor, mut order: LabOrder) -> Result<LabOrder, LabDenied> {
        let lab = &self.0.lab;
        if lab.is_off() {
            return Err(LabRefusal::Off.into());
        }
        let may = |name: &String| lab.root_of(name).is_some_and(|root| actor.may_at(Right::RunLab, name, root));
        let allowed: Vec<String> = lab.runs().ensembles.into_iter().filter(may).collect();
        match &order.ensemble {
            Some(name) if may(name) => Ok(order),
            Some(name) if actor.scope.covers_ensemble(name) && lab.root_of(name).is_none() && !allowed.is_empty() => {
                Err(LabRefusal::Bad(format!(
                    "ensemble {name:?} does not allow the lab; name one of {}",
                    allowed.join(", ")
                ))
                .into())
            }
            Some(name) => Err(self.denied(actor, name).await),
            None => match allowed.as_slice() {
                [] => Err(self.denied(actor, "").await),
                [only] => {
                    order.ensemble = Some(only.clone());
                    Ok(order)
                }
                several => Err(LabRefusal::Bad(format!(
                    "ensemble is missing, and several allow the lab; name one of {}",
                    several.join(", ")
                ))
                .into()),
            },
        }
    }

    /// A run that the actor sees and may do something with.
    async fn checked(&self, actor: &Actor, scope: &Scope, id: &str) -> Result<Arc<LabRun>, LabDenied> {
        let run = self.run(scope, id)?;
        let root = self.0.lab.root_of(&run.ensemble).unwrap_or(&run.root);
        if actor.may_at(Right::RunLab, &run.ensemble, root) {
            return Ok(run);
        }
        Err(self.denied(actor, &run.ensemble).await)
    }

    /// A refusal goes on record where that can be written; nothing was done either way.
    async fn denied(&self, actor: &Actor, ensemble: &str) -> LabDenied {
        let at = if ensemble.is_empty() { String::new() } else { format!(" on {ensemble:?}") };
        let sentence = format!("{} may not run the lab{at}: it is out of their scope", actor.name);
        let ensemble = Some(ensemble.to_owned()).filter(|ensemble| !ensemble.is_empty());
        let entry =
            Entry { actor: Some(actor.clone()), ensemble, ..Entry::of_server(AuditKind::Refused, sentence.clone()) };
        self.0.log.refusal(actor, entry).await;
        LabDenied::Right(sentence)
    }
}

/// Characters of an unknown id that are repeated in the error.
const ID_CHARS_MAX: usize = 64;

pub fn has_ended(state: LabState) -> bool {
    match state {
        LabState::Finished | LabState::Stopped | LabState::Failed => true,
        LabState::Waiting | LabState::Opening | LabState::Running | LabState::Clearing => false,
    }
}

/// Waits for a run's end and puts it on record.
async fn follow(followed: Followed, id: String, ensemble: String, root: String, intent: Intent) {
    let Followed(inner) = &followed;
    let mut changes = inner.lab.changes();
    let run = loop {
        changes.mark_unchanged();
        match inner.lab.run(&id) {
            Some(run) if !has_ended(run.state) => {}
            ended => break ended,
        }
        if changes.changed().await.is_err() {
            break inner.lab.run(&id);
        }
    };
    let (state, detail) = run.map_or_else(
        || (LabState::Failed, format!("run {id} is not kept any more")),
        |run| (run.state, end_words(&run)),
    );
    note(&inner.log, intent, entry_of_end(&ensemble, &root, state, detail)).await;
}

fn entry_of_end(ensemble: &str, root: &str, state: LabState, detail: String) -> Entry {
    Entry { outcome: Some(state.name()), ..entry(AuditKind::LabEnded, None, ensemble, root, detail) }
}

fn entry(kind: AuditKind, actor: Option<Actor>, ensemble: &str, root: &str, detail: String) -> Entry {
    let (ensemble, path) = (Some(ensemble.to_owned()), Some(root.to_owned()));
    Entry { actor, ensemble, path, ..Entry::of_server(kind, detail) }
}

/// Something that happened either way goes on record as soon as that can be written.
async fn note(log: &RequestLog, intent: Intent, entry: Entry) {
    let kind = entry.kind;
    if let Err(error) = log.outcome(intent, entry).await {
        tracing::error!(%error, "{kind} could not be recorded yet");
    }
}

fn words(order: &LabOrder) -> String {
    let names = order.strategies.iter().map(|strategy| strategy.name()).collect::<Vec<_>>().join(", ");
    let turn = if order.in_turn { "one after the other" } else { "all at once" };
    let LabOrder { clients, rounds, hold_ms, think_ms, .. } = order;
    let limit = order.duration_ms.map_or_else(String::new, |ms| format!(", ended after {ms} ms"));
    let seed = order.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    format!(
        "{names}, {turn}: {clients} clients each, {rounds} times, holding {hold_ms} ms, away {think_ms} ms{limit}{seed}"
    )
}

fn end_words(run: &LabRun) -> String {
    let mut words = format!("run {} at {}", run.id, run.root);
    let add = |words: &mut String, more: &str| {
        words.push_str(": ");
        words.push_str(more);
    };
    if !run.why.is_empty() {
        add(&mut words, &run.why);
    }
    if !run.conclusion.is_empty() {
        add(&mut words, &run.conclusion);
    }
    for thrown in &run.faults {
        add(&mut words, &format!("{} was thrown into {}", thrown.fault, thrown.strategy));
    }
    words
}

#[cfg(test)]
mod tests {
    use lockscope_view::Strategy;

    use super::*;

    #[test]
    fn an_order_is_told_in_words() {
        let order = LabOrder {
            ensemble: None,
            strategies: vec![Strategy::Predecessor, Strategy::HerdLowest],
            clients: 50,
            rounds: 2,
            hold_ms: 5,
            think_ms: 0,
            duration_ms: Some(9_000),
            in_turn: true,
            seed: Some(7),
        };
        let expected = "predecessor, herd_lowest, one after the other: 50 clients each, 2 times, holding 5 ms, away 0 ms, ended after 9000 ms, seed 7";
        assert_eq!(words(&order), expected);
        let order =
            LabOrder { strategies: vec![Strategy::HerdExists], duration_ms: None, in_turn: false, seed: None, ..order };
        assert_eq!(words(&order), "herd_exists, all at once: 50 clients each, 2 times, holding 5 ms, away 0 ms");
    }
}
