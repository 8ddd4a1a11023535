//! One client of a replay: it comes, waits, holds and goes as its part of a script says, at one lock; at another one another
//! client plays the same session. Owns the way of one client; must not know the recording.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use lockscope_wire::TurnFigures;
use tokio::sync::watch;
use zookeeper_client::Error;

use super::client::{LabClient, Stage};
use super::script::{Cue, CueKind, RecordedTurn, Script, ScriptTurn, TurnEnd, figures, turns_at};
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
    /// How far the turns of each client are: those that hold, or are over, and those that are over.
    turns: Vec<watch::Sender<(usize, usize)>>,
    /// Whether each session ended.
    ended: Vec<watch::Sender<bool>>,
}

impl ScriptRun {
    /// One that has not begun.
    pub(super) fn new(script: &Arc<Script>) -> Self {
        Self(Arc::new(Inner {
            begun: OnceLock::new(),
            played: Mutex::default(),
            turns: script.clients.iter().map(|_| watch::Sender::new((0, 0))).collect(),
            ended: (0..script.sessions).map(|_| watch::Sender::new(false)).collect(),
            script: Arc::clone(script),
        }))
    }

    /// How often somebody holds in the script, if everybody gets the lock who got it in the recording.
    pub(super) fn holds(&self) -> u64 {
        let is_hold = |end: TurnEnd| matches!(end, TurnEnd::LetsGo { .. } | TurnEnd::DiesHolding { .. });
        let turns = self.0.script.clients.iter().flat_map(|client| &client.turns);
        turns.filter(|turn| is_hold(turn.end)).count().try_into().unwrap_or(u64::MAX)
    }

    fn played(&self) -> MutexGuard<'_, Vec<RecordedTurn>> {
        self.0.played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many turns are over, and what they come to, as recorded ones would.
    pub(super) fn figures(&self) -> (usize, TurnFigures) {
        let played = self.played();
        (played.len(), figures(&played))
    }

    /// What those at one of the locks come to.
    pub(super) fn figures_at(&self, lock: usize) -> TurnFigures {
        figures(&turns_at(&self.played(), lock))
    }

    fn since_begin(&self) -> Duration {
        self.0.begun.get_or_init(clock::instant).elapsed()
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.since_begin().as_millis()).unwrap_or(i64::MAX)
    }

    fn note(&self, turn: RecordedTurn) {
        self.played().push(turn);
    }

    /// A client's turn holds, or is over; those that wait for that go on.
    fn mark(&self, client: usize, turn: usize, kind: CueKind) {
        let Some(turns) = self.0.turns.get(client) else { return };
        turns.send_modify(|(held, gone)| {
            *held = (*held).max(turn + 1);
            if kind == CueKind::Gone {
                *gone = (*gone).max(turn + 1);
            }
        });
    }

    /// Waits until it happened.
    async fn cue(&self, cue: Cue) {
        let Some(turns) = self.0.turns.get(cue.client) else { return };
        let happened = |(held, gone): &(usize, usize)| match cue.kind {
            CueKind::Held => *held > cue.turn,
            CueKind::Gone => *gone > cue.turn,
        };
        // The sender is as old as this: it never goes before.
        let _ = turns.subscribe().wait_for(happened).await;
    }

    fn end_session(&self, session: usize) {
        if let Some(ended) = self.0.ended.get(session) {
            ended.send_replace(true);
        }
    }

    async fn session_ended(&self, session: usize) {
        match self.0.ended.get(session) {
            // The sender is as old as this.
            Some(ended) => drop(ended.subscribe().wait_for(|ended| *ended).await),
            None => std::future::pending().await,
        }
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
        let script = Arc::clone(&run.0.script);
        let Ok(number) = usize::try_from(self.teller.client) else { return Ok(()) };
        let Some(client) = script.clients.get(number) else { return Ok(()) };
        for (at, turn) in client.turns.iter().enumerate() {
            let mut begun = None;
            let played = tokio::select! {
                biased;
                () = run.session_ended(client.session) => None,
                played = self.turn((client.lock, turn), (number, at), run, &mut begun) => Some(played),
            };
            run.mark(number, at, CueKind::Gone);
            match played {
                None => {
                    if let Some(turn) = begun {
                        run.note(RecordedTurn { left_ms: run.now_ms(), has_died: true, ..turn });
                    }
                    self.dies();
                    return Ok(());
                }
                Some(Ok(())) if TurnPlan::from(turn.end).dies => {
                    run.end_session(client.session);
                    self.dies();
                    return Ok(());
                }
                // Its znode was taken away by somebody: an operator may do so.
                Some(Ok(()) | Err(Error::NoNode)) => self.teller.sits(Seat::Away),
                Some(Err(error)) => {
                    self.teller.sits(if error == Error::SessionExpired { Seat::Killed } else { Seat::GaveUp });
                    // Nobody waits for what it would have done.
                    run.mark(number, client.turns.len(), CueKind::Gone);
                    return Err(error);
                }
            }
        }
        self.teller.sits(Seat::Done);
        Ok(())
    }

    /// With the last handle of its session, which are those of the tasks that play it, the session is closed.
    fn dies(self) {
        self.teller.sits(Seat::Killed);
        self.session.end();
    }

    /// One turn. `begun` is what it is so far, while it goes on.
    async fn turn(
        &mut self,
        (lock, turn): (usize, &ScriptTurn),
        (client, at): (usize, usize),
        run: &ScriptRun,
        begun: &mut Option<RecordedTurn>,
    ) -> Result<(), Error> {
        let arrives = Duration::from_millis(turn.arrives_ms);
        match turn.arrives_after {
            Some(cue) => {
                run.cue(cue).await;
                tokio::time::sleep(arrives).await;
            }
            None => tokio::time::sleep(arrives.saturating_sub(run.since_begin())).await,
        }
        let plan = TurnPlan::from(turn.end);
        let joined_ms = run.now_ms();
        let own = RecordedTurn {
            session: self.teller.client.into(),
            lock,
            joined_ms,
            held_ms: None,
            left_ms: joined_ms,
            has_died: plan.dies,
        };
        *begun = Some(own);
        self.teller.comes();
        let place = self.enter_within(plan.patience).await?;
        let left_ms = run.now_ms();
        let Some(place) = place else {
            *begun = None;
            run.note(RecordedTurn { left_ms, ..own });
            return if plan.dies { Ok(()) } else { self.leave_queue().await };
        };
        let own = RecordedTurn { held_ms: Some(left_ms), left_ms, ..own };
        *begun = Some(own);
        let held = clock::instant();
        run.mark(client, at, CueKind::Held);
        let version = self.referee.raise().await?;
        match turn.holds_after {
            Some(cue) => {
                run.cue(cue).await;
                tokio::time::sleep(plan.hold).await;
            }
            None => tokio::time::sleep(plan.hold.saturating_sub(held.elapsed())).await,
        }
        if !self.referee.is_still(version).await? {
            self.teller.broken();
        }
        *begun = None;
        run.note(RecordedTurn { left_ms: run.now_ms(), ..own });
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
