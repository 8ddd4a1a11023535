//! One run: its sandbox, its lanes, its end. Owns the order of things; whatever happens, everything is removed at the
//! end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use lockscope_view::{LabOrder, LabRun, LabState, ServerCounter, Spread, ThrownFault};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::client::FenceCounter;
use super::lag::LagProbe;
use super::members::Members;
use super::notes::notes;
use super::sandbox::Sandbox;
use super::strategy_run::{ClientTasks, StrategyRun};
use super::summary::conclude;
use super::{LabEnsemble, counts, view};
use lockscope_runtime::clock::{self, Clock};

/// Between two looks at whether something changed; so nobody is notified more than 20 times a second.
const SHOW_EVERY: Duration = Duration::from_millis(50);

/// What concerns the whole run.
#[derive(Debug)]
struct Header {
    /// As it is shown, but for what its lanes and the probe measure.
    run: LabRun,
    probe: Option<LagProbe>,
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) place: LabEnsemble,
    pub(super) lanes: Vec<Arc<StrategyRun>>,
    pub(super) clock: Clock,
    order: Arc<LabOrder>,
    duration_max: Duration,
    header: Mutex<Header>,
    shown: watch::Sender<Arc<LabRun>>,
    stop: watch::Sender<Option<String>>,
}

enum End {
    Finished,
    Stopped(String),
    Failed(String),
}

impl Run {
    /// A run that has not begun.
    pub(super) fn new(
        id: String,
        (order, place): (LabOrder, LabEnsemble),
        by: &str,
        clock: Clock,
        duration_max: Duration,
    ) -> Self {
        let root = format!("{}/run-{id}", place.root);
        let order = Arc::new(order);
        let lane = |strategy: &lockscope_view::Strategy| {
            Arc::new(StrategyRun::new(*strategy, &format!("{root}/{}", strategy.name()), &order))
        };
        let lanes: Vec<_> = order.strategies.iter().map(lane).collect();
        let run = LabRun {
            id: id.clone(),
            revision: 0,
            ensemble: place.ensemble.clone(),
            root,
            state: LabState::Opening,
            why: String::new(),
            order: LabOrder::clone(&order),
            by: by.to_owned(),
            ordered_at_ms: clock.now_ms(),
            ended_at_ms: None,
            strategies: lanes.iter().map(|lane| view::lane(lane)).collect(),
            faults: Vec::new(),
            loop_lag_ms: Spread::default(),
            server: Vec::new(),
            conclusion: String::new(),
            notes: notes(&order),
        };
        let (shown, stop) = (watch::Sender::new(Arc::new(run.clone())), watch::Sender::new(None));
        let header = Mutex::new(Header { run, probe: None });
        Self { id, place, lanes, clock, order, duration_max, header, shown, stop }
    }

    /// As it is now.
    fn now(&self) -> LabRun {
        let header = self.header.lock();
        LabRun {
            strategies: self.lanes.iter().map(|lane| view::lane(lane)).collect(),
            loop_lag_ms: header.probe.as_ref().map_or(header.run.loop_lag_ms, LagProbe::spread),
            ..header.run.clone()
        }
    }

    pub(super) fn shown(&self) -> Arc<LabRun> {
        Arc::clone(&self.shown.borrow())
    }

    /// Asks it to stop; the first reason counts.
    pub(super) fn stop(&self, why: &str) {
        self.stop.send_if_modified(|told| {
            let is_first = told.is_none();
            if is_first {
                *told = Some(why.to_owned());
            }
            is_first
        });
    }

    pub(super) fn thrown(&self, fault: ThrownFault) {
        self.header.lock().run.faults.push(fault);
    }

    pub(super) fn faults(&self) -> usize {
        self.header.lock().run.faults.len()
    }

    /// Shows what is, if it is something new; true then.
    pub(super) fn show(&self) -> bool {
        let now = self.now();
        self.shown.send_if_modified(|told| {
            let now = LabRun { revision: told.revision, ..now };
            let is_new = now != **told;
            if is_new {
                *told = Arc::new(LabRun { revision: told.revision + 1, ..now });
            }
            is_new
        })
    }

    /// It ended in a way that nobody thought of.
    pub(super) fn broke(&self, error: &str) {
        let run = &mut self.header.lock().run;
        (run.state, run.ended_at_ms) = (LabState::Failed, Some(self.clock.now_ms()));
        run.why = format!("the lab itself broke ({error}); please report it");
        run.conclusion = format!("The run failed and shows nothing: {}.", run.why);
    }

    fn turn(&self, state: LabState) {
        self.header.lock().run.state = state;
    }

    /// Carries it out, from making its directory to removing it. `changed` is notified when there is something new to
    /// show.
    pub(super) async fn carry_out(self: Arc<Self>, changed: impl Fn() + Send + 'static) {
        let looking = Arc::clone(&self);
        let showing = async move {
            loop {
                tokio::time::sleep(SHOW_EVERY).await;
                if looking.show() {
                    changed();
                }
            }
        };
        tokio::select! {
            () = showing => {}
            () = self.work() => {}
        }
    }

    async fn work(self: &Arc<Self>) {
        // Not to be broken off: it leaves nothing or a whole sandbox.
        let end = match Sandbox::create(&self.place, &self.id, &self.order.strategies).await {
            Err(why) => End::Failed(why),
            Ok(sandbox) => {
                let sandbox = Arc::new(sandbox);
                let end = self.supervise(&sandbox).await;
                self.clear(&sandbox).await;
                end
            }
        };
        let (state, why) = match end {
            End::Finished => (LabState::Finished, String::new()),
            End::Stopped(why) => (LabState::Stopped, why),
            End::Failed(why) => (LabState::Failed, why),
        };
        for lane in self.lanes.iter().filter(|lane| lane.measured().state != LabState::Finished) {
            lane.disturb();
            lane.turn(state);
        }
        {
            let run = &mut self.header.lock().run;
            (run.state, run.why, run.ended_at_ms) = (state, why, Some(self.clock.now_ms()));
        }
        let so_far = self.now();
        self.header.lock().run.conclusion = conclude(&so_far);
    }

    /// Lets it run in a task of its own, so that a panic in it ends the run and nothing else.
    async fn supervise(self: &Arc<Self>, sandbox: &Arc<Sandbox>) -> End {
        let (run, its_sandbox) = (Arc::clone(self), Arc::clone(sandbox));
        let mut conducting = tokio::spawn(async move { run.conduct(&its_sandbox).await });
        let mut stop = self.stop.subscribe();
        let told = tokio::select! {
            ended = &mut conducting => return match ended {
                Ok(Ok(None)) => End::Finished,
                Ok(Ok(Some(why))) => End::Stopped(why),
                Ok(Err(why)) => End::Failed(why),
                Err(error) => End::Failed(format!("the lab itself broke ({error}); please report it")),
            },
            told = stop.wait_for(Option::is_some) => told.ok().and_then(|why| why.clone()),
        };
        conducting.abort();
        // Its tasks go with it; an error says that it was broken off.
        let _ = conducting.await;
        End::Stopped(told.unwrap_or_default())
    }

    /// Runs all lanes; the reason when it was cut short.
    async fn conduct(&self, sandbox: &Sandbox) -> Result<Option<String>, String> {
        let members = Members::of(&self.place);
        let at_once = if self.order.in_turn { 1 } else { self.lanes.len().max(1) };
        let mut left = self.duration_max;
        for group in self.lanes.chunks(at_once) {
            let begin = clock::instant();
            if !self.group(group, sandbox, &members, left).await? {
                let limit_ms = self.duration_max.as_millis();
                return Ok(Some(format!(
                    "it was counted for {limit_ms} ms in all, which is the limit; order less, or set duration_ms"
                )));
            }
            left = left.saturating_sub(begin.elapsed());
        }
        Ok(None)
    }

    /// Runs some lanes at the same time; false when the limit of time cut them short.
    async fn group(
        &self,
        group: &[Arc<StrategyRun>],
        sandbox: &Sandbox,
        members: &Members,
        left: Duration,
    ) -> Result<bool, String> {
        self.turn(LabState::Opening);
        let opening = group.iter().map(|lane| {
            let referee = FenceCounter { client: sandbox.client().clone(), fence: sandbox.fence(lane.strategy).into() };
            lane.open(&self.place, members, referee)
        });
        let mut fields = try_join_all(opening).await?;
        try_join_all(group.iter().zip(&mut fields).map(|(lane, field)| lane.gather(field))).await?;
        let before = counts::counters(&members.addresses).await;
        join_all(group.iter().zip(&mut fields).map(|(lane, field)| lane.ask_before(field, members))).await;
        self.turn(LabState::Running);
        self.header.lock().probe.get_or_insert_with(LagProbe::start);
        let ordered = self.order.duration_ms.map(|ms| Duration::from_millis(ms.into()));
        let within = ordered.unwrap_or(left).min(left);
        let counting = group.iter().zip(&mut fields).map(|(lane, field)| self.count(lane, field, members, within));
        let wholes = try_join_all(counting).await?;
        self.grew(counts::grown(&before, &counts::counters(&members.addresses).await));
        join_all(fields.iter_mut().map(ClientTasks::end)).await;
        join_all(group.iter().map(|lane| lane.close(members))).await;
        Ok(wholes.into_iter().all(|is_whole| is_whole) || ordered.is_some_and(|ordered| ordered <= left))
    }

    async fn count(
        &self,
        lane: &StrategyRun,
        field: &mut ClientTasks,
        members: &Members,
        within: Duration,
    ) -> Result<bool, String> {
        let is_whole = lane.count(field, within).await?;
        if lane.ask_after(field, members).await.is_none() {
            let notes = &mut self.header.lock().run.notes;
            let note = "The members did not report packets by session; allow the four-letter word cons (4lw.commands.whitelist) to have our counts checked.";
            if !notes.iter().any(|known| known == note) {
                notes.push(note.to_owned());
            }
        }
        lane.turn(LabState::Finished);
        Ok(is_whole)
    }

    fn grew(&self, more: Vec<ServerCounter>) {
        let server = &mut self.header.lock().run.server;
        for one in more {
            match server.iter_mut().find(|known| known.member == one.member && known.name == one.name) {
                Some(known) => known.grew += one.grew,
                None => server.push(one),
            }
        }
    }

    async fn clear(&self, sandbox: &Sandbox) {
        {
            let mut header = self.header.lock();
            header.run.state = LabState::Clearing;
            if let Some(probe) = header.probe.take() {
                header.run.loop_lag_ms = probe.spread();
            }
        }
        self.lanes.iter().for_each(|lane| lane.end());
        let members = Members::of(&self.place);
        join_all(self.lanes.iter().map(|lane| lane.close(&members))).await;
        if let Err(why) = sandbox.remove().await {
            tracing::warn!(run = self.id, why, "a run of the lab was not removed");
            self.header.lock().run.notes.push(format!("Not everything was removed: {why}"));
        }
    }
}
