//! In which order sessions take locks, as far as that may be seen: an order or a warning is left out when one of its
//! classes is outside.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::lock_order::{OrderEdge, OrderSnooze, OrderWarning};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_view as view;

use super::words::view_confidence;
use super::{ProjectionContext, count32};

pub(crate) fn orders(looks: &[ProjectionContext<'_>]) -> view::LockOrders {
    let mut all = view::LockOrders::default();
    for look in looks {
        all.edges.extend(look.edges());
        let warnings = look.observatory.lock_orders().warnings();
        let snoozes = look.observatory.lock_orders().snoozes.iter().filter(|one| look.sees_snooze(one));
        all.snoozes.extend(snoozes.map(|snooze| look.snooze(snooze)));
        all.warnings.extend(warnings.filter(|warning| look.sees_order(warning)).map(|warning| look.warning(&warning)));
    }
    all
}

/// What a model is told of the warnings that are silenced in an ensemble.
pub fn snoozes_observation(snoozes: &[view::OrderSnooze], ensemble: &str) -> Observation {
    let here = snoozes.iter().filter(|snooze| snooze.ensemble == ensemble);
    let snooze = |snooze: &view::OrderSnooze| OrderSnooze {
        id: snooze.id,
        classes: snooze.classes.iter().map(|class| class.as_str().into()).collect(),
        by: snooze.by.as_str().into(),
        reason: snooze.reason.as_str().into(),
        at: TimeMs(snooze.at_ms),
        until: snooze.until_at_ms.map(TimeMs),
    };
    Observation::OrdersSnoozed(here.map(snooze).collect())
}

/// What is the same but for readers, and for names within a class.
#[derive(Default)]
struct Sum {
    count: u64,
    sessions: BTreeSet<SessionId>,
    last_at: TimeMs,
}

impl ProjectionContext<'_> {
    fn edges(&self) -> Vec<view::LockOrder> {
        let mut sums: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
        let edges = self.observatory.lock_orders().edges.iter();
        for (key, edge) in edges.filter(|(key, _)| self.sees(&key.held) && self.sees(&key.wanted)) {
            let sum = sums.entry((&key.held, &key.wanted)).or_default();
            sum.count += edge.count;
            sum.sessions.extend(&edge.sessions);
            sum.last_at = sum.last_at.max(edge.last.at);
        }
        let row = |((held, wanted), sum): ((&str, &str), Sum)| view::LockOrder {
            ensemble: self.ensemble.name.clone(),
            held: held.to_owned(),
            wanted: wanted.to_owned(),
            count: sum.count,
            sessions: count32(sum.sessions.len()),
            last_at_ms: sum.last_at.0,
        };
        sums.into_iter().map(row).collect()
    }

    fn sees_order(&self, warning: &OrderWarning<'_>) -> bool {
        warning.circle.classes().all(|class| self.sees(class))
    }

    fn sees_snooze(&self, snooze: &OrderSnooze) -> bool {
        snooze.classes.iter().all(|class| self.sees(class))
    }

    fn snooze(&self, snooze: &OrderSnooze) -> view::OrderSnooze {
        view::OrderSnooze {
            id: snooze.id,
            ensemble: self.ensemble.name.clone(),
            classes: snooze.classes.iter().map(|class| class.to_string()).collect(),
            by: snooze.by.to_string(),
            at_ms: snooze.at.0,
            until_at_ms: snooze.until.map(|until| until.0),
            reason: snooze.reason.to_string(),
        }
    }

    fn warning(&self, warning: &OrderWarning<'_>) -> view::OrderWarning {
        let mut classes = warning.circle.classes().map(|class| class.to_string());
        // Its locks are of one class: the same twice.
        let (a, b) = (classes.next().unwrap_or_default(), classes.next().unwrap_or_default());
        let closest = warning.closest();
        let seen = |edge: &OrderEdge| self.sees(&edge.last.held) && self.sees(&edge.last.wanted);
        view::OrderWarning {
            ensemble: self.ensemble.name.clone(),
            a,
            b,
            through: classes.collect(),
            count: warning.count(),
            sessions: count32(warning.sessions().len()),
            closest_ms: closest.map(|closest| closest.ms),
            closest_at_ms: closest.map(|closest| closest.at.0),
            confidence: view_confidence(warning.confidence()),
            sentence: warning.sentence(),
            since_ms: warning.circle.since.0,
            last: warning.orders.iter().copied().filter(|edge| seen(edge)).map(last).collect(),
            snoozed_by: warning.snooze.map(|snooze| self.snooze(snooze)),
        }
    }
}

fn last(edge: &OrderEdge) -> view::OrderSeen {
    let last = &edge.last;
    view::OrderSeen {
        held: last.held.to_string(),
        wanted: last.wanted.to_string(),
        session_id: view::SessionId(last.session.0),
        label: last.label.as_deref().map(str::to_owned),
        count: edge.count,
        at_ms: last.at.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::EnsembleInfo;
    use crate::project::problems::tests::{LATER, model};
    use lockscope_view::Scope;

    /// A deadlock of two sessions has its orders both ways, and a third session goes on with what only it does.
    const CONTENDERS: [(&str, i64); 6] = [
        ("/a/one/lock-0000000000", 1),
        ("/b/two/lock-0000000000", 2),
        ("/a/one/lock-0000000001", 2),
        ("/b/two/lock-0000000001", 1),
        ("/a/three/lock-0000000000", 3),
        ("/a/four/lock-0000000000", 3),
    ];

    fn seen(scope: &Scope) -> view::LockOrders {
        let ensemble = EnsembleInfo {
            name: "default".into(),
            connect: "zk:2181".into(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        orders(&[ProjectionContext { observatory: &model(&CONTENDERS), ensemble: &ensemble, scope, now: LATER }])
    }

    #[test]
    fn who_sees_everything_sees_each_order_and_who_does_what() {
        let all = seen(&Scope::ALL);
        let edges: Vec<_> = all.edges.iter().map(|edge| (&*edge.held, &*edge.wanted, edge.count)).collect();
        assert_eq!(edges, [("/a/one", "/b/two", 1), ("/a/three", "/a/four", 1), ("/b/two", "/a/one", 1)]);
        let [warning] = &all.warnings[..] else { panic!("{:?}", all.warnings) };
        assert_eq!((&*warning.a, &*warning.b, warning.sessions, warning.closest_ms), ("/a/one", "/b/two", 2, Some(0)));
        assert_eq!(warning.last[0].label.as_deref(), Some("client-1"));
    }

    #[test]
    fn an_order_of_which_one_end_may_not_be_seen_is_left_out() {
        let some = seen(&Scope::new(lockscope_view::Within::new(&[], &["/a".to_owned()]), true));
        assert_eq!(
            some.edges.iter().map(|edge| (&*edge.held, &*edge.wanted)).collect::<Vec<_>>(),
            [("/a/three", "/a/four")]
        );
        assert!(some.warnings.is_empty());
    }
}
