//! One strategy of a run: its clients are opened, gathered, counted and let go. Owns their sessions and relays.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lockscope_runtime::clock;
use lockscope_view::{LabOrder, LabState, Strategy};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use zookeeper_client::{Client, Error};

use super::LabEnsemble;
use super::client::{COMMANDS_MAX, Command, FenceCounter, LabClient, Session, Stage, drains};
use super::counts::{self, Sessions};
use super::live_stats::{EventSink, LiveStats};
use super::members::Members;
use super::relay::{Counts, Relay};
use super::sandbox::session_timeout;
use super::strategy::wakes_all;
use super::tally::Seat;

/// Sessions that are opened at the same time.
const OPENING_MAX: usize = 16;
/// How long opening all sessions of a lane may take.
const OPEN_WITHIN: Duration = Duration::from_secs(60);
/// How often one session is tried.
const TRIES_MAX: u32 = 3;
/// How long queueing up may take.
const GATHER_WITHIN: Duration = Duration::from_secs(60);
/// How often members are asked for their counts until nothing is on its way.
const QUIET_TRIES: u32 = 40;
/// For how long: members that answer slowly do not hold up a run.
const QUIET_WITHIN: Duration = Duration::from_secs(5);
const QUIET_STEP: Duration = Duration::from_millis(20);
/// How long closing all sessions of a lane may take.
const CLOSE_WITHIN: Duration = Duration::from_secs(10);
const CLOSE_STEP: Duration = Duration::from_millis(50);

/// One client, as the lane keeps it: the session lives as long as this does, also when its task is over.
#[derive(Debug)]
struct Seated {
    session: Arc<Session>,
    relay: Arc<Relay>,
    commands: mpsc::Sender<Command>,
}

/// What is measured beside the board.
#[derive(Clone, Debug)]
pub(super) struct RunMeasurements {
    pub(super) state: LabState,
    /// When counting began and ended, µs.
    pub(super) counted_us: Option<(u64, Option<u64>)>,
    /// The meter when counting began, and when it ended.
    pub(super) meter: Option<(Counts, Option<Counts>)>,
    /// Packets from and to the members, by their counts and by ours, over the same time.
    pub(super) server: Option<(counts::Packets, counts::Packets)>,
}

#[derive(Debug)]
pub(super) struct StrategyRun {
    pub(super) strategy: Strategy,
    pub(super) path: Arc<str>,
    pub(super) order: Arc<LabOrder>,
    pub(super) board: Arc<LiveStats>,
    stage: watch::Sender<Stage>,
    seated: Mutex<Vec<Seated>>,
    referee: OnceLock<FenceCounter>,
    measured: Mutex<RunMeasurements>,
    /// Something happened that the theory does not cover.
    disturbed: AtomicBool,
}

/// The tasks of a lane's clients; dropping it ends them.
#[derive(Debug)]
pub(super) struct ClientTasks {
    tasks: JoinSet<(u32, Result<(), Error>)>,
    base: Option<counts::Packets>,
}

impl ClientTasks {
    pub(super) async fn end(&mut self) {
        self.tasks.shutdown().await;
    }
}

impl StrategyRun {
    pub(super) fn new(strategy: Strategy, path: &str, order: &Arc<LabOrder>) -> Self {
        Self {
            strategy,
            path: path.into(),
            order: Arc::clone(order),
            board: Arc::new(LiveStats::new(order.clients, wakes_all(strategy))),
            stage: watch::Sender::new(Stage::Open),
            seated: Mutex::default(),
            referee: OnceLock::new(),
            measured: Mutex::new(RunMeasurements {
                state: LabState::Waiting,
                counted_us: None,
                meter: None,
                server: None,
            }),
            disturbed: AtomicBool::new(!drains(order)),
        }
    }

    pub(super) fn measured(&self) -> MutexGuard<'_, RunMeasurements> {
        self.measured.lock()
    }

    /// How far it is.
    pub(super) fn turn(&self, state: LabState) {
        self.measured().state = state;
    }

    /// The theory no longer predicts the result.
    pub(super) fn disturb(&self) {
        self.disturbed.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_disturbed(&self) -> bool {
        self.disturbed.load(Ordering::Relaxed)
    }

    /// Instructs a client to do something wrong; false when it is over already.
    pub(super) fn command(&self, client: u32, command: Command) -> bool {
        self.disturb();
        let seated = self.seated.lock();
        let one = usize::try_from(client).ok().and_then(|at| seated.get(at));
        one.is_some_and(|one| one.commands.try_send(command).is_ok())
    }

    pub(super) fn session(&self, client: u32) -> Option<Client> {
        let at = usize::try_from(client).ok()?;
        self.seated.lock().get(at).and_then(|one| one.session.get())
    }

    /// Its referee; None before it is opened.
    pub(super) fn referee(&self) -> Option<&FenceCounter> {
        self.referee.get()
    }

    fn sessions(&self) -> Sessions {
        self.seated.lock().iter().map(|one| one.session.id()).collect()
    }

    /// Opens all sessions.
    ///
    /// # Errors
    /// The first that could not be had, and what helps.
    pub(super) async fn open(
        &self,
        place: &LabEnsemble,
        members: &Members,
        referee: FenceCounter,
    ) -> Result<ClientTasks, String> {
        self.turn(LabState::Opening);
        let _ = self.referee.set(referee.clone());
        let slots = Arc::new(Semaphore::new(OPENING_MAX));
        let opening = (0..self.order.clients).map(|number| {
            let slots = Arc::clone(&slots);
            async move {
                let _slot = slots.acquire().await;
                self.open_one(place, members, number).await
            }
        });
        let all = timeout(OPEN_WITHIN, futures_util::future::try_join_all(opening)).await;
        let late = || {
            format!(
                "the {} sessions of {} were not open within {} s; order fewer clients",
                self.order.clients,
                self.strategy.name(),
                OPEN_WITHIN.as_secs()
            )
        };
        let all = all.map_err(|_| late())??;
        let (mut tasks, mut seated) = (JoinSet::new(), Vec::with_capacity(all.len()));
        for ((client, relay), number) in all.into_iter().zip(0..) {
            let session = Arc::new(Session::new(client.clone()));
            self.board.note(|tally, _| tally.sit(number, Seat::Away));
            let (sender, commands) = mpsc::channel(COMMANDS_MAX);
            let player = LabClient {
                client,
                session: Arc::clone(&session),
                credentials: place.credentials.clone(),
                connect: members.through(&relay.address()),
                relay: Arc::clone(&relay),
                teller: EventSink { board: Arc::clone(&self.board), client: number },
                strategy: self.strategy,
                directory: Arc::clone(&self.path),
                referee: referee.clone(),
                order: Arc::clone(&self.order),
                stage: self.stage.subscribe(),
                commands,
            };
            tasks.spawn(async move { (number, player.play().await) });
            seated.push(Seated { session, relay, commands: sender });
        }
        *self.seated.lock() = seated;
        Ok(ClientTasks { tasks, base: None })
    }

    async fn open_one(
        &self,
        place: &LabEnsemble,
        members: &Members,
        number: u32,
    ) -> Result<(Client, Arc<Relay>), String> {
        let first = usize::try_from(number).unwrap_or_default();
        let member = members.addresses.get(first % members.addresses.len().max(1)).map_or("", String::as_str);
        let refused = |why: &str| {
            format!(
                "no session for client {number} of {}: {member} {why}; where it limits connections of one address (maxClientCnxns, usually 60), raise that or order fewer clients",
                self.strategy.name()
            )
        };
        let relay = Relay::open(Arc::clone(&members.addresses), first, Arc::clone(&self.board.meter))
            .map_err(|error| refused(&format!("was not tried ({error})")))?;
        let mut tries_left = TRIES_MAX;
        let client = loop {
            tries_left -= 1;
            let connector =
                place.credentials.connector(session_timeout(self.order.clients)).map_err(|error| error.to_string())?;
            let connector = connector.with_fail_eagerly();
            match place.credentials.open(connector, &members.through(&relay.address())).await {
                Ok(client) => break client,
                Err(error) if tries_left == 0 => return Err(refused(&format!("gave none ({error})"))),
                Err(_) => {}
            }
        };
        Ok((client, Arc::new(relay)))
    }

    /// Lets everybody queue up and waits until all have, the first holding.
    ///
    /// # Errors
    /// Why they have not.
    pub(super) async fn gather(&self, field: &mut ClientTasks) -> Result<(), String> {
        let mut progress = self.board.progress();
        self.stage.send_replace(Stage::Gather);
        let have_all = progress.wait_for(|all| all.absent == 0 && all.unsettled == 0 && all.holding == 1);
        let mut gathered = std::pin::pin!(timeout(GATHER_WITHIN, async { _ = have_all.await }));
        loop {
            tokio::select! {
                Some(ended) = field.tasks.join_next() => { self.leave_out(ended).await?; }
                gathered = &mut gathered => return gathered.map_err(|_| format!("the clients of {} did not all queue up within {} s; order fewer", self.strategy.name(), GATHER_WITHIN.as_secs())),
            }
        }
    }

    /// Goes on without a client that ended; true where it was lost: the machine or the member was too slow for it, and what
    /// it has at the lock goes with its session.
    ///
    /// # Errors
    /// What else kept it from going on.
    async fn leave_out(&self, ended: Result<(u32, Result<(), Error>), JoinError>) -> Result<bool, String> {
        let (client, ended) = ended.unwrap_or_else(|error| (0, Err(Error::UnexpectedError(error.to_string()))));
        match ended {
            Ok(()) => return Ok(false),
            Err(Error::SessionExpired | Error::ConnectionLoss | Error::Timeout) => {}
            Err(error) => return Err(format!("a client of {} could not go on: {error}", self.strategy.name())),
        }
        let session = self.seated.lock().get(client as usize).map(|one| Arc::clone(&one.session));
        if let Some((session, referee)) = session.zip(self.referee()) {
            session.end();
            // Where this fails as well, the end of the session does it.
            let _ = referee.clear(&self.path, session.id()).await;
        }
        Ok(true)
    }

    /// What the members and we have counted, at a moment when nothing is on its way between them; where that does not
    /// come, as near to one as it came. None where the members do not report it.
    async fn counted(&self, members: &Members) -> (Option<counts::Packets>, Counts) {
        let sessions = self.sessions();
        let mut nearest: Option<(u64, counts::Packets, Counts)> = None;
        let (deadline, mut tries_left) = (clock::instant() + QUIET_WITHIN, QUIET_TRIES);
        while tries_left > 0 && clock::instant() < deadline {
            let before = self.board.meter.snapshot();
            let told = counts::packets(&members.addresses, &sessions).await.ok();
            let now = self.board.meter.snapshot();
            // A member that does not report is asked once more: it may only have been late.
            tries_left = tries_left.saturating_sub(if told.is_some() { 1 } else { QUIET_TRIES / 2 });
            if let Some(told) = told {
                // Heartbeats of all clients come in bursts, and each request has its reply.
                let came_between = now.packets_in - before.packets_in + now.packets_out - before.packets_out;
                let on_their_way = now.packets_in.abs_diff(now.packets_out + now.events);
                let off_by = came_between + on_their_way;
                if nearest.is_none_or(|(least, ..)| off_by < least) {
                    nearest = Some((off_by, told, now));
                }
                if off_by == 0 {
                    break;
                }
            }
            tokio::time::sleep(QUIET_STEP).await;
        }
        match nearest {
            Some((_, told, ours)) => (Some(told), ours),
            None => (None, self.board.meter.snapshot()),
        }
    }

    /// Asks the members for their counts, to begin with.
    pub(super) async fn ask_before(&self, field: &mut ClientTasks, members: &Members) {
        let (told, now) = self.counted(members).await;
        field.base = told;
        self.measured().meter = Some((now, None));
    }

    /// Counts until all are done, or until the time is over; true when all are done.
    ///
    /// # Errors
    /// What kept a client from going on.
    pub(super) async fn count(&self, field: &mut ClientTasks, within: Duration) -> Result<bool, String> {
        let begin_us = self.board.note(|tally, now_us| {
            tally.count_from(now_us);
            now_us
        });
        {
            let mut measured = self.measured();
            measured.state = LabState::Running;
            measured.counted_us = Some((begin_us, None));
        }
        self.stage.send_replace(Stage::Count);
        let mut is_disturbed = false;
        let all = async {
            while let Some(ended) = field.tasks.join_next().await {
                is_disturbed |= self.leave_out(ended).await?;
            }
            Ok(())
        };
        let is_whole = match timeout(within, all).await {
            Ok(ended) => ended.map(|()| true),
            Err(_) => Ok(false),
        };
        if is_disturbed || !matches!(is_whole, Ok(true)) {
            self.disturb();
        }
        self.end();
        is_whole
    }

    /// Nothing is counted any more.
    pub(super) fn end(&self) {
        let meter = self.board.meter.snapshot();
        let end_us = self.board.note(|tally, now_us| {
            tally.close_release(meter.events);
            now_us
        });
        let mut measured = self.measured();
        if let Some((_, end @ None)) = &mut measured.counted_us {
            *end = Some(end_us);
        }
        if let Some((_, end @ None)) = &mut measured.meter {
            *end = Some(meter);
        }
    }

    /// Asks the members for their counts again; None when they do not report them.
    pub(super) async fn ask_after(&self, field: &ClientTasks, members: &Members) -> Option<()> {
        let (told, ours) = self.counted(members).await;
        let mut measured = self.measured();
        let (((before, _), base), told) = measured.meter.zip(field.base).zip(told)?;
        let own = counts::Packets {
            received: ours.packets_out.saturating_sub(before.packets_out),
            sent: ours.packets_in.saturating_sub(before.packets_in),
        };
        measured.server = Some((told.since(base), own));
        Some(())
    }

    /// Closes all sessions and waits until the members know.
    pub(super) async fn close(&self, members: &Members) {
        let sessions = self.sessions();
        let seated = std::mem::take(&mut *self.seated.lock());
        // The relays carry the good-byes.
        let relays: Vec<_> = seated.into_iter().map(|one| one.relay).collect();
        let closed = async {
            while counts::are_connected(&members.addresses, &sessions).await {
                tokio::time::sleep(CLOSE_STEP).await;
            }
        };
        if timeout(CLOSE_WITHIN, closed).await.is_err() {
            tracing::warn!(
                lane = self.strategy.name(),
                "sessions of the lab did not close in time; they run out by themselves"
            );
        }
        drop(relays);
    }
}
