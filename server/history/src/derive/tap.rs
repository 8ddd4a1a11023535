//! Takes of a model, right after it changed, what the derived rows need. Runs on the model's thread: a few look-ups for
//! each change, and nothing that grows with the number of locks but where a root is read anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use lockscope_core::assessment::AssessedLock;
use lockscope_core::change::{Change, Departure};
use lockscope_core::lock::ContenderRef;
use lockscope_core::mirror::Child;
use lockscope_core::observation::{Observation, RootId};
use lockscope_core::observatory::Observatory;
use lockscope_core::recipe::Shape;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, split_path};

use super::event::{Contender, ContenderPlace, Event, Following, HeldSince, Identity, LockKind};
use super::harm::harm_of;

/// Bytes of a payload that are looked at for a label.
const PAYLOAD_MAX: usize = 1_024;

/// What was seen last.
#[derive(Debug, Default)]
pub struct Tap {
    offset_ms: Option<i64>,
    roots: Vec<Option<RootState>>,
    /// Roots whose locks were being brought in line with a new tree when this was called last.
    settling: Vec<bool>,
    /// Locks at which somebody waited without a znode.
    watched: BTreeSet<Arc<str>>,
}

impl Tap {
    /// Looks at a model that has just taken in `cause`, or gone on with it where that is None.
    pub fn look(
        &mut self,
        model: &Observatory,
        now: TimeMs,
        cause: Option<&Observation>,
        changes: &[Change],
        out: &mut Vec<(TimeMs, Event)>,
    ) {
        let first = out.len();
        self.follow_offset(model, now, out);
        let mut done: Vec<&Arc<str>> = Vec::new();
        // What a lock had may be another's now.
        let is_moved = changes.iter().any(|change| matches!(change, Change::LockVanished { .. }));
        for change in changes {
            let lock = match change {
                Change::LockAppeared { lock } => {
                    self.whole_once(model, now, lock, &mut done, out);
                    continue;
                }
                Change::Arrived { lock, .. } | Change::Identified { lock, .. } => {
                    came(model, now, lock, cause, first, out);
                    continue;
                }
                Change::HolderChanged { lock, .. } | Change::LockTouched { lock } => lock,
                Change::SessionEnded { session, .. } => {
                    let is_told = matches!(cause, Some(Observation::SessionTold { .. }));
                    out.push((now, Event::SessionEnded { session: *session, since: is_told.then_some(now) }));
                    continue;
                }
                other => {
                    self.other(model, now, other, out);
                    continue;
                }
            };
            if is_moved || self.is_settling(model, lock) {
                self.whole_once(model, now, lock, &mut done, out);
            } else if matches!(change, Change::HolderChanged { .. }) {
                held(model, now, lock, out);
            }
            if !out.iter().skip(first).any(|(_, event)| matches!(event, Event::Came { .. })) {
                no_contender(model, now, lock, cause, out);
            }
            self.watchers(model, now, lock, out);
        }
        self.settling.clear();
        self.settling.extend(model.roots().iter().map(|view| view.is_settling()));
    }

    /// Everything there is, for who begins with it.
    pub fn all(&mut self, model: &Observatory, now: TimeMs, out: &mut Vec<(TimeMs, Event)>) {
        self.offset_ms = None;
        self.follow_offset(model, now, out);
        for lock in model.locks() {
            out.extend(whole(model, lock, true).map(|event| (now, event)));
            self.watchers(model, now, &lock.path, out);
        }
    }

    /// Everything there is, for who goes on in the middle of a recording with a model that was recalled: what changes from
    /// here on is what is told.
    pub fn recall(&mut self, model: &Observatory, now: TimeMs, out: &mut Vec<(TimeMs, Event)>) {
        self.offset_ms = None;
        self.follow_offset(model, now, out);
        for lock in model.locks() {
            out.extend(whole(model, lock, false).map(|event| (now, event)));
            self.watchers(model, now, &lock.path, out);
        }
        let roots = (0..).map(RootId).zip(model.roots());
        self.roots = roots.map(|(root, _)| Some(model.root_state(root, now).0)).collect();
        self.settling = model.roots().iter().map(|view| view.is_settling()).collect();
    }

    fn follow_offset(&mut self, model: &Observatory, now: TimeMs, out: &mut Vec<(TimeMs, Event)>) {
        let offset_ms = model.offset().ms();
        if offset_ms != self.offset_ms {
            self.offset_ms = offset_ms;
            out.extend(offset_ms.map(|ms| (now, Event::Offset(ms))));
        }
    }

    /// Whether what changed at a lock came of reading its root anew; the last piece of that too.
    fn is_settling(&self, model: &Observatory, lock: &str) -> bool {
        let Some(lock) = model.lock(lock) else { return false };
        let at = lock.root.0 as usize;
        let was = self.settling.get(at).copied().unwrap_or(false);
        was || model.roots().get(at).is_some_and(|view| view.is_settling())
    }

    fn whole_once<'a>(
        &self,
        model: &Observatory,
        now: TimeMs,
        path: &'a Arc<str>,
        done: &mut Vec<&'a Arc<str>>,
        out: &mut Vec<(TimeMs, Event)>,
    ) {
        if done.contains(&path) {
            return;
        }
        done.push(path);
        let Some(lock) = model.lock(path).filter(|lock| lock.path == *path) else { return };
        let is_found = self.is_settling(model, path) || is_comparing(model, lock);
        out.extend(whole(model, lock, is_found).map(|event| (now, event)));
    }

    fn watchers(&mut self, model: &Observatory, now: TimeMs, path: &Arc<str>, out: &mut Vec<(TimeMs, Event)>) {
        let Some(lock) = model.lock(path).filter(|lock| matches!(lock.recognition.shape, Shape::Fixed | Shape::Alone))
        else {
            return;
        };
        let count = lock.watchers.count();
        let was_watched = if count > 0 { !self.watched.insert(Arc::clone(path)) } else { self.watched.remove(path) };
        if count > 0 || was_watched {
            out.push((now, Event::Watchers { lock: Arc::clone(path), count }));
        }
    }

    fn other(&mut self, model: &Observatory, now: TimeMs, change: &Change, out: &mut Vec<(TimeMs, Event)>) {
        let event = match change {
            Change::Left { lock, node, owner, how, czxid: _ } => {
                let host =
                    owner.filter(|_| *how != Departure::DuringGap).and_then(|session| host_of(model, session, now));
                Event::Left { lock: Arc::clone(lock), node: node.clone(), how: *how, host }
            }
            Change::LockVanished { lock } => {
                self.watched.remove(lock);
                Event::Vanished { lock: Arc::clone(lock) }
            }
            Change::VerdictChanged { lock, verdict } => Event::Verdict { lock: Arc::clone(lock), verdict: *verdict },
            Change::FindingChanged { lock, code, is_raised } => {
                let found = model.lock(lock).filter(|_| *is_raised);
                let mut findings = found.into_iter().flat_map(|lock| &lock.assessment.findings);
                let raised = findings
                    .find(|finding| finding.code == *code)
                    .map(|finding| (finding.severity, finding.text.clone()));
                Event::Finding { lock: Arc::clone(lock), code: *code, raised }
            }
            Change::DeadlockChanged { locks, is_closed } => {
                Event::Deadlock { locks: locks.clone(), is_closed: *is_closed }
            }
            Change::LinkChanged(link) => Event::Link(*link),
            Change::RootChanged(root) => match self.root_changed(model, now, *root) {
                Some(event) => event,
                None => return,
            },
            Change::EvidenceChanged
            | Change::LockAppeared { .. }
            | Change::Arrived { .. }
            | Change::Identified { .. }
            | Change::HolderChanged { .. }
            | Change::SessionEnded { .. }
            | Change::LockTouched { .. } => return,
        };
        out.push((now, event));
    }

    fn root_changed(&mut self, model: &Observatory, now: TimeMs, root: RootId) -> Option<Event> {
        let (at, view) = (root.0 as usize, model.roots().get(root.0 as usize)?);
        let (state, ..) = model.root_state(root, now);
        if self.roots.len() <= at {
            self.roots.resize(at + 1, None);
        }
        let known = self.roots.get_mut(at)?.replace(state);
        (known != Some(state)).then(|| Event::Root { path: view.path.clone(), state })
    }
}

fn is_comparing(model: &Observatory, lock: &AssessedLock) -> bool {
    model.roots().get(lock.root.0 as usize).is_some_and(|view| view.is_comparing())
}

/// The contender whose znode was created or read, once for a call: the changes before `first` are of another one.
fn came(
    model: &Observatory,
    now: TimeMs,
    path: &Arc<str>,
    cause: Option<&Observation>,
    first: usize,
    out: &mut Vec<(TimeMs, Event)>,
) {
    let znode = match cause {
        Some(
            Observation::NodeCreated { path, .. }
            | Observation::NodeRead { path, .. }
            | Observation::NodeDenied { path, .. },
        ) => path,
        _ => return,
    };
    if out.iter().skip(first).any(|(_, event)| matches!(event, Event::Came { .. })) {
        return;
    }
    let Some(lock) = model.lock(path).filter(|lock| lock.path == *path) else { return };
    let (Some(kind), Some((parent, name))) = (kind_of(lock), split_path(znode)) else { return };
    let child = model.mirror_of(lock).and_then(|mirror| mirror.directory(parent)?.child(name));
    let Some((_, child)) = child else { return };
    let (contender, is_found) = (contender(lock, parent, name, child), is_comparing(model, lock));
    out.push((now, Event::Came { lock: Arc::clone(path), kind, contender, is_found }));
    if all_hold(lock) {
        let since = HeldSince { at: now, is_lower_bound: is_found };
        out.push((now, Event::Held { lock: Arc::clone(path), node: name.into(), since }));
    }
}

/// A znode of a lock's directory was read and is no contender; by its name it may have been one.
fn no_contender(
    model: &Observatory,
    now: TimeMs,
    path: &Arc<str>,
    cause: Option<&Observation>,
    out: &mut Vec<(TimeMs, Event)>,
) {
    let Some(Observation::NodeRead { path: znode, .. }) = cause else { return };
    let Some((parent, name)) = split_path(znode) else { return };
    let Some(lock) = model.lock(path).filter(|lock| lock.path == *path && lock.parts.hold(parent)) else { return };
    let child = model.mirror_of(lock).and_then(|mirror| mirror.directory(parent)?.child(name));
    if child.is_some_and(|(key, child)| !lock.counts(parent, key, child)) {
        out.push((now, Event::NoContender { lock: Arc::clone(path), node: name.into() }));
    }
}

/// More hold than the model keeps one by one, and nobody waits: whoever is there holds.
fn all_hold(lock: &AssessedLock) -> bool {
    is_queue(lock) && lock.standing.waiting.count == 0 && lock.standing.holders as usize > lock.holders.len()
}

fn held(model: &Observatory, now: TimeMs, path: &Arc<str>, out: &mut Vec<(TimeMs, Event)>) {
    let Some(lock) = model.lock(path).filter(|lock| is_queue(lock)) else { return };
    for hold in lock.holders.iter().filter(|hold| hold.since == now) {
        let since = HeldSince { at: hold.since, is_lower_bound: hold.is_lower_bound };
        out.push((now, Event::Held { lock: Arc::clone(path), node: hold.name.clone(), since }));
    }
}

fn is_queue(lock: &AssessedLock) -> bool {
    matches!(kind_of(lock), Some(LockKind { following: Following::Queue { .. }, .. }))
}

/// What a lock is; None where nobody's life in it is one of a contender: items wait for work, those at a barrier for each
/// other.
fn kind_of(lock: &AssessedLock) -> Option<LockKind> {
    let following = match lock.recognition.shape {
        Shape::Line
        | Shape::LeaderElection
        | Shape::Fixed
        | Shape::Alone
        | Shape::LeasesAndLocks
        | Shape::LeasesAndSibling => Following::Queue { counts_as_waiting: lock.recognition.counts_as_waiting() },
        Shape::Group => Following::Members,
        Shape::Gate | Shape::Gathering | Shape::Items | Shape::TakenItems | Shape::Idle => return None,
    };
    Some(LockKind { recipe: lock.recognition.recipe, following })
}

fn whole(model: &Observatory, lock: &AssessedLock, is_found: bool) -> Option<Event> {
    let (kind, mirror) = (kind_of(lock)?, model.mirror_of(lock)?);
    let verdict = lock.assessment.verdict;
    let contenders = lock.contenders(mirror).map(|one| (of(lock, &one), held_since(lock, &one))).collect();
    let harmful = lock.assessment.findings.iter().filter(|finding| harm_of(finding.code, finding.severity).is_some());
    let findings = harmful.map(|finding| (finding.code, finding.severity, finding.text.clone())).collect();
    Some(Event::Whole { lock: Arc::clone(&lock.path), kind, verdict, contenders, is_found, findings })
}

fn of(lock: &AssessedLock, one: &ContenderRef<'_>) -> Contender {
    contender(lock, one.directory, one.key.name(), one.child)
}

fn held_since(lock: &AssessedLock, one: &ContenderRef<'_>) -> Option<HeldSince> {
    let known = lock.hold_of(one).map(|hold| HeldSince { at: hold.since, is_lower_bound: hold.is_lower_bound });
    known.or_else(|| all_hold(lock).then_some(HeldSince { at: one.child.arrived_at, is_lower_bound: true }))
}

fn contender(lock: &AssessedLock, directory: &str, name: &str, child: &Child) -> Contender {
    let place = match (lock.has_leases(), *lock.parts.main == *directory) {
        (false, _) => ContenderPlace::Line,
        (true, true) => ContenderPlace::Lease,
        (true, false) => ContenderPlace::Queue,
    };
    let identity = child.read.as_ref().map(|read| Identity {
        czxid: read.czxid,
        session: read.owner(),
        ctime_ms: read.ctime_ms,
        payload: read.payload.get(..PAYLOAD_MAX).unwrap_or(&read.payload).into(),
    });
    Contender { node: name.into(), place, arrived_at: child.arrived_at, identity }
}

/// The host of a session's client, without its port.
fn host_of(model: &Observatory, session: SessionId, now: TimeMs) -> Option<Box<str>> {
    let address = model.member_evidence().peer(session, now).address?;
    Some(address.rsplit_once(':').map_or(&*address, |(host, _)| host).into())
}

/// Takes one observation in, whole, and looks after each piece of it: for replicas and replays.
pub fn apply(
    tap: &mut Tap,
    model: &mut Observatory,
    now: TimeMs,
    observation: Observation,
    out: &mut Vec<(TimeMs, Event)>,
) {
    let changes = model.begin_with(now, &observation);
    tap.look(model, now, Some(&observation), &changes, out);
    while model.has_backlog() {
        let changes = model.go_on();
        tap.look(model, now, None, &changes, out);
    }
}
