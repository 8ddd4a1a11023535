//! One contender of the hour: what it does when it is woken, as the sample's real clients do.

use lockscope_core::znode::{SessionId, join_path, split_path};

use super::super::names::{Style, first, hex_of, nearest, protected_by};
use super::super::scenes::{Access, Leg, Play, Side};
use super::super::{deadlock, opposite, semaphore};
use super::cast::Role;
use super::chance::Chance;
use super::world::World;

/// What a client does between its first lock and the second. Of two that are to meet, longer than they come apart.
const BETWEEN_MS: std::ops::Range<u64> = 900..1_100;
const BETWEEN_CROSSED_MS: std::ops::Range<u64> = 3_000..3_500;
/// Between the release of the second and that of the first: long enough not to look like the end of a session.
const RELEASE_MS: std::ops::Range<u64> = 80..200;
/// Until a client notices that it stands in a queue twice.
const UNNOTICED_MS: std::ops::Range<u64> = 38_000..42_000;
/// Until somebody who found another one at work comes again.
const APART_MS: std::ops::Range<u64> = 3_000..6_000;
/// Items that wait at most.
const ITEMS_MAX: usize = 30;

/// Where it is in its round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has nothing.
    #[default]
    Away,
    /// It waits for the first of two.
    First,
    /// It has the first of two.
    Between,
    /// It waits.
    Waiting,
    /// It has what it wanted.
    Holding,
    /// It waits for others to leave.
    Leaving,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It goes on by itself.
    After(i64),
    /// It goes on when one of its watches fires.
    Watch,
    /// Its round is over.
    Over,
    /// Its connection is cut.
    Cut,
}

/// A contender.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) who: usize,
    pub(super) role: Role,
    pub(super) session: Option<SessionId>,
    pub(super) stage: Stage,
    /// Its znodes, in the order in which it made them.
    pub(super) places: Vec<String>,
    /// Its next turn; earlier ones are off.
    pub(super) turn: u64,
}

/// Whether it is somebody's turn.
enum Turn {
    Mine,
    Behind,
    /// Its znode was taken away.
    Gone,
}

impl Actor {
    pub(super) fn new(who: usize, role: Role) -> Self {
        Self { who, role, session: None, stage: Stage::Away, places: Vec::new(), turn: 0 }
    }

    /// Its session ended.
    pub(super) fn reset(&mut self) {
        (self.session, self.stage) = (None, Stage::Away);
        self.places.clear();
    }

    /// Goes on.
    pub(super) fn go_on(&mut self, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        match self.role.scene.play {
            Play::Lock(style) | Play::LockOnce(style) | Play::LockAndDie(style) | Play::Hang(style) => {
                self.lock(session, world, chance, |chance| style.prefix_of(session.0, chance.wide()))
            }
            Play::ReadWrite(access) => {
                let name = if access == Access::Read { "__READ__" } else { "__WRIT__" };
                self.lock(session, world, chance, |chance| protected_by(chance.wide(), name))
            }
            Play::Fixed => self.fixed(session, world, chance),
            Play::Permit(permits) => self.permit(permits, session, world, chance),
            Play::Meet(members) => self.meet(members, session, world, chance),
            Play::Produce => self.produce(world, chance),
            Play::Consume => self.consume(session, world, chance),
            Play::Cross(side) => self.cross(side, session, world, chance),
            Play::Opposite(leg) => self.opposite(leg, session, world, chance),
            Play::Duplicate => self.duplicate(session, world, chance),
        }
    }

    fn hold(&mut self, chance: &mut Chance) -> Next {
        self.stage = Stage::Holding;
        match self.role.scene.play {
            Play::Hang(_) => Next::Watch,
            _ => Next::After(chance.within(&self.role.scene.hold_ms)),
        }
    }

    /// Gives everything back, the last first.
    fn leave(&mut self, world: &mut World) -> Next {
        self.stage = Stage::Away;
        self.places.drain(..).rev().for_each(|path| world.delete(&path));
        Next::Over
    }

    fn queue_up(&mut self, directory: &str, prefix: &str, session: SessionId, world: &mut World) {
        let prefix = join_path(directory, prefix);
        self.places.push(world.create_next(&prefix, Some(session), self.role.scene.label.as_bytes()));
    }

    /// Whom its client looks at.
    fn in_front(&self, names: &[String], own: &str) -> Option<String> {
        let mark = |style: Style| nearest(names, own, style.mark());
        let before = match self.role.scene.play {
            Play::Lock(style) | Play::LockOnce(style) | Play::LockAndDie(style) | Play::Hang(style) => mark(style),
            Play::ReadWrite(Access::Read) => first(names, own, "__WRIT__"),
            Play::ReadWrite(Access::Write) => nearest(names, own, "__"),
            Play::Permit(_) | Play::Cross(_) | Play::Opposite(_) | Play::Duplicate => mark(Style::Curator),
            Play::Fixed | Play::Meet(_) | Play::Produce | Play::Consume => None,
        };
        before.cloned()
    }

    /// Whether nobody is in front of its last znode; else it watches who is.
    fn turn(&self, session: SessionId, world: &mut World) -> Turn {
        let Some(path) = self.places.last().filter(|path| world.exists(path)) else { return Turn::Gone };
        let Some((directory, own)) = split_path(path) else { return Turn::Gone };
        match self.in_front(&world.children(directory), own) {
            None => Turn::Mine,
            Some(before) => {
                world.watch(&join_path(directory, &before), self.who, session);
                Turn::Behind
            }
        }
    }

    fn lock(
        &mut self,
        session: SessionId,
        world: &mut World,
        chance: &mut Chance,
        prefix: impl Fn(&mut Chance) -> String,
    ) -> Next {
        match self.stage {
            Stage::Away => {
                self.queue_up(self.role.scene.directory, &prefix(chance), session, world);
                self.stage = Stage::Waiting;
                self.wait(session, world, chance)
            }
            Stage::Waiting => self.wait(session, world, chance),
            Stage::Holding if matches!(self.role.scene.play, Play::LockAndDie(_)) => Next::Cut,
            Stage::Holding | Stage::First | Stage::Between | Stage::Leaving => self.leave(world),
        }
    }

    fn wait(&mut self, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        match self.turn(session, world) {
            Turn::Mine => self.hold(chance),
            Turn::Behind => Next::Watch,
            Turn::Gone => self.leave(world),
        }
    }

    fn fixed(&mut self, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        if self.stage == Stage::Holding {
            return self.leave(world);
        }
        let path = join_path(self.role.scene.directory, "lock");
        if world.create(&path, Some(session), self.role.scene.label.as_bytes()) {
            self.places.push(path);
            return self.hold(chance);
        }
        self.stage = Stage::Waiting;
        world.watch(&path, self.who, session);
        Next::Watch
    }

    /// A mutex decides who may take a lease next; the leases are the permits.
    fn permit(&mut self, permits: usize, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        let (root, leases) = (self.role.scene.directory, semaphore::leases(self.role.scene.directory));
        match self.stage {
            Stage::Away => {
                self.queue_up(&semaphore::locks(root), &protected_by(chance.wide(), "lock-"), session, world);
                self.stage = Stage::First;
            }
            Stage::Holding => return self.leave(world),
            Stage::First | Stage::Between | Stage::Waiting | Stage::Leaving => {}
        }
        if self.stage == Stage::First {
            match self.turn(session, world) {
                Turn::Behind => return Next::Watch,
                Turn::Gone => return self.leave(world),
                Turn::Mine => {
                    self.queue_up(&leases, &protected_by(chance.wide(), "lease-"), session, world);
                    self.stage = Stage::Waiting;
                }
            }
        }
        if world.children(&leases).len() > permits {
            world.watch_children(&leases, self.who, session);
            return Next::Watch;
        }
        let lock = self.places.remove(0);
        world.delete(&lock);
        self.hold(chance)
    }

    /// A double barrier: the last that comes opens the gate, and nobody comes again before all left.
    fn meet(&mut self, members: usize, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        let directory = self.role.scene.directory;
        let ready = join_path(directory, "ready");
        match self.stage {
            Stage::Away => {
                let path = join_path(directory, &hex_of(chance.wide()));
                world.create(&path, Some(session), self.role.scene.label.as_bytes());
                self.places.push(path);
                self.stage = Stage::Waiting;
                if world.children(directory).len() < members {
                    world.watch(&ready, self.who, session);
                    return Next::Watch;
                }
                world.create(&ready, None, b"");
                self.hold(chance)
            }
            Stage::Waiting => self.hold(chance),
            Stage::Holding => {
                world.delete(&ready);
                self.stage = Stage::Leaving;
                self.exit(session, world)
            }
            Stage::Leaving | Stage::First | Stage::Between => self.exit(session, world),
        }
    }

    /// The member with the lowest name waits for all others; they go and wait for it.
    fn exit(&mut self, session: SessionId, world: &mut World) -> Next {
        let own = self.places.first().cloned().unwrap_or_default();
        let names = world.children(self.role.scene.directory);
        let path = |name: &String| join_path(self.role.scene.directory, name);
        match (names.first().map(path), names.last().map(path)) {
            (Some(lowest), Some(highest)) if lowest == own && highest != own => {
                world.watch(&highest, self.who, session);
                Next::Watch
            }
            (Some(lowest), Some(_)) if lowest != own && world.exists(&own) => {
                world.delete(&own);
                world.watch(&lowest, self.who, session);
                Next::Watch
            }
            _ => self.leave(world),
        }
    }

    fn produce(&mut self, world: &mut World, chance: &mut Chance) -> Next {
        let directory = self.role.scene.directory;
        if world.children(directory).len() < ITEMS_MAX {
            world.create_next(&join_path(directory, "entry-100-"), None, self.role.scene.label.as_bytes());
        }
        let pause = chance.within(&self.role.scene.pause_ms);
        Next::After(pause)
    }

    fn consume(&mut self, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        let directory = self.role.scene.directory;
        match world.children(directory).first() {
            Some(item) => {
                world.delete(&join_path(directory, item));
                Next::After(chance.within(&self.role.scene.hold_ms))
            }
            None => {
                world.watch_children(directory, self.who, session);
                Next::Watch
            }
        }
    }

    /// Two locks, in one order or the other.
    fn cross(&mut self, side: Side, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        let [a, b] = deadlock::locks(self.role.scene.directory);
        let locks = if side == Side::GivesUp && self.role.is_crossed { [b, a] } else { [a, b] };
        self.nest(locks, session, world, chance)
    }

    /// The same in opposite orders, and never at once with the other one: whoever finds it there comes later.
    fn opposite(&mut self, leg: Leg, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        let locks = opposite::locks(self.role.scene.directory, leg);
        if self.stage == Stage::Away && locks.iter().any(|lock| !world.children(lock).is_empty()) {
            return Next::After(chance.within(&APART_MS));
        }
        self.nest(locks, session, world, chance)
    }

    fn nest(&mut self, [one, other]: [String; 2], session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        let prefix = |chance: &mut Chance| Style::Curator.prefix_of(session.0, chance.wide());
        match self.stage {
            Stage::Away => {
                self.queue_up(&one, &prefix(chance), session, world);
                self.stage = Stage::First;
            }
            Stage::Between => {
                self.queue_up(&other, &prefix(chance), session, world);
                self.stage = Stage::Waiting;
            }
            Stage::Holding => {
                self.places.pop().iter().for_each(|path| world.delete(path));
                self.stage = Stage::Leaving;
                return Next::After(chance.within(&RELEASE_MS));
            }
            Stage::Leaving => return self.leave(world),
            Stage::First | Stage::Waiting => {}
        }
        match self.turn(session, world) {
            Turn::Behind => Next::Watch,
            Turn::Gone => self.leave(world),
            Turn::Mine if self.stage == Stage::First => {
                self.stage = Stage::Between;
                let between_ms = if self.role.is_crossed { BETWEEN_CROSSED_MS } else { BETWEEN_MS };
                Next::After(chance.within(&between_ms))
            }
            Turn::Mine => self.hold(chance),
        }
    }

    /// It lost a reply and stands in the queue twice, until it notices.
    fn duplicate(&mut self, session: SessionId, world: &mut World, chance: &mut Chance) -> Next {
        match self.stage {
            Stage::Away => {
                let prefix = Style::Curator.prefix_of(session.0, chance.wide());
                for _ in 0..2 {
                    self.queue_up(self.role.scene.directory, &prefix, session, world);
                }
                self.stage = Stage::First;
                let _ = self.turn(session, world);
                Next::After(chance.within(&UNNOTICED_MS))
            }
            Stage::First => {
                let lost = self.places.remove(0);
                world.delete(&lost);
                self.stage = Stage::Waiting;
                self.wait(session, world, chance)
            }
            Stage::Waiting => self.wait(session, world, chance),
            Stage::Between | Stage::Holding | Stage::Leaving => self.leave(world),
        }
    }
}
