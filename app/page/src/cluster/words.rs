//! What the section on the cluster says. Pure.

use crate::format::{plural, visible};
use lockscope_view::{Cluster, ClusterState, SharedMemory};

pub(super) const TITLE: &str = "Cluster";
/// What stands where the fragment can't be fetched.
pub(super) const NOT_FETCHED: &str =
    "Which other servers there are could not be loaded: this server may be gone or busy. It is tried again in 5 s.";
pub(super) const LEADS: &str = "leads";
pub(super) const THIS: &str = " (this server)";
pub(super) const NO_LEADER: &str = "Nobody leads at present: chats are told of no alert until somebody does.";
const SHARED: &str = "The replicas share sign-ins, silences and acknowledgements.";
const OWN_MEMORY: &str = "Each replica has sign-ins, silences and acknowledgements of its own: they are shared where history_url names a PostgreSQL database.";
/// While the database does not answer.
const CUT_OFF: &str = "Sign-ins, sign-outs, silences and acknowledgements made here stay at this server for now, and it does not learn of those made elsewhere: the database does not answer";

/// Where this server stands, in one sentence.
pub(super) fn lead(cluster: &Cluster) -> String {
    let why = visible(&cluster.why);
    match cluster.state {
        ClusterState::Off => String::new(),
        ClusterState::Joining => format!("This server is about to join: {why}."),
        ClusterState::Waiting | ClusterState::Refused => format!("This server is no member: {why}."),
        ClusterState::Suspended => format!("This server may be a member no longer: {why}. It does not lead meanwhile."),
        ClusterState::Lost => format!("This server is no member: {why}. It tries again by itself."),
        ClusterState::Member if cluster.is_alone => "Alone: another replica is not seen.".to_owned(),
        ClusterState::Member => {
            let leader = match &cluster.leader {
                Some(_) if cluster.is_leader => "This one leads.".to_owned(),
                Some(leader) => format!("{} leads.", visible(leader)),
                None => NO_LEADER.to_owned(),
            };
            format!("{} watch the same. {leader}", plural(cluster.replicas.len() as u64, "replica", "replicas"))
        }
    }
}

/// Where it is written.
pub(super) fn place(cluster: &Cluster) -> Option<String> {
    let (root, ensemble) = (cluster.root.as_ref()?, cluster.ensemble.as_ref()?);
    Some(format!("Below {} of {}.", visible(root), visible(ensemble)))
}

/// Whether replicas share what people say, and whether all is well with that.
pub(super) fn memory(memory: Option<&SharedMemory>) -> (String, bool) {
    match memory {
        None => (OWN_MEMORY.to_owned(), true),
        Some(memory) if memory.failing_since_ms.is_some() => {
            let why = if memory.why.is_empty() { String::new() } else { format!(" ({})", visible(&memory.why)) };
            (format!("{CUT_OFF}{why}."), false)
        }
        Some(_) => (SHARED.to_owned(), true),
    }
}

/// Znodes among the members that are none.
pub(super) fn strangers(number: u64) -> Option<String> {
    let are = plural(number, "znode among the members is no replica's", "znodes among the members are no replica's");
    (number > 0).then(|| format!("{are}, or too many."))
}

/// What is odd about a replica; empty of most.
pub(super) fn oddity(watches_same: bool) -> &'static str {
    if watches_same { "" } else { "watches other ensembles than this server: compare their settings" }
}
