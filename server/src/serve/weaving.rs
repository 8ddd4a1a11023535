//! Audit logs of replicas, woven: each shows the head of its own where the others see it, and records the heads that it saw
//! of theirs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use audit::weave::{HEADS_A_RECORD_MAX, HeadNote, entry_of, head_of};
use audit::{Journal, chain};
use cluster::{Cluster, LogHead};

/// Time between two looks.
const STEP: Duration = Duration::from_secs(5);

/// Weaves one log.
pub(super) struct Weaver {
    cluster: Cluster,
    journal: Arc<dyn Journal>,
    dir: PathBuf,
    /// What the others see.
    shown: Option<LogHead>,
    /// Our last record that is about heads alone.
    own_note: u64,
    /// Up to which act each of the others was noted.
    noted: BTreeMap<String, u64>,
    trouble: String,
}

impl Weaver {
    pub(super) fn new(cluster: &Cluster, journal: Arc<dyn Journal>, dir: PathBuf) -> Self {
        let (cluster, noted, trouble) = (cluster.clone(), BTreeMap::new(), String::new());
        Self { cluster, journal, dir, shown: None, own_note: 0, noted, trouble }
    }

    /// Weaves until it is dropped.
    pub(super) async fn run(mut self) {
        loop {
            // A replica joins first.
            tokio::time::sleep(STEP).await;
            let trouble = self.step().await.err().unwrap_or_default();
            if trouble != self.trouble && !trouble.is_empty() {
                tracing::warn!("the audit logs of the replicas are not woven at present: {trouble}");
            }
            self.trouble = trouble;
        }
    }

    async fn step(&mut self) -> Result<(), String> {
        self.show().await?;
        let heads = self.cluster.heads().await.map_err(|error| error.to_string())?;
        let is_new = |(replica, head): &(String, LogHead)| {
            chain::is_hash(&head.hash) && self.noted.get(replica).is_none_or(|acts| head.acts > *acts)
        };
        let new: Vec<(String, LogHead)> = heads.into_iter().filter(is_new).collect();
        for some in new.chunks(HEADS_A_RECORD_MAX) {
            let note = |(replica, head): &(String, LogHead)| HeadNote {
                replica: replica.clone(),
                id: head.id,
                hash: head.hash.clone(),
            };
            let notes: Vec<HeadNote> = some.iter().map(note).collect();
            self.own_note = self.journal.append(entry_of(&notes)).await.map_err(|error| error.to_string())?;
            self.noted.extend(some.iter().map(|(replica, head)| (replica.clone(), head.acts)));
        }
        self.show().await
    }

    /// Shows the head of our own log, if there is one and it has moved. A record about heads alone is no news to the others:
    /// they would note it, and we theirs, for ever.
    async fn show(&mut self) -> Result<(), String> {
        let dir = self.dir.clone();
        let read = tokio::task::spawn_blocking(move || head_of(&dir)).await.map_err(|error| error.to_string())?;
        let Some(head) = read.map_err(|error| format!("the head of our own can't be read ({error})"))? else {
            return Ok(());
        };
        let before = self.shown.as_ref().map_or(0, |shown| shown.acts);
        let acts = if head.id == self.own_note { before } else { head.id };
        let now = LogHead { id: head.id, hash: head.hash, acts };
        if self.shown.as_ref() != Some(&now) {
            self.cluster.show_head(&now).await.map_err(|error| error.to_string())?;
            self.shown = Some(now);
        }
        Ok(())
    }
}
