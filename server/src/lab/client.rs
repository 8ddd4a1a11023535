//! One client of a lane: a session of its own behind a relay of its own, that comes, waits, holds and leaves, round for
//! round. Owns the way of one client; must not know the other clients.

use std::sync::Arc;
use std::time::Duration;

use app::wire::{LabOrder, Strategy};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use zookeeper_client::{Client, Error};

use super::board::Teller;
use super::relay::Relay;
use super::strategy::{self, Ground, Place};
use super::tally::Seat;

/// How long a holder of a draining lane waits for the others to queue again.
const SETTLE_MAX: Duration = Duration::from_secs(60);
/// Commands that wait for one client.
pub(super) const COMMANDS_MAX: usize = 4;

/// How far a lane is, as its clients need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Sessions are opened.
    Open,
    /// Clients queue up; the first holder keeps the lock.
    Gather,
    /// It is counted.
    Count,
}

/// What a client is told to do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Its connection is cut and never comes back.
    Kill,
    /// It hears nothing until its session has run out, then goes on and still believes.
    Pause,
    /// It gives up, and its znode stays.
    GiveUp,
    /// It comes anew, and the reply to its create is lost.
    CreateTwice,
}

/// What becomes of a client after a command.
enum After {
    /// It goes on.
    GoesOn,
    /// It comes anew.
    Again,
    /// It is over.
    Over,
}

/// The fencing counter of a lane: the version of a znode, raised by everybody who gets the lock.
#[derive(Clone, Debug)]
pub(super) struct Referee {
    /// A session that nobody counts.
    pub(super) client: Client,
    /// The znode.
    pub(super) fence: Arc<str>,
}

impl Referee {
    async fn raise(&self) -> Result<i32, Error> {
        Ok(self.client.set_data(&self.fence, b"", None).await?.version)
    }

    async fn is_still(&self, version: i32) -> Result<bool, Error> {
        Ok(self.client.check_stat(&self.fence).await?.is_some_and(|stat| stat.version == version))
    }
}

/// One client and all it needs.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) client: Client,
    pub(super) relay: Arc<Relay>,
    pub(super) teller: Teller,
    pub(super) strategy: Strategy,
    pub(super) directory: Arc<str>,
    pub(super) referee: Referee,
    pub(super) order: Arc<LabOrder>,
    pub(super) stage: watch::Receiver<Stage>,
    pub(super) commands: mpsc::Receiver<Command>,
}

impl Player {
    /// Plays all rounds.
    ///
    /// # Errors
    /// What kept it from going on. An end that a fault brought about is none.
    pub(super) async fn play(mut self) -> Result<(), Error> {
        if self.stage.wait_for(|stage| *stage >= Stage::Gather).await.is_err() {
            return Ok(());
        }
        let seed = self.order.seed.unwrap_or_default().wrapping_add(u64::from(self.teller.client));
        let mut random = StdRng::seed_from_u64(seed);
        for round in 0..self.order.rounds {
            if round > 0 && self.order.think_ms > 0 {
                let think_ms = random.random_range(0..=u64::from(self.order.think_ms) * 2);
                tokio::time::sleep(Duration::from_millis(think_ms)).await;
            }
            match self.round().await {
                Ok(After::GoesOn | After::Again) => {}
                Ok(After::Over) => return Ok(()),
                // Its znode was taken away by somebody: an operator may do so.
                Err(Error::NoNode) => self.teller.sits(Seat::Away),
                Err(error) => {
                    self.teller.sits(if error == Error::SessionExpired { Seat::Killed } else { Seat::GaveUp });
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
                Entered::Told(After::GoesOn | After::Again) => {}
            }
        };
        let version = self.referee.raise().await?;
        if matches!(self.hold().await?, After::Over) {
            return Ok(After::Over);
        }
        if !self.referee.is_still(version).await? {
            self.teller.broken();
        }
        self.teller.releases();
        strategy::leave(&self.client, place).await?;
        Ok(After::GoesOn)
    }

    async fn enter(&mut self) -> Result<Entered, Error> {
        let Self { client, teller, directory, strategy, commands, .. } = self;
        let entering = strategy::enter(*strategy, Ground { client, directory, teller });
        tokio::select! {
            entered = entering => {
                let place = entered?;
                teller.holds();
                Ok(Entered::Holds(place))
            }
            Some(command) = commands.recv() => self.obey(command).await.map(Entered::Told),
        }
    }

    /// Holds as long as ordered; in a draining lane also until all others wait again, so that each release meets all.
    async fn hold(&mut self) -> Result<After, Error> {
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
        tokio::select! {
            () = holding => Ok(After::GoesOn),
            Some(command) = self.commands.recv() => self.obey(command).await,
        }
    }

    /// Does what it is told, waiting or holding.
    async fn obey(&mut self, command: Command) -> Result<After, Error> {
        match command {
            Command::Kill => {
                self.relay.cut();
                self.teller.sits(Seat::Killed);
                Ok(After::Over)
            }
            Command::GiveUp => {
                self.teller.sits(Seat::GaveUp);
                Ok(After::Over)
            }
            Command::CreateTwice => {
                self.relay.drop_next_create_reply();
                Ok(After::Again)
            }
            Command::Pause => {
                self.teller.sits(Seat::Paused);
                self.relay.mute();
                tokio::time::sleep(self.client.session_timeout() * 2).await;
                self.relay.unmute();
                self.teller.sits(Seat::Believing);
                Ok(After::GoesOn)
            }
        }
    }
}

/// What came of queueing up.
enum Entered {
    /// It holds.
    Holds(Place),
    /// It was told something meanwhile.
    Told(After),
}

/// Whether everybody gets the lock once and then is done, which theory tells about.
pub(super) fn drains(order: &LabOrder) -> bool {
    order.rounds == 1
}
