//! `mntr`: counters of a member.

use std::collections::BTreeMap;

use lockscope_core::evidence::Health;

use super::super::fault::Malformed;
use super::super::health::{from_counters, role};
use super::opening;

/// Role, version and counters; `mntr` does not report the last transaction.
pub fn parse(text: &str) -> Result<Health, Malformed> {
    opening(text)?;
    let told: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.strip_prefix("zk_")?.split_once('\t')).collect();
    let Some(state) = told.get("server_state") else { return Err(Malformed::strange(text)) };
    let counters = from_counters(|name| told.get(name)?.trim().parse().ok());
    Ok(Health {
        role: role(state.trim()),
        version: told.get("version").map(|version| version.trim().into()),
        ..counters
    })
}

/// Followers in sync; only a leader reports it.
pub(in super::super) fn synced_followers(text: &str) -> Result<usize, Malformed> {
    let count = counters(text, &["zk_synced_followers"])?.into_values().next();
    count.and_then(|count| count.try_into().ok()).ok_or(Malformed::CutOff)
}

/// These counters, by their whole names; those that the member does not report are left out.
pub fn counters(text: &str, names: &[&'static str]) -> Result<BTreeMap<&'static str, i64>, Malformed> {
    opening(text)?;
    let told: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    Ok(names.iter().filter_map(|name| Some((*name, told.get(name)?.trim().parse().ok()?))).collect())
}

#[cfg(test)]
mod tests {
    use lockscope_core::evidence::{Fired, MemberRole};

    use super::*;

    #[test]
    fn a_real_answer() {
        let text = "zk_version\t3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC\nzk_server_state\tleader\nzk_peer_state\tleading - broadcast\nzk_ephemerals_count\t3\nzk_num_alive_connections\t2\nzk_avg_latency\t0.0\nzk_outstanding_requests\t0\nzk_packets_sent\t4\nzk_packets_received\t5\nzk_last_client_response_size\t-1\nzk_watch_count\t7\nzk_cnt_node_deleted_watch_count\t10\nzk_sum_node_deleted_watch_count\t12\nzk_sum_node_children_watch_count\t500\n";
        let health = parse(text).unwrap();
        assert_eq!(
            (health.role, health.watches, health.connections, health.ephemerals),
            (Some(MemberRole::Leader), Some(7), Some(2), Some(3))
        );
        assert_eq!((health.outstanding, health.packets, health.zxid), (Some(0), Some((5, 4)), None));
        assert_eq!(
            (health.deleted, health.children),
            (Fired { changes: 10, watches: 12 }, Fired { changes: 0, watches: 500 })
        );
        assert!(health.version.unwrap().starts_with("3.8.0-"));
    }

    #[test]
    fn some_counters() {
        let told =
            counters("zk_version\t3.8.0\nzk_packets_sent\t4\n", &["zk_packets_sent", "zk_version", "zk_none"]).unwrap();
        assert_eq!(told.into_iter().collect::<Vec<_>>(), [("zk_packets_sent", 4)]);
    }

    #[test]
    fn a_stranger() {
        assert!(matches!(parse("220 smtp ready\r\n"), Err(Malformed::Strange { .. })));
    }
}
