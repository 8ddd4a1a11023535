//! One client of a lane: a session of its own behind a relay of its own, that comes, waits, holds and leaves, round for
//! round. Owns the way of one client; must not know the other clients.

use std::sync::Arc;
use std::time::Duration;

use lockscope_view::{LabOrder, Strategy};
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use zookeeper_client::{Acls, Client, CreateMode, Error, MultiWriteError};

use super::live_stats::EventSink;
use super::relay::Relay;
use super::sandbox::session_timeout;
use super::strategy::{self, StrategyEnv};
use super::tally::Seat;
use lockscope_zookeeper::Credentials;

/// How long a holder of a draining lane waits for the others to queue again.
const SETTLE_MAX: Duration = Duration::from_secs(60);
/// How many time-outs a paused client receives nothing at most; its session runs out after one and a little.
const PAUSES_MAX: u32 = 3;
/// How long a client goes on with what it lost, so that one sees it.
const BELIEVES: Duration = Duration::from_secs(1);
/// Payload of a znode that is left on purpose.
pub(super) const STALE_LABEL: &[u8] = b"left by the lab";
/// Commands that wait for one client.
pub(super) const COMMANDS_MAX: usize = 4;

/// How far a lane is, as its clients need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Open,
    /// Clients queue up; the first holder keeps the lock.
    Gather,
    Count,
}

/// What a client does wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Its connection is cut and never comes back.
    Kill,
    /// It receives nothing until its session has expired, then goes on and still believes.
    Pause,
    /// It gives up, and its znode stays.
    GiveUp,
    /// It leaves the queue and comes anew, and the reply to its create is lost.
    CreateTwice,
    /// It leaves a persistent znode where its own was.
    LeaveStale,
}

/// What becomes of a client after a command.
enum After {
    GoesOn,
    LetGo,
    /// It comes anew; the round does not count.
    Again,
    Over,
}

/// The fencing counter of a lane: the version of a znode, raised by everybody who gets the lock.
#[derive(Clone, Debug)]
pub(super) struct FenceCounter {
    /// A session that nobody counts.
    pub(super) client: Client,
    pub(super) fence: Arc<str>,
}

impl FenceCounter {
    /// Waits until a znode is gone and somebody else got the lock, but no longer than this.
    async fn outlives(&self, path: &str, version: i32, within: Duration) {
        let outliving = async {
            loop {
                let (stat, watcher) = self.client.check_and_watch_stat(path).await?;
                if stat.is_none_or(|stat| stat.ephemeral_owner == 0) {
                    break;
                }
                // A fixed znode may be made anew by another in between.
                let (fence, raised) = self.client.check_and_watch_stat(&self.fence).await?;
                if fence.is_none_or(|fence| fence.version != version) {
                    break;
                }
                tokio::select! {
                    _ = watcher.changed() => {}
                    _ = raised.changed() => {}
                }
            }
            loop {
                let (fence, raised) = self.client.check_and_watch_stat(&self.fence).await?;
                if fence.is_none_or(|fence| fence.version != version) {
                    return Ok::<(), Error>(());
                }
                raised.changed().await;
            }
        };
        // Whether it was in time shows in the fence.
        let _ = timeout(within, outliving).await;
    }

    /// Notes that somebody got the lock.
    async fn raise(&self) -> Result<i32, Error> {
        loop {
            match self.client.set_data(&self.fence, b"", None).await {
                // All hold with this one session: its connection is none of theirs, and raising twice is raising.
                Err(Error::ConnectionLoss) => {}
                raised => return Ok(raised?.version),
            }
        }
    }

    /// Removes what a session that is over has in this directory: nobody waits behind a client that was lost.
    pub(super) async fn clear(&self, directory: &str, session: i64) -> Result<(), Error> {
        for name in self.client.list_children(directory).await? {
            let path = format!("{directory}/{name}");
            if self.client.check_stat(&path).await?.is_some_and(|stat| stat.ephemeral_owner == session) {
                self.client.delete(&path, None).await?;
            }
        }
        Ok(())
    }

    /// Whether nobody else got it since.
    async fn is_still(&self, version: i32) -> Result<bool, Error> {
        Ok(self.client.check_stat(&self.fence).await?.is_some_and(|stat| stat.version == version))
    }
}

/// The session of a client, which may get another; its id, and None once it was ended on purpose.
#[derive(Debug)]
pub(super) struct Session(Mutex<(i64, Option<Client>)>);

impl Session {
    pub(super) fn new(client: Client) -> Self {
        Self(Mutex::new((client.session_id().0, Some(client))))
    }

    /// The present one; None where it was ended.
    pub(super) fn get(&self) -> Option<Client> {
        self.0.lock().1.clone()
    }

    /// Its id, also when it was ended.
    pub(super) fn id(&self) -> i64 {
        self.0.lock().0
    }

    /// Lets go of it, so that it is closed when its client does as well.
    pub(super) fn end(&self) {
        self.0.lock().1 = None;
    }

    fn set(&self, client: Client) {
        *self.0.lock() = (client.session_id().0, Some(client));
    }
}

#[derive(Debug)]
pub(super) struct LabClient {
    pub(super) client: Client,
    /// Shared with the lane, which closes it.
    pub(super) session: Arc<Session>,
    pub(super) credentials: Credentials,
    /// Through its relay.
    pub(super) connect: String,
    pub(super) relay: Arc<Relay>,
    pub(super) teller: EventSink,
    pub(super) strategy: Strategy,
    pub(super) directory: Arc<str>,
    pub(super) referee: FenceCounter,
    pub(super) order: Arc<LabOrder>,
    pub(super) stage: watch::Receiver<Stage>,
    pub(super) commands: mpsc::Receiver<Command>,
}

impl LabClient {
    /// Plays all rounds.
    ///
    /// # Errors
    /// What kept it from going on. An end that a fault brought about is none.
    pub(super) async fn play(mut self) -> Result<(), Error> {
        if self.stage.wait_for(|stage| *stage >= Stage::Gather).await.is_err() {
            return Ok(());
        }
        // One after the other: a herd that comes at once is in no figure, and the members have to answer it.
        tokio::time::sleep(Duration::from_millis(2) * self.teller.client).await;
        let seed = self.order.seed.unwrap_or_default().wrapping_add(u64::from(self.teller.client));
        let mut random = StdRng::seed_from_u64(seed);
        let mut round = 0;
        while round < self.order.rounds {
            if round > 0 && self.order.think_ms > 0 {
                let think_ms = random.random_range(0..=u64::from(self.order.think_ms) * 2);
                tokio::time::sleep(Duration::from_millis(think_ms)).await;
            }
            match self.round().await {
                Ok(After::GoesOn | After::LetGo) => round += 1,
                Ok(After::Again) => self.teller.sits(Seat::Away),
                Ok(After::Over) => return Ok(()),
                // Its znode was taken away by somebody: an operator may do so.
                Err(Error::NoNode) => {
                    self.teller.sits(Seat::Away);
                    round += 1;
                }
                Err(error) => {
                    self.teller.sits(Seat::Lost);
                    return Err(error);
                }
            }
        }
        self.teller.sits(Seat::Done);
        Ok(())
    }

    async fn round(&mut self) -> Result<After, Error> {
        let place = loop {
            self.teller.comes();
            match self.enter().await? {
                Entered::Holds(place) => break place,
                Entered::Told(After::Over) => return Ok(After::Over),
                Entered::Told(After::GoesOn | After::LetGo | After::Again) => {}
            }
        };
        let version = self.referee.raise().await?;
        match self.hold(&place, version).await? {
            After::GoesOn => {}
            after => return Ok(after),
        }
        if !self.referee.is_still(version).await? {
            self.teller.broken();
        }
        self.teller.releases();
        self.client.delete(&place, None).await?;
        Ok(After::GoesOn)
    }

    async fn enter(&mut self) -> Result<Entered, Error> {
        let Self { client, teller, directory, strategy, commands, .. } = self;
        let told = {
            let mut entering = std::pin::pin!(strategy::enter(*strategy, StrategyEnv { client, directory, teller }));
            loop {
                tokio::select! {
                    entered = &mut entering => {
                        let place = entered?;
                        teller.holds();
                        return Ok(Entered::Holds(place));
                    }
                    // What is for a holder comes too late.
                    Some(command) = commands.recv() => if !is_for_holder(command) { break command },
                }
            }
        };
        match told {
            Command::CreateTwice => self.create_twice().await.map(Entered::Told),
            command => Ok(Entered::Told(self.obey(command))),
        }
    }

    /// Holds as long as ordered; in a draining lane also until all others wait again, so that each release meets all.
    async fn hold(&mut self, place: &str, version: i32) -> Result<After, Error> {
        let hold = Duration::from_millis(self.order.hold_ms.into());
        let drains = drains(&self.order);
        let mut progress = self.teller.board.progress();
        let mut stage = self.stage.clone();
        let holding = async {
            // An error is the end of the lane, which ends this too.
            let _ = stage.wait_for(|stage| *stage >= Stage::Count).await;
            tokio::time::sleep(hold).await;
            if drains {
                let _ = timeout(SETTLE_MAX, progress.wait_for(|all| all.unsettled == 0)).await;
            }
        };
        let mut holding = std::pin::pin!(holding);
        let told = loop {
            tokio::select! {
                () = &mut holding => return Ok(After::GoesOn),
                // What is for somebody who waits comes too late.
                Some(command) = self.commands.recv() => if command != Command::CreateTwice { break command },
            }
        };
        match told {
            Command::Pause => self.pause(place, version).await,
            Command::LeaveStale => self.leave_stale(place).await,
            command => Ok(self.obey(command)),
        }
    }

    /// What is the same for all.
    fn obey(&self, command: Command) -> After {
        let seat = if command == Command::Kill { Seat::Killed } else { Seat::GaveUp };
        if command == Command::Kill {
            self.relay.cut();
        }
        self.teller.sits(seat);
        After::Over
    }

    /// Leaves the queue, as one that gives up in time does, and comes anew; the reply to its create will be lost.
    async fn create_twice(&self) -> Result<After, Error> {
        let number = self.teller.board.tally().number(self.teller.client);
        if let Some(path) = number.and_then(|number| strategy::numbered_path(self.strategy, &self.directory, number)) {
            match self.client.delete(&path, None).await {
                Ok(()) | Err(Error::NoNode) => {}
                Err(error) => return Err(error),
            }
        }
        self.teller.sits(Seat::Away);
        self.relay.drop_next_create_reply();
        Ok(After::Again)
    }

    /// Receives nothing until another holds, goes on as if nothing had been, is rejected by the fence, and comes again
    /// with another session.
    async fn pause(&mut self, place: &str, version: i32) -> Result<After, Error> {
        self.teller.sits(Seat::Paused);
        self.relay.mute();
        self.referee.outlives(place, version, self.client.session_timeout() * PAUSES_MAX).await;
        self.relay.unmute();
        self.teller.sits(Seat::Believing);
        tokio::time::sleep(BELIEVES).await;
        if !self.referee.is_still(version).await? {
            self.teller.broken();
        }
        let connector = self.credentials.connector(session_timeout(self.order.clients))?;
        self.client = self.credentials.open(connector, &self.connect).await?;
        self.session.set(self.client.clone());
        Ok(After::Again)
    }

    /// Lets go, but a persistent znode stays in the place of its own: both in one, so that nobody comes in between.
    async fn leave_stale(&self, place: &str) -> Result<After, Error> {
        let mut writer = self.referee.client.new_multi_writer();
        writer.add_delete(place, None)?;
        writer.add_create(place, STALE_LABEL, &CreateMode::Persistent.with_acls(Acls::anyone_all()))?;
        self.teller.releases();
        writer.commit().await.map_err(|error| match error {
            MultiWriteError::RequestFailed { source } | MultiWriteError::OperationFailed { source, .. } => source,
        })?;
        Ok(After::LetGo)
    }
}

fn is_for_holder(command: Command) -> bool {
    match command {
        Command::Pause | Command::LeaveStale => true,
        Command::Kill | Command::GiveUp | Command::CreateTwice => false,
    }
}

enum Entered {
    /// The znode that is the lock, or its place in the queue.
    Holds(String),
    /// It was given another instruction meanwhile.
    Told(After),
}

/// Whether everybody gets the lock once and then is done, which the theory is about.
pub(super) fn drains(order: &LabOrder) -> bool {
    order.rounds == 1
}
