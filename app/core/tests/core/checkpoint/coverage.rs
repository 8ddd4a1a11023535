//! That the histories of the gate reach what a checkpoint has to recall: an equality over empty maps proves nothing.

use std::collections::BTreeMap;

use lockscope_core::departure::Departure;
use lockscope_core::lock_order::LockOrders;
use lockscope_core::observation::Observation;
use lockscope_core::recipe;
use lockscope_core::recollection::{DirectoryRecollection, ModelRecollection, Recollection, RootRecollection};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

use super::equality::{checkpoint, played};
use super::history::Historian;
use super::step::steps;

const HISTORIES: usize = 2_000;

/// How many checkpoints, or observations, have something.
#[derive(Default)]
struct Seen(BTreeMap<String, u32>);

impl Seen {
    fn note(&mut self, what: &str, is_so: bool) {
        *self.0.entry(what.to_owned()).or_default() += u32::from(is_so);
    }

    fn note_word(&mut self, kind: &str, value: &impl std::fmt::Debug) {
        let text = format!("{value:?}");
        let word = text.split(|char: char| !char.is_alphanumeric()).next().unwrap_or("");
        self.note(&format!("{kind} {word}"), true);
    }

    fn part(&mut self, part: &Recollection) {
        self.note_word("part", part);
        match part {
            Recollection::Opening(settings) => {
                self.note("settings that say something", !settings.configured.is_empty())
            }
            Recollection::Root(root) => self.root(root),
            Recollection::Directory(directory) => self.directory(directory),
            Recollection::Lock(lock) => {
                self.note_word("shape", &lock.recognition.shape);
                self.note_word("verdict", &lock.assessment.verdict);
                self.lock(lock);
            }
            Recollection::Members(members) => {
                self.note("suspected differences", !members.disagreement.suspects.is_empty());
                self.note("disputed znodes", !members.disagreement.disputed.is_empty());
                self.note("vouched", members.vouched_at.is_some());
                self.note("old evidence", members.rounds > 0 && !members.is_fresh);
                self.note("a running clock", members.members.values().any(|member| member.running.least.is_some()));
                self.note("watches that fired", members.members.values().any(|member| member.lately.is_some()));
            }
            Recollection::Sessions(sessions) => {
                self.note("an end", sessions.iter().any(|(_, known)| known.end.is_some()));
                self.note("a session that is gone", sessions.iter().any(|(_, known)| known.gone_since.is_some()));
                self.note("packets", sessions.iter().any(|(_, known)| known.received.is_some()));
            }
            Recollection::LockOrders(orders) => self.orders(orders),
            Recollection::OrderSnoozes(snoozes) => {
                self.note("a snooze that ends", snoozes.iter().any(|snooze| snooze.until.is_some()));
                self.note("a snooze for good", snoozes.iter().any(|snooze| snooze.until.is_none()));
            }
            Recollection::Model(model) => self.model(model),
            Recollection::Children(_)
            | Recollection::Watches(_)
            | Recollection::SessionEvents(_)
            | Recollection::EventRecords(_) => {}
        }
    }

    fn root(&mut self, root: &RootRecollection) {
        self.note("a sync under way", root.next_side_directory.is_some());
        self.note("a root that was never read", !root.status.is_synced);
        self.note("a confirmed root", root.status.is_confirmed);
        self.note("an old root", root.status.was_old);
        self.note("a partial root", root.status.was_partial);
        root.status.trouble.iter().for_each(|trouble| self.note_word("trouble", trouble));
    }

    fn directory(&mut self, directory: &DirectoryRecollection) {
        let children = &directory.children;
        let own_rule = |name: &str, owned| recipe::rule_of(name, owned);
        self.note_word("tree", &directory.tree);
        self.note("a Stat", directory.stat.is_some());
        self.note("something missing", !directory.told_missing.is_empty());
        self.note("several rules", directory.rules.len() > 1);
        self.note("a denied znode", children.iter().any(|child| child.is_denied));
        self.note("an unread znode", children.iter().any(|child| child.read.is_none()));
        let unreadable = |child: &lockscope_core::recollection::ChildRecollection| {
            child.read.as_ref().is_some_and(|read| read.is_unreadable())
        };
        self.note("an unreadable znode", children.iter().any(unreadable));
        let remembered = children.iter().any(|child| child.rule != own_rule(&child.name, child.is_owned()));
        self.note("a rule that is remembered", remembered);
    }

    fn lock(&mut self, lock: &lockscope_core::assessment::AssessedLock) {
        let (tally, assessment) = (&lock.tally, &lock.assessment);
        self.note("a gone election", lock.gone_since.is_some());
        self.note("a configured recipe", lock.recognition.is_configured);
        self.note("several holders", lock.holders.len() > 1);
        self.note("a lower bound", lock.holders.iter().any(|hold| hold.is_lower_bound));
        self.note("a hold that was not read", lock.holders.iter().any(|hold| hold.czxid.is_none()));
        self.note("a holder's client", lock.holders.iter().any(|hold| hold.peer.is_some()));
        self.note("a lease set aside", lock.standing.pending.is_some());
        self.note("watchers", !lock.watchers.since.is_empty());
        self.note("watchers of an earlier hold", !lock.watchers.before.is_empty());
        self.note("a deadlocked lock", assessment.deadlock.is_some());
        self.note("findings", !assessment.findings.is_empty());
        self.note("suspicions", !assessment.suspects.is_empty());
        self.note("a planned look", assessment.look_at.is_some());
        self.note("a planned judgement", assessment.recheck_at.is_some());
        self.note("holds that ended", tally.holds.count() > 0);
        self.note("waits that ended", tally.waits.count() > 0);
        self.note("depths", !tally.depth.peaks().is_empty());
        self.note("attempts", !tally.attempts.lately.is_empty());
        self.note("a reaped lock", tally.reaped > 0);
        self.note("a past hold that woke some", tally.past.iter().any(|past| past.woke.is_some()));
        tally.past.iter().for_each(|past| self.note_word("past", &past.how));
    }

    fn orders(&mut self, orders: &LockOrders) {
        self.note("orders", !orders.edges.is_empty());
        self.note("orders under way", !orders.windows.is_empty());
        self.note("opposite orders", !orders.circles.is_empty());
        self.note("names of locks in orders", orders.classes.entries > 0);
        self.note("an end of an order", orders.edges.values().any(|edge| !edge.ends.is_empty()));
        self.note("a closest approach", orders.edges.values().any(|edge| edge.closest.is_some()));
        self.note("a gate", orders.edges.values().any(|edge| !edge.gates.is_empty()));
        self.note("an order of readers", orders.edges.keys().any(|key| key.is_held_shared || key.is_wanted_shared));
    }

    fn model(&mut self, model: &ModelRecollection) {
        self.note_word("link", &model.state.link);
        self.note("a certain circle", model.state.cycles.iter().any(|cycle| cycle.is_certain));
        self.note("a doubtful circle", model.state.cycles.iter().any(|cycle| !cycle.is_certain));
        self.note("sessions to look at", !model.state.suspects.is_empty());
        self.note("reaped directories", !model.state.reaped.is_empty());
        self.note("ending sessions", !model.state.ending_sessions.is_empty());
        self.note("an offset", model.state.offset.ms().is_some());
        self.note("an offset that is bounded", model.state.offset.error_ms().is_some());
        self.note("an offset of a period before", model.state.offset.previous.most.is_some());
        self.note("requests that were answered", !model.state.offset.synced.is_empty());
        self.note("unlisted owners", !model.state.unlisted.is_empty());
        self.note("tables", model.state.tables.iter().any(Option::is_some));
        self.note("znodes nobody read", model.state.counters.owner_unknown > 0);
        self.note("missed creations", model.state.counters.missed > 0);
        self.note("lag", model.state.ended.lag.count() > 0);
        self.note("another depth slice", model.depth_slice > 400);
    }
}

#[test]
fn the_histories_reach_all_that_is_recalled() {
    let mut runner = TestRunner::new(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() });
    let mut seen = Seen::default();
    for _ in 0..HISTORIES {
        let steps = steps(60).new_tree(&mut runner).unwrap().current();
        let history = Historian::of(&steps);
        history.iter().for_each(|(_, observation)| seen.note_word("observation", observation));
        for part in checkpoint(&played(&history)) {
            if let Observation::Recalled(part) = part {
                seen.part(&part);
            }
        }
    }
    // Long lists are in `large`.
    let never: Vec<&String> = seen.0.iter().filter(|(_, count)| **count == 0).map(|(what, _)| what).collect();
    assert!(never.is_empty(), "{never:?} of {:#?}", seen.0);
    let kinds = |kind: &str| seen.0.keys().filter(|what| what.starts_with(kind)).count();
    let departures = [Departure::Deleted, Departure::SessionEnded, Departure::DuringGap];
    assert_eq!((kinds("observation "), kinds("shape "), kinds("part ")), (25, 12, 12), "{:#?}", seen.0);
    assert_eq!((kinds("verdict "), kinds("past "), kinds("trouble ")), (11, departures.len(), 3), "{:#?}", seen.0);
}
