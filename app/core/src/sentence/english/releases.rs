//! Who gets a lock after a release, in English.

use crate::sentence::NextHolder;

/// The sentence.
pub(crate) fn sentence(next: &NextHolder) -> String {
    match next {
        NextHolder::BarrierOpens => "The barrier opens for all who wait.".to_owned(),
        NextHolder::NobodyInItsPlace => "Nobody takes its place.".to_owned(),
        NextHolder::ItemFree => "Its item is free again for any consumer.".to_owned(),
        NextHolder::Lease { first: Some(path) } => format!(
            "{path} is first in line for the free lease; the lease's fencing token is its own czxid, once it is made."
        ),
        NextHolder::Lease { first: None } => "A lease is free; nobody waits for it.".to_owned(),
        NextHolder::AnyWatcher { sessions: 0 } => {
            "Whoever creates the znode next; nobody is known to watch it.".to_owned()
        }
        NextHolder::AnyWatcher { sessions: 1 } => {
            "The one session that watches it, if it is the first to create it.".to_owned()
        }
        NextHolder::AnyWatcher { sessions } => {
            format!("One of the {sessions} sessions that watch it: whoever creates it first.")
        }
        NextHolder::Free => "Nobody waits: it is free then.".to_owned(),
        NextHolder::NobodySeen => "Nobody is seen to wait.".to_owned(),
        NextHolder::Unchanged => "Who holds stays the same.".to_owned(),
        NextHolder::Others { count: 1 } => "Nobody new: the other holder goes on.".to_owned(),
        NextHolder::Others { count } => format!("Nobody new: the {count} others that hold go on."),
        NextHolder::Gets { names, more, leads } => gets(names, *more, *leads),
    }
}

fn gets(names: &[(String, Option<crate::znode::Zxid>)], more: usize, leads: bool) -> String {
    let named = |(name, czxid): &(String, Option<crate::znode::Zxid>)| match czxid {
        Some(czxid) => format!("{name} (fencing token {czxid})"),
        None => name.clone(),
    };
    let names: Vec<String> = names.iter().map(named).collect();
    match (names.len(), more) {
        (1, 0) => format!("{} {} next.", names.join(""), if leads { "leads" } else { "holds" }),
        (_, 0) => format!("{} hold next.", names.join(" and ")),
        _ => format!("{} and {more} more hold next.", names.join(", ")),
    }
}
