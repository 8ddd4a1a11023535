//! How the recordings stand, for the status page: looked at now and then, so that figures that always move wake nobody more
//! often.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lockscope_history::historian::{self, HistoryHandle, HistoryState};
use lockscope_live::HistorySource;
use lockscope_live::project::EnsembleInfo;
use lockscope_runtime::shared_list::SharedList;
use lockscope_view::HistoryStatus;
use parking_lot::Mutex;
use tokio::sync::watch;

const PAUSE: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub(super) struct HistoryHealth(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    recordings: Recordings,
    seen: Mutex<BTreeMap<String, HistoryStatus>>,
    changes: watch::Sender<u64>,
}

type Recordings = SharedList<(EnsembleInfo, Option<HistoryHandle>)>;

impl HistoryHealth {
    pub(super) fn new(recordings: Recordings) -> Self {
        let seen = Mutex::new(look(&recordings));
        Self(Arc::new(Shared { recordings, seen, changes: watch::Sender::new(0) }))
    }

    /// Looks at them for ever.
    pub(super) async fn follow(self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            self.look_again();
        }
    }

    fn look_again(&self) {
        let new = look(&self.0.recordings);
        let mut seen = self.0.seen.lock();
        if *seen != new {
            *seen = new;
            drop(seen);
            self.0.changes.send_modify(|count| *count += 1);
        }
    }
}

impl HistorySource for HistoryHealth {
    fn status(&self, ensemble: &str) -> Option<HistoryStatus> {
        self.0.seen.lock().get(ensemble).cloned()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }
}

fn look(recordings: &Recordings) -> BTreeMap<String, HistoryStatus> {
    let recordings = recordings.now();
    let recorded = recordings.iter().filter_map(|(info, handle)| Some((info.name.clone(), handle.as_ref()?)));
    recorded.map(|(name, handle)| (name, shown(&handle.status()))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of bytes, never below zero")]
fn shown(status: &historian::HistoryStatus) -> HistoryStatus {
    let coverage = &status.coverage;
    HistoryStatus {
        is_recorded: status.state == HistoryState::Recording,
        is_standby: status.is_standby,
        generated_until_ms: status.generated_until.map(|at| at.0),
        why: status.why(),
        failing_since_ms: status.trouble.as_ref().map(|(_, since)| since.0),
        from_at_ms: coverage.from.map(|at| at.0),
        to_at_ms: coverage.to.map(|at| at.0),
        bytes: coverage.bytes,
        bytes_per_s: status.bytes_per_s as u64,
        gaps: coverage.gaps,
        gap_ms: coverage.gap_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_history::store::Coverage;

    #[test]
    fn what_fails_says_since_when_and_why() {
        let coverage = Coverage { from: Some(Default::default()), to: None, gaps: 1, gap_ms: 2, ..Coverage::default() };
        let failing = historian::HistoryStatus {
            state: HistoryState::Failing,
            coverage,
            bytes_per_s: 7.9,
            trouble: Some(("no room".into(), Default::default())),
            ..historian::HistoryStatus::default()
        };
        let expected = HistoryStatus {
            why: "no room".to_owned(),
            failing_since_ms: Some(0),
            from_at_ms: Some(0),
            bytes_per_s: 7,
            gaps: 1,
            gap_ms: 2,
            ..HistoryStatus::default()
        };
        assert_eq!(shown(&failing), expected);
        let well = historian::HistoryStatus { state: HistoryState::Recording, ..historian::HistoryStatus::default() };
        assert!(shown(&well).is_recorded && shown(&well).why.is_empty());
    }

    #[test]
    fn nobody_is_woken_while_nothing_changes() {
        let info = EnsembleInfo {
            name: "eu".to_owned(),
            connect: String::new(),
            color: None,
            has_others: true,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let health = HistoryHealth::new(vec![(info.clone(), Some(HistoryHandle::default()))].into());
        health.look_again();
        assert_eq!(*health.changes().borrow(), 0);
        assert!(health.status("eu").is_some() && health.status("us").is_none());
        assert!(HistoryHealth::new(vec![(info, None)].into()).status("eu").is_none());
    }
}
