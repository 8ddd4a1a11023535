//! Everything the members said, put together: sessions, members, watches. Changes only by taking in a round.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::disagree::{Disputed, Listed};
use super::member::Member;
use super::session::{ClientState, FRESH_MS, Liveness, RunsOut, SessionRecord, steady};
use super::watched::{GRACE_MS, Watch, WatchTables, Watching};
use super::{Expiry, MemberAnswer, MemberRole, Report, Round, SessionTable};
use crate::offset::ClockOffset;
use crate::recollection::MembersState;
use crate::time::TimeMs;
use crate::znode::{SessionId, Zxid};

/// Sessions remembered; more are not.
pub const SESSIONS_MAX: usize = 400_000;
/// The printed date of an expiry leaves out the milliseconds: the middle of its second is half a second off at most.
const HALF_SECOND_MS: i64 = 500;
const QUARTER_HOUR_MS: i64 = 900_000;
/// ZooKeeper's usual tick, where no member reports its own (`tickTime`).
const TICK_MS: i64 = 2_000;
/// An expiry that no leader reported again for so many rounds, whole or partial, is dropped.
const ENDS_OLD_ROUNDS: u64 = 6;
/// A session that is in nobody's list and whose expiry no member reports is forgotten after so many time-outs.
const FORGET_TIMEOUTS: i64 = 3;

/// What the ensemble says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberEvidence {
    pub(crate) state: MembersState,
    /// Shared with a checkpoint as long as nothing changes.
    pub(super) sessions: Arc<BTreeMap<SessionId, SessionRecord>>,
    pub(super) watched: WatchTables,
}

impl MemberEvidence {
    /// Takes in a round. Returns the sessions whose client state changed.
    pub(crate) fn take_in(&mut self, now: TimeMs, round: Round, offset: &ClockOffset) -> BTreeSet<SessionId> {
        self.state.rounds += 1;
        let names: BTreeSet<Box<str>> = round.reports.iter().map(|report| report.member.clone()).collect();
        self.state.members.retain(|name, _| names.contains(&**name));
        let (mut tables, mut listed) = (Vec::new(), Vec::new());
        for report in round.reports {
            let name: Arc<str> = (*report.member).into();
            // Reported before its sessions were asked for: its table is of no earlier state.
            let reached = self.zxid_of(&name);
            if let Some((table, asked_at)) = self.hear(&name, report, offset) {
                listed.push(Listed { member: Arc::clone(&name), reached });
                tables.push((name, table, asked_at));
            }
        }
        self.state.complete_at = self.all_listed_at();
        self.watched.forget(now, |member| names.contains(member));
        for (name, table, asked_at) in &tables {
            self.hear_sessions(now, name, table, *asked_at, offset);
        }
        // Znodes may have outlived their session (ZOOKEEPER-1208), which a leader knows.
        if !tables.iter().any(|(_, table, _)| tells_ends(table)) {
            let sessions = Arc::make_mut(&mut self.sessions);
            for owner in tables.iter().flat_map(|(_, table, _)| table.ephemerals.keys()) {
                if let Some(known) = sessions.get_mut(owner) {
                    known.round = self.state.rounds;
                }
            }
        }
        if tables.len() > 1 && !self.are_separate() {
            let compared: Vec<(Listed, &SessionTable)> =
                listed.into_iter().zip(tables.iter().map(|(_, table, _)| table)).collect();
            self.state.disagreement.compare(&compared, self.newest_zxid());
        } else if self.are_separate()
            || self.state.members.values().filter(|member| member.sessions.asked_at().is_some()).count() < 2
        {
            // One that only answers later than the others makes a round of its own and says nothing against them.
            self.state.disagreement.forget();
        }
        self.settle(now, &tables)
    }

    /// What one member says of itself, its clients and its watches. Returns its sessions, which are put together later.
    fn hear(&mut self, name: &Arc<str>, report: Report, offset: &ClockOffset) -> Option<(SessionTable, TimeMs)> {
        let member = self.state.members.entry(Arc::clone(name)).or_default();
        member.note(&report);
        if let MemberAnswer::Ok { asked_at, value } = report.connections {
            member.running.note(
                asked_at,
                value.iter().filter_map(|connection| Some((connection.answered_ms?, connection.established_ms))),
            );
            let (running, sessions) = (member.running, Arc::make_mut(&mut self.sessions));
            for connection in value {
                let is_known = sessions.contains_key(&connection.session);
                if !is_known && sessions.len() >= SESSIONS_MAX {
                    continue;
                }
                let known = sessions.entry(connection.session).or_default();
                let was_at = known.connected_at(name, &connection.address);
                known.take_in(&connection, name, asked_at, connection.answered_ms.and_then(|ms| running.to_ours(ms)));
                known.connected_since = steady(was_at, connection.established_ms.map(|ms| offset.to_ours(ms)));
                known.round = self.state.rounds;
            }
        }
        if let MemberAnswer::Ok { asked_at, value } = report.watches {
            self.watched.take_in(name, asked_at, value);
        }
        match report.sessions {
            MemberAnswer::Ok { asked_at, value } => Some((value, asked_at)),
            MemberAnswer::None { .. } | MemberAnswer::NotAsked => None,
        }
    }

    /// Sessions and when they run out, as a member reports it.
    fn hear_sessions(
        &mut self,
        now: TimeMs,
        member: &Arc<str>,
        table: &SessionTable,
        asked_at: TimeMs,
        offset: &ClockOffset,
    ) {
        let running = self.state.members.get(member).map(|member| member.running).unwrap_or_default();
        let sessions = Arc::make_mut(&mut self.sessions);
        for session in table.expiries.keys().chain(table.timeouts_ms.keys()) {
            if !sessions.contains_key(session) && sessions.len() >= SESSIONS_MAX {
                continue;
            }
            let known = sessions.entry(*session).or_default();
            if known.round == 0 {
                // New to us: it may have connected after the connections were asked for.
                known.seen_at = asked_at;
            }
            known.round = self.state.rounds;
            if let Some(timeout_ms) = table.timeouts_ms.get(session) {
                known.timeout_ms = Some(*timeout_ms);
            }
            let expiry = table.expiries.get(session).filter(|_| tells_ends(table));
            let has_moved = expiry.is_some_and(|expiry| known.ends(*expiry, asked_at));
            let at = expiry.and_then(|expiry| match expiry {
                Expiry::Running(ms) => running.to_ours(*ms),
                Expiry::QuarterHour(ms) => Some(next(*ms, now, offset)),
            });
            // The reported expiry of a gone session stays as it was first, unless the session came back.
            if let Some(at) = at {
                let first = known.runs_out.filter(|_| !has_moved && known.gone_since.is_some());
                let runs_out = first.map_or(RunsOut { at, is_told: true }, |(first, _)| first);
                known.runs_out = Some((runs_out, self.state.rounds));
            }
        }
    }

    /// When all members that can have clients were asked for them, by their last answers.
    fn all_listed_at(&self) -> Option<TimeMs> {
        let asked: Option<Vec<TimeMs>> = self
            .state
            .members
            .values()
            .filter(|member| !member.is_down)
            .map(|member| member.connections.asked_at())
            .collect();
        asked?.into_iter().min()
    }

    /// Draws the conclusions of a round: who is on no list, who ended, whose client state changed.
    fn settle(&mut self, now: TimeMs, tables: &[(Arc<str>, SessionTable, TimeMs)]) -> BTreeSet<SessionId> {
        let sessions_told = !tables.is_empty();
        let ends_told = tables.iter().any(|(_, table, _)| tells_ends(table));
        let (rounds, complete_at, tick_ms) = (self.state.rounds, self.state.complete_at, self.tick_ms());
        let latest: BTreeMap<Arc<str>, Option<TimeMs>> =
            self.state.members.iter().map(|(name, member)| (Arc::clone(name), member.connections.asked_at())).collect();
        self.state.vouched_at = self.complete_at(now);
        self.state.is_fresh = true;
        let is_vouched = self.state.vouched_at.is_some();
        let mut news = BTreeSet::new();
        Arc::make_mut(&mut self.sessions).retain(|session, known| {
            let is_listed = known.listed_at.is_some()
                && known.listed_at == known.member.as_ref().and_then(|name| latest.get(name)).copied().flatten();
            if !is_listed {
                known.listed_at = None;
                // All were asked after it was last there, and nobody listed it. Its own member may go on with it although
                // it left the ensemble.
                let has_left = known.member.as_ref().is_some_and(|name| !latest.contains_key(name));
                if let Some(at) = complete_at.filter(|at| *at > known.seen_at && !has_left) {
                    known.gone_since.get_or_insert(at);
                }
            }
            // It was active since, or ended: its expiry is another by now, reported or not.
            let is_old = |round: u64| round != rounds && (ends_told || rounds - round > ENDS_OLD_ROUNDS);
            if known.runs_out.is_some_and(|(_, round)| is_old(round)) {
                known.runs_out = None;
            }
            if known.tell(now, tick_ms, is_vouched) {
                news.insert(*session);
            }
            let is_mentioned = known.round == rounds;
            let patience_ms = known.timeout_ms.unwrap_or(60_000).saturating_mul(FORGET_TIMEOUTS);
            let is_over = match known.gone_since {
                _ if is_mentioned => false,
                Some(since) => sessions_told || now.since(since) > patience_ms,
                None => now.since(known.seen_at) > patience_ms,
            };
            if is_over {
                news.insert(*session);
            }
            !is_over
        });
        news
    }

    /// Time passes. When the last round, or the last one that every member answered, becomes too old, returns the
    /// sessions of which the client state changed.
    pub(crate) fn grow_old(&mut self, now: TimeMs) -> BTreeSet<SessionId> {
        let before = (self.state.is_fresh, self.state.vouched_at);
        let last = self.state.members.values().filter_map(|member| member.connections.asked_at()).max();
        self.state.is_fresh &= last.is_some_and(|at| now.since(at) <= FRESH_MS);
        self.state.vouched_at = self.state.vouched_at.and(self.complete_at(now));
        if (self.state.is_fresh, self.state.vouched_at) == before {
            return BTreeSet::new();
        }
        let (tick_ms, is_vouched) = (self.tick_ms(), self.state.vouched_at.is_some());
        Arc::make_mut(&mut self.sessions)
            .iter_mut()
            .filter_map(|(session, known)| known.tell(now, tick_ms, is_vouched).then_some(*session))
            .collect()
    }

    /// A log says which time-out a session negotiated, or that the session is over. What members report of it stands.
    pub(crate) fn note_timeout(&mut self, now: TimeMs, session: SessionId, timeout_ms: Option<i64>) {
        let known = self.sessions.get(&session);
        let is_full = known.is_none() && self.sessions.len() >= SESSIONS_MAX;
        let is_news = known.and_then(|known| known.timeout_ms) != timeout_ms;
        if !is_news || is_full || known.is_some_and(|known| known.round > 0) {
            return;
        }
        let sessions = Arc::make_mut(&mut self.sessions);
        match timeout_ms {
            Some(_) => {
                sessions
                    .entry(session)
                    .or_insert_with(|| SessionRecord { seen_at: now, ..SessionRecord::default() })
                    .timeout_ms = timeout_ms
            }
            None => _ = sessions.remove(&session),
        }
    }

    /// A tick of the ensemble, ms: sessions run out on a whole one.
    pub fn tick_ms(&self) -> i64 {
        self.state.members.values().filter_map(|member| member.health.as_ref()?.1.tick_ms).max().unwrap_or(TICK_MS)
    }
}

/// Reading.
impl MemberEvidence {
    /// Members by name.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Member)> {
        self.state.members.iter()
    }

    /// What is known of a session.
    pub fn session(&self, session: SessionId) -> Option<&SessionRecord> {
        self.sessions.get(&session)
    }

    /// How many rounds were taken in.
    pub fn rounds(&self) -> u64 {
        self.state.rounds
    }

    /// When every member was asked who is connected, if all answered last time and that is not too long ago.
    pub fn complete_at(&self, now: TimeMs) -> Option<TimeMs> {
        self.state.complete_at.filter(|at| now.since(*at) <= FRESH_MS)
    }

    /// Whether every member was asked who is connected, and not too long ago, so that one on no list has no connection.
    pub(crate) fn is_vouched(&self) -> bool {
        self.state.vouched_at.is_some()
    }

    /// The client state of a session that owns something since `owned_since`. It changes with rounds and their end
    /// alone, so that whatever is concluded from it agrees with it at every moment.
    pub fn peer(&self, session: SessionId, owned_since: TimeMs) -> ClientState {
        match self.sessions.get(&session) {
            Some(known) => known.told.clone(),
            // It owned something when all were asked, and nobody listed it.
            None if self.state.vouched_at.is_some_and(|at| at > owned_since) => {
                ClientState { liveness: Liveness::Disconnected, ..ClientState::default() }
            }
            None => ClientState::default(),
        }
    }

    /// Whether a session that owned something since `owned_since` is on no list and in no table of all members, all
    /// newer than that and the leader's among them: it ended. None while they can't say.
    pub(crate) fn has_ended(&self, now: TimeMs, session: SessionId, owned_since: TimeMs) -> Option<bool> {
        let leads = |member: &&Member| {
            let role = member.health.as_ref().and_then(|(_, health)| health.role);
            matches!(role, Some(MemberRole::Leader | MemberRole::Standalone))
        };
        let leader_at = self.state.members.values().find(leads)?.sessions.asked_at()?;
        let has_all = self.sessions.values().any(|known| known.end.is_some_and(|end| end.asked_at == leader_at));
        let is_new = |at: TimeMs| at > owned_since && now.since(at) <= FRESH_MS;
        let are_new = self.state.members.values().all(|member| member.sessions.asked_at().is_some_and(is_new));
        let is_told = self.sessions.contains_key(&session);
        (is_told || (self.is_vouched() && has_all && are_new)).then_some(!is_told)
    }

    /// When every member's table of watches was asked for; the oldest counts. None while one is missing or old.
    pub fn watches_at(&self, now: TimeMs) -> Option<TimeMs> {
        self.watched.complete_at(now, self.state.members.values().filter(|member| !member.is_down).count())
    }

    /// Sessions known to watch a znode's data or existence, `ours` left out.
    pub fn watchers(&self, now: TimeMs, path: &str, ours: Option<SessionId>) -> BTreeSet<SessionId> {
        let mut sessions = self.watched.by(now, path);
        if let Some(ours) = ours {
            sessions.remove(&ours);
        }
        sessions
    }

    /// Who is known to watch a znode's data or existence, by the tables that were asked for after an instant.
    pub fn watching(&self, now: TimeMs, path: &str, after: TimeMs) -> Watching {
        let members = self.state.members.iter().filter(|(_, member)| !member.is_down).map(|(name, _)| name);
        self.watched.after(now, path, after, members)
    }

    /// When the table of watches of each member that can have clients was asked for; None for one that is missing or
    /// old.
    pub(crate) fn tables_at(&self, now: TimeMs) -> Vec<Option<TimeMs>> {
        self.state
            .members
            .iter()
            .filter(|(_, member)| !member.is_down)
            .map(|(name, _)| self.watched.asked_at(now, name))
            .collect()
    }

    /// What the tables say of a wait that should have begun at `since`.
    pub fn watch(&self, now: TimeMs, session: SessionId, path: &str, since: TimeMs) -> Watch {
        if self.watched.has(now, path, session) {
            return Watch::Confirmed;
        }
        let is_connected =
            self.sessions.get(&session).is_some_and(|known| known.liveness(now, self.tick_ms()) == Liveness::Connected);
        match self.watches_at(now) {
            Some(at) if is_connected && at.since(since) > GRACE_MS => Watch::Missing,
            _ => Watch::Unknown,
        }
    }

    /// Ephemerals that only some members have, by path.
    pub fn disputed(&self) -> &BTreeMap<Box<str>, Disputed> {
        &self.state.disagreement.disputed
    }

    /// The newest transaction that we have surely seen the effect of: all that the member has applied which `ours` is
    /// connected to. None while it is not known which that is, or what it has applied.
    pub fn zxid_seen_by(&self, ours: Option<SessionId>) -> Option<Zxid> {
        let ours = ours.and_then(|ours| self.sessions.get(&ours)).and_then(|known| known.member.as_ref());
        let only = || self.state.members.keys().next().filter(|_| self.state.members.len() == 1);
        self.zxid_of(ours.or_else(only)?)
    }

    /// Whether several say that they work alone: they are no ensemble.
    pub fn are_separate(&self) -> bool {
        let roles = self.state.members.values().filter_map(|member| member.health.as_ref()?.1.role);
        roles.filter(|role| *role == MemberRole::Standalone).count() > 1
    }

    fn zxid_of(&self, member: &str) -> Option<Zxid> {
        self.state.members.get(member)?.health.as_ref()?.1.zxid
    }

    /// The newest transaction any member says it has applied; None where they are no ensemble, and none is behind.
    pub fn newest_zxid(&self) -> Option<Zxid> {
        let all = self.state.members.values().filter_map(|member| member.health.as_ref()?.1.zxid);
        all.max().filter(|_| !self.are_separate())
    }
}

/// Whether it is the leader's table, which alone says when sessions run out that are not known on one member only.
fn tells_ends(table: &SessionTable) -> bool {
    table.expiries.len() > table.local.len()
}

/// The instant nearest ahead that a quarter hour's second can mean. It may be over for a minute.
fn next(quarter_ms: i64, now: TimeMs, offset: &ClockOffset) -> TimeMs {
    let ahead_of = (now - 60_000).0.saturating_sub(offset.ms().unwrap_or(0));
    // The difference of the rests is as good as the rest of the difference, and never too large.
    let ahead_ms = quarter_ms.rem_euclid(QUARTER_HOUR_MS) - ahead_of.rem_euclid(QUARTER_HOUR_MS);
    let ahead_ms = ahead_ms.rem_euclid(QUARTER_HOUR_MS) + HALF_SECOND_MS;
    offset.to_ours(ahead_of.saturating_add(ahead_ms))
}
