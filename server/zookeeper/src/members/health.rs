//! What `mntr` and AdminServer's `monitor` have in common: the same counters under the same names.

use lockscope_core::evidence::{Fired, Health, MemberRole};

/// The counters that are used, by their names without `zk_`.
pub(super) const COUNTERS: [&str; 12] = [
    "watch_count",
    "num_alive_connections",
    "ephemerals_count",
    "outstanding_requests",
    "packets_received",
    "packets_sent",
    "cnt_node_deleted_watch_count",
    "sum_node_deleted_watch_count",
    "cnt_node_children_watch_count",
    "sum_node_children_watch_count",
    "cnt_node_changed_watch_count",
    "sum_node_changed_watch_count",
];

pub(super) fn role(word: &str) -> Option<MemberRole> {
    match word {
        "leader" => Some(MemberRole::Leader),
        "follower" => Some(MemberRole::Follower),
        "observer" => Some(MemberRole::Observer),
        "standalone" => Some(MemberRole::Standalone),
        "read-only" => Some(MemberRole::ReadOnly),
        _ => None,
    }
}

/// The counters, by their names without `zk_`.
pub(super) fn from_counters(counter: impl Fn(&str) -> Option<u64>) -> Health {
    let fired = |name: &str| Fired {
        changes: counter(&format!("cnt_{name}_watch_count")).unwrap_or_default(),
        watches: counter(&format!("sum_{name}_watch_count")).unwrap_or_default(),
    };
    Health {
        watches: counter("watch_count"),
        connections: counter("num_alive_connections"),
        ephemerals: counter("ephemerals_count"),
        outstanding: counter("outstanding_requests"),
        packets: counter("packets_received").zip(counter("packets_sent")),
        deleted: fired("node_deleted"),
        children: fired("node_children"),
        changed: fired("node_changed"),
        ..Health::default()
    }
}

/// Merges two: what the first does not report is taken from the second.
pub(super) fn merged(first: Health, second: Health) -> Health {
    Health {
        role: first.role.or(second.role),
        version: first.version.or(second.version),
        zxid: first.zxid.or(second.zxid),
        watches: first.watches.or(second.watches),
        connections: first.connections.or(second.connections),
        ephemerals: first.ephemerals.or(second.ephemerals),
        outstanding: first.outstanding.or(second.outstanding),
        tick_ms: first.tick_ms.or(second.tick_ms),
        packets: first.packets.or(second.packets),
        ..first
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn every_counter_that_is_used_is_listed() {
        let asked = RefCell::new(Vec::new());
        from_counters(|name| {
            asked.borrow_mut().push(name.to_owned());
            Some(1)
        });
        let (mut asked, mut listed) = (asked.into_inner(), COUNTERS.map(str::to_owned).to_vec());
        asked.sort();
        listed.sort();
        assert_eq!(asked, listed);
    }
}
