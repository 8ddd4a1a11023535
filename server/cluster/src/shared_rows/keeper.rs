//! The task that exchanges rows, and how others wait for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockscope_postgres::{Database, DatabaseError, Lane};
use lockscope_runtime::clock::{self, Clock};
use lockscope_runtime::shared_rows::{BODY_BYTES_MAX, Exchange, KEY_BYTES_MAX, SENT_MAX, SharedRow, Sharer};
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_view::SharedMemory;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::rows::{self, Found, TABLES, Wanted};

/// Time between two exchanges that nobody waits for: what one server changed the others have a little later.
const STEP: Duration = Duration::from_secs(1);
/// Time between two exchanges at least, however many wait.
const GAP: Duration = Duration::from_millis(25);
/// How long whoever waits for an exchange does so at most. After that nobody waits until one succeeds.
pub const WAIT_MAX: Duration = Duration::from_secs(1);
/// The same for the first exchange after a start: whoever was signed in before is not asked again.
const FIRST_MAX: Duration = Duration::from_secs(4);
/// How often everything is read, whatever changed: a database that lost its last seconds is made whole.
const WHOLE_EVERY: Duration = Duration::from_secs(60);
/// How often what expired is forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(600);

/// Exchanges so far, by number.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    begun: u64,
    done: u64,
    /// Whether it makes sense to wait.
    is_up: bool,
}

/// How others wait for an exchange; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared {
    wake: Arc<Notify>,
    rounds: watch::Sender<Rounds>,
    state: watch::Receiver<SharedMemory>,
}

impl Shared {
    pub fn state(&self) -> watch::Receiver<SharedMemory> {
        self.state.clone()
    }
}

impl Exchange for Shared {
    fn exchange(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async {
            let mut rounds = self.rounds.subscribe();
            let Rounds { begun, done, is_up } = *rounds.borrow();
            self.wake.notify_one();
            if !is_up {
                return false;
            }
            // One that began before may have looked already; the first brings all there is.
            let (wanted, within) = if done == 0 { (0, FIRST_MAX) } else { (begun, WAIT_MAX) };
            let ended = rounds.wait_for(|rounds| rounds.done > wanted || !rounds.is_up);
            if let Ok(Ok(rounds)) = timeout(within, ended).await {
                return rounds.is_up;
            }
            self.rounds.send_modify(|rounds| rounds.is_up = false);
            false
        })
    }
}

/// Exchanges rows while it runs.
pub struct Keeper {
    lane: Lane,
    /// Which servers share with each other.
    cluster: String,
    sharers: Vec<Arc<dyn Sharer>>,
    clock: Clock,
    wake: Arc<Notify>,
    rounds: watch::Sender<Rounds>,
    state: watch::Sender<SharedMemory>,
    /// The connection whose tables were looked at.
    prepared: u64,
    /// Up to which revision all is known.
    revision: i64,
    whole_at: Option<Instant>,
    forgot_at: Option<Instant>,
}

impl Keeper {
    pub fn new(database: &Database, cluster: String, clock: Clock) -> (Self, Shared) {
        let (wake, (state, seen)) = (Arc::<Notify>::default(), watch::channel(SharedMemory::default()));
        // Whoever comes before the first exchange waits for it.
        let rounds = watch::Sender::new(Rounds { begun: 0, done: 0, is_up: true });
        let shared = Shared { wake: Arc::clone(&wake), rounds: rounds.clone(), state: seen };
        let (lane, sharers, prepared, revision) = (database.lane(), Vec::new(), 0, 0);
        let (whole_at, forgot_at) = (None, None);
        let keeper =
            Self { lane, cluster, sharers, clock, wake, rounds, state, prepared, revision, whole_at, forgot_at };
        (keeper, shared)
    }

    #[must_use]
    pub fn with(mut self, sharer: Arc<dyn Sharer>) -> Self {
        self.sharers.push(sharer);
        self
    }

    /// Exchanges until `stop`, and once more then: what was said last is not lost.
    pub async fn run(mut self, stop: CancellationToken) {
        while stop.run_until_cancelled(self.step()).await.is_some() {}
        // Where that can't be done in time, it is not done.
        let _ = timeout(WAIT_MAX, self.round()).await;
    }

    async fn step(&mut self) {
        self.round().await;
        sleep(GAP).await;
        tokio::select! {
            () = self.wake.notified() => {}
            () = sleep(STEP) => {}
        }
    }

    async fn round(&mut self) {
        self.rounds.send_modify(|rounds| rounds.begun += 1);
        let result = self.exchange().await;
        let now_ms = self.clock.now_ms();
        let before = self.state.borrow().why.clone();
        match &result {
            Ok(()) if !before.is_empty() => {
                tracing::info!("sign-ins and silences are shared with the other replicas again")
            }
            Err(error) if before != error.to_string() => tracing::warn!(
                "sign-ins, sign-outs, silences and acknowledgements stay at this replica until the database answers: {error}"
            ),
            _ => {}
        }
        self.state.send_modify(|state| match &result {
            Ok(()) => {
                *state = SharedMemory { exchanged_at_ms: Some(now_ms), failing_since_ms: None, why: String::new() };
            }
            Err(error) => {
                state.failing_since_ms.get_or_insert(now_ms);
                state.why = error.to_string();
            }
        });
        self.rounds.send_modify(|rounds| {
            rounds.done = rounds.begun;
            rounds.is_up = result.is_ok();
        });
    }

    async fn exchange(&mut self) -> Result<(), DatabaseError> {
        let fits = |row: &SharedRow| row.body.len() <= BODY_BYTES_MAX && row.key.len() <= KEY_BYTES_MAX;
        let mut sent: Vec<(&'static str, SharedRow)> = Vec::new();
        for sharer in &self.sharers {
            let rows = sharer.outgoing();
            sent.extend(rows.into_iter().take(SENT_MAX).filter(fits).map(|row| (sharer.kind(), row)));
        }
        let now = clock::instant();
        let is_due = |at: Option<Instant>, every| at.is_none_or(|at| now.duration_since(at) >= every);
        let (is_whole, forgets) = (is_due(self.whole_at, WHOLE_EVERY), is_due(self.forgot_at, FORGET_EVERY));
        let wanted = if is_whole { Wanted::All(self.clock.now_ms()) } else { Wanted::After(self.revision) };
        let (cluster, prepared, outgoing) = (self.cluster.clone(), self.prepared, sent.clone());
        let done = self.lane.run(move |session| {
            Box::pin(async move {
                let number = session.number();
                let client = session.client();
                if number != prepared {
                    TABLES.migrate(client).await?;
                }
                rows::send(client, &cluster, &outgoing).await?;
                if forgets {
                    rows::forget(client, &cluster).await?;
                }
                Ok((number, rows::find(client, &cluster, wanted).await?))
            })
        });
        // Whether a write that failed was done is not known: it is repeated, which changes nothing then. What was missed
        // meanwhile is in the whole.
        let (number, found) = done.await.inspect_err(|_| self.whole_at = None)?;
        self.prepared = number;
        if forgets {
            self.forgot_at = Some(now);
        }
        for sharer in &self.sharers {
            let own: Vec<SharedRow> =
                sent.iter().filter(|(kind, _)| *kind == sharer.kind()).map(|(_, row)| row.clone()).collect();
            sharer.sent(&own);
            if own.len() >= SENT_MAX {
                self.wake.notify_one();
            }
        }
        self.take(found, is_whole, now).await;
        Ok(())
    }

    async fn take(&mut self, found: Found, is_whole: bool, now: Instant) {
        let Found { revision, rows, has_more } = found;
        if !is_whole && revision < self.revision {
            // It is an older one: a standby that took over, or a backup.
            self.whole_at = None;
            self.wake.notify_one();
            return;
        }
        for sharer in &self.sharers {
            let own: Vec<SharedRow> =
                rows.iter().filter(|(kind, _)| kind == sharer.kind()).map(|(_, row)| row.clone()).collect();
            if is_whole || !own.is_empty() {
                sharer.take(own, is_whole).await;
            }
        }
        self.revision = revision;
        if is_whole {
            self.whole_at = Some(now);
        }
        if has_more {
            self.wake.notify_one();
        }
    }
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}
