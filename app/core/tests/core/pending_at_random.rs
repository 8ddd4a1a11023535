//! The end of a session is one step, whatever a made-up server tells and whenever it is read: only states between
//! transactions are seen.

use std::collections::{BTreeSet, VecDeque};

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::pending::Pending;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};

/// What a made-up server sends on one connection.
enum Sent {
    Told(Observation),
    Answer,
}

/// A made-up server, the connection, and an observer as ours: it hears of events when it looks, and of an answer with
/// some of the events that came behind it.
struct Run {
    random: u64,
    wire: VecDeque<Sent>,
    /// A question that the server has not answered.
    question: Option<()>,
    is_asked: bool,
    pending: Pending,
    observatory: Observatory,
    /// Session and path, for each znode there is.
    truth: Vec<(i64, String)>,
    /// Znodes that the observer heard of and has not asked for.
    unread: Vec<Box<str>>,
    /// The znodes after each transaction, since the last that was seen.
    states: VecDeque<BTreeSet<String>>,
    /// Of each client.
    sessions: [i64; 4],
    made: i64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut observatory = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(0));
        let root = RootId(0);
        let began = [Observation::SyncBegan { root, why: "".into() }, Observation::SyncEnded { root }];
        let live = || Observation::Link { link: Link::Live, session: None, why: "".into() };
        began.into_iter().chain([live()]).for_each(|observation| drop(observatory.apply(TimeMs(1), observation)));
        let mut pending = Pending::new();
        pending.push(live());
        let states = [BTreeSet::new()].into();
        Self {
            random: seed,
            wire: VecDeque::new(),
            question: None,
            is_asked: false,
            pending,
            observatory,
            truth: Vec::new(),
            unread: Vec::new(),
            states,
            sessions: [1, 2, 3, 4],
            made: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % bound
    }

    /// One transaction: a znode is made, or released, or a session ends.
    fn commit(&mut self) {
        let client = usize::try_from(self.below(4)).unwrap();
        let session = self.sessions[client];
        let owned = self.truth.iter().filter(|(owner, _)| *owner == session).count();
        if self.below(8) == 0 && owned > 0 {
            let (gone, left) = std::mem::take(&mut self.truth).into_iter().partition(|(owner, _)| *owner == session);
            self.truth = left;
            self.delete(gone);
            // No session has the id of another.
            self.sessions[client] += 4;
        } else if self.below(3) == 0 && owned > 0 {
            let at = self.truth.iter().position(|(owner, _)| *owner == session).unwrap();
            let gone = self.truth.remove(at);
            self.delete(vec![gone]);
        } else {
            self.made += 1;
            let path = format!("/l/lock-{:010}", self.made);
            self.wire.push_back(Sent::Told(Observation::NodeCreated { root: RootId(0), path: path.clone().into() }));
            self.truth.push((session, path));
        }
        self.states.push_back(self.truth.iter().map(|(_, path)| path.clone()).collect());
    }

    fn delete(&mut self, gone: Vec<(i64, String)>) {
        let told = gone
            .into_iter()
            .map(|(_, path)| Sent::Told(Observation::NodeDeleted { root: RootId(0), path: path.into() }));
        self.wire.extend(told);
    }

    /// The server answers a read, if the znode is still there.
    fn read(&mut self, path: &str) {
        let Some((session, _)) = self.truth.iter().find(|(_, there)| there == path) else { return };
        let zxid = Zxid(path.rsplit('-').next().unwrap().parse().unwrap());
        let facts = Facts {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: 0,
            version: 0,
            cversion: 0,
            children: 0,
            owner: Some(SessionId(*session)),
            payload: None,
            payload_bytes: 0,
        };
        let facts = Box::new(facts);
        let read = Observation::NodeRead { root: RootId(0), path: path.into(), facts, unreadable: false };
        self.wire.push_back(Sent::Told(read));
    }

    /// The observer takes up to so many events in; an answer among them it hears of only after some more.
    fn drain(&mut self, events: u64) {
        let mut is_answered = false;
        for _ in 0..events {
            match self.wire.pop_front() {
                Some(Sent::Told(observation)) => {
                    if let Observation::NodeCreated { path, .. } = &observation {
                        self.unread.push(path.clone());
                    }
                    self.pending.push(observation);
                }
                Some(Sent::Answer) => is_answered = true,
                None => break,
            }
        }
        if is_answered {
            self.is_asked = false;
            self.pending.push(Observation::Answered);
        }
    }

    fn apply(&mut self) {
        while let Some(observation) = self.pending.next(&self.observatory) {
            self.observatory.apply(TimeMs(2), observation);
            if !self.pending.is_within_step() {
                let seen = self.seen();
                let at = self.states.iter().position(|state| *state == seen);
                assert!(at.is_some(), "{seen:?} was never so");
                self.states.drain(..at.unwrap());
            }
        }
    }

    /// What the observatory believes.
    fn seen(&self) -> BTreeSet<String> {
        let directory = self.observatory.roots()[0].mirror.directory("/l");
        directory
            .into_iter()
            .flat_map(|directory| directory.children().map(|(key, _)| format!("/l/{}", key.name())))
            .collect()
    }

    fn step(&mut self) {
        match self.below(6) {
            0 | 1 => self.commit(),
            2 => {
                let events = self.below(6) + 1;
                self.drain(events);
            }
            3 => {
                let count = self.below(3).min(self.unread.len() as u64);
                let asked: Vec<Box<str>> = self.unread.drain(..count as usize).collect();
                asked.iter().for_each(|path| self.read(path));
            }
            4 if !self.is_asked => {
                self.is_asked = true;
                self.question = Some(());
                self.pending.push(Observation::Asked);
            }
            _ => self.wire.extend(self.question.take().map(|()| Sent::Answer)),
        }
        self.apply();
    }
}

#[test]
fn whatever_is_told_when_only_states_between_transactions_are_seen() {
    for seed in 0..200 {
        let mut run = Run::new(seed);
        (0..400).for_each(|_| run.step());
        // Nothing more happens: soon all is seen.
        for _ in 0..3 {
            run.drain(u64::MAX);
            run.wire.extend(run.question.take().map(|()| Sent::Answer));
            run.drain(u64::MAX);
            run.is_asked = true;
            run.question = Some(());
            run.pending.push(Observation::Asked);
            run.apply();
        }
        assert_eq!(Some(&run.seen()), run.states.back(), "seed {seed}");
    }
}
