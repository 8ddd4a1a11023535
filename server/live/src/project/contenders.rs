//! Contenders of one lock as rows, with what each waits for.

use base64::Engine as _;
use lockscope_core::evidence::Watch;
use lockscope_core::label::{label_of, text_label_of};
use lockscope_core::lock::{ContenderRef, Lock, Since, WaitTarget};
use lockscope_core::mirror::{Mirror, Read};
use lockscope_core::recipe::Shape;
use lockscope_view as view;

use super::evidence::HIDDEN_MAX;
use super::words::view_access;
use super::{ProjectionContext, count32};

impl<'a> ProjectionContext<'a> {
    /// A window of a lock's contenders, in order; those without a znode come last.
    pub(super) fn contenders(
        &self,
        lock: &'a Lock,
        mirror: &'a Mirror,
        offset: usize,
        limit: usize,
    ) -> Vec<view::Contender> {
        let contenders = lock.contenders(mirror).enumerate().skip(offset).take(limit);
        let mut rows: Vec<view::Contender> =
            contenders.map(|(at, contender)| self.contender_with_edges(lock, mirror, at, &contender)).collect();
        let shown = lock.contender_count() as usize;
        let hidden = lock.watchers.iter().take(HIDDEN_MAX).enumerate();
        let rest = hidden.skip(offset.saturating_sub(shown)).take(limit - rows.len());
        rows.extend(rest.map(|(at, (session, since))| self.hidden_contender(lock, mirror, shown + at, session, since)));
        rows
    }

    /// Who a contender says it is: any text for those who may see payloads, only an identity for the others.
    pub(super) fn label(&self, name: &str, read: &Read) -> Option<String> {
        if self.scope.payloads() { text_label_of(name, &read.payload) } else { label_of(name, &read.payload) }
    }

    /// One contender with what it waits for, and its payload for those who may see it.
    pub(super) fn contender_with_edges(
        &self,
        lock: &Lock,
        mirror: &Mirror,
        at: usize,
        contender: &ContenderRef<'_>,
    ) -> view::Contender {
        let mut row = self.contender(lock, at, contender);
        let read = contender.child.read.as_ref().filter(|_| self.scope.payloads());
        row.data = read.and_then(|read| node_data(&read.payload, read.payload_bytes()));
        if row.role == view::ContenderRole::Waiter {
            row.waits_for =
                lock.waits_for(mirror, contender).iter().map(|target| self.edge(lock, contender, target)).collect();
        }
        row
    }

    /// Those that hold and are kept one by one, without payloads.
    pub(super) fn holders(&self, lock: &'a Lock, mirror: &'a Mirror) -> impl Iterator<Item = view::Contender> {
        let look = *self;
        let contenders = lock.holders.iter().filter_map(move |hold| {
            let (key, child) = lock.child_of(mirror, hold)?;
            Some(ContenderRef { directory: &hold.directory, key, child })
        });
        contenders.enumerate().map(move |(at, contender)| look.contender(lock, at, &contender))
    }

    /// That others wait for the same znode says more than that a table has this one; that none has it says most.
    fn edge(&self, lock: &Lock, contender: &ContenderRef<'_>, target: &WaitTarget<'_>) -> view::Edge {
        let evidence =
            match (lock.confirm(self.observatory.member_evidence(), self.now, contender, target), target.is_shared) {
                (Watch::Missing, _) => view::EdgeEvidence::Missing,
                (_, true) => view::EdgeEvidence::Shared,
                (Watch::Confirmed, false) => view::EdgeEvidence::Confirmed,
                (Watch::Unknown, false) => view::EdgeEvidence::Inferred,
            };
        view::Edge { to: target.path(), evidence }
    }

    fn contender(&self, lock: &Lock, at: usize, contender: &ContenderRef<'_>) -> view::Contender {
        let hold = lock.hold_of(contender);
        // Of a large group of readers or members only the first are kept one by one; the others stand right behind
        // them.
        let holds = hold.is_some() || (at < lock.standing.holders as usize && at >= lockscope_core::lock::HOLDERS_MAX);
        let is_item = matches!(lock.recognition.shape, Shape::Items | Shape::TakenItems);
        let read = contender.child.read.as_ref();
        let ephemeral = contender.child.is_owned();
        let (client, liveness, runs_out) = match (hold, contender.child.owner()) {
            (Some(hold), Some(owner)) if hold.owner == Some(owner) => self.holders_peer(hold, owner),
            (_, Some(owner)) => self.peer(owner, contender.child.arrived_at),
            (_, None) if ephemeral == Some(false) => (None, view::Liveness::Persistent, None),
            (_, None) => (None, view::Liveness::Unknown, None),
        };
        let path = contender.path();
        let disputed = self.observatory.member_evidence().disputed().get(&*path);
        view::Contender {
            only_on: disputed.iter().flat_map(|disputed| &disputed.on).map(ToString::to_string).collect(),
            path,
            node: Some(contender.key.name().to_owned()),
            sequence: contender.key.number().map(i64::from),
            position: count32(at),
            role: if holds { view::ContenderRole::Holder } else { view::ContenderRole::Waiter },
            access: view_access(lock.access(contender)),
            session_id: contender.child.owner().map(|owner| view::SessionId(owner.0)),
            ephemeral,
            client,
            liveness,
            runs_out,
            label: read.and_then(|read| self.label(contender.key.name(), read)),
            data: None,
            created_at_ms: read.map(|read| self.observatory.offset().to_ours(read.ctime_ms).0),
            waiting_since_ms: (!holds && !is_item).then(|| self.instant(Since::of(contender.child)).0),
            waiting_is_lower_bound: false,
            holding_since_ms: hold.map(|hold| hold.since.0),
            holding_is_lower_bound: hold.is_some_and(|hold| hold.is_lower_bound),
            waits_for: Vec::new(),
            czxid: read.map(|read| view::Zxid(read.czxid.0)),
            version: read.map_or(0, |read| read.version),
        }
    }
}

/// Contenders that are listed: all with a znode, and the first without one.
pub(super) fn listed(lock: &Lock) -> u32 {
    lock.contender_count() + count32(lock.watchers.iter().len().min(HIDDEN_MAX))
}

/// The first bytes of a payload of so many; None when it is empty or may not be read.
fn node_data(payload: &[u8], bytes: u32) -> Option<view::NodeData> {
    if payload.is_empty() {
        return None;
    }
    let text = std::str::from_utf8(payload).ok().map(str::to_owned);
    let base64 = text.is_none().then(|| base64::engine::general_purpose::STANDARD.encode(payload));
    Some(view::NodeData { text, base64, bytes, truncated: payload.len() < bytes as usize })
}

#[cfg(test)]
mod tests {
    use lockscope_core::evidence::{Expiry, MemberAnswer, Report, Round, SessionTable};
    use lockscope_core::observation::{Link, Observation, RootId};
    use lockscope_core::observatory::{Observatory, Settings};
    use lockscope_core::time::TimeMs;
    use lockscope_core::verdict::Verdict;
    use lockscope_core::znode::{Facts, SessionId, Zxid};

    use super::*;
    use crate::project::EnsembleInfo;
    use lockscope_view::Scope;

    #[test]
    fn a_payload_that_may_not_be_read_is_none() {
        assert_eq!((node_data(b"", 3), node_data(b"", 0)), (None, None));
        let data = node_data(b"ab", 3).unwrap();
        assert_eq!((data.text.as_deref(), data.bytes, data.truncated), (Some("ab"), 3, true));
        assert_eq!(node_data(&[0xff], 1).unwrap().base64.as_deref(), Some("/w=="));
    }

    const NOW: TimeMs = TimeMs(1_000_000);

    fn node(path: &str, owner: Option<i64>) -> Observation {
        let facts = Facts {
            czxid: Zxid(5),
            mzxid: Zxid(5),
            pzxid: Zxid(5),
            ctime_ms: 1,
            version: 0,
            cversion: 1,
            children: u32::from(owner.is_none()),
            owner: owner.map(SessionId),
            payload: None,
            payload_bytes: 0,
        };
        Observation::SyncNode { root: RootId(0), path: path.into(), facts: Box::new(facts), unreadable: false }
    }

    /// All members were asked who is connected, and nobody was; the leader says when the holder's session runs out.
    fn nobody_connected(asked_at: TimeMs) -> Observation {
        let none = || MemberAnswer::Ok { asked_at, value: Vec::new() };
        let expiries = [(SessionId(10), Expiry::QuarterHour(0))].into();
        let report = Report {
            member: "m1".into(),
            number: None,
            by: "four-letter words".into(),
            is_down: false,
            connections: none(),
            sessions: MemberAnswer::Ok { asked_at, value: SessionTable { expiries, ..SessionTable::default() } },
            watches: MemberAnswer::NotAsked,
            health: MemberAnswer::NotAsked,
        };
        Observation::Evidence(Box::new(Round { reports: vec![report] }))
    }

    /// A round is taken in a piece at a time, and views may be made in between.
    #[test]
    fn a_holder_is_shown_as_its_lock_is_judged() {
        let mut observatory =
            Observatory::new(Settings { roots: vec!["/l".to_owned()], ..Settings::default() }, TimeMs(0));
        let root = RootId(0);
        let seen = [
            Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() },
            Observation::SyncBegan { root, why: "first sync".into() },
            node("/l", None),
            node("/l/lock-0000000000", Some(10)),
            Observation::SyncEnded { root },
        ];
        seen.into_iter().for_each(|observation| drop(observatory.apply(NOW, observation)));
        observatory.apply(NOW + 1, nobody_connected(NOW + 1));
        observatory.begin(NOW + 2, nobody_connected(NOW + 2));
        let ensemble = EnsembleInfo {
            name: "prod".to_owned(),
            connect: "a:1".to_owned(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let mut shown = Vec::new();
        loop {
            let look =
                ProjectionContext { observatory: &observatory, ensemble: &ensemble, scope: &Scope::ALL, now: NOW + 2 };
            let lock = observatory.lock("/l").unwrap();
            let holder = look.holders(lock, observatory.mirror_of(lock).unwrap()).next().unwrap();
            shown.push((holder.liveness, lock.assessment.verdict));
            if !observatory.has_backlog() {
                break;
            }
            observatory.go_on();
        }
        assert_eq!(shown.first(), Some(&(view::Liveness::Unknown, Verdict::Healthy)), "not judged yet");
        assert_eq!(shown.last(), Some(&(view::Liveness::Disconnected, Verdict::Expiring)));
    }
}
