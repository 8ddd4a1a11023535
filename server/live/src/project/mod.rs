//! From the model to the wire: the only module that knows both. Pure functions of the model, a query and the
//! time; what they return holds instants, never ages.

mod acknowledged;
mod advice;
mod applications;
mod blocking;
mod blocking_tree;
mod board;
mod contenders;
mod details;
mod ended;
mod english;
mod events;
mod evidence;
mod fleet;
mod forced;
mod freshness;
mod happened;
mod headline;
mod names;
mod orders;
mod problems;
mod queue_map;
mod release;
mod seen;
mod session_groups;
mod session_sums;
mod session_timeout;
mod sessions;
mod snapshot;
mod terms;
mod time_to_lock;
mod waits;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use acknowledged::{Acknowledged, AcknowledgedLock, AcknowledgedLocks};
pub use applications::{ApplicationNames, ApplicationRule, PATTERN_CHARS_MAX};
pub use board::board;
pub use ended::{OutcomeText, told};
pub use events::{EventsView, events, lately};
pub use fleet::fleet;
pub(crate) use fleet::fleet_tiles;
pub use forced::{FORCED_MAX, ForcedRelease, ForcedReleases};
pub use freshness::{known, old_roots};
pub use happened::{EventKey, HappenedQuery, HappenedRow, HappenedView, happened};
use lockscope_core::assessment::AssessedLock;
use lockscope_core::lock::{Lock, Since};
use lockscope_core::mirror::Mirror;
use lockscope_core::observation::RootId;
use lockscope_core::observatory::Observatory;
use lockscope_core::proof::Proof;
use lockscope_core::tally::{DEPTH_SLICE_MS, Depth};
use lockscope_core::time::TimeMs;
use lockscope_core::verdict;
use lockscope_view as view;
use lockscope_view::Scope;
pub use names::{FoundLocks, NAMES_MAX, NameTest};
pub(crate) use names::{fitting, names, rows_of};
pub(crate) use orders::orders;
pub use orders::snoozes_observation;
use parking_lot::Mutex;
pub use release::{Holding, shown};
pub use sessions::sessions;
pub use snapshot::{EnsembleCounters, LockSnapshot, MetricSelection, PINNED_MAX, Snapshot, figures};
use terms::Terms;
pub use time_to_lock::{LineView, RecordedHabits, time_to_lock};
pub use waits::waits;
pub use words::root_help;
use words::{view_confidence, view_missing, view_recipe, view_root_state, view_verdict};

/// What the model does not know about the ensemble it models.
#[derive(Clone, Debug)]
pub struct EnsembleInfo {
    /// Name; `default` when it was given none.
    pub name: String,
    pub connect: String,
    /// Its colour; None for the only one when it was given no name.
    pub color: Option<view::EnsembleColor>,
    /// There are others beside it, or may be.
    pub has_others: bool,
    /// What it is, for filters.
    pub labels: Arc<BTreeMap<String, String>>,
    /// What of it is never read; None where everything is.
    pub excluded: Option<ExcludedPaths>,
    /// What proves that it is observed live; the observer updates it.
    pub proof: Arc<Mutex<Proof>>,
}

/// What of an ensemble is never read, and how much of it there is.
#[derive(Clone)]
pub struct ExcludedPaths {
    pub patterns: Arc<[String]>,
    /// Counts the znodes that are left out as far as they are seen, and events of them.
    pub count: Arc<dyn Fn() -> (u64, u64) + Send + Sync>,
}

impl std::fmt::Debug for ExcludedPaths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExcludedPaths").field("patterns", &self.patterns).finish_non_exhaustive()
    }
}

impl EnsembleInfo {
    /// Name and colour, where it has a name.
    fn tag(&self) -> Option<view::EnsembleTag> {
        self.color.map(|color| view::EnsembleTag { name: self.name.clone(), color })
    }

    fn proof(&self) -> view::Proof {
        let Proof { answer, epoch, quorum } = *self.proof.lock();
        let part = |part: Option<bool>| match part {
            Some(true) => view::ProofPart::Proved,
            Some(false) => view::ProofPart::Failed,
            None => view::ProofPart::Missing,
        };
        view::Proof { answer: part(answer), epoch: part(epoch), quorum: part(quorum) }
    }

    /// What distinguishes it from others.
    fn key(&self, of: &str) -> String {
        if self.has_others { format!("{} {of}", self.name) } else { of.to_owned() }
    }
}

/// One look at the model.
#[derive(Clone, Copy, Debug)]
pub struct ProjectionContext<'a> {
    pub observatory: &'a Observatory,
    /// Whose model it is; one of which something may be seen.
    pub ensemble: &'a EnsembleInfo,
    pub scope: &'a Scope,
    /// The engine's clock.
    pub now: TimeMs,
}

/// Waiters of one lock that are seen, summed.
#[derive(Clone, Copy, Default)]
struct Waits {
    count: u32,
    since_sum_ms: i64,
    oldest_at_ms: Option<i64>,
    is_lower_bound: bool,
}

impl<'a> ProjectionContext<'a> {
    /// Whether there is a lock at a path, as far as may be seen.
    pub fn has_lock(&self, path: &str) -> bool {
        self.observatory.lock(path).is_some_and(|lock| self.sees(&lock.path))
    }

    /// One lock; None when there is none at that path. `forced`: what was released through Lockscope.
    pub fn lock(&self, query: &view::LockQuery, forced: &ForcedReleases) -> Option<Box<view::LockPage>> {
        let (lock, mirror) = self.shown_lock(&query.ensemble, &query.path)?;
        let rows = self.contenders(lock, mirror, query.offset as usize, query.limit as usize);
        let mut head = self.lock_head(lock, mirror);
        head.notes.extend(details::early(&rows, self.now));
        self.mark_forced(lock, forced, &mut head.past);
        let window = view::Window { total: contenders::listed(lock), offset: query.offset, rows };
        Some(Box::new(view::LockPage { head, window }))
    }

    /// A lock that is meant and may be seen, with its znodes.
    fn shown_lock(&self, ensemble: &str, path: &str) -> Option<(&'a AssessedLock, &'a Mirror)> {
        let lock = self.observatory.lock(path).filter(|lock| self.is_meant(ensemble) && self.sees(&lock.path))?;
        Some((lock, self.observatory.mirror_of(lock)?))
    }

    pub fn ensemble_status(&self) -> view::EnsembleStatus {
        let counters = Some(self.observatory.counters()).filter(|_| self.scope.covers_path("/"));
        let (link, since, why) = self.link();
        view::EnsembleStatus {
            name: self.ensemble.name.clone(),
            color: self.ensemble.color,
            connect: self.ensemble.connect.clone(),
            link,
            since_ms: since.0,
            why: why.to_owned(),
            session_id: self.observatory.session().map(|session| view::SessionId(session.0)),
            zxid: view::Zxid(self.observatory.zxid().0),
            clock_offset_ms: self.observatory.offset().ms(),
            clock_error_ms: self.observatory.offset().error_ms(),
            roots: self.root_statuses(),
            evidence: self.member_statuses(),
            findings: self.oddities(),
            resyncs: counters.map(|counters| counters.resyncs),
            events: counters.map(|counters| counters.events),
            owner_unknown: counters.map(|counters| counters.owner_unknown),
            missed: counters.map(|counters| counters.missed),
            history: None,
            excluded: self.excluded(),
            proof: self.ensemble.proof(),
        }
    }

    /// What is never read, for those who may see the whole ensemble.
    fn excluded(&self) -> Option<view::ExcludedStatus> {
        let excluded = self.ensemble.excluded.as_ref().filter(|_| self.scope.covers_path("/"))?;
        let (paths, events) = (excluded.count)();
        Some(view::ExcludedStatus { patterns: excluded.patterns.to_vec(), paths, events })
    }

    /// The revision of one lock: rises whenever anything shown of it may differ; None when there is no such lock.
    pub fn lock_revision(&self, path: &str) -> Option<u64> {
        self.observatory.lock(path).map(|lock| lock.revision)
    }

    fn row(&self, lock: &AssessedLock) -> view::LockRow {
        let waits = self.counted_waits(lock);
        let mirror = self.observatory.mirror_of(lock);
        let holders = mirror.map(|mirror| self.holders(lock, mirror).take(view::ROW_HOLDERS_MAX).collect());
        view::LockRow {
            key: self.ensemble.key(&lock.path),
            tag: self.ensemble.tag(),
            ensemble: self.ensemble.name.clone(),
            path: lock.path.to_string(),
            root: self.root_path(lock.root).to_owned(),
            recipe: view_recipe(lock.recognition.recipe),
            recipe_label: lock.recognition.label.to_string(),
            confidence: view_confidence(lock.recognition.confidence),
            verdict: view_verdict(lock.assessment.verdict),
            sentence: sentence_of(self, lock),
            state: view_root_state(self.observatory.root_state(lock.root, self.now).0),
            holders: holders.unwrap_or_default(),
            holder_count: lock.standing.holders,
            waiter_count: lock.waiter_count(),
            oldest_wait_at_ms: waits.oldest_at_ms,
            wait_is_lower_bound: waits.is_lower_bound,
            waiting_since_sum_ms: waits.since_sum_ms,
            missing: view_missing(lock.missing()),
            held_since_ms: lock.holders.first().map(|hold| hold.since.0),
            hold_is_lower_bound: lock.holders.first().is_some_and(|hold| hold.is_lower_bound),
            findings: lock.assessment.findings.iter().map(|finding| finding.code.name().to_owned()).collect(),
            depth: depth(&lock.tally.depth),
            hand_offs_in_10_s: lockscope_core::sentence::rate(lock),
        }
    }

    fn lock_head(&self, lock: &AssessedLock, mirror: &Mirror) -> view::LockHead {
        let directory = mirror.directory(&lock.parts.main).filter(|_| !lock.is_alone());
        let own = mirror.directory(&lock.path).filter(|_| !lock.is_alone()).and_then(|directory| directory.stat);
        let tally = &lock.tally;
        view::LockHead {
            row: self.row(lock),
            as_of: self.as_of(lock.root),
            recognised_by: self.observatory.evidence(lock),
            capacity: lock
                .capacity(mirror, self.observatory.configured_max(&lock.path))
                .map(|capacity| details::capacity(lock, capacity)),
            foreign: details::foreign(lock, mirror),
            findings: lock.assessment.findings.iter().map(|finding| self.finding(finding)).collect(),
            notes: details::notes(lock),
            stat: own.map(|stat| view::StatRow {
                czxid: view::Zxid(stat.czxid.0),
                mzxid: view::Zxid(stat.mzxid.0),
                pzxid: view::Zxid(stat.pzxid.0),
                ctime_ms: stat.ctime_ms,
                version: stat.version,
                cversion: stat.cversion,
                children: stat.children,
                creates_ever: stat.creates_ever,
            }),
            stats: view::LockStats {
                acquisitions: tally.acquisitions,
                owner_unknown: tally.owner_unknown,
                gave_up: tally.attempts.gave_up,
                sequence_used_ppm: directory
                    .and_then(|directory| directory.stat)
                    .map(|stat| details::sequence_used_ppm(stat.creates_ever)),
                hold_p50_ms: tally.holds.percentile(50),
                hold_p99_ms: tally.holds.percentile(99),
                wait_p50_ms: tally.waits.percentile(50),
                wait_p99_ms: tally.waits.percentile(99),
            },
            past: tally.past.iter().map(details::past_holder).collect(),
            herd: self.herd(lock, mirror),
            fired: self.fired(lock, mirror),
            hidden_waiters: lock.watchers.count(),
            trust: self.trust(),
            advice: self.advice(lock),
        }
    }

    /// Those who wait for a lock. Who stands by for a leader, gathers, or is an item of a queue waits for none.
    fn counted_waits(&self, lock: &AssessedLock) -> Waits {
        if lock.recognition.counts_as_waiting() { self.waits_in(lock) } else { Waits::default() }
    }

    fn waits_in(&self, lock: &Lock) -> Waits {
        let Some(count) = lock.waiter_count() else { return Waits::default() };
        let oldest = lock.oldest_wait(|since| self.instant(since));
        let offset_ms = self.observatory.offset().ms().unwrap_or(0);
        Waits {
            count,
            since_sum_ms: lock.waiting_since_sum_ms(offset_ms),
            oldest_at_ms: oldest.map(|(at, _)| at.0),
            is_lower_bound: oldest.is_some_and(|(_, is_lower_bound)| is_lower_bound),
        }
    }

    /// An instant on our clock.
    fn instant(&self, since: Since) -> TimeMs {
        since.to_ours(self.observatory.offset())
    }

    /// The greatest comes first.
    fn sort_key(&self, sort: view::Sort, lock: &AssessedLock, waits: Waits) -> (u8, i64) {
        let damage_ms = || i64::from(waits.count) * self.now.0 - waits.since_sum_ms;
        match sort {
            view::Sort::Worst => (problems::severity(lock), damage_ms()),
            view::Sort::Damage => (0, damage_ms()),
            view::Sort::OldestWait => (0, waits.oldest_at_ms.map_or(i64::MIN, |at| -at)),
            view::Sort::Depth => (0, i64::from(waits.count)),
            view::Sort::Hold => (0, lock.holders.first().map_or(i64::MIN, |hold| -hold.since.0)),
            view::Sort::Path | view::Sort::Recipe | view::Sort::Holder => (0, 0),
        }
    }

    /// What locks are sorted by where that is a text: the smallest comes first, and what has none last.
    fn sort_text<'b>(&self, sort: view::Sort, lock: &'b AssessedLock) -> (bool, std::borrow::Cow<'b, str>) {
        match (sort, lock.holders.first()) {
            (view::Sort::Recipe, _) => (false, (&*lock.recognition.label).into()),
            (view::Sort::Holder, Some(first)) => (false, verdict::name_of(first).into()),
            (view::Sort::Holder, None) => (true, "".into()),
            _ => (false, "".into()),
        }
    }

    fn as_of(&self, root: RootId) -> view::AsOf {
        let (state, since, why) = self.observatory.root_state(root, self.now);
        view::AsOf {
            state: view_root_state(state),
            since_ms: since.0,
            why: why.to_owned(),
            zxid: view::Zxid(self.observatory.zxid().0),
            ensemble: self.ensemble.tag(),
            proof: self.ensemble.proof(),
        }
    }

    /// The least trustworthy root speaks for all.
    fn as_of_all(&self) -> view::AsOf {
        self.roots()
            .map(|(at, _)| self.as_of(at))
            .min_by_key(|as_of| (trust(as_of), as_of.since_ms))
            .unwrap_or_default()
    }

    /// Whether a query means this ensemble; one that names none means all.
    pub fn is_meant(&self, name: &str) -> bool {
        name.is_empty() || name == self.ensemble.name
    }

    /// Whether a lock lies under a root, named by its path or by its ensemble and its path.
    fn is_root(&self, root: &str, lock: &Lock) -> bool {
        let named = root.strip_prefix(&*self.ensemble.name).and_then(|rest| rest.strip_prefix(' '));
        named.unwrap_or(root) == self.root_path(lock.root)
    }

    fn root_path(&self, root: RootId) -> &'a str {
        self.observatory.roots().get(root.0 as usize).map_or("", |view| &view.path)
    }
}

fn sentence_of(look: &ProjectionContext<'_>, lock: &AssessedLock) -> String {
    look.observatory.mirror_of(lock).map(|mirror| look.sentence(lock, mirror)).unwrap_or_default()
}

fn depth(depth: &Depth) -> view::Depth {
    view::Depth {
        until_ms: depth.until().0,
        slice_ms: u32::try_from(DEPTH_SLICE_MS).unwrap_or(u32::MAX),
        peaks: depth.peaks().to_vec(),
    }
}

/// The lower, the less what is shown can be trusted.
pub(crate) fn trust(as_of: &view::AsOf) -> u8 {
    match as_of.state {
        view::RootState::Stale => 0,
        view::RootState::Syncing => 1,
        view::RootState::Denied => 2,
        view::RootState::Reduced => 3,
        view::RootState::Partial => 4,
        view::RootState::Gone => 5,
        view::RootState::Live => 6,
        view::RootState::Past => 7,
    }
}

/// As of when the state of several ensembles is true: the least trustworthy speaks for all, and none is named.
fn as_of_several(looks: &[ProjectionContext<'_>]) -> view::AsOf {
    let worst = looks
        .iter()
        .map(ProjectionContext::as_of_all)
        .min_by_key(|as_of| (trust(as_of), as_of.since_ms))
        .unwrap_or_default();
    if looks.len() > 1 { view::AsOf { ensemble: None, proof: view::Proof::default(), ..worst } } else { worst }
}

fn count32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
