//! Which alerts there are: looks at a model right after each change, on the model's thread, a piece at a time. Pure: no
//! clock and no I/O, so a replay of what was recorded says exactly what was said live.

mod active;
mod condition;
mod new_rules;
mod seen;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use lockscope_core::change::Change;
use lockscope_core::observation::RootId;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::visits::visit;
use lockscope_core::znode::{Zxid, is_under, join_path};

use crate::rule::{Condition, Rule};
use active::{Active, Look};
use condition::Found;
use seen::{is_seen, known_at};

/// Alerts that are pending or firing in an ensemble. Overflow policy: further ones begin when others end.
pub const ACTIVE_MAX: usize = 10_000;
/// What is found while there is no room is looked at again after so many milliseconds, and so is what was not seen when it
/// was due: a root that is seen again before anybody took note tells nothing.
const LOOK_AGAIN_MS: i64 = 1_000;
/// What is not known yet is looked at again after so many milliseconds, though mostly no sooner than proofs come.
const PROVEN_AGAIN_MS: i64 = 100;
/// Locks that are looked at again although nothing happens to them. Overflow policy: further ones are looked at when
/// something does.
pub const LOOKS_MAX: usize = 200_000;
/// What was not seen for so long is no longer followed: an alert that says so ends then.
pub const UNKNOWN_MS_MAX: i64 = 86_400_000;
/// An alert that has ended and begins anew within so many milliseconds never ended.
pub const RESOLVE_AFTER_MS: i64 = 15_000;

/// That an alert's condition is no longer true is noted after so many milliseconds, so that a process that ends before the
/// alert does leaves that behind. What comes and goes faster is noted never.
const NOTE_OVER_MS: i64 = 500;

/// What is judged at a time: a tenth of a millisecond's worth.
const PIECE: usize = 64;

/// A rule, by its number, and a lock.
type RuleAt = (usize, Arc<str>);

/// What is known of an alert that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveAlert {
    pub rule: Arc<str>,
    /// The lock's path; the path of the root for what can't be seen.
    pub lock: Arc<str>,
    /// When it was found: with rule and lock, this names the alert.
    pub found_at: TimeMs,
    /// Since when its condition is true.
    pub since: TimeMs,
    /// When it fired; None while it is pending.
    pub fired_at: Option<TimeMs>,
    /// Its root can't be seen since then.
    pub unknown_since: Option<TimeMs>,
    /// Its condition is no longer true since then, and it ends unless that changes soon.
    pub over_since: Option<TimeMs>,
    /// Which hold it is about, by its znode's czxid, where it is that it lasts.
    pub hold: Option<Zxid>,
    pub sentence: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertNews {
    pub alert: ActiveAlert,
    /// How it ended; None: it has not.
    pub end: Option<AlertEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertEnd {
    NeverFired,
    /// It fired, and was over at this instant.
    Resolved(TimeMs),
}

/// Follows the alerts of one ensemble.
#[derive(Debug)]
pub struct Evaluator {
    rules: Vec<Rule>,
    follows_queue: bool,
    has_begun: bool,
    active: BTreeMap<RuleAt, Active>,
    /// When a lock is looked at again, for each rule; and the same by instant.
    looks: BTreeMap<RuleAt, TimeMs>,
    due: BTreeSet<(TimeMs, RuleAt)>,
    before: Before,
    backlog: Backlog,
    news: Vec<AlertNews>,
}

#[derive(Debug, Default)]
struct Backlog {
    keys: VecDeque<RuleAt>,
    /// Every lock behind this one.
    locks_after: Option<Arc<str>>,
    /// Roots that are seen again, or no longer.
    roots: BTreeSet<RootId>,
}

/// What no look at a model shows.
#[derive(Debug, Default)]
struct Before {
    /// Since when nobody is seen to hold.
    unheld: BTreeMap<RuleAt, TimeMs>,
    /// Since when a root was not seen when the process before ended; it was not seen since.
    unseen: BTreeMap<RuleAt, TimeMs>,
    /// Which hold lasted too long when the process before ended, and since when that was so: a model that begins with
    /// nothing does not know how long it lasts.
    held: BTreeMap<RuleAt, (Zxid, TimeMs)>,
}

impl Evaluator {
    /// Follows an ensemble by the rules that mean it. `known`: what was active when the process before ended.
    pub fn new(ensemble: &str, rules: &[Rule], mut known: Vec<ActiveAlert>, now: TimeMs) -> Self {
        let rules = Self::of_ensemble(ensemble, rules);
        let mut evaluator = Self {
            follows_queue: Self::follows_queue(&rules),
            rules,
            has_begun: false,
            active: BTreeMap::new(),
            looks: BTreeMap::new(),
            due: BTreeSet::new(),
            before: Before::default(),
            backlog: Backlog::default(),
            news: Vec::new(),
        };
        // Of two that say the same the older goes on.
        known.sort_by_key(|alert| alert.found_at);
        known.into_iter().for_each(|alert| evaluator.recall(alert, now));
        evaluator
    }

    fn of_ensemble(ensemble: &str, rules: &[Rule]) -> Vec<Rule> {
        let of_it = |rule: &&Rule| rule.ensemble.as_deref().is_none_or(|name| name == ensemble);
        rules.iter().filter(of_it).cloned().collect()
    }

    fn follows_queue(rules: &[Rule]) -> bool {
        rules.iter().flat_map(|rule| &rule.when).any(|condition| condition.follows_queue())
    }

    fn recall(&mut self, mut alert: ActiveAlert, now: TimeMs) {
        let meant = |rule: &Rule| rule.name == alert.rule && rule.watches(&alert.lock);
        let key = self.rules.iter().position(meant).map(|rule| (rule, Arc::clone(&alert.lock)));
        // Its rule is gone or is about other locks, or another says the same: nothing will say again whether it is so.
        let Some(key) = key.filter(|key| !self.active.contains_key(key)) else {
            let end = if alert.fired_at.is_some() { AlertEnd::Resolved(now) } else { AlertEnd::NeverFired };
            return self.news.push(AlertNews { alert, end: Some(end) });
        };
        for condition in self.rules.get(key.0).into_iter().flat_map(|rule| &rule.when) {
            let (since, ms) = match condition {
                Condition::NotHeld(ms) => (&mut self.before.unheld, *ms),
                Condition::Unseen(ms) => (&mut self.before.unseen, *ms),
                Condition::Verdict(_)
                | Condition::Finding(_)
                | Condition::Waiting(_)
                | Condition::Held(_)
                | Condition::Depth(_) => continue,
            };
            since.insert(key.clone(), alert.since - ms);
        }
        if let Some(hold) = alert.hold {
            self.before.held.insert(key.clone(), (hold, alert.since));
        }
        alert.unknown_since.get_or_insert(now);
        self.active.insert(key, Active::begun(alert.clone(), now));
        self.news.push(AlertNews { alert, end: None });
    }

    /// Looks at a model that has just changed.
    pub fn look(&mut self, model: &Observatory, now: TimeMs, changes: &[Change]) {
        self.begin_look(model, changes);
        while self.go_on(model, now) {}
    }

    /// Notes what has just changed in a model, and leaves looking at it to [`Self::go_on`].
    pub fn begin_look(&mut self, model: &Observatory, changes: &[Change]) {
        if self.rules.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            // Everything there is is looked at once, and every lock that a rule names.
            self.note_all(model);
            self.backlog.locks_after = Some("".into());
        }
        let mut last: Option<&str> = None;
        for change in changes {
            let path = match change {
                Change::LinkChanged(_) => {
                    self.note_all(model);
                    continue;
                }
                Change::RootChanged(root) => {
                    self.backlog.roots.insert(*root);
                    continue;
                }
                // Another of their locks may be the one that tells of what is left of the deadlocks.
                Change::DeadlockChanged { locks, .. } => {
                    locks.iter().for_each(|lock| self.note_lock(lock));
                    continue;
                }
                Change::VerdictChanged { lock, .. }
                | Change::FindingChanged { lock, .. }
                | Change::LockVanished { lock }
                | Change::LockAppeared { lock } => lock,
                Change::Arrived { lock, .. }
                | Change::Identified { lock, .. }
                | Change::Left { lock, .. }
                | Change::HolderChanged { lock, .. }
                | Change::LockTouched { lock } => {
                    if !self.follows_queue || last == Some(lock) {
                        continue;
                    }
                    lock
                }
                Change::SessionEnded { .. } | Change::EvidenceChanged => continue,
            };
            last = Some(path);
            self.note_lock(path);
        }
    }

    /// Looks at some of what changed, so that whose thread this is may do something else in between. False when nothing
    /// is left. What comes next is noted once all of this is done, so that a replay finds the same.
    pub fn go_on(&mut self, model: &Observatory, now: TimeMs) -> bool {
        for _ in 0..PIECE {
            if let Some(key) = self.backlog.keys.pop_front() {
                self.judge(model, now, key);
            } else if let Some(after) = self.backlog.locks_after.take() {
                let next = model.locks_after(&after).next().map(|lock| Arc::clone(&lock.path));
                next.iter().for_each(|lock| self.note_lock(lock));
                self.backlog.locks_after = next;
            } else if let Some(root) = self.backlog.roots.pop_first() {
                self.note_root(model, root);
            } else if let Some((at, key)) = self.due.first().filter(|(at, _)| *at <= now).cloned() {
                self.due.remove(&(at, key.clone()));
                self.looks.remove(&key);
                self.judge(model, now, key);
            } else {
                return false;
            }
        }
        true
    }

    /// What is pending or firing.
    pub fn active(&self) -> Vec<ActiveAlert> {
        self.active.values().map(|active| active.alert.clone()).collect()
    }

    /// What is new since the last call.
    pub fn take_news(&mut self) -> Vec<AlertNews> {
        std::mem::take(&mut self.news)
    }

    /// All roots, all that is active, and every lock that a rule names.
    fn note_all(&mut self, model: &Observatory) {
        self.backlog.roots.extend((0..).take(model.roots().len()).map(RootId));
        let named = self.rules.iter().enumerate().filter(|(_, rule)| rule.names_one());
        let named = named.map(|(at, rule)| (at, Arc::from(&*rule.path)));
        // Those below no root are noted here alone.
        let is_elsewhere = |key: &RuleAt| model.root_of(&key.1).is_none();
        self.backlog.keys.extend(named.chain(self.active.keys().cloned()).filter(is_elsewhere));
    }

    /// A root is seen again, or no longer: so it is with all that is active below it. A lock that a rule names may be
    /// missing, and is looked at once its root is seen.
    fn note_root(&mut self, model: &Observatory, root: RootId) {
        let Some(view) = model.roots().get(root.0 as usize) else { return };
        let [own, below]: [Arc<str>; 2] = [Arc::from(&*view.path), join_path(&view.path, "").into()];
        for (at, rule) in self.rules.iter().enumerate() {
            let is_of_root = rule.means(&own) || self.active.contains_key(&(at, Arc::clone(&own)));
            let active = self.active.range((at, Arc::clone(&below))..).map(|(key, _)| key);
            let active = active.take_while(|(rule, path)| *rule == at && path.starts_with(&*below));
            let named = (rule.names_one() && is_under(&rule.path, &own)).then(|| (at, Arc::from(&*rule.path)));
            let keys: BTreeSet<RuleAt> =
                is_of_root.then(|| (at, Arc::clone(&own))).into_iter().chain(named).chain(active.cloned()).collect();
            self.backlog.keys.extend(keys);
        }
    }

    fn note_lock(&mut self, path: &Arc<str>) {
        let meant = self.rules.iter().enumerate().filter(|(_, rule)| rule.means(path));
        self.backlog.keys.extend(meant.map(|(rule, _)| (rule, Arc::clone(path))));
    }

    fn judge(&mut self, model: &Observatory, now: TimeMs, key: RuleAt) {
        let Some(rule) = self.rules.get(key.0) else { return };
        visit(1);
        let (is_shown, known) = (is_seen(model, &key.1, now), known_at(model, &key.1, now));
        // What nobody sees goes on by the clock, and is looked at when it is seen.
        let until = if is_shown { known } else { now };
        let Found { since, may_be, next, is_unseen, hold, sentence } =
            rule.found(model, (now, until), &key, &mut self.before);
        // Whether we see is known without being told.
        let is_of_us = is_unseen || rule.is_unseen_itself();
        let look = Look { now, is_seen: is_of_us || is_shown, known: if is_of_us { now } else { known }, may_be };
        let (name, for_ms) = (Arc::clone(&rule.name), rule.for_ms);
        let mut next = next;
        let has_room = self.active.len() < ACTIVE_MAX;
        if since.is_some() && !has_room && !self.active.contains_key(&key) {
            next = next.into_iter().chain([now + LOOK_AGAIN_MS]).min();
        }
        let active = match self.active.get_mut(&key) {
            Some(active) => Some(active),
            None => since.filter(|_| has_room).map(|since| {
                let alert = ActiveAlert {
                    rule: name,
                    lock: Arc::clone(&key.1),
                    found_at: now,
                    since,
                    fired_at: None,
                    unknown_since: None,
                    over_since: None,
                    hold: None,
                    sentence: Box::default(),
                };
                self.active.entry(key.clone()).or_insert(Active::begun(alert, look.known))
            }),
        };
        if let Some(active) = active {
            let is_new = active.alert.found_at == now && active.alert.sentence.is_empty();
            let before = active.alert.clone();
            let (end, wake) = active.judge(look, (since, hold), for_ms, &sentence);
            next = next.into_iter().chain(wake).min();
            if is_new || active.alert != before || end.is_some() {
                self.news.push(AlertNews { alert: active.alert.clone(), end });
            }
            if end.is_some() {
                self.active.remove(&key);
            }
        }
        drop(sentence);
        self.look_again(key, next.map(|at| at.max(now + 1)));
    }

    fn look_again(&mut self, key: RuleAt, at: Option<TimeMs>) {
        if let Some(before) = self.looks.remove(&key) {
            self.due.remove(&(before, key.clone()));
        }
        if let Some(at) = at.filter(|_| self.looks.len() < LOOKS_MAX) {
            self.looks.insert(key.clone(), at);
            self.due.insert((at, key));
        }
    }
}
