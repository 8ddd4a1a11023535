//! Converts the members' evidence to wire types.

use lockscope_core::evidence::{ClientState, Liveness, Member, MemberRole, RunsOut, SessionRecord, Source, Trouble};
use lockscope_core::lock::{Hold, Lock, WokenBasis};
use lockscope_core::mirror::Mirror;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_view as view;

use super::{ProjectionContext, count32};

/// Waiters without a znode that are listed; more are only counted.
pub(super) const HIDDEN_MAX: usize = 500;
/// The lower half of a transaction id counts within one leader's time.
const EPOCH_BITS: u32 = 32;

impl ProjectionContext<'_> {
    /// A session's client, whether it is alive, and when the session expires.
    pub(super) fn peer(
        &self,
        session: SessionId,
        owned_since: TimeMs,
    ) -> (Option<view::ClientInfo>, view::Liveness, Option<view::RunsOut>) {
        self.client(session, &self.observatory.member_evidence().peer(session, owned_since))
    }

    pub(super) fn liveness(&self, session: SessionId, owned_since: TimeMs) -> view::Liveness {
        view_liveness(self.observatory.member_evidence().peer(session, owned_since).liveness)
    }

    /// The address of a session's client, as far as a member reports it.
    pub(super) fn address(&self, session: SessionId) -> Option<&str> {
        self.observatory.member_evidence().session(session)?.address.as_deref()
    }

    /// The same of who holds: as the lock's verdict has it, which follows a round a moment later.
    pub(super) fn holders_peer(
        &self,
        hold: &Hold,
        session: SessionId,
    ) -> (Option<view::ClientInfo>, view::Liveness, Option<view::RunsOut>) {
        let unknown = ClientState::default();
        self.client(session, hold.peer.as_deref().unwrap_or(&unknown))
    }

    fn client(
        &self,
        session: SessionId,
        peer: &ClientState,
    ) -> (Option<view::ClientInfo>, view::Liveness, Option<view::RunsOut>) {
        (
            self.observatory.member_evidence().session(session).and_then(client),
            view_liveness(peer.liveness),
            runs_out(peer),
        )
    }

    pub(super) fn trust(&self) -> view::Trust {
        let (evidence, offset) = (self.observatory.member_evidence(), self.observatory.offset());
        // Znodes show only the transactions that touched them: what our member has applied, we have seen.
        let own = evidence.zxid_seen_by(self.observatory.session()).map(|zxid| zxid.max(self.observatory.zxid()));
        view::Trust {
            connections_at_ms: evidence.complete_at(self.now).map(|at| at.0),
            watches_at_ms: evidence.watches_at(self.now).map(|at| at.0),
            members: count32(evidence.members().len()),
            members_heard: count32(
                evidence
                    .members()
                    .filter(|(_, member)| member.is_down || member.connections.asked_at().is_some())
                    .count(),
            ),
            clock_offset_ms: offset.ms(),
            clock_error_ms: offset.error_ms(),
            zxid_behind: own.zip(evidence.newest_zxid()).and_then(|(own, newest)| behind(own, newest)),
        }
    }

    /// Whether each member that runs was asked who is connected to it, and does not say so.
    pub(super) fn lacks_evidence(&self) -> bool {
        let refuses = |source: &Source| matches!(source, Source::None { trouble: Trouble::Off | Trouble::Denied, .. });
        let mut running = self.observatory.member_evidence().members().filter(|(_, member)| !member.is_down).peekable();
        running.peek().is_some() && running.all(|(_, member)| refuses(&member.connections))
    }

    /// What the next release of a lock wakes.
    pub(super) fn herd(&self, lock: &Lock, mirror: &Mirror) -> Option<view::Herd> {
        let woken = lock.woken(self.observatory.member_evidence(), mirror, self.now, self.observatory.session())?;
        let known = match woken.known {
            WokenBasis::Counted => view::HerdKnown::Counted,
            WokenBasis::ByRule => view::HerdKnown::ByRule,
            WokenBasis::AtLeast => view::HerdKnown::AtLeast,
            WokenBasis::Unknown => view::HerdKnown::Unknown,
        };
        Some(view::Herd { wakes: woken.sessions, known, bytes: woken.bytes })
    }

    /// Where clients watch a list of children, which no table shows: what fired on each member lately.
    pub(super) fn fired(&self, lock: &Lock, mirror: &Mirror) -> Vec<view::FiredRow> {
        if !lock.may_watch_children(mirror) {
            return Vec::new();
        }
        let row = |(name, member): (&std::sync::Arc<str>, &Member)| {
            let lately = member.lately?;
            Some(view::FiredRow {
                member: name.to_string(),
                over_ms: lately.over_ms,
                deletions: lately.deleted.changes,
                woken_by_deletions: lately.deleted.watches,
                child_changes: lately.children.changes,
                woken_by_child_changes: lately.children.watches,
            })
        };
        self.observatory.member_evidence().members().filter_map(row).collect()
    }

    /// A session that waits at a lock's znode without one of its own, as a contender.
    pub(super) fn hidden_contender(
        &self,
        lock: &Lock,
        mirror: &Mirror,
        at: usize,
        session: SessionId,
        since: TimeMs,
    ) -> view::Contender {
        let (client, liveness, runs_out) = self.peer(session, self.now);
        let to = self.holders(lock, mirror).next().map_or_else(|| lock.path.to_string(), |holder| holder.path);
        let is_shared = lock.watchers.count() > 1;
        let evidence = if is_shared { view::EdgeEvidence::Shared } else { view::EdgeEvidence::Confirmed };
        view::Contender {
            path: format!("{} {session}", lock.path),
            node: None,
            sequence: None,
            position: count32(at),
            role: view::ContenderRole::Waiter,
            access: lock.holders.first().map_or(view::Access::Exclusive, |hold| super::words::view_access(hold.access)),
            session_id: Some(view::SessionId(session.0)),
            ephemeral: None,
            client,
            liveness,
            runs_out,
            only_on: Vec::new(),
            label: None,
            data: None,
            created_at_ms: None,
            waiting_since_ms: Some(since.0),
            waiting_is_lower_bound: true,
            holding_since_ms: None,
            holding_is_lower_bound: false,
            waits_for: vec![view::Edge { to, evidence }],
            czxid: None,
            version: 0,
        }
    }

    pub(super) fn member_statuses(&self) -> Vec<view::MemberStatus> {
        let evidence = self.observatory.member_evidence();
        let newest = evidence.newest_zxid();
        evidence.members().map(|(name, member)| member_status(name, member, newest)).collect()
    }
}

fn member_status(name: &str, member: &Member, newest: Option<Zxid>) -> view::MemberStatus {
    let sources = [&member.connections, &member.sessions, &member.watches, &member.how];
    let mut remedies: Vec<String> = Vec::new();
    for source in sources {
        if let Source::None { remedy, .. } = source
            && !remedy.is_empty()
            && !remedies.iter().any(|known| **known == **remedy)
        {
            remedies.push(remedy.to_string());
        }
    }
    let health = member.health.as_ref().map(|(_, health)| health);
    let zxid = health.and_then(|health| health.zxid);
    view::MemberStatus {
        member: name.to_owned(),
        number: member.number,
        by: member.by.to_string(),
        is_down: member.is_down,
        connections: source_state(&member.connections),
        watches: source_state(&member.watches),
        sessions: source_state(&member.sessions),
        health: source_state(&member.how),
        remedies,
        sampled_at_ms: sources.into_iter().filter_map(Source::asked_at).max().map_or(0, |at| at.0),
        role: health.and_then(|health| health.role).map(view_role),
        version: health.and_then(|health| health.version.as_deref()).map(|version| short_version(version).to_owned()),
        zxid: zxid.map(|zxid| view::Zxid(zxid.0)),
        behind: zxid.zip(newest).and_then(|(own, newest)| behind(own, newest)),
        connection_count: health.and_then(|health| health.connections),
        watch_count: health.and_then(|health| health.watches),
        outstanding: health.and_then(|health| health.outstanding),
    }
}

/// The release; what follows is its build.
fn short_version(version: &str) -> &str {
    version.split([',', '-', ' ']).next().unwrap_or(version)
}

/// Transactions between two of one leader's time; nothing is said across a change of leader.
fn behind(own: Zxid, newest: Zxid) -> Option<i64> {
    (own.0 >> EPOCH_BITS == newest.0 >> EPOCH_BITS).then(|| newest.0.saturating_sub(own.0).max(0))
}

fn client(known: &SessionRecord) -> Option<view::ClientInfo> {
    Some(view::ClientInfo {
        address: known.address.as_deref()?.to_owned(),
        server: known.member.as_deref().unwrap_or_default().to_owned(),
        timeout_ms: known.timeout_ms,
        last_heard_at_ms: known.heard_at.map(|at| at.0),
        connected_since_ms: known.connected_since.map(|at| at.0),
        last_operation: known.last_operation.as_deref().map(str::to_owned),
    })
}

fn runs_out(peer: &ClientState) -> Option<view::RunsOut> {
    peer.runs_out.map(|RunsOut { at, is_told }| view::RunsOut { at_ms: at.0, is_told })
}

fn view_liveness(liveness: Liveness) -> view::Liveness {
    match liveness {
        Liveness::Connected => view::Liveness::Connected,
        Liveness::Silent => view::Liveness::Silent,
        Liveness::Disconnected => view::Liveness::Disconnected,
        Liveness::Unknown => view::Liveness::Unknown,
    }
}

fn source_state(source: &Source) -> view::SourceState {
    match source {
        Source::NotAsked => view::SourceState::NotAsked,
        Source::Ok { .. } => view::SourceState::Ok,
        Source::None { trouble, .. } => match trouble {
            Trouble::Off => view::SourceState::Off,
            Trouble::Denied => view::SourceState::Denied,
            Trouble::Broken => view::SourceState::Error,
            Trouble::Spared => view::SourceState::Spared,
        },
    }
}

fn view_role(role: MemberRole) -> view::MemberRole {
    match role {
        MemberRole::Leader => view::MemberRole::Leader,
        MemberRole::Follower => view::MemberRole::Follower,
        MemberRole::Observer => view::MemberRole::Observer,
        MemberRole::Standalone => view::MemberRole::Standalone,
        MemberRole::ReadOnly => view::MemberRole::ReadOnly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_is_told_within_one_leaders_time_only() {
        let zxid = |epoch: i64, count: i64| Zxid((epoch << EPOCH_BITS) + count);
        assert_eq!(behind(zxid(3, 40), zxid(3, 45)), Some(5));
        assert_eq!(behind(zxid(3, 45), zxid(3, 40)), Some(0), "ours may be newer than the answer");
        assert_eq!(behind(zxid(2, 40), zxid(3, 1)), None, "numbers begin anew with each leader");
    }

    #[test]
    fn a_version_is_told_without_its_build() {
        assert_eq!(
            short_version("3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25 08:49 UTC"),
            "3.8.0"
        );
    }
}
