//! Sessions as rows, and one session with all it holds and waits for.

use lockscope_core::history::What;
use lockscope_core::observatory::SessionLock;
use lockscope_core::znode::SessionId;
use lockscope_view::{self as view, ROW_LOCKS_MAX, SESSION_EVENTS_MAX};

use super::applications::ApplicationRule;
use super::session_sums::{SPOTS_MAX, Sum};
use super::waits::verdict_of;
use super::words::view_verdict;
use super::{ProjectionContext, Terms, as_of_several, count32, session_groups};

/// The sessions for a query. `rule`: what an application is.
pub fn sessions(
    looks: &[ProjectionContext<'_>],
    query: &view::SessionsQuery,
    rule: &ApplicationRule,
) -> view::Sessions {
    let terms = Terms::parse(&query.q);
    let meant = looks.iter().filter(|look| look.is_meant(&query.ensemble));
    let mut sums: Vec<(ProjectionContext<'_>, Sum)> =
        meant.flat_map(|look| look.session_sums().into_iter().map(|sum| (*look, sum))).collect();
    let count = |fits: fn(&Sum) -> bool| count32(sums.iter().filter(|(_, sum)| fits(sum)).count());
    let head = view::SessionsHead {
        as_of: as_of_several(looks),
        sessions: count32(sums.len()),
        holding: count(|sum| sum.holds > 0),
        waiting: count(|sum| sum.waits > 0),
    };
    if !terms.is_empty() {
        sums.retain(|(look, sum)| {
            let row = look.session_row(sum.session, sum.ephemerals);
            let address = row.client.as_ref().map(|client| client.address.as_str()).unwrap_or_default();
            terms.fit_text(|| {
                format!("{} {} {address} {}", row.key, row.label.as_deref().unwrap_or_default(), row.locks.join(" "))
            })
        });
    }
    if !query.host.is_empty() || !query.application.is_empty() {
        sums.retain(|(look, sum)| session_groups::is_of(look, sum, query, rule));
    }
    if query.group != view::SessionGroup::Session {
        let groups = session_groups::window(session_groups::groups(&sums, query, rule), query);
        return view::Sessions { head, window: view::Window::default(), groups };
    }
    // Sessions come in order of their ids and the sort is stable, so equals stay in that order.
    let worst = |sum: &Sum| sum.cycle_verdict.filter(|_| query.sort == view::SessionSort::Worst);
    sums.sort_by_key(|(_, sum)| {
        let key = match query.sort {
            view::SessionSort::Worst | view::SessionSort::Blocks => -i64::from(sum.blocks),
            view::SessionSort::Holds => -i64::from(sum.holds),
            view::SessionSort::OldestWait => sum.oldest_wait_at_ms,
            view::SessionSort::Ephemerals => -i64::from(sum.ephemerals),
            view::SessionSort::Id => 0,
        };
        (std::cmp::Reverse(worst(sum)), key)
    });
    let window = sums.iter().skip(query.offset as usize).take(query.limit as usize);
    let rows = window.map(|(look, sum)| look.session_row(sum.session, sum.ephemerals)).collect();
    let window = view::Window { total: count32(sums.len()), offset: query.offset, rows };
    view::Sessions { head, window, groups: view::Window::default() }
}

impl ProjectionContext<'_> {
    /// One session; None when it owns nothing here and nothing is known of it.
    pub fn session(&self, query: &view::SessionQuery) -> Option<Box<view::SessionPage>> {
        if !self.is_meant(&query.ensemble) {
            return None;
        }
        let session = SessionId(query.id.0);
        let ephemerals = self.owned(session, self.observatory.owned_by(session));
        let history: Vec<view::SessionEvent> = {
            let seen = self.observatory.happenings(session).filter(|happening| self.sees(&happening.lock));
            seen.take(SESSION_EVENTS_MAX).map(event).collect()
        };
        let mut spots: Vec<SessionLock<'_>> = self.spots(session).collect();
        if ephemerals == 0 && history.is_empty() && spots.is_empty() {
            return None;
        }
        spots.sort_by_key(|spot| (spot.hold.is_none(), self.instant(spot.since)));
        let total = count32(spots.len());
        let rows = spots
            .iter()
            .skip(query.offset as usize)
            .take(query.limit as usize)
            .filter_map(|spot| self.spot_row(spot))
            .collect();
        Some(Box::new(view::SessionPage {
            as_of: self.as_of_all(),
            row: self.session_row(session, ephemerals),
            spots: view::Window { total, offset: query.offset, rows },
            history,
        }))
    }

    fn session_row(&self, session: SessionId, ephemerals: u32) -> view::SessionRow {
        let (client, liveness, runs_out) = self.peer(session, self.now);
        let cycles =
            self.observatory.cycles().iter().filter(|cycle| self.sessions_of(cycle).any(|other| other == session));
        let cycle_verdict = cycles.map(verdict_of).max();
        let mut row = view::SessionRow {
            key: self.ensemble.key(&session.to_string()),
            tag: self.ensemble.tag(),
            ensemble: self.ensemble.name.clone(),
            session_id: view::SessionId(session.0),
            label: None,
            client,
            liveness,
            runs_out,
            holds: 0,
            waits: 0,
            ephemerals,
            oldest_hold_at_ms: None,
            oldest_wait_at_ms: None,
            blocks: 0,
            locks: Vec::new(),
            in_cycle: cycle_verdict.is_some(),
            cycle_verdict,
            stands_by: 0,
        };
        for spot in self.spots(session).take(SPOTS_MAX) {
            let at = self.instant(spot.since).0;
            let earlier = |before: Option<i64>| before.into_iter().chain([at]).min();
            if spot.hold.is_some() {
                row.holds += 1;
                let blocks = if spot.lock.recognition.counts_as_waiting() { spot.lock.waiters_seen() } else { 0 };
                row.blocks = row.blocks.saturating_add(blocks);
                row.oldest_hold_at_ms = earlier(row.oldest_hold_at_ms);
            } else if spot.lock.recognition.counts_as_waiting() {
                row.waits += 1;
                row.oldest_wait_at_ms = earlier(row.oldest_wait_at_ms);
            } else {
                row.stands_by += 1;
            }
            if row.label.is_none() {
                row.label = self.label_of(&spot);
            }
            if row.locks.len() < ROW_LOCKS_MAX && !row.locks.iter().any(|path| **path == *spot.lock.path) {
                row.locks.push(spot.lock.path.to_string());
            }
        }
        row
    }

    fn spot_row(&self, spot: &SessionLock<'_>) -> Option<view::SessionLockRow> {
        let mirror = self.observatory.mirror_of(spot.lock)?;
        let at = spot.lock.contenders(mirror).position(|contender| {
            contender.key == spot.contender.key && contender.directory == spot.contender.directory
        })?;
        Some(view::SessionLockRow {
            lock: spot.lock.path.to_string(),
            verdict: view_verdict(spot.lock.assessment.verdict),
            recipe_label: spot.lock.recognition.label.to_string(),
            contender: self.contender_with_edges(spot.lock, mirror, at, &spot.contender),
        })
    }
}

fn event(happening: &lockscope_core::history::SessionEvent) -> view::SessionEvent {
    view::SessionEvent {
        at_ms: happening.at.0,
        lock: happening.lock.to_string(),
        node: happening.node.to_string(),
        what: match happening.what {
            What::Joined => view::Happened::Joined,
            What::Held => view::Happened::Held,
            What::Released => view::Happened::Released,
            What::Left => view::Happened::Left,
            What::SessionEnded => view::Happened::SessionEnded,
            What::GoneInGap => view::Happened::GoneInGap,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::EnsembleInfo;
    use crate::project::problems::tests::{LATER, model};
    use lockscope_view::Scope;

    fn asked(contenders: &[(&str, i64)], query: &view::SessionsQuery) -> view::Sessions {
        let observatory = model(contenders);
        let ensemble = EnsembleInfo {
            name: "default".into(),
            connect: "zk:2181".into(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let scope = &Scope::ALL;
        sessions(
            &[ProjectionContext { observatory: &observatory, ensemble: &ensemble, scope, now: LATER }],
            query,
            &ApplicationRule::default(),
        )
    }

    #[test]
    fn who_stands_by_for_a_leader_waits_for_no_lock() {
        let contenders = [
            ("/election/n_0000000000", 1),
            ("/election/n_0000000001", 2),
            ("/election/n_0000000002", 3),
            ("/q/lock-0000000000", 1),
            ("/q/lock-0000000001", 3),
        ];
        let all = asked(&contenders, &view::SessionsQuery { limit: 10, ..view::SessionsQuery::default() });
        let row = |row: &view::SessionRow| {
            (row.session_id.0, row.holds, row.waits, row.stands_by, row.blocks, row.oldest_wait_at_ms)
        };
        let rows: Vec<_> = all.window.rows.iter().map(row).collect();
        assert_eq!(rows, [(1, 2, 0, 0, 1, None), (2, 0, 0, 1, 0, None), (3, 0, 1, 1, 0, Some(5))]);
        assert_eq!((all.head.holding, all.head.waiting), (1, 1));
        let by_name = view::SessionsQuery { limit: 10, group: view::SessionGroup::Application, ..Default::default() };
        let groups = asked(&contenders, &by_name).groups.rows;
        let groups: Vec<_> = groups.iter().map(|row| (row.waits, row.oldest_wait_at_ms, row.blocks)).collect();
        assert_eq!(groups, [(1, Some(5), 1)], "client-1, client-2 and client-3 are one application");
    }
}
