//! What znodes carry is left out of a recording where nobody may see it. Names of clients that come from it are known
//! then only as far as a checkpoint has them.

use lockscope_core::observation::Observation;
use lockscope_core::recollection::{ChildRecollection, Recollection};

pub(crate) fn without_payloads(mut observation: Observation) -> Observation {
    match &mut observation {
        Observation::SyncNode { facts, .. }
        | Observation::NodeRead { facts, .. }
        | Observation::Counted { facts, .. } => {
            if let Some(payload) = &mut facts.payload {
                *payload = Box::default();
            }
        }
        Observation::Recalled(recalled) => match &mut **recalled {
            Recollection::Directory(directory) => directory.children.iter_mut().for_each(blank),
            Recollection::Children(more) => more.children.iter_mut().for_each(blank),
            Recollection::Opening(_)
            | Recollection::Root(_)
            | Recollection::Lock(_)
            | Recollection::Members(_)
            | Recollection::Sessions(_)
            | Recollection::Watches(_)
            | Recollection::SessionEvents(_)
            | Recollection::EventRecords(_)
            | Recollection::LockOrders(_)
            | Recollection::OrderSnoozes(_)
            | Recollection::Model(_) => {}
        },
        Observation::Link { .. }
        | Observation::SyncBegan { .. }
        | Observation::SyncEnded { .. }
        | Observation::ComparisonBegan { .. }
        | Observation::Listed { .. }
        | Observation::ComparisonEnded { .. }
        | Observation::RootTrouble { .. }
        | Observation::NodeCreated { .. }
        | Observation::NodeDenied { .. }
        | Observation::NodeDeleted { .. }
        | Observation::Incomplete { .. }
        | Observation::Missed { .. }
        | Observation::Evidence(_)
        | Observation::Asked
        | Observation::Answered
        | Observation::Synced { .. }
        | Observation::EventsArrived { .. }
        | Observation::ClockRead { .. }
        | Observation::SessionTold { .. }
        | Observation::SessionTimeout { .. }
        | Observation::ConfigChanged(_)
        | Observation::OrdersSnoozed(_)
        | Observation::Restarted(_)
        | Observation::Tick => {}
    }
    observation
}

fn blank(child: &mut ChildRecollection) {
    if let Some(read) = &mut child.read {
        read.payload = Box::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_core::observation::RootId;
    use lockscope_core::znode::{Facts, Zxid};

    #[test]
    fn nothing_of_a_payload_is_left() {
        let facts = Facts {
            czxid: Zxid(1),
            mzxid: Zxid(1),
            pzxid: Zxid(1),
            ctime_ms: 1,
            version: 0,
            cversion: 0,
            children: 0,
            owner: None,
            payload: Some(b"secret".as_slice().into()),
            payload_bytes: 6,
        };
        let (root, path) = (RootId(0), "/a".into());
        let read = Observation::NodeRead { root, path, facts: Box::new(facts), unreadable: false };
        let kept = format!("{:?}", without_payloads(read));
        // As numbers, which is how bytes are written.
        assert!(kept.contains("payload_bytes: 6") && !kept.contains("115, 101"), "{kept}");
    }
}
