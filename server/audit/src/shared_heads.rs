//! The heads of the replicas' logs in the database that they share. Whoever owns the disk of one log can neither cut it nor
//! write it anew behind the head that stands there, unless they can write the database too.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use runtime::clock::Clock;
use runtime::shared_rows::{SharedRow, Sharer};
use serde::{Deserialize, Serialize};

use super::chain::{self, ChainHead};
use super::{VerifyError, head, verify_dir};

/// The kind of the rows; the key is the replica.
pub const KIND: &str = "audit_head";
/// Replicas whose heads are kept in memory. Overflow policy: no further one is.
const REPLICAS_MAX: usize = 64;
/// Time between two looks at our own head.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A head is kept for so long after the last record.
const KEPT_MS: i64 = 400 * 86_400_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    id: u64,
    hash: String,
}

/// The replica and the head that a row tells; None of what is no such row.
pub fn parse(row: &SharedRow) -> Option<(String, ChainHead)> {
    let Body { id, hash } = serde_json::from_str(&row.body).ok()?;
    chain::is_hash(&hash).then(|| (row.key.clone(), ChainHead { id, hash }))
}

/// The head of a replica's own log, which the others see, and theirs.
#[derive(Debug)]
pub struct SharedHeads {
    replica: String,
    dir: PathBuf,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    others: BTreeMap<String, ChainHead>,
    /// That of our own log.
    own: Option<ChainHead>,
    /// What the others see of ours.
    shown: Option<ChainHead>,
    /// What an earlier process showed of our log, until that is looked for in it.
    told: Option<Option<ChainHead>>,
    /// Our log has it.
    is_checked: bool,
    trouble: String,
}

impl SharedHeads {
    /// Of the log in `dir`, which is that of `replica`.
    pub fn new(replica: String, dir: PathBuf, clock: Clock) -> Arc<Self> {
        Arc::new(Self { replica, dir, clock, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Follows the head of our own log until it is dropped.
    pub async fn follow(self: Arc<Self>) {
        loop {
            self.look().await;
            self.check().await;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Off the runtime: a disk may hang.
    async fn look(&self) {
        let dir = self.dir.clone();
        if let Ok(Ok(head)) = tokio::task::spawn_blocking(move || head::read(&dir)).await {
            self.state().own = head;
        }
    }

    /// The last record of each other replica's log, as far as that told it.
    pub fn others(&self) -> BTreeMap<String, u64> {
        self.state().others.iter().map(|(replica, head)| (replica.clone(), head.id)).collect()
    }

    /// Why the head of our own log is not shown; empty while it is.
    pub fn trouble(&self) -> String {
        self.state().trouble.clone()
    }

    /// Looks whether our log still has what an earlier process showed of it, once that is known. A head that it lacks stays
    /// where it is: it proves the cut.
    async fn check(&self) {
        let Some(told) = self.state().told.take() else { return };
        let dir = self.dir.clone();
        let checked = tokio::task::spawn_blocking(move || told.map_or(Ok(()), |head| has_record(&dir, &head))).await;
        let mut state = self.state();
        match checked.map_err(|error| error.to_string()).flatten() {
            Ok(()) => (state.is_checked, state.trouble) = (true, String::new()),
            Err(why) if state.trouble != why => {
                tracing::error!("the last record of this replica's audit log is not shared: {why}");
                state.trouble = why;
            }
            Err(_) => {}
        }
    }
}

/// Whether the log in a directory has a record that was its last one once.
///
/// # Errors
/// It lacks it, or can't be read.
fn has_record(dir: &Path, told: &ChainHead) -> Result<(), String> {
    if head::read(dir).is_ok_and(|head| head.as_ref() == Some(told)) {
        return Ok(());
    }
    let ChainHead { id, hash } = told;
    match verify_dir(dir, Some(hash)) {
        Ok(_) => Ok(()),
        Err(error @ VerifyError::Io { .. }) => Err(error.to_string()),
        Err(error) => Err(format!(
            "the database has record {id} with the hash {hash} as its last one, and this log does not prove it ({error}); \
             where its disk was replaced, or restored from a backup, give the replica another id"
        )),
    }
}

impl Sharer for SharedHeads {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        let state = self.state();
        let Some(head) = state.own.as_ref().filter(|head| state.is_checked && state.shown.as_ref() != Some(head))
        else {
            return Vec::new();
        };
        let body = serde_json::to_string(&Body { id: head.id, hash: head.hash.clone() }).unwrap_or_default();
        // A later record has the larger number.
        let stamp = i64::try_from(head.id).unwrap_or(i64::MAX);
        let expires_at_ms = self.clock.now_ms().saturating_add(KEPT_MS);
        vec![SharedRow { key: self.replica.clone(), body, stamp, is_over: false, expires_at_ms }]
    }

    fn sent(&self, rows: &[SharedRow]) {
        if let Some((_, head)) = rows.iter().find_map(parse) {
            self.state().shown = Some(head);
        }
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let is_ours = |(replica, _): &(String, ChainHead)| *replica == self.replica;
            let (ours, others): (Vec<_>, Vec<_>) = rows.iter().filter_map(parse).partition(is_ours);
            let ours = ours.into_iter().next().map(|(_, head)| head);
            let mut state = self.state();
            if is_whole {
                state.others.clear();
                // A database that lost its last seconds is told again.
                if state.shown != ours {
                    state.shown = None;
                }
                if !state.is_checked {
                    state.told = Some(ours);
                }
            }
            for (replica, head) in others {
                if state.others.len() < REPLICAS_MAX || state.others.contains_key(&replica) {
                    state.others.insert(replica, head);
                }
            }
        })
    }
}

#[cfg(test)]
#[path = "shared_heads_tests.rs"]
mod tests;
