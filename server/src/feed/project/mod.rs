//! From the model to the wire: the only module that knows both. Pure functions of the model, a query and the
//! time; what they return holds instants, never ages.

mod words;

use app::domain::lock::{Lock, PastTenure};
use app::domain::mirror::{Child, ChildKey, Directory, Mirror};
use app::domain::observation::{Link as ModelLink, RootId};
use app::domain::observatory::{Observatory, RootState as ModelRootState};
use app::domain::recipe::Place;
use app::domain::time::TimeMs;
use app::domain::verdict;
use app::domain::znode::join_path;
use app::wire;
use base64::Engine as _;

use words::{wire_access, wire_confidence, wire_recipe, wire_root_state, wire_verdict};

/// Holders shown on a board row.
const ROW_HOLDERS_MAX: usize = 4;
/// Children listed as foreign.
const FOREIGN_MAX: usize = 50;

/// What the model does not know about the ensemble it models.
#[derive(Clone, Debug)]
pub struct EnsembleInfo {
    /// Name; `default` when it was given none.
    pub name: String,
    /// Connect string.
    pub connect: String,
}

/// One look at the model.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The model.
    pub observatory: &'a Observatory,
    /// Whose model it is.
    pub ensemble: &'a EnsembleInfo,
    /// The engine's clock.
    pub now: TimeMs,
}

/// Waiters of one lock, summed.
#[derive(Clone, Copy, Default)]
struct Waits {
    count: u32,
    since_sum_ms: i64,
    oldest_at_ms: Option<i64>,
}

impl<'a> Look<'a> {
    /// The board for a query.
    pub fn board(&self, query: &wire::BoardQuery) -> wire::Board {
        let terms = Terms::parse(&query.q);
        let mut totals = wire::Totals::default();
        let mut verdicts = [0_u32; wire::Verdict::ALL.len()];
        let mut found: Vec<(i64, &Lock)> = Vec::new();
        let here = query.ensemble.is_empty() || query.ensemble == self.ensemble.name;
        for lock in self.observatory.locks().filter(|_| here) {
            let waits = self.waits(lock);
            add_totals(&mut totals, lock, waits);
            let verdict = wire_verdict(lock.verdict);
            if let Some(count) = verdicts.get_mut(verdict as usize) {
                *count += 1;
            }
            let fits = query.recipe.is_none_or(|recipe| recipe == wire_recipe(lock.recognition.recipe))
                && query.verdict.is_none_or(|wanted| wanted == verdict)
                && (query.root.is_empty() || query.root == self.root_path(lock.root))
                && terms.fit(lock);
            if fits {
                found.push((self.sort_key(query.sort, lock, waits), lock));
            }
        }
        let group = |lock: &Lock| if query.group { lock.root.0 } else { 0 };
        // Locks come in path order and the sort is stable, so equals stay in path order.
        found.sort_by_key(|(key, lock)| (group(lock), std::cmp::Reverse(*key)));
        totals.verdicts = wire::Verdict::ALL.into_iter().zip(verdicts).rev().filter(|(_, count)| *count > 0).collect();
        let rows = found.iter().skip(query.offset as usize).take(query.limit as usize).map(|(_, lock)| self.row(lock)).collect();
        let window = wire::Window { total: count32(found.len()), offset: query.offset, rows };
        wire::Board { head: wire::BoardHead { as_of: self.as_of_all(), totals, roots: self.root_briefs() }, window }
    }

    /// One lock; None when there is none at that path.
    pub fn lock(&self, query: &wire::LockQuery) -> Option<Box<wire::LockPage>> {
        if !query.ensemble.is_empty() && query.ensemble != self.ensemble.name {
            return None;
        }
        let lock = self.observatory.lock(&query.path)?;
        let mirror = self.observatory.mirror_of(lock)?;
        let rows: Vec<wire::Contender> = self.contenders(lock, mirror, query.offset as usize, query.limit as usize, true).collect();
        let window = wire::Window { total: lock.contender_count(mirror), offset: query.offset, rows };
        Some(Box::new(wire::LockPage { head: self.lock_head(lock, mirror), window }))
    }

    /// The ensemble's part of the status.
    pub fn ensemble_status(&self) -> wire::EnsembleStatus {
        let (link, since, why) = self.observatory.link();
        let counters = self.observatory.counters();
        let syncing = (0..).zip(self.observatory.roots()).any(|(at, _)| self.observatory.root_state(RootId(at)).0 == ModelRootState::Syncing);
        wire::EnsembleStatus {
            name: self.ensemble.name.clone(),
            connect: self.ensemble.connect.clone(),
            link: match link {
                ModelLink::Live if syncing => wire::Link::Syncing,
                ModelLink::Live => wire::Link::Live,
                ModelLink::Stale => wire::Link::Stale,
                ModelLink::Lost => wire::Link::Lost,
            },
            since_ms: since.0,
            why: why.to_owned(),
            session_id: self.observatory.session().map(|session| wire::SessionId(session.0)),
            zxid: wire::Zxid(self.observatory.zxid().0),
            clock_offset_ms: self.observatory.offset().ms(),
            roots: self.root_statuses(),
            evidence: Vec::new(),
            resyncs: counters.resyncs,
            events: counters.events,
            owner_unknown: counters.owner_unknown,
            missed: counters.missed,
        }
    }

    /// The revision of one lock: rises whenever anything shown of it may differ; None when there is no such lock.
    pub fn lock_revision(&self, path: &str) -> Option<u64> {
        self.observatory.lock(path).map(|lock| lock.revision)
    }

    fn row(&self, lock: &Lock) -> wire::LockRow {
        let waits = self.waits(lock);
        let mirror = self.observatory.mirror_of(lock);
        let holders = mirror.map(|mirror| self.contenders(lock, mirror, 0, lock.holders.len().min(ROW_HOLDERS_MAX), false).collect());
        let sentence = mirror.map(|mirror| verdict::sentence(lock, mirror, &self.observatory.settings().thresholds));
        wire::LockRow {
            ensemble: self.ensemble.name.clone(),
            path: lock.path.to_string(),
            root: self.root_path(lock.root).to_owned(),
            recipe: wire_recipe(lock.recognition.recipe),
            recipe_label: lock.recognition.label.to_string(),
            confidence: wire_confidence(lock.recognition.confidence),
            verdict: wire_verdict(lock.verdict),
            sentence: sentence.unwrap_or_default(),
            state: wire_root_state(self.observatory.root_state(lock.root).0),
            holders: holders.unwrap_or_default(),
            holder_count: count32(lock.holders.len()),
            waiter_count: waits.count,
            oldest_wait_at_ms: waits.oldest_at_ms,
            waiting_since_sum_ms: waits.since_sum_ms,
            held_since_ms: lock.holders.first().map(|tenure| tenure.since.0),
            hold_is_lower_bound: lock.holders.first().is_some_and(|tenure| tenure.is_lower_bound),
            findings: Vec::new(),
            depth: lock.tally.depth.slices().to_vec(),
        }
    }

    fn lock_head(&self, lock: &Lock, mirror: &Mirror) -> wire::LockHead {
        let directory = lock.directory(mirror).filter(|_| !lock.is_alone());
        let tally = &lock.tally;
        wire::LockHead {
            row: self.row(lock),
            as_of: self.as_of(lock.root),
            recognised_by: self.observatory.evidence(lock),
            foreign: directory.map(|directory| foreign(lock, directory)).unwrap_or_default(),
            findings: Vec::new(),
            notes: notes(lock),
            stat: directory.and_then(|directory| directory.stat).map(|stat| wire::StatRow {
                czxid: wire::Zxid(stat.czxid.0),
                mzxid: wire::Zxid(stat.mzxid.0),
                pzxid: wire::Zxid(stat.pzxid.0),
                ctime_ms: stat.ctime_ms,
                version: stat.version,
                cversion: stat.cversion,
                children: stat.children,
                creates_ever: stat.creates_ever,
            }),
            stats: wire::LockStats {
                acquisitions: tally.acquisitions,
                owner_unknown: tally.owner_unknown,
                hold_p50_ms: tally.holds.percentile(50),
                hold_p99_ms: tally.holds.percentile(99),
                wait_p50_ms: tally.waits.percentile(50),
                wait_p99_ms: tally.waits.percentile(99),
            },
            past: tally.past.iter().map(past_holder).collect(),
        }
    }

    fn contenders(&self, lock: &'a Lock, mirror: &'a Mirror, offset: usize, limit: usize, with_data: bool) -> impl Iterator<Item = wire::Contender> {
        let directory = lock.directory_path();
        let mut previous: Option<&ChildKey> = None;
        let all = lock.contenders(mirror).enumerate().map(move |(at, (key, child))| (at, key, child, previous.replace(key)));
        let look = *self;
        all.skip(offset).take(limit).map(move |(at, key, child, before)| {
            let mut row = look.contender(lock, directory, at, key, child, with_data);
            if row.role == wire::Role::Waiter {
                let edge = |before: &ChildKey| wire::Edge { to: join_path(directory, before.name()), evidence: wire::EdgeEvidence::Inferred };
                row.waits_for.extend(before.map(edge));
            }
            row
        })
    }

    fn contender(&self, lock: &Lock, directory: &str, at: usize, key: &ChildKey, child: &Child, with_data: bool) -> wire::Contender {
        let tenure = lock.holders.iter().find(|tenure| &*tenure.name == key.name());
        let read = child.read.as_ref();
        let ephemeral = read.map(|read| read.owner().is_some());
        wire::Contender {
            path: join_path(directory, key.name()),
            node: Some(key.name().to_owned()),
            sequence: key.number(),
            position: count32(at),
            role: if tenure.is_some() { wire::Role::Holder } else { wire::Role::Waiter },
            access: wire_access(lock),
            session_id: read.and_then(|read| read.owner()).map(|owner| wire::SessionId(owner.0)),
            ephemeral,
            client: None,
            liveness: if ephemeral == Some(false) { wire::Liveness::Persistent } else { wire::Liveness::Unknown },
            expires_at_ms: None,
            label: read.and_then(|read| app::domain::label::label(&read.payload)),
            data: read.filter(|_| with_data).and_then(node_data),
            created_at_ms: read.map(|read| self.observatory.offset().to_ours(read.ctime_ms).0),
            waiting_since_ms: tenure.is_none().then(|| self.waiting_since_ms(child)),
            holding_since_ms: tenure.map(|tenure| tenure.since.0),
            holding_is_lower_bound: tenure.is_some_and(|tenure| tenure.is_lower_bound),
            waits_for: Vec::new(),
            czxid: read.map(|read| wire::Zxid(read.czxid.0)),
            version: read.map_or(0, |read| read.version),
        }
    }

    /// A contender waits since its creation; before its first read, since its arrival.
    fn waiting_since_ms(&self, child: &Child) -> i64 {
        child.read.as_ref().map_or(child.arrived_at, |read| self.observatory.offset().to_ours(read.ctime_ms)).0
    }

    fn waits(&self, lock: &Lock) -> Waits {
        let Some(mirror) = self.observatory.mirror_of(lock) else { return Waits::default() };
        let count = lock.waiter_count(mirror);
        let Some(directory) = lock.directory(mirror).filter(|_| count > 0) else { return Waits::default() };
        let queue = directory.queue();
        let offset_ms = self.observatory.offset().ms().unwrap_or(0);
        let all_ms = queue.ctime_sum_ms + offset_ms * i64::from(queue.contenders - queue.unread) + queue.arrived_sum_ms;
        let mut contenders = lock.contenders(mirror).map(|(_, child)| self.waiting_since_ms(child));
        let held_ms: i64 = contenders.by_ref().take(lock.holders.len()).sum();
        Waits { count, since_sum_ms: all_ms - held_ms, oldest_at_ms: contenders.next() }
    }

    fn sort_key(&self, sort: wire::Sort, lock: &Lock, waits: Waits) -> i64 {
        match sort {
            wire::Sort::Damage => i64::from(waits.count) * self.now.0 - waits.since_sum_ms,
            wire::Sort::OldestWait => waits.oldest_at_ms.map_or(i64::MIN, |at| -at),
            wire::Sort::Depth => i64::from(waits.count),
            wire::Sort::Hold => lock.holders.first().map_or(i64::MIN, |tenure| -tenure.since.0),
            wire::Sort::Path => 0,
        }
    }

    fn as_of(&self, root: RootId) -> wire::AsOf {
        let (state, since, why) = self.observatory.root_state(root);
        wire::AsOf { state: wire_root_state(state), since_ms: since.0, why: why.to_owned(), zxid: wire::Zxid(self.observatory.zxid().0) }
    }

    /// The least trustworthy root speaks for the board.
    fn as_of_all(&self) -> wire::AsOf {
        let roots = (0..).zip(self.observatory.roots()).map(|(at, _)| self.as_of(RootId(at)));
        let trust = |as_of: &wire::AsOf| match as_of.state {
            wire::RootState::Stale => 0,
            wire::RootState::Syncing => 1,
            wire::RootState::Denied => 2,
            wire::RootState::Reduced => 3,
            wire::RootState::Partial => 4,
            wire::RootState::Gone => 5,
            wire::RootState::Live => 6,
        };
        roots.min_by_key(trust).unwrap_or_default()
    }

    fn root_path(&self, root: RootId) -> &'a str {
        self.observatory.roots().get(root.0 as usize).map_or("", |view| &view.path)
    }

    fn locks_under(&self) -> Vec<u32> {
        let mut counts = vec![0; self.observatory.roots().len()];
        for lock in self.observatory.locks() {
            if let Some(count) = counts.get_mut(lock.root.0 as usize) {
                *count += 1;
            }
        }
        counts
    }

    fn root_briefs(&self) -> Vec<wire::RootBrief> {
        let roots = (0..).zip(self.observatory.roots()).zip(self.locks_under());
        let brief = |((at, view), locks): ((u32, &app::domain::observatory::RootView), u32)| {
            let (state, since, why) = self.observatory.root_state(RootId(at));
            wire::RootBrief { path: view.path.to_string(), state: wire_root_state(state), since_ms: since.0, why: why.to_owned(), locks }
        };
        roots.map(brief).collect()
    }

    fn root_statuses(&self) -> Vec<wire::RootStatus> {
        let nodes = self.observatory.roots().iter().map(|view| view.mirror.nodes());
        let status = |(brief, znodes): (wire::RootBrief, u64)| wire::RootStatus {
            path: brief.path,
            state: brief.state,
            since_ms: brief.since_ms,
            why: brief.why,
            locks: u64::from(brief.locks),
            znodes,
        };
        self.root_briefs().into_iter().zip(nodes).map(status).collect()
    }
}

/// Filter text: terms that must occur, and with `!` terms that must not.
struct Terms {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Terms {
    fn parse(text: &str) -> Self {
        let (unwanted, wanted): (Vec<_>, Vec<_>) = text.split_whitespace().map(str::to_lowercase).partition(|term| term.starts_with('!'));
        let unwanted = unwanted.into_iter().map(|term| term.trim_start_matches('!').to_owned()).filter(|term| !term.is_empty()).collect();
        Self { wanted, unwanted }
    }

    fn fit(&self, lock: &Lock) -> bool {
        if self.wanted.is_empty() && self.unwanted.is_empty() {
            return true;
        }
        let mut text = format!("{} {}", lock.path, lock.recognition.label);
        for tenure in &lock.holders {
            text.push(' ');
            text.push_str(tenure.label.as_deref().unwrap_or_default());
            text.extend(tenure.owner.map(|owner| format!(" {owner}")));
        }
        let text = text.to_lowercase();
        self.wanted.iter().all(|term| text.contains(term)) && !self.unwanted.iter().any(|term| text.contains(term))
    }
}

fn add_totals(totals: &mut wire::Totals, lock: &Lock, waits: Waits) {
    totals.locks += 1;
    totals.held += u32::from(!lock.holders.is_empty());
    totals.waiters += waits.count;
    totals.contended += u32::from(waits.count > 0);
    totals.waiting_since_sum_ms += waits.since_sum_ms;
    totals.oldest_wait_at_ms = totals.oldest_wait_at_ms.into_iter().chain(waits.oldest_at_ms).min();
}

fn past_holder(past: &PastTenure) -> wire::PastHolder {
    wire::PastHolder {
        node: past.tenure.name.to_string(),
        session_id: past.tenure.owner.map(|owner| wire::SessionId(owner.0)),
        label: past.tenure.label.as_deref().map(str::to_owned),
        from_ms: past.tenure.since.0,
        until_ms: past.until.0,
        is_lower_bound: past.tenure.is_lower_bound,
    }
}

fn foreign(lock: &Lock, directory: &Directory) -> Vec<wire::Foreign> {
    if lock.recognition.place == Place::Unread {
        return Vec::new();
    }
    let others = directory.children().filter(|(key, child)| !lock.counts(key, child));
    let row = |(key, _): (&ChildKey, &Child)| wire::Foreign {
        path: join_path(&lock.path, key.name()),
        reason: format!("its name is not one that {} writes", lock.recognition.label),
    };
    others.take(FOREIGN_MAX).map(row).collect()
}

fn notes(lock: &Lock) -> Vec<String> {
    match lock.recognition.place {
        Place::FixedInDirectory | Place::FixedAlone => vec![
            "Who waits for this lock has no znode: waiters only watch the holder's. The tree can't show them, so no waiters are counted.".to_owned(),
        ],
        Place::Unread => vec!["The names tell the recipe, but its queue is not read by this version: no holder is claimed.".to_owned()],
        Place::Sequence => Vec::new(),
    }
}

fn node_data(read: &app::domain::mirror::Read) -> Option<wire::NodeData> {
    if read.payload_bytes == 0 {
        return None;
    }
    let text = std::str::from_utf8(&read.payload).ok().map(str::to_owned);
    let base64 = text.is_none().then(|| base64::engine::general_purpose::STANDARD.encode(&read.payload));
    Some(wire::NodeData { text, base64, bytes: read.payload_bytes, truncated: read.payload.len() < read.payload_bytes as usize })
}

fn count32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
