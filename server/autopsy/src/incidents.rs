//! Runs of unhealthy verdicts: when each lock was in trouble, because of whom, and how it ended. Follows what the model
//! says, and makes up nothing of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use history::derive::{Event, is_trouble, verdict_name};
use lockscope_core::diagnosis::Verdict;
use lockscope_core::lock::Hold;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::name_of;
use lockscope_core::znode::SessionId;
use serde::Serialize;

use crate::audit_log::{AuditLog, Writer};

/// Runs that are kept. Overflow policy: further ones are counted.
pub const INCIDENTS_MAX: usize = 10_000;
/// Runs that are under way at once. Overflow policy: the same.
const OPEN_MAX: usize = 10_000;
/// Sessions of one run that are told apart. Overflow policy: the rest is not counted, and `victims_is_lower_bound` says so.
const VICTIMS_MAX: usize = 10_000;
/// How far it is followed who waits for whom.
const STEPS_MAX: usize = 64;

/// How a run of unhealthy verdicts ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentEnd {
    /// Whoever held it let go.
    Released,
    /// The session of whoever held it ended.
    SessionEnded,
    /// It is held still, and nobody waits any longer, or nothing is wrong with it any longer.
    Recovered,
    /// The lock itself was removed.
    Removed,
    /// It goes on where the records end.
    Still,
    /// Records are missing: what happened then is not known.
    Unknown,
}

/// A run of unhealthy verdicts of one lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Incident {
    /// When it began.
    pub from_at_ms: i64,
    /// When it ended; null where it goes on.
    pub to_at_ms: Option<i64>,
    /// The worst verdict.
    pub worst: &'static str,
    /// The lock.
    pub lock: String,
    /// The lock that all wait for in the end; the same where its holder waits for nobody.
    pub root_lock: String,
    /// Who holds that one, by what they say of themselves; null where nobody does.
    pub root_client: Option<String>,
    /// Their session.
    pub root_session: Option<String>,
    /// Where they wrote from, by ZooKeeper's audit log; null without one.
    pub root_address: Option<String>,
    /// The user that they wrote as.
    pub root_user: Option<String>,
    /// Sessions that waited.
    pub victims: usize,
    /// There were more.
    pub victims_is_lower_bound: bool,
    /// All their waiting together, from its beginning on.
    pub waiting_ms: i64,
    /// How it ended.
    pub ended_by: IncidentEnd,
}

impl Incident {
    /// Adds who its root is.
    pub(crate) fn root_writer(&mut self, writers: &AuditLog) {
        let session =
            self.root_session.as_deref().and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
        let Some(Writer { address, user }) = session.and_then(|session| writers.writer(session.cast_signed())) else {
            return;
        };
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (self.root_address, self.root_user) = (known(address), known(user));
    }
}

/// Who is to blame, as of some moment.
#[derive(Clone, Debug, Default)]
struct Root {
    lock: String,
    client: Option<String>,
    session: Option<SessionId>,
}

#[derive(Clone, Debug)]
struct Open {
    from: TimeMs,
    worst: Verdict,
    root: Root,
    holder: Option<Box<str>>,
    session: Option<SessionId>,
    victims: BTreeSet<SessionId>,
    is_lower_bound: bool,
    waiters: u32,
    waiting_ms: i64,
    summed_until: TimeMs,
    /// When whoever held it was gone last, and their session.
    let_go: Option<(TimeMs, Option<SessionId>)>,
}

/// All runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incidents {
    open: BTreeMap<Arc<str>, Open>,
    ended: Vec<(Incident, TimeMs, Option<SessionId>)>,
    dropped: u64,
}

impl Incidents {
    /// Takes in what a change of the model led to, and looks at the model as it is now.
    pub(crate) fn take(&mut self, events: &[(TimeMs, Event)], model: &Observatory) {
        for (now, event) in events {
            match event {
                Event::Verdict { lock, verdict } | Event::Whole { lock, verdict, .. } => {
                    self.verdict(*now, lock, *verdict, model);
                }
                Event::Came { lock, contender, .. } => {
                    self.follow(*now, lock, model);
                    let session = contender.identity.as_ref().and_then(|identity| identity.session);
                    session.into_iter().for_each(|session| self.came(lock, session));
                }
                Event::Held { lock, .. } => self.follow(*now, lock, model),
                Event::Left { lock, node, .. } => {
                    if let Some(open) = self.open.get_mut(lock).filter(|open| open.holder.as_ref() == Some(node)) {
                        // The model has the next one already.
                        open.let_go = Some((*now, open.session));
                    }
                    self.follow(*now, lock, model);
                }
                Event::Vanished { lock } => {
                    if let Some(open) = self.open.remove(lock) {
                        self.end(*now, lock, open, IncidentEnd::Removed);
                    }
                }
                Event::SessionEnded { session, since } => self.session_ended(since.unwrap_or(*now), *session),
                Event::Offset(_)
                | Event::Watchers { .. }
                | Event::Finding { .. }
                | Event::Deadlock { .. }
                | Event::Link(_)
                | Event::Root { .. } => {}
            }
        }
    }

    /// Of the time from here on nothing is known.
    pub(crate) fn lose(&mut self, now: TimeMs) {
        for (lock, open) in std::mem::take(&mut self.open) {
            self.end(now, &lock, open, IncidentEnd::Unknown);
        }
    }

    /// All of them, the oldest first, and how many were left out.
    pub(crate) fn finish(mut self, now: TimeMs) -> (Vec<Incident>, u64) {
        for (lock, mut open) in std::mem::take(&mut self.open) {
            open.sum_up(now);
            let incident = open.incident(&lock, None, IncidentEnd::Still);
            self.keep(incident, now, None);
        }
        let mut all: Vec<Incident> = self.ended.into_iter().map(|(incident, ..)| incident).collect();
        all.sort_by(|one, other| (one.from_at_ms, &one.lock).cmp(&(other.from_at_ms, &other.lock)));
        (all, self.dropped)
    }

    fn verdict(&mut self, now: TimeMs, lock: &Arc<str>, verdict: Verdict, model: &Observatory) {
        if !is_trouble(verdict) {
            if let Some(open) = self.open.remove(lock) {
                let by = open.ended_by(now);
                self.end(now, lock, open, by);
            }
            return;
        }
        if !self.open.contains_key(lock) {
            if self.open.len() >= OPEN_MAX {
                self.dropped += 1;
                return;
            }
            let mut open = Open::new(now, verdict);
            if let Some((found, mirror)) = model.lock(lock).and_then(|found| Some((found, model.mirror_of(found)?))) {
                let waits = found.contenders(mirror).filter(|one| found.hold_of(one).is_none());
                open.victims.extend(waits.filter_map(|one| one.child.owner()).take(VICTIMS_MAX));
            }
            self.open.insert(Arc::clone(lock), open);
        }
        if let Some(open) = self.open.get_mut(lock) {
            let is_first = open.root.lock.is_empty();
            if verdict > open.worst || is_first {
                (open.worst, open.root) = (verdict.max(open.worst), root_of(model, lock));
            }
        }
        self.follow(now, lock, model);
    }

    /// Looks at who holds and waits.
    fn follow(&mut self, now: TimeMs, lock: &Arc<str>, model: &Observatory) {
        let Some(open) = self.open.get_mut(lock) else { return };
        open.sum_up(now);
        let Some(found) = model.lock(lock) else { return };
        open.waiters = found.waiters_seen();
        // Who held last is known when it is gone.
        if let Some(hold) = found.holders.first() {
            (open.holder, open.session) = (Some(hold.name.clone()), hold.owner);
        }
    }

    /// Another one queued up.
    fn came(&mut self, lock: &Arc<str>, session: SessionId) {
        let Some(open) = self.open.get_mut(lock).filter(|open| open.session != Some(session)) else { return };
        if open.victims.len() < VICTIMS_MAX {
            open.victims.insert(session);
        } else {
            open.is_lower_bound |= !open.victims.contains(&session);
        }
    }

    fn end(&mut self, now: TimeMs, lock: &str, mut open: Open, by: IncidentEnd) {
        open.sum_up(now);
        let session = open.let_go.and_then(|(_, session)| session);
        let incident = open.incident(lock, Some(now), by);
        self.keep(incident, now, session);
    }

    fn keep(&mut self, incident: Incident, at: TimeMs, session: Option<SessionId>) {
        if self.ended.len() >= INCIDENTS_MAX {
            self.dropped += 1;
            return;
        }
        self.ended.push((incident, at, session));
    }

    /// What was let go since then was not.
    fn session_ended(&mut self, since: TimeMs, session: SessionId) {
        for (incident, at, of) in self.ended.iter_mut().rev().take_while(|(_, at, _)| *at >= since) {
            if *of == Some(session) && *at >= since && incident.ended_by == IncidentEnd::Released {
                incident.ended_by = IncidentEnd::SessionEnded;
            }
        }
    }
}

impl Open {
    fn new(now: TimeMs, worst: Verdict) -> Self {
        Self {
            from: now,
            worst,
            root: Root::default(),
            holder: None,
            session: None,
            victims: BTreeSet::new(),
            is_lower_bound: false,
            waiters: 0,
            waiting_ms: 0,
            summed_until: now,
            let_go: None,
        }
    }

    fn sum_up(&mut self, now: TimeMs) {
        let ms = now.since(self.summed_until).max(0);
        self.waiting_ms = self.waiting_ms.saturating_add(ms.saturating_mul(i64::from(self.waiters)));
        self.summed_until = self.summed_until.max(now);
    }

    fn ended_by(&self, now: TimeMs) -> IncidentEnd {
        if self.let_go.is_some_and(|(at, _)| at == now) { IncidentEnd::Released } else { IncidentEnd::Recovered }
    }

    fn incident(self, lock: &str, to: Option<TimeMs>, ended_by: IncidentEnd) -> Incident {
        let Root { lock: root_lock, client, session } = self.root;
        Incident {
            from_at_ms: self.from.0,
            to_at_ms: to.map(|to| to.0),
            worst: verdict_name(self.worst),
            lock: lock.to_owned(),
            root_lock,
            root_client: client,
            root_session: session.map(|session| session.to_string()),
            root_address: None,
            root_user: None,
            victims: self.victims.len(),
            victims_is_lower_bound: self.is_lower_bound,
            waiting_ms: self.waiting_ms,
            ended_by,
        }
    }
}

/// The lock that all who wait for this one wait for in the end, and who holds it.
fn root_of(model: &Observatory, lock: &str) -> Root {
    let mut seen = BTreeSet::new();
    let mut path = lock.to_owned();
    let mut hold: Option<Hold> = None;
    for _ in 0..STEPS_MAX {
        let Some(found) = model.lock(&path) else { break };
        hold = found.holders.first().cloned().or(hold);
        let Some(session) = found.holders.first().and_then(|hold| hold.owner) else { break };
        if !seen.insert(session) {
            break;
        }
        let next = model
            .spots(session)
            .find(|spot| spot.hold.is_none() && *spot.lock.path != *path && spot.lock.recognition.is_meant_to_pass());
        match next {
            Some(spot) if !spot.lock.holders.is_empty() => path = spot.lock.path.to_string(),
            _ => break,
        }
    }
    let (client, session) = (hold.as_ref().map(name_of), hold.and_then(|hold| hold.owner));
    Root { lock: path, client, session }
}
