//! An hour of the sample's past, made up: the same locks, clients and ways of waiting, in a ZooKeeper that is only a tree
//! in memory, as Lockscope would have observed it. Pure and repeatable: a seed and an instant give the same hour.
//!
//! It is quiet but for some troubles, one after the other: a client that stands in a queue twice (from minute 9), a
//! deadlock that somebody releases (14:30 to 16:40), a leader whose host dies (24:31), 40 s without Lockscope (30:00), a
//! client that hangs while it holds (36:00 to 42:20), a burst at a lock that everyone watches (48:00), and two libraries
//! in one directory (53:00).

mod actor;
mod cast;
mod chance;
mod evidence;
mod world;

use std::collections::{BTreeMap, VecDeque};

use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid, join_path};

use super::scenes::Play;
use super::spawn::directories;
use actor::{Actor, Next, Stage};
use cast::{HAPPENINGS, HOUR_MS, Happening};
use chance::Chance;
use world::World;

/// How long the hour is.
pub const GENERATED_MS: i64 = HOUR_MS;

/// Time between two ticks, and from beat to beat whatever else comes by the clock.
const BEAT_MS: i64 = 500;
const CONFIRM_MS: i64 = 1_000;
const ANSWER_MS: i64 = 5_000;
const WATCHES_MS: i64 = 15_000;
const SWEEP_MS: i64 = 60_000;
/// Contenders come within this time.
const ARRIVE_MS: std::ops::Range<u64> = 500..2_500;
/// From an event to what its client does then.
const REACT_MS: std::ops::Range<u64> = 1..7;
/// From a lost session to the next.
const RESTART_MS: std::ops::Range<u64> = 2_000..4_000;
/// Ports of clients.
const PORTS: std::ops::Range<u64> = 32_768..60_999;
/// Time-out of the sessions of whoever observes.
const OBSERVER_TIMEOUT_MS: i64 = 4_000;

/// A piece of the hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something was observed.
    Observed(TimeMs, Observation),
    /// Somebody deletes this znode through Lockscope; its deletion follows.
    Forced(Zxid),
    /// Lockscope is not running up to here.
    Stopped {
        /// When it is started again.
        until: TimeMs,
    },
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// Time passes.
    Beat,
    /// A contender goes on, if this is its turn still.
    Turn(usize, u64),
    /// A session runs out.
    Expiry(SessionId),
    /// Something of the story.
    Story(Happening),
}

/// The hour, piece by piece. Instants do not fall.
#[derive(Debug)]
pub struct GeneratedHour {
    from_ms: i64,
    world: World,
    actors: Vec<Actor>,
    due: BTreeMap<(i64, u64), Due>,
    planned: u64,
    chance: Chance,
    ready: VecDeque<Step>,
}

impl GeneratedHour {
    /// The hour that begins at an instant.
    pub fn new(seed: u64, from: TimeMs) -> Self {
        let roles = cast::all();
        let mut world = World::new(from.0);
        for role in &roles {
            directories(&role.scene).iter().for_each(|directory| world.make(directory));
        }
        let actors = roles.into_iter().enumerate().map(|(who, role)| Actor::new(who, role)).collect();
        let mut hour = Self {
            from_ms: from.0,
            world,
            actors,
            due: BTreeMap::new(),
            planned: 0,
            chance: Chance::new(seed),
            ready: VecDeque::new(),
        };
        hour.start("first sync");
        hour.plan(from.0 + BEAT_MS, Due::Beat);
        for who in 0..hour.actors.len() {
            let arrives_ms = hour.actors.get(who).map_or(0, |actor| actor.role.window_ms.start);
            let after_ms = arrives_ms + hour.chance.within(&ARRIVE_MS);
            hour.wake(who, after_ms);
        }
        HAPPENINGS.iter().for_each(|(at_ms, happening)| hour.plan(from.0 + at_ms, Due::Story(*happening)));
        hour
    }

    fn plan(&mut self, at_ms: i64, due: Due) {
        self.planned += 1;
        self.due.insert((at_ms, self.planned), due);
    }

    /// A contender goes on after so long; whatever it was to do before is off.
    fn wake(&mut self, who: usize, after_ms: i64) {
        let Some(actor) = self.actors.get_mut(who) else { return };
        actor.turn += 1;
        let turn = actor.turn;
        self.plan(self.world.now_ms + after_ms, Due::Turn(who, turn));
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Beat => self.beat(),
            Due::Turn(who, turn) => self.go_on(who, turn),
            Due::Expiry(session) => self.expire(session),
            Due::Story(Happening::Release(lock)) => {
                if let Some(path) = self.holder_of(lock) {
                    self.world.release(&path);
                }
            }
            Due::Story(Happening::HostDies(lock)) => {
                let owner = self.holder_of(lock).and_then(|path| self.world.znodes.get(&path)?.owner);
                owner.into_iter().for_each(|session| self.cut(session));
            }
            Due::Story(Happening::Stop) => self.stop(),
            Due::Story(Happening::Start) => self.start("first sync"),
        }
        for who in std::mem::take(&mut self.world.woken) {
            let after_ms = self.chance.within(&REACT_MS);
            self.wake(who, after_ms);
        }
    }

    /// The znode at the head of a queue.
    fn holder_of(&self, lock: &str) -> Option<String> {
        let names = self.world.children(lock);
        names.iter().min_by_key(|name| super::names::order(name)).map(|name| join_path(lock, name))
    }

    fn beat(&mut self) {
        let past_ms = self.world.now_ms - self.from_ms;
        let is_time = |every_ms: i64| past_ms % every_ms == 0;
        self.world.observed(Observation::Tick);
        if is_time(CONFIRM_MS) {
            self.world.confirm();
        }
        if is_time(ANSWER_MS) {
            self.world.answer(self.from_ms, is_time(WATCHES_MS));
        }
        if is_time(SWEEP_MS) {
            self.world.sweep();
        }
        self.plan(self.world.now_ms + BEAT_MS, Due::Beat);
    }

    fn go_on(&mut self, who: usize, turn: u64) {
        let (past_ms, port) = (self.world.now_ms - self.from_ms, self.chance.within(&PORTS));
        let Self { actors, world, chance, .. } = self;
        let Some(actor) = actors.get_mut(who).filter(|actor| actor.turn == turn) else { return };
        let is_idle = actor.stage == Stage::Away;
        let is_over = is_idle && past_ms >= actor.role.window_ms.end;
        if is_over {
            return actor.session.take().into_iter().for_each(|session| world.end(session));
        }
        let timeout_ms = i64::try_from(actor.role.scene.session_timeout_ms).unwrap_or(i64::MAX);
        let address = || format!("{}:{port}", host_of(&actor.role.scene.label));
        let session = *actor.session.get_or_insert_with(|| world.open(address(), timeout_ms));
        match actor.go_on(session, world, chance) {
            Next::After(ms) => self.wake(who, ms),
            Next::Watch => {}
            Next::Cut => self.cut(session),
            // It stays, and does nothing more.
            Next::Over if matches!(actor.role.scene.play, Play::LockOnce(_)) => {}
            Next::Over if actor.role.is_once => {
                actor.session = None;
                world.end(session);
            }
            Next::Over => {
                let after_ms = chance.within(&actor.role.scene.pause_ms);
                self.wake(who, after_ms);
            }
        }
    }

    /// A client is gone without a word: its session runs out.
    fn cut(&mut self, session: SessionId) {
        self.world.cut(session);
        let ends_ms = self.world.sessions.get(&session).map(|of| evidence::ends_ms(session, of, self.world.now_ms));
        // The server looks at a whole tick, and takes a moment.
        ends_ms.into_iter().for_each(|ends_ms| self.plan(ends_ms + 3, Due::Expiry(session)));
    }

    fn expire(&mut self, session: SessionId) {
        self.world.end(session);
        let Some(who) = self.actors.iter().position(|actor| actor.session == Some(session)) else { return };
        let Some(actor) = self.actors.get_mut(who) else { return };
        actor.reset();
        if actor.role.is_once {
            // Whatever it was to do is off.
            actor.turn += 1;
            return;
        }
        let pause_ms = match actor.role.scene.play {
            Play::LockAndDie(_) => self.chance.within(&actor.role.scene.pause_ms),
            _ => self.chance.within(&RESTART_MS),
        };
        self.wake(who, pause_ms);
    }

    fn stop(&mut self) {
        if let Some(session) = self.world.observer.take() {
            self.world.end(session);
        }
        let starts = HAPPENINGS.iter().find(|(_, happening)| *happening == Happening::Start);
        let until = TimeMs(starts.map_or(self.world.now_ms, |(at_ms, _)| self.from_ms + at_ms));
        self.world.steps.push(Step::Stopped { until });
    }

    fn start(&mut self, why: &str) {
        let session = self.world.open("10.0.0.2:40110".to_owned(), OBSERVER_TIMEOUT_MS);
        self.world.observe(session, why);
    }
}

impl Iterator for GeneratedHour {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            self.ready.extend(self.world.steps.drain(..));
            if let Some(step) = self.ready.pop_front() {
                return Some(step);
            }
            let ((at_ms, _), due) = self.due.pop_first()?;
            if at_ms >= self.from_ms + HOUR_MS {
                return None;
            }
            self.world.now_ms = at_ms;
            self.happen(due);
        }
    }
}

/// The address of the host that a label names: `10.0.0.11` for `orders-1@app-1`.
fn host_of(label: &str) -> String {
    let number = label.rsplit_once("app-").and_then(|(_, number)| number.parse::<u8>().ok());
    format!("10.0.0.{}", number.map_or(10, |number| number.saturating_add(10)))
}

#[cfg(test)]
mod tests;
