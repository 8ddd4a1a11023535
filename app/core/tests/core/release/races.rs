//! A hundred thousand races of a release against everything else, judged by the small ZooKeeper's own record.

use std::collections::BTreeMap;

use lockscope_core::release::{Act, Back, End, Ending, Fact, Input, Naming, Sent, Step, Target, TargetSnapshot};
use lockscope_core::znode::{SessionId, Zxid};

use super::zookeeper::{By, Reply, Request, Zk};

const RACES: u64 = 120_000;
/// Steps of a race; then whoever still waits is told that its time is over.
const STEPS_MAX: usize = 400;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.below(number) == 0
    }
}

/// What kind of lock is raced for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Numbered names in a directory that stays.
    Numbered,
    /// Numbered names without a GUID in a directory that may be reaped and made anew.
    Reaped,
    /// One fixed name, alone in its directory.
    Fixed,
    /// One fixed name among many others that come and go.
    Busy,
}

/// One order under way, and what it collected of its step.
struct Order {
    act: Act,
    looked: TargetSnapshot,
    sent: Sent,
    replies: usize,
    heard: Option<u32>,
    back: Back,
    is_begun: bool,
    /// What the first look showed.
    first: Option<TargetSnapshot>,
}

struct Race {
    zk: Zk,
    kind: Kind,
    random: Random,
    orders: Vec<Order>,
    next_session: i64,
    target: Target,
    was_made_anew: bool,
}

impl Race {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4).for_each(|_| _ = random.below(2));
        let kind = [Kind::Numbered, Kind::Reaped, Kind::Fixed, Kind::Busy][usize::try_from(random.below(4)).unwrap()];
        let count = 1 + usize::from(random.one_in(4));
        let mut zk = Zk::new(count);
        zk.is_readable = !random.one_in(5);
        zk.denies = random.one_in(20);
        let is_numbered = matches!(kind, Kind::Numbered | Kind::Reaped);
        for session in 1..=random.below(3) {
            zk.create_numbered(-i64::try_from(session).unwrap());
        }
        let owner = if random.one_in(6) { 0 } else { 7 };
        let name = if is_numbered { zk.create_numbered(owner).unwrap() } else { String::from("lock") };
        if !is_numbered {
            zk.create(&name, owner);
        }
        zk.target.clone_from(&name);
        let node = zk.nodes[&name];
        let target = Target {
            path: format!("/order/{name}").into(),
            czxid: Zxid(node.czxid),
            owner: (owner != 0).then_some(SessionId(owner)),
            version: 0,
            naming: if is_numbered { Naming::Sequential } else { Naming::Fixed },
        };
        let empty = TargetSnapshot { directory: None, node: None };
        let order = || Order {
            act: Act::new(target.clone()),
            looked: empty,
            sent: Sent::default(),
            replies: 0,
            heard: None,
            back: Back::SameSession,
            is_begun: false,
            first: None,
        };
        let orders = (0..count).map(|_| order()).collect();
        Self { zk, kind, random, orders, next_session: 50, target, was_made_anew: false }
    }

    /// Anybody but the orders does something.
    fn world(&mut self) {
        let name = self.zk.target.clone();
        match self.random.below(9) {
            0 => _ = self.zk.delete(&name, By::World),
            1 => {
                let owner = self.zk.nodes.get(&name).map_or(7, |node| node.owner);
                self.zk.end_session(if owner == 0 { 7 } else { owner });
            }
            // The name is taken by the next; where names are numbered, somebody queues.
            2..=4 => {
                self.next_session += 1;
                match self.kind {
                    Kind::Fixed | Kind::Busy => _ = self.zk.create(&name, self.next_session),
                    Kind::Numbered | Kind::Reaped => _ = self.zk.create_numbered(self.next_session),
                }
            }
            5 => {
                if let Some(node) = self.zk.nodes.get_mut(&name) {
                    node.version += 1;
                    self.zk.zxid += 1;
                }
            }
            6 if self.kind == Kind::Reaped => {
                let all: Vec<String> = self.zk.nodes.keys().cloned().collect();
                all.iter().for_each(|name| _ = self.zk.delete(name, By::World));
                self.was_made_anew |= self.zk.make_anew();
            }
            7 if self.kind == Kind::Busy => _ = self.zk.create_numbered(3),
            8 if matches!(self.kind, Kind::Busy | Kind::Numbered) => {
                let other = self.zk.nodes.keys().find(|other| **other != name).cloned();
                other.map(|other| self.zk.delete(&other, By::World));
            }
            _ => {}
        }
    }

    /// An order sends what its step asks for, once.
    fn begin(&mut self, at: usize) {
        let (order, connection) = (&mut self.orders[at], &mut self.zk.connections[at]);
        if order.is_begun || (connection.is_broken && order.act.step() != Step::Settle) {
            return;
        }
        let requests: &[Request] = match order.act.step() {
            Step::Look => {
                connection.is_watching = true;
                order.heard = self.zk.is_readable.then_some(0);
                &[Request::Sync, Request::Directory, Request::Node]
            }
            Step::Send => &[Request::Node, Request::Delete(self.target.version), Request::Directory, Request::Node],
            Step::Settle if connection.is_broken => return,
            Step::Settle => &[Request::Sync, Request::Directory, Request::Node],
            Step::End(_) => return,
        };
        order.is_begun = true;
        order.replies = requests.len();
        connection.to_server.extend(requests);
    }

    /// An order hears what came back, if anything did.
    fn hear(&mut self, at: usize) {
        let Some(reply) = self.zk.connections[at].to_client.pop_front() else { return };
        let order = &mut self.orders[at];
        let is_sending = order.act.step() == Step::Send;
        order.replies -= usize::from(!matches!(reply, Reply::Deleted));
        match reply {
            Reply::Deleted => order.heard = order.heard.map(|heard| heard + 1),
            Reply::Synced => {}
            Reply::Directory(counters) => order.looked.directory = counters,
            Reply::Node(seen) if is_sending && order.sent.just_before.is_none() => order.sent.just_before = Some(seen),
            Reply::Node(seen) => order.looked.node = seen,
            Reply::Answer(answer) => order.sent.answer = Some(answer),
        }
        if order.replies == 0 && !matches!(reply, Reply::Deleted) {
            order.first = order.first.or(Some(order.looked));
            let input = match order.act.step() {
                Step::Look => Input::Looked(order.looked),
                Step::Send => {
                    Input::Sent(Sent { after: Some(order.looked), deletions_heard: order.heard, ..order.sent })
                }
                _ => Input::Settled(order.back, order.looked),
            };
            self.tell(at, input);
        }
    }

    fn tell(&mut self, at: usize, input: Input) {
        let order = &mut self.orders[at];
        order.is_begun = false;
        order.act.take(input);
    }

    fn cut(&mut self, at: usize) {
        self.zk.cut(at);
        let order = &mut self.orders[at];
        order.heard = None;
        match order.act.step() {
            Step::Look if order.is_begun => self.tell(at, Input::GaveUp),
            Step::Send if order.is_begun => {
                let sent = order.sent;
                self.tell(at, Input::Sent(sent));
            }
            Step::Settle => order.is_begun = false,
            _ => {}
        }
    }

    /// The connection is back: with the same session nothing that was sent before can arrive from here on.
    fn reconnect(&mut self, at: usize) {
        let connection = &mut self.zk.connections[at];
        if !connection.is_broken || self.orders[at].act.step() != Step::Settle {
            return;
        }
        connection.is_broken = false;
        if self.random.one_in(3) {
            self.orders[at].back = Back::NewSession;
        } else if self.orders[at].back == Back::SameSession {
            connection.stray.clear();
        }
    }

    fn run(&mut self) {
        let calm = 4 + self.random.below(40);
        for _ in 0..STEPS_MAX {
            if self.orders.iter().all(|order| matches!(order.act.step(), Step::End(_))) {
                break;
            }
            let at = usize::try_from(self.random.below(self.orders.len() as u64)).unwrap();
            self.begin(at);
            match self.random.below(calm) {
                0 => self.world(),
                1 if self.random.one_in(4) => self.cut(at),
                2 => _ = self.zk.serve_stray(at),
                3 => self.reconnect(at),
                at_what if at_what % 2 == 0 => _ = self.zk.serve(at),
                _ => self.hear(at),
            }
            if self.random.one_in(300) && self.zk.connections[at].is_broken {
                self.tell(at, Input::GaveUp);
            }
        }
        for at in 0..self.orders.len() {
            while !matches!(self.orders[at].act.step(), Step::End(_)) {
                // Its time is over; what it sent is under way for ever.
                self.cut(at);
                self.tell(at, Input::GaveUp);
            }
        }
        // Whatever may still arrive does.
        for at in 0..self.orders.len() {
            while self.zk.serve_stray(at) {}
            self.zk.cut(at);
            while self.zk.serve_stray(at) {}
        }
    }

    /// Whether what an order says is the truth.
    fn judge(&self, at: usize, end: End) -> Result<(), &'static str> {
        let ours: Vec<i64> =
            self.zk.deletions.iter().filter(|(_, by)| *by == By::Order(at)).map(|(czxid, _)| *czxid).collect();
        let target = self.target.czxid.0;
        let is_gone = self.zk.deletions.iter().any(|(czxid, _)| *czxid == target);
        let is = |holds: bool, why: &'static str| if holds { Ok(()) } else { Err(why) };
        is(ours.len() <= 1, "one order, several deletions")?;
        let is_planned = |looked: TargetSnapshot| {
            looked.node.is_some_and(|seen| seen.czxid == self.target.czxid && seen.version == self.target.version)
        };
        is(
            ours.is_empty() || self.orders[at].first.is_some_and(is_planned),
            "deleted although the first look showed something else",
        )?;
        let is_foreign = ours.iter().any(|czxid| *czxid != target);
        is(!is_foreign || self.kind != Kind::Numbered, "deleted another although names are numbered")?;
        is(
            !is_foreign || self.kind != Kind::Reaped || self.was_made_anew,
            "deleted another in a directory that stayed",
        )?;
        match (end.ending, end.fact) {
            (Ending::Released, _) => is(ours == [target], "says released"),
            (Ending::ReleasedOther, _) => is(is_foreign && is_gone, "says that another was deleted"),
            (Ending::AlreadyGone | Ending::ChangedHands, _) => {
                is(ours.is_empty() && is_gone, "says that it went before")
            }
            (Ending::VersionMoved | Ending::Denied | Ending::NotLive, _) => {
                is(ours.is_empty(), "says that nothing was deleted")
            }
            (Ending::Unknown, Fact::NeverArrived) => is(ours.is_empty(), "says that the order never arrived"),
            (Ending::Unknown, Fact::GoneUnanswered) => is(is_gone, "says that it is gone"),
            (Ending::Unknown, Fact::Ambiguous) => {
                is(ours.len() == 1 && is_gone, "says that it and something were deleted")
            }
            (Ending::Unknown, Fact::Unread) => is(ours.len() == 1, "says that something was deleted"),
            (Ending::Unknown, Fact::MayArrive | Fact::Silence) => Ok(()),
            (Ending::Unknown, _) => Err("says unknown and why not"),
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are wanted")]
fn a_release_deletes_what_was_seen_or_says_what_it_did() {
    let mut endings: BTreeMap<(Ending, Fact), u64> = BTreeMap::new();
    let (mut foreign, mut numbered) = (0_u64, 0_u64);
    for seed in 1..=RACES {
        let mut race = Race::new(seed);
        race.run();
        for (at, order) in race.orders.iter().enumerate() {
            let Step::End(end) = order.act.step() else { panic!("seed {seed}: no end") };
            if let Err(why) = race.judge(at, end) {
                panic!(
                    "seed {seed}, order {at}, {:?}: {why}: {end:?}; target {:?}; deletions {:?}",
                    race.kind, race.target, race.zk.deletions
                );
            }
            *endings.entry((end.ending, end.fact)).or_default() += 1;
            let others = race
                .zk
                .deletions
                .iter()
                .filter(|(czxid, by)| *by == By::Order(at) && *czxid != race.target.czxid.0)
                .count() as u64;
            foreign += others;
            numbered += if race.kind == Kind::Numbered { others } else { 0 };
        }
    }
    println!("{RACES} races; deletions of another incarnation: {foreign}, among numbered names {numbered}");
    endings.iter().for_each(|((ending, fact), count)| println!("  {ending:?} {fact:?}: {count}"));
    assert_eq!(numbered, 0);
    let reached =
        |ending| endings.iter().filter(|((found, _), _)| *found == ending).map(|(_, count)| count).sum::<u64>();
    for ending in [
        Ending::Released,
        Ending::ReleasedOther,
        Ending::AlreadyGone,
        Ending::ChangedHands,
        Ending::VersionMoved,
        Ending::Denied,
        Ending::Unknown,
        Ending::NotLive,
    ] {
        assert!(reached(ending) >= 10, "{ending:?} was reached {} times", reached(ending));
    }
}
