//! What a release would do, from what is believed: who goes, who holds after it by the recipe's rule, who moves up,
//! and what can't be promised. Or why there is nothing to be released.

use std::fmt;

use super::target::{Naming, Target};
use super::warn::Warning;
use crate::evidence::{ClientState, Liveness};
use crate::lock::{ContenderRef, Hold, Lock};
use crate::mirror::Mirror;
use crate::observatory::Observatory;
use crate::observatory::refresh::foresee;
use crate::recipe::{Dialect, NodeRole, Recipe, Shape, rule};
use crate::root::RootState;
use crate::sentence::{NextHolder, next_holder_sentence};
use crate::time::TimeMs;
use crate::verdict;
use crate::znode::split_path;

/// Contenders named in the sentence on who is next; more are a number.
pub const MOVERS_MAX: usize = 3;

/// Why a znode can't be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It lies under no watched root.
    NotWatched,
    /// The view of it is not live.
    NotLive(RootState),
    /// No such znode.
    NoSuchZnode,
    /// It is a lock's directory, not one of its contenders.
    Directory,
    /// It belongs to no lock.
    NotAContender,
    /// Who owns it was not read yet.
    NotRead,
    /// Nothing of it may be read, so it could not be distinguished from another of the same name.
    Denied,
    /// It has children.
    HasChildren,
    /// Our own session owns it.
    Ours,
    /// A member of a group holds nothing that anybody waits for.
    Member,
    /// An item of a queue is work to be done, not a hold.
    Item,
    /// A lease that neither holds nor waits.
    SetAside,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWatched => "it lies under no watched root",
            Self::NotLive(_) => {
                "the view of it is not live, so who holds is not known well enough; wait until it is live again"
            }
            Self::NoSuchZnode => "there is no such znode; it may have gone meanwhile",
            Self::Directory => "it is the lock itself; name the znode of a contender",
            Self::NotAContender => "it is no contender of a lock that was recognised",
            Self::NotRead => "who owns it is not known yet; try again in a moment",
            Self::Denied => {
                "nothing of it may be read, so whether it is still the same znode could not be checked; \
                 grant READ on it to the identity that Lockscope watches with"
            }
            Self::HasChildren => "it has children, and nothing is ever deleted with what is under it",
            Self::Ours => "it belongs to a session of Lockscope's own",
            Self::Member => "it is the member of a group, which holds nothing that anybody waits for",
            Self::Item => "it is an item of a queue: deleting it would lose the work, not free a lock",
            Self::SetAside => "it neither holds nor waits: its client is just asking for it, or it ran out already",
        })
    }
}

/// Whether who is released holds or waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContenderRole {
    /// It holds.
    Holder,
    /// It waits.
    Waiter,
}

/// When a znode goes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreesItself {
    /// On our clock.
    pub at: TimeMs,
    /// No member reported it; it is the latest it can be.
    pub is_upper_bound: bool,
}

/// What a release would do.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The lock.
    pub lock: &'a Lock,
    /// The znode.
    pub contender: ContenderRef<'a>,
    /// Its incarnation.
    pub target: Target,
    /// Whether it holds.
    pub role: ContenderRole,
    /// Those that hold after it and do not now, in order.
    pub next: Vec<ContenderRef<'a>>,
    /// Who gets it, in one sentence.
    pub next_sentence: String,
    /// Waiters that move up.
    pub waiters_moving: u32,
    /// What can't be promised.
    pub warnings: Vec<Warning>,
    /// When waiting would do.
    pub frees_itself: Option<FreesItself>,
    /// Its client listens for being asked to let go.
    pub can_revoke: bool,
}

/// What releasing the znode at a path would do.
///
/// # Errors
/// When there is nothing there that can be released.
pub fn plan<'a>(observatory: &'a Observatory, path: &str, now: TimeMs) -> Result<Plan<'a>, Refusal> {
    let root = observatory.root_of(path).ok_or(Refusal::NotWatched)?;
    let state = observatory.root_state(root, now).0;
    if !matches!(state, RootState::Live | RootState::Partial) {
        return Err(Refusal::NotLive(state));
    }
    let (lock, mirror, contender) = find(observatory, path)?;
    let read =
        contender.child.read.as_ref().ok_or(if contender.child.denied { Refusal::Denied } else { Refusal::NotRead })?;
    if read.owner().is_some() && read.owner() == observatory.session() {
        return Err(Refusal::Ours);
    }
    if mirror.directory(path).is_some_and(|directory| !directory.is_empty()) {
        return Err(Refusal::HasChildren);
    }
    let target = Target {
        path: path.into(),
        czxid: read.czxid,
        owner: read.owner(),
        version: read.version,
        naming: naming(lock, &contender),
    };
    let role = role(lock, &contender);
    let peer = read.owner().map(|owner| observatory.member_evidence().peer(owner, contender.child.arrived_at));
    let directories: Vec<&str> =
        [Some(&lock.parts.main), lock.parts.second.as_ref()].into_iter().flatten().map(AsRef::as_ref).collect();
    let after =
        foresee(lock, &mirror.without(&directories, path), observatory.offset(), observatory.member_evidence(), now);
    let gets: Vec<&Hold> = after.holders.iter().filter(|hold| !holds_already(lock, hold)).collect();
    let next = gets.iter().filter_map(|hold| contender_of(lock, mirror, hold)).collect();
    let mut plan = Plan {
        lock,
        contender,
        target,
        role,
        next,
        next_sentence: next_holder_sentence(&next_holder(lock, mirror, role, &gets, &after)),
        waiters_moving: moving(lock, mirror, &contender, role),
        warnings: Vec::new(),
        frees_itself: frees_itself(lock, mirror, &contender, peer.as_ref()),
        can_revoke: can_revoke(observatory, lock, &contender, role, path, now),
    };
    plan.warnings = warnings(&plan, peer.as_ref(), state);
    Ok(plan)
}

fn find<'a>(observatory: &'a Observatory, path: &str) -> Result<(&'a Lock, &'a Mirror, ContenderRef<'a>), Refusal> {
    let lock = observatory.lock(path);
    let is_directory = lock.is_some_and(|lock| !lock.is_alone() && (*lock.path == *path || lock.parts.hold(path)));
    if is_directory {
        return Err(Refusal::Directory);
    }
    let mirror =
        observatory.root_of(path).and_then(|root| observatory.roots().get(root.0 as usize)).map(|view| &view.mirror);
    let (mirror, (parent, name)) = mirror.zip(split_path(path)).ok_or(Refusal::NoSuchZnode)?;
    let (key, child) =
        mirror.directory(parent).and_then(|directory| directory.child(name)).ok_or(Refusal::NoSuchZnode)?;
    let lock = lock.ok_or(Refusal::NotAContender)?;
    let parts = [Some(&lock.parts.main), lock.parts.second.as_ref()];
    let directory = parts.into_iter().flatten().find(|part| ***part == *parent).ok_or(Refusal::NotAContender)?;
    let contender = ContenderRef { directory, key, child };
    match lock.recognition.shape {
        _ if lock.standing.pending.as_deref() == Some(name) => Err(Refusal::SetAside),
        _ if !lock.is_contender(parent, key, child) => Err(Refusal::NotAContender),
        Shape::Group => Err(Refusal::Member),
        Shape::Items => Err(Refusal::Item),
        Shape::TakenItems if *directory == lock.parts.main => Err(Refusal::Item),
        _ => Ok((lock, mirror, contender)),
    }
}

/// Only numbered queues have names that never come again; a number elsewhere was chosen by the client.
fn naming(lock: &Lock, contender: &ContenderRef<'_>) -> Naming {
    let is_queue = matches!(
        lock.recognition.shape,
        Shape::Line | Shape::LeaderElection | Shape::LeasesAndLocks | Shape::LeasesAndSibling
    );
    if is_queue && contender.key.number().is_some() { Naming::Sequential } else { Naming::Fixed }
}

fn role(lock: &Lock, contender: &ContenderRef<'_>) -> ContenderRole {
    let is_lease = lock.has_leases() && *contender.directory == lock.parts.main;
    if is_lease || lock.hold_of(contender).is_some() { ContenderRole::Holder } else { ContenderRole::Waiter }
}

fn holds_already(lock: &Lock, hold: &Hold) -> bool {
    lock.holders.iter().any(|held| held.name == hold.name && held.directory == hold.directory)
}

fn contender_of<'a>(lock: &'a Lock, mirror: &'a Mirror, hold: &Hold) -> Option<ContenderRef<'a>> {
    let parts = [Some(&lock.parts.main), lock.parts.second.as_ref()];
    let directory = parts.into_iter().flatten().find(|part| ***part == *hold.directory)?;
    let (key, child) = mirror.directory(directory)?.child(&hold.name)?;
    Some(ContenderRef { directory, key, child })
}

/// Waiters that stand behind it; those of a semaphore stand behind each of its leases.
fn moving(lock: &Lock, mirror: &Mirror, contender: &ContenderRef<'_>, role: ContenderRole) -> u32 {
    match lock.recognition.shape {
        Shape::Gathering | Shape::TakenItems | Shape::Group | Shape::Items | Shape::Idle => 0,
        Shape::Fixed | Shape::Alone | Shape::Gate => lock.waiters_seen(),
        _ if lock.has_leases() && role == ContenderRole::Holder => lock.waiters_seen(),
        _ => {
            let is_it = |other: &ContenderRef<'_>| other.key == contender.key && other.directory == contender.directory;
            let behind = lock.contenders(mirror).skip_while(|other| !is_it(other)).skip(1);
            u32::try_from(behind.filter(|other| lock.hold_of(other).is_none()).count()).unwrap_or(u32::MAX)
        }
    }
}

fn next_holder(lock: &Lock, mirror: &Mirror, role: ContenderRole, gets: &[&Hold], after: &Lock) -> NextHolder {
    let stays = after.holders.iter().filter(|hold| holds_already(lock, hold)).count();
    match lock.recognition.shape {
        Shape::Gate => return NextHolder::BarrierOpens,
        Shape::Gathering => return NextHolder::NobodyInItsPlace,
        Shape::TakenItems => return NextHolder::ItemFree,
        Shape::LeasesAndLocks | Shape::LeasesAndSibling if role == ContenderRole::Holder => {
            let first = lock
                .parts
                .second
                .as_ref()
                .and_then(|queue| lock.contenders(mirror).find(|contender| contender.directory == queue));
            return NextHolder::Lease { first: first.map(|contender| contender.path()) };
        }
        Shape::Fixed | Shape::Alone if role == ContenderRole::Holder && gets.is_empty() => {
            return NextHolder::AnyWatcher { sessions: lock.watchers.count() };
        }
        _ => {}
    }
    match (gets.len(), stays) {
        (0, 0) if lock.missing().is_empty() => NextHolder::Free,
        (0, 0) => NextHolder::NobodySeen,
        (0, _) if role == ContenderRole::Waiter => NextHolder::Unchanged,
        (0, count) => NextHolder::Others { count },
        (count, _) => NextHolder::Gets {
            names: gets.iter().take(MOVERS_MAX).map(|hold| (verdict::place_of(hold), hold.czxid)).collect(),
            more: count.saturating_sub(MOVERS_MAX),
            leads: lock.recognition.recipe == Recipe::Election,
        },
    }
}

fn frees_itself(
    lock: &Lock,
    mirror: &Mirror,
    contender: &ContenderRef<'_>,
    peer: Option<&ClientState>,
) -> Option<FreesItself> {
    let dead = peer.filter(|peer| peer.liveness == Liveness::Disconnected).and_then(|peer| peer.runs_out);
    let dead = dead.filter(|end| end.is_told);
    let by_clock = || {
        lock.hold_of(contender).and_then(|_| lock.ends_at(mirror)).map(|at| FreesItself { at, is_upper_bound: false })
    };
    dead.map(|runs_out| FreesItself { at: runs_out.at, is_upper_bound: !runs_out.is_told }).or_else(by_clock)
}

/// Curator's holder that was made revocable watches the data of its own znode (`LockInternals.internalLockLoop`);
/// nobody else has a reason to.
fn can_revoke(
    observatory: &Observatory,
    lock: &Lock,
    contender: &ContenderRef<'_>,
    role: ContenderRole,
    path: &str,
    now: TimeMs,
) -> bool {
    let dialect = contender.child.rule.map(|id| rule(id).dialect);
    let is_curator = matches!(dialect, Some(Dialect::CuratorLock | Dialect::CuratorReadWrite))
        && lock.recognition.shape == Shape::Line;
    let watchers = || observatory.member_evidence().watchers(now, path, observatory.session());
    is_curator
        && role == ContenderRole::Holder
        && contender.child.owner().is_some_and(|owner| watchers().contains(&owner))
}

fn warnings(plan: &Plan<'_>, peer: Option<&ClientState>, state: RootState) -> Vec<Warning> {
    let (lock, recipe) = (plan.lock, plan.lock.recognition.recipe);
    let shape = lock.recognition.shape;
    let is_holder = plan.role == ContenderRole::Holder;
    let is_timed = plan.contender.child.rule.is_some_and(|id| rule(id).role == NodeRole::Timed);
    let watches_itself = lock.recognition.label.contains("ZKFC");
    let is_line = matches!(shape, Shape::Line | Shape::LeaderElection | Shape::Fixed | Shape::Alone);
    let of_owner = match peer {
        None if is_timed || shape == Shape::Gate => None,
        None => Some(Warning::Persistent),
        Some(peer) => Some(match peer.liveness {
            Liveness::Disconnected => Warning::FreesItself,
            Liveness::Connected => Warning::OwnerConnected,
            Liveness::Silent => Warning::OwnerSilent,
            Liveness::Unknown => Warning::OwnerUnknown,
        }),
    };
    let all = [
        (shape == Shape::LeaderElection, Warning::OfficeStays),
        (is_holder && is_line && !is_timed && !watches_itself && recipe == Recipe::Election, Warning::TwoLeaders),
        (
            is_holder && is_line && !is_timed && recipe != Recipe::Election && recipe != Recipe::Semaphore,
            Warning::OldHolderBelieves,
        ),
        (is_holder && (lock.has_leases() || recipe == Recipe::Semaphore), Warning::LeaseUsedOn),
        (verdict::conflict(lock).is_some(), Warning::OthersHold),
        (!is_holder && shape != Shape::Gathering, Warning::WaiterNotTold),
        (plan.target.naming == Naming::Fixed, Warning::FixedName),
        (matches!(shape, Shape::Fixed | Shape::Alone) && is_holder, Warning::AnyWatcher),
        (watches_itself, Warning::ActiveStepsDown),
        (shape == Shape::Gate, Warning::OpensBarrier),
        (shape == Shape::Gathering, Warning::MemberGone),
        (shape == Shape::TakenItems, Warning::ClaimGone),
        (is_timed, Warning::EndsByClock),
        (state == RootState::Partial, Warning::PartlyRead),
    ];
    let mut warnings: Vec<Warning> =
        of_owner.into_iter().chain(all.into_iter().filter_map(|(holds, warning)| holds.then_some(warning))).collect();
    warnings.sort_unstable();
    warnings
}
