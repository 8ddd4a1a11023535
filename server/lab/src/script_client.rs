//! One client of a replay: it comes, waits, holds and goes as its part of a script says. Owns the way of one client; must
//! not know the recording.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use lockscope_wire::TurnFigures;
use zookeeper_client::Error;

use super::client::{LabClient, Stage};
use super::script::{RecordedTurn, Script, TurnEnd, figures};
use super::strategy::{self, LabNode, StrategyEnv};
use super::tally::Seat;
use runtime::clock;

/// A script as one strategy plays it; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ScriptRun(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    script: Arc<Script>,
    /// When the script began, for all clients.
    begun: OnceLock<Instant>,
    /// Turns that are over: as many as the script has at most.
    played: Mutex<Vec<RecordedTurn>>,
}

impl ScriptRun {
    /// One that has not begun.
    pub(super) fn new(script: &Arc<Script>) -> Self {
        Self(Arc::new(Inner { script: Arc::clone(script), begun: OnceLock::new(), played: Mutex::default() }))
    }

    /// How often somebody holds in the script, if everybody gets the lock who got it in the recording.
    pub(super) fn holds(&self) -> u64 {
        let is_hold = |end: TurnEnd| matches!(end, TurnEnd::LetsGo { .. } | TurnEnd::DiesHolding { .. });
        let turns = self.0.script.clients.iter().flatten();
        turns.filter(|turn| is_hold(turn.end)).count().try_into().unwrap_or(u64::MAX)
    }

    /// How many turns are over, and what they come to, as recorded ones would.
    pub(super) fn figures(&self) -> (usize, TurnFigures) {
        let played = self.0.played.lock().unwrap_or_else(PoisonError::into_inner);
        (played.len(), figures(&played))
    }

    fn since_begin(&self) -> Duration {
        self.0.begun.get_or_init(clock::instant).elapsed()
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.since_begin().as_millis()).unwrap_or(i64::MAX)
    }

    fn note(&self, turn: RecordedTurn) {
        self.0.played.lock().unwrap_or_else(PoisonError::into_inner).push(turn);
    }
}

/// How a turn goes on, for whoever plays it.
#[derive(Clone, Copy)]
struct TurnPlan {
    /// How long it waits; None: as long as it takes.
    patience: Option<Duration>,
    hold: Duration,
    dies: bool,
}

impl From<TurnEnd> for TurnPlan {
    fn from(end: TurnEnd) -> Self {
        let (patience_ms, hold_ms, dies) = match end {
            TurnEnd::LetsGo { hold_ms } => (None, hold_ms, false),
            TurnEnd::DiesHolding { hold_ms } => (None, hold_ms, true),
            TurnEnd::GivesUp { wait_ms } => (Some(wait_ms), 0, false),
            TurnEnd::DiesWaiting { wait_ms } => (Some(wait_ms), 0, true),
        };
        Self { patience: patience_ms.map(Duration::from_millis), hold: Duration::from_millis(hold_ms), dies }
    }
}

impl LabClient {
    /// Plays its turns, from when everything is counted.
    ///
    /// # Errors
    /// What kept it from going on.
    pub(super) async fn play_script(mut self, run: &ScriptRun) -> Result<(), Error> {
        if self.stage.wait_for(|stage| *stage >= Stage::Count).await.is_err() {
            return Ok(());
        }
        let own = usize::try_from(self.teller.client).ok().and_then(|at| run.0.script.clients.get(at));
        for turn in own.into_iter().flatten() {
            tokio::time::sleep(Duration::from_millis(turn.arrives_ms).saturating_sub(run.since_begin())).await;
            let plan = TurnPlan::from(turn.end);
            match self.turn(plan, run).await {
                Ok(()) if plan.dies => {
                    self.teller.sits(Seat::Killed);
                    // With the last handle, which is that of this task, the session is closed.
                    self.session.end();
                    return Ok(());
                }
                // Its znode was taken away by somebody: an operator may do so.
                Ok(()) | Err(Error::NoNode) => self.teller.sits(Seat::Away),
                Err(error) => {
                    self.teller.sits(if error == Error::SessionExpired { Seat::Killed } else { Seat::GaveUp });
                    return Err(error);
                }
            }
        }
        self.teller.sits(Seat::Done);
        Ok(())
    }

    async fn turn(&mut self, plan: TurnPlan, run: &ScriptRun) -> Result<(), Error> {
        let joined_ms = run.now_ms();
        self.teller.comes();
        let place = self.enter_within(plan.patience).await?;
        let mut turn = RecordedTurn {
            session: self.teller.client.into(),
            joined_ms,
            held_ms: None,
            left_ms: run.now_ms(),
            has_died: plan.dies,
        };
        let Some(place) = place else {
            run.note(turn);
            return if plan.dies { Ok(()) } else { self.leave_queue().await };
        };
        let held = clock::instant();
        turn.held_ms = Some(turn.left_ms);
        let version = self.referee.raise().await?;
        tokio::time::sleep(plan.hold.saturating_sub(held.elapsed())).await;
        if !self.referee.is_still(version).await? {
            self.teller.broken();
        }
        turn.left_ms = run.now_ms();
        run.note(turn);
        self.teller.releases();
        if plan.dies { Ok(()) } else { strategy::leave(&self.client, place).await }
    }

    /// Queues up and waits until it holds, or for so long; None then.
    async fn enter_within(&self, patience: Option<Duration>) -> Result<Option<LabNode>, Error> {
        let Self { client, teller, directory, strategy, .. } = self;
        let mut entering = std::pin::pin!(strategy::enter(*strategy, StrategyEnv { client, directory, teller }));
        let held = |place: LabNode| {
            teller.holds();
            Some(place)
        };
        let Some(patience) = patience else { return entering.await.map(held) };
        tokio::select! {
            entered = &mut entering => return entered.map(held),
            () = tokio::time::sleep(patience) => {}
        }
        // Between two answers it may own a znode that nobody knows of; while it waits, what it owns is known.
        let mut progress = teller.board.progress();
        loop {
            if teller.board.tally().seat(teller.client) == Some(Seat::Waiting) {
                return Ok(None);
            }
            tokio::select! {
                entered = &mut entering => return entered.map(held),
                changed = progress.changed() => if changed.is_err() { return Ok(None) },
            }
        }
    }

    /// Takes its place in the queue away, where it has one.
    async fn leave_queue(&self) -> Result<(), Error> {
        let number = self.teller.board.tally().number(self.teller.client);
        match number.and_then(|number| strategy::numbered_path(self.strategy, &self.directory, number)) {
            Some(path) => self.client.delete(&path, None).await,
            None => Ok(()),
        }
    }
}
