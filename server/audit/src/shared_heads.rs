//! Publishes the last record of each replica's log in the shared database. An attacker who controls one replica's disk can't
//! truncate or rewrite its log unnoticed without write access to the database.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_rows::{SharedRow, Sharer};
use parking_lot::Mutex;

use super::chain::{self, ChainHead};
use super::{VerifyError, head, verify_dir};

/// The kind of the rows; the key is the replica.
pub const KIND: &str = "audit_head";
/// Heads of other replicas in memory. Overflow policy: further replicas are ignored.
const REPLICAS_MAX: usize = 64;
/// How often the own head file is read.
const READ_EVERY: Duration = Duration::from_secs(2);
/// Lifetime of a row after the last record.
const KEPT_MS: i64 = 400 * 86_400_000;

/// The replica and its head; None if the row's body is malformed.
pub fn parse(row: &SharedRow) -> Option<(String, ChainHead)> {
    let head: ChainHead = serde_json::from_str(&row.body).ok()?;
    chain::is_hash(&head.hash).then(|| (row.key.clone(), head))
}

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
    /// From the own head file.
    own: Option<ChainHead>,
    /// The own head in the database.
    published: Option<ChainHead>,
    check: Check,
    trouble: String,
}

/// Whether the own log contains the head that an earlier process published. Nothing is published before it does.
#[derive(Debug, Default)]
enum Check {
    /// The database was not read yet, or the log lacks the head.
    #[default]
    Waiting,
    /// To be looked up in the log.
    Due(Option<ChainHead>),
    Passed,
}

impl SharedHeads {
    pub fn new(replica: String, dir: PathBuf, clock: Clock) -> Arc<Self> {
        Arc::new(Self { replica, dir, clock, state: Mutex::default() })
    }

    /// Reads the own head every two seconds, and checks the log once the database was read.
    pub async fn follow(self: Arc<Self>) {
        loop {
            self.read_own().await;
            self.check().await;
            tokio::time::sleep(READ_EVERY).await;
        }
    }

    /// In the blocking pool: a disk may hang.
    async fn read_own(&self) {
        let dir = self.dir.clone();
        if let Ok(Ok(head)) = tokio::task::spawn_blocking(move || head::read(&dir)).await {
            self.state.lock().own = head;
        }
    }

    /// The number of the last record that each other replica published.
    pub fn others(&self) -> BTreeMap<String, u64> {
        self.state.lock().others.iter().map(|(replica, head)| (replica.clone(), head.id)).collect()
    }

    /// Why the own head is not published; empty while it is.
    pub fn trouble(&self) -> String {
        self.state.lock().trouble.clone()
    }

    /// Verifies that the log contains the published head. If it does not, the row stays as evidence.
    async fn check(&self) {
        let published = {
            let mut state = self.state.lock();
            let Check::Due(published) = &state.check else { return };
            let published = published.clone();
            state.check = Check::Waiting;
            published
        };
        let dir = self.dir.clone();
        let checked =
            tokio::task::spawn_blocking(move || published.map_or(Ok(()), |head| has_record(&dir, &head))).await;
        let mut state = self.state.lock();
        match checked.map_err(|error| error.to_string()).flatten() {
            Ok(()) => (state.check, state.trouble) = (Check::Passed, String::new()),
            Err(why) if state.trouble != why => {
                tracing::error!("the head of this replica's audit log is not published: {why}");
                state.trouble = why;
            }
            Err(_) => {}
        }
    }
}

/// Whether a log contains a record that was its last one once.
///
/// # Errors
/// It does not, or can't be read.
fn has_record(dir: &Path, published: &ChainHead) -> Result<(), String> {
    if head::read(dir).is_ok_and(|head| head.as_ref() == Some(published)) {
        return Ok(());
    }
    let ChainHead { id, hash } = published;
    match verify_dir(dir, Some(hash)) {
        Ok(_) => Ok(()),
        Err(error @ VerifyError::Io { .. }) => Err(error.to_string()),
        Err(error) => Err(format!(
            "record {id} with the hash {hash}, which this replica published, is not in its log ({error}); \
             if the disk was replaced or restored from a backup, give the replica another id"
        )),
    }
}

impl Sharer for SharedHeads {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        let state = self.state.lock();
        let Some(head) = state
            .own
            .as_ref()
            .filter(|head| matches!(state.check, Check::Passed) && state.published.as_ref() != Some(head))
        else {
            return Vec::new();
        };
        let body = serde_json::to_string(head).unwrap_or_default();
        // A later record has the larger number.
        let stamp = i64::try_from(head.id).unwrap_or(i64::MAX);
        let expires_at_ms = self.clock.now_ms().saturating_add(KEPT_MS);
        vec![SharedRow { key: self.replica.clone(), body, stamp, is_over: false, expires_at_ms }]
    }

    fn sent(&self, rows: &[SharedRow]) {
        if let Some((_, head)) = rows.iter().find_map(parse) {
            self.state.lock().published = Some(head);
        }
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let is_ours = |(replica, _): &(String, ChainHead)| *replica == self.replica;
            let (ours, others): (Vec<_>, Vec<_>) = rows.iter().filter_map(parse).partition(is_ours);
            let ours = ours.into_iter().next().map(|(_, head)| head);
            let mut state = self.state.lock();
            if is_whole {
                state.others.clear();
                // After a failover the database may lack the newest row: publish it again.
                if state.published != ours {
                    state.published = None;
                }
                if !matches!(state.check, Check::Passed) {
                    state.check = Check::Due(ours);
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
