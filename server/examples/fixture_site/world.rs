//! The made-up model behind the feed: answers views as the real projector does, from a list of locks.

use std::collections::BTreeMap;

use lockscope_live::project::root_help;
use lockscope_live::{Known, ProjectedView, Projection, Views};
use lockscope_runtime::clock::Clock;
use lockscope_view::{
    AsOf, Board, BoardHead, BoardQuery, Capacity, ConfigStatus, EnsembleStatus, EventsQuery, LabQuery, LabRun, Lately,
    Link, LockHead, LockPage, LockQuery, LockRow, LockStats, PROTOCOL, QueueMap, QueueMapQuery, Recipe, RootBrief,
    RootState, RootStatus, Scope, SessionId, SessionPage, SessionQuery, SessionRow, SessionTimeout, Sessions,
    SessionsHead, SessionsQuery, Status, Totals, View, Waits, WaitsQuery, Window, Zxid,
};
use tokio::sync::watch;

use super::advice;
use super::contenders::{contender, hidden};
use super::evidence;
use super::locks::{BUSY, FIXED, ROOTS, WATCHERS, came_at_ms, hurried, locks, many, passing, turns_of};
use super::mode::Mode;
use super::queue_map::queue_map;
use super::rows::{matches, sort};
use super::sessions;
use super::waits::waits;

/// Where the invented ensemble is.
const CONNECT: &str = "zk1:2181,zk2:2181,zk3:2181";

/// Waiters of the busy lock in a crowd.
const CROWD: u32 = 10_000;

/// The model.
pub(crate) struct World {
    mode: Mode,
    clock: Clock,
    started_at_ms: i64,
    turn: watch::Sender<u64>,
}

impl World {
    pub(crate) fn new(mode: Mode, clock: Clock) -> Self {
        Self { mode, started_at_ms: clock.now_ms(), clock, turn: watch::channel(0).0 }
    }

    /// The busy lock changes hands.
    pub(crate) fn turn(&self) {
        self.turn.send_modify(|turn| *turn += 1);
    }

    fn turns(&self) -> u32 {
        u32::try_from(self.revision()).unwrap_or(u32::MAX)
    }

    fn state(&self) -> (RootState, Link, &'static str) {
        match self.mode {
            Mode::Live | Mode::Crowd | Mode::Many | Mode::Passing | Mode::Empty => (RootState::Live, Link::Live, ""),
            Mode::Syncing => (RootState::Syncing, Link::Syncing, "reading everything for the first time"),
            Mode::Stale => (RootState::Stale, Link::Stale, "no answer from zk1:2181"),
            Mode::Unreached => (RootState::Stale, Link::Lost, "no server can be reached"),
            Mode::Denied => (RootState::Denied, Link::Live, ""),
        }
    }

    fn rows(&self) -> Vec<LockRow> {
        match self.mode {
            Mode::Empty | Mode::Syncing | Mode::Unreached | Mode::Denied => Vec::new(),
            Mode::Live | Mode::Stale => locks(self.started_at_ms, self.turns(), self.clock.now_ms(), self.state().0),
            Mode::Many => hurried(many(self.started_at_ms, self.turns(), self.clock.now_ms(), self.state().0)),
            Mode::Crowd | Mode::Passing => {
                let mut rows = locks(self.started_at_ms, self.turns(), self.clock.now_ms(), self.state().0);
                if self.mode == Mode::Passing {
                    rows.extend(passing(self.started_at_ms, self.turns(), self.clock.now_ms()));
                }
                for row in rows.iter_mut().filter(|row| row.path == BUSY) {
                    row.waiter_count = Some(CROWD);
                }
                hurried(rows)
            }
        }
    }

    /// As the real projection gives it.
    fn help(&self, path: &str) -> String {
        match (self.mode, path) {
            (Mode::Empty, _) => root_help(RootState::Live, 1_204, CONNECT),
            (Mode::Unreached, "/app") => root_help(RootState::Stale, 0, CONNECT),
            (Mode::Denied, "/order") => root_help(RootState::Gone, 0, CONNECT),
            (Mode::Denied, _) => root_help(RootState::Denied, 0, CONNECT),
            _ => String::new(),
        }
    }

    fn as_of(&self) -> AsOf {
        let (state, _, why) = self.state();
        AsOf {
            state,
            since_ms: self.started_at_ms,
            why: why.to_owned(),
            zxid: Zxid(0x2_0000_2000 + i64::from(self.turns())),
            proof: lockscope_view::Proof::default(),
            ensemble: None,
        }
    }

    fn board(&self, query: &BoardQuery) -> Board {
        let mut rows = self.rows();
        let as_of = self.as_of();
        let root = |path: &str| RootBrief {
            tag: None,
            path: path.to_owned(),
            state: if self.mode == Mode::Denied && path == "/order" { RootState::Gone } else { as_of.state },
            since_ms: as_of.since_ms,
            why: as_of.why.clone(),
            locks: count(rows.iter().filter(|row| row.root == path)),
            help: self.help(path),
        };
        let roots = ROOTS.map(root).to_vec();
        let (problems, problem_count, problems_left_out) = advice::problems(&rows, self.clock.now_ms());
        let head = BoardHead {
            totals: totals(&rows),
            as_of,
            roots,
            problems,
            problem_count,
            problems_left_out,
            ensembles_without_evidence: 0,
        };
        rows.retain(|row| matches(row, query));
        sort(&mut rows, query, self.clock.now_ms());
        Board {
            head,
            window: window(count(rows.iter()), query.offset, query.limit, |at| rows.get(at as usize).cloned()),
        }
    }

    fn lock(&self, query: &LockQuery) -> Option<LockPage> {
        let row = self.rows().into_iter().find(|row| row.path == query.path)?;
        let turn = turns_of(&row.path, self.turns());
        let hidden_waiters = if row.path == FIXED { WATCHERS } else { 0 };
        let listed = row.holder_count + row.waiter_count.unwrap_or(0) - hidden_waiters;
        let came_at_ms = row.held_since_ms.map(|since_ms| came_at_ms(since_ms, turn));
        let base = LockRow { oldest_wait_at_ms: came_at_ms.or(row.oldest_wait_at_ms), ..row.clone() };
        let now_ms = self.clock.now_ms();
        let one = |at: u32| {
            Some(if at < listed { contender(&base, at, turn, now_ms) } else { hidden(&base, at - listed, now_ms) })
        };
        let window = window(listed + hidden_waiters, query.offset, query.limit, one);
        let head = LockHead {
            as_of: self.as_of(),
            recognised_by: vec!["every child is ephemeral, with a name and ten digits".to_owned()],
            capacity: (row.recipe == Recipe::Semaphore).then(|| Capacity {
                used: 3,
                max: Some(5),
                how: "as its leases show".to_owned(),
            }),
            foreign: Vec::new(),
            findings: Vec::new(),
            notes: Vec::new(),
            stat: None,
            stats: LockStats { acquisitions: u64::from(turn), ..LockStats::default() },
            past: evidence::past(&row, self.started_at_ms, turn),
            herd: evidence::herd(&row),
            fired: evidence::fired(&row),
            hidden_waiters,
            trust: evidence::trust(&row, now_ms),
            advice: advice::advice(&row),
            row,
        };
        Some(LockPage { head, window })
    }

    fn waits(&self) -> Waits {
        match self.mode {
            Mode::Live | Mode::Crowd | Mode::Many | Mode::Passing | Mode::Stale => {
                let turn = (self.mode == Mode::Passing).then(|| self.turns());
                let is_crowd = !matches!(self.mode, Mode::Live | Mode::Passing);
                waits(self.as_of(), self.started_at_ms, (is_crowd, turn), count(self.rows().iter()))
            }
            Mode::Empty | Mode::Syncing | Mode::Unreached | Mode::Denied => {
                Waits { as_of: self.as_of(), ..Waits::default() }
            }
        }
    }

    fn people(&self) -> Vec<SessionRow> {
        match self.mode {
            Mode::Empty | Mode::Syncing | Mode::Unreached | Mode::Denied => Vec::new(),
            Mode::Live | Mode::Crowd | Mode::Many | Mode::Stale => {
                sessions::rows(self.started_at_ms, self.turns(), self.clock.now_ms())
            }
            Mode::Passing => sessions::passing(self.started_at_ms, self.turns(), self.clock.now_ms()),
        }
    }

    fn sessions(&self, query: &SessionsQuery) -> Sessions {
        let mut rows = self.people();
        rows.retain(|row| row.ephemerals > 0);
        let head = SessionsHead {
            as_of: self.as_of(),
            sessions: count(rows.iter()),
            holding: count(rows.iter().filter(|row| row.holds > 0)),
            waiting: count(rows.iter().filter(|row| row.waits > 0)),
        };
        sessions::choose(&mut rows, query);
        let groups = sessions::groups(&rows, query.group);
        if !groups.is_empty() {
            let groups = window(count(groups.iter()), query.offset, query.limit, |at| groups.get(at as usize).cloned());
            return Sessions { head, groups, ..Sessions::default() };
        }
        let window = window(count(rows.iter()), query.offset, query.limit, |at| rows.get(at as usize).cloned());
        Sessions { head, window, ..Sessions::default() }
    }

    fn session(&self, query: &SessionQuery) -> Option<SessionPage> {
        let row = self.people().into_iter().find(|row| row.session_id == query.id)?;
        let locks = self.rows();
        let spots = sessions::spots(&row, &locks, self.clock.now_ms());
        let history = sessions::history(&row, self.started_at_ms);
        let spots = window(count(spots.iter()), query.offset, query.limit, |at| spots.get(at as usize).cloned());
        Some(SessionPage { as_of: self.as_of(), row, spots, history })
    }

    fn status(&self) -> Status {
        let (state, link, why) = self.state();
        let rows = self.rows();
        let root = |path: &str| {
            let under = || rows.iter().filter(|row| row.root == path);
            let znodes = under().map(|row| u64::from(row.holder_count + row.waiter_count.unwrap_or(0)) + 1).sum();
            RootStatus {
                path: path.to_owned(),
                state,
                since_ms: self.started_at_ms,
                why: why.to_owned(),
                locks: u64::from(count(under())),
                znodes,
            }
        };
        let ensemble = EnsembleStatus {
            color: None,
            name: "default".to_owned(),
            connect: CONNECT.to_owned(),
            link,
            since_ms: self.started_at_ms,
            why: why.to_owned(),
            session_id: Some(SessionId(0x0100_00a1_b2c0_0000)),
            zxid: self.as_of().zxid,
            clock_offset_ms: Some(12),
            roots: ROOTS.map(root).to_vec(),
            clock_error_ms: Some(4),
            evidence: if self.mode == Mode::Empty { Vec::new() } else { evidence::members(self.clock.now_ms()) },
            findings: Vec::new(),
            resyncs: Some(1),
            events: Some(self.revision()),
            owner_unknown: Some(0),
            missed: Some(0),
            history: None,
            excluded: None,
            proof: Default::default(),
        };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Status {
            version,
            protocol: PROTOCOL,
            seq: self.revision(),
            read_only: true,
            started_at_ms: self.started_at_ms,
            config: ConfigStatus { loaded_at_ms: self.started_at_ms, ..ConfigStatus::default() },
            ensembles: vec![ensemble],
        }
    }
}

impl World {
    fn show<T>(&self, body: T) -> ProjectedView<T> {
        ProjectedView { body, known: self.known_now() }
    }

    fn known_now(&self) -> Known {
        let is_live = self.state().0.is_current();
        Known { at_ms: if is_live { self.clock.now_ms() } else { self.started_at_ms }, is_live, is_past: false }
    }
}

impl Views for World {
    fn board(&self, query: &BoardQuery, _scope: &Scope) -> ProjectedView<Board> {
        self.show(self.board(query))
    }

    fn lock(&self, query: &LockQuery, _scope: &Scope) -> ProjectedView<Option<Box<LockPage>>> {
        self.show(self.lock(query).map(Box::new))
    }

    fn status(&self, _scope: &Scope) -> ProjectedView<Status> {
        self.show(self.status())
    }

    fn waits(&self, _query: &WaitsQuery, _scope: &Scope) -> ProjectedView<Box<Waits>> {
        self.show(Box::new(self.waits()))
    }

    fn sessions(&self, query: &SessionsQuery, _scope: &Scope) -> ProjectedView<Sessions> {
        self.show(self.sessions(query))
    }

    fn session(&self, query: &SessionQuery, _scope: &Scope) -> ProjectedView<Option<Box<SessionPage>>> {
        self.show(self.session(query).map(Box::new))
    }

    fn lab(&self, _query: &LabQuery, _scope: &Scope) -> ProjectedView<Option<Box<LabRun>>> {
        self.show(None)
    }

    fn events(&self, _query: &EventsQuery, _scope: &Scope) -> ProjectedView<Lately> {
        self.show(Lately::default())
    }

    fn queue_map(&self, query: &QueueMapQuery, _scope: &Scope) -> ProjectedView<Option<Box<QueueMap>>> {
        let whole = LockQuery { path: query.path.clone(), limit: u32::MAX, ..LockQuery::default() };
        self.show(self.lock(&whole).map(|page| Box::new(queue_map(query, &page, self.clock.now_ms()))))
    }
}

impl Projection for World {
    fn revisions(&self) -> lockscope_live::Revisions {
        lockscope_live::Revisions::of([self.turn.subscribe()])
    }

    fn revision(&self) -> u64 {
        *self.turn.borrow()
    }

    fn view_revision(&self, _view: &View, _sight: &Scope) -> Vec<u64> {
        vec![self.revision()]
    }

    fn known(&self, _view: &View, _sight: &Scope) -> Known {
        self.known_now()
    }

    fn session_timeout(&self, _scope: &Scope, query: &SessionQuery) -> Option<SessionTimeout> {
        Some(sessions::timeout(&self.session(query)?.row, self.clock.now_ms()))
    }

    fn is_ready(&self) -> bool {
        self.mode != Mode::Syncing
    }

    fn is_linked(&self) -> bool {
        !matches!(self.mode, Mode::Stale | Mode::Unreached)
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

fn window<R>(total: u32, offset: u32, limit: u32, at: impl Fn(u32) -> Option<R>) -> Window<R> {
    Window { total, offset, rows: (offset..offset.saturating_add(limit).min(total)).filter_map(at).collect() }
}

fn totals(rows: &[LockRow]) -> Totals {
    let mut verdicts = BTreeMap::new();
    for row in rows {
        *verdicts.entry(row.verdict).or_insert(0) += 1;
    }
    Totals {
        findings: count(rows.iter().flat_map(|row| &row.findings)),
        locks: count(rows.iter()),
        held: count(rows.iter().filter(|row| row.holder_count > 0)),
        waiters: rows.iter().filter_map(|row| row.waiter_count).sum(),
        incomplete: count(rows.iter().filter(|row| !row.is_complete())),
        contended: count(rows.iter().filter(|row| row.waiter_count > Some(0))),
        waiting_since_sum_ms: rows.iter().map(|row| row.waiting_since_sum_ms).sum(),
        oldest_wait_at_ms: rows.iter().filter_map(|row| row.oldest_wait_at_ms).min(),
        verdicts: verdicts.into_iter().rev().collect(),
    }
}
