//! What the members counted themselves, to check our own counts: packets of the lane's sessions, and a few counters of
//! everything. Asked by four-letter words, at quiet moments only.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_view::ServerCounter;
use lockscope_zookeeper::members::ask_word;
pub(super) use lockscope_zookeeper::members::four_letter::cons::Packets;
use lockscope_zookeeper::members::four_letter::{cons, mntr};

pub(super) type Sessions = BTreeSet<i64>;

/// Counters that show herds.
const COUNTERS: &[&str] = &[
    "zk_packets_received",
    "zk_packets_sent",
    "zk_sum_node_deleted_watch_count",
    "zk_sum_node_children_watch_count",
    "zk_sum_node_created_watch_count",
    "zk_sum_node_changed_watch_count",
];

/// Counters of all members.
pub(super) type Counters = BTreeMap<(String, &'static str), i64>;

/// Packets of these sessions, on all members together.
///
/// # Errors
/// Which member does not report, and why.
pub(super) async fn packets(members: &[String], sessions: &Sessions) -> Result<Packets, String> {
    let mut all = Packets::default();
    for member in members {
        let text = ask_word(member, "cons").await.map_err(|said| format!("{member}: {said}"))?;
        let told = cons::packets(&text).map_err(|why| format!("{member} answered `cons`, but {why}"))?;
        for (_, packets) in told.into_iter().filter(|(id, _)| sessions.contains(&id.0)) {
            all.received += packets.received;
            all.sent += packets.sent;
        }
    }
    Ok(all)
}

/// Whether a member still has one of these sessions connected; false where that is not reported.
pub(super) async fn are_connected(members: &[String], sessions: &Sessions) -> bool {
    for member in members {
        let Ok(text) = ask_word(member, "cons").await else { continue };
        if cons::packets(&text).is_ok_and(|told| told.keys().any(|id| sessions.contains(&id.0))) {
            return true;
        }
    }
    false
}

/// The counters of all members that report them.
pub(super) async fn counters(members: &[String]) -> Counters {
    let mut all = Counters::new();
    for member in members {
        let Ok(text) = ask_word(member, "mntr").await else { continue };
        let told = mntr::counters(&text, COUNTERS).unwrap_or_default();
        all.extend(told.into_iter().map(|(name, value)| ((member.clone(), name), value)));
    }
    all
}

pub(super) fn grown(before: &Counters, after: &Counters) -> Vec<ServerCounter> {
    let both = after.iter().filter_map(|(key, after)| Some((key, after - before.get(key)?)));
    both.map(|((member, name), grew)| ServerCounter { member: member.clone(), name: (*name).to_owned(), grew })
        .collect()
}
