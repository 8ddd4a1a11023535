//! A disk that stalls or is full.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use lockscope_view::{Role, SignedBy, Within};
use tokio::sync::watch;

use super::super::REFUSALS_A_MINUTE_MAX;
use super::*;

/// How long a record may take where nothing is to be written in time.
const SHORT: Duration = Duration::from_millis(20);

/// A disk that takes records when it is let.
#[derive(Default)]
struct Disk {
    entries: Mutex<Vec<Entry>>,
    stalls: watch::Sender<bool>,
    is_full: AtomicBool,
}

impl Journal for Disk {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        Box::pin(async move {
            self.stalls.subscribe().wait_for(|stalls| !stalls).await.unwrap();
            if self.is_full.load(Ordering::SeqCst) {
                return Err(AuditError("no space left on device".to_owned()));
            }
            let mut entries = self.entries.lock();
            entries.push(entry);
            Ok(entries.len() as u64)
        })
    }
}

impl Disk {
    fn told(&self) -> Vec<(AuditKind, Option<u64>, Option<&'static str>)> {
        self.entries.lock().iter().map(|entry| (entry.kind, entry.intent, entry.outcome)).collect()
    }

    /// Waits for so many records.
    async fn has(&self, count: usize) {
        let has = async {
            while self.told().len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(MINUTE, has).await.unwrap_or_else(|_| panic!("never {count} records: {:?}", self.told()));
    }
}

fn log(within: Duration) -> (Arc<Disk>, RequestLog) {
    let disk = Arc::new(Disk::default());
    (disk.clone(), RequestLog::new(disk, Clock::manual(0), within))
}

fn intent() -> Entry {
    Entry::of_server(AuditKind::ReleaseIntent, String::new())
}

fn outcome(outcome: &'static str) -> Entry {
    Entry { outcome: Some(outcome), ..Entry::of_server(AuditKind::ReleaseOutcome, String::new()) }
}

fn actor(name: &str) -> Actor {
    Actor { name: name.to_owned(), role: Role::Viewer, scope: Within::default(), by: SignedBy::Token, address: None }
}

#[tokio::test]
async fn an_intent_that_is_recorded_too_late_has_its_outcome() {
    let (disk, log) = log(SHORT);
    disk.stalls.send_replace(true);
    let error = log.intent(intent(), outcome("refused_audit")).await.unwrap_err();
    assert_eq!(error.0, "it was not durable within 0.02 s");
    disk.stalls.send_replace(false);
    disk.has(2).await;
    assert_eq!(
        disk.told(),
        [(AuditKind::ReleaseIntent, None, None), (AuditKind::ReleaseOutcome, Some(1), Some("refused_audit"))]
    );
}

#[tokio::test]
async fn an_outcome_is_written_as_soon_as_it_can_be_and_once() {
    let (disk, log) = log(MINUTE);
    let open = log.intent(intent(), outcome("refused_audit")).await.unwrap();
    disk.is_full.store(true, Ordering::SeqCst);
    assert_eq!(log.outcome(open, outcome("released")).await.unwrap_err().0, "no space left on device");
    disk.is_full.store(false, Ordering::SeqCst);
    disk.has(2).await;
    assert_eq!(
        disk.told(),
        [(AuditKind::ReleaseIntent, None, None), (AuditKind::ReleaseOutcome, Some(1), Some("released"))]
    );
}

#[tokio::test]
async fn requests_that_wait_for_the_disk_have_a_maximum() {
    let (disk, log) = log(SHORT);
    disk.stalls.send_replace(true);
    let asked: Vec<_> = (0..=OPEN_MAX).map(|_| log.intent(intent(), outcome("refused_audit"))).collect();
    let refused: Vec<_> =
        futures_util::future::join_all(asked).await.into_iter().map(|asked| asked.unwrap_err().0).collect();
    assert_eq!(refused.iter().filter(|why| why.contains("wait for the disk")).count(), 1);
    disk.stalls.send_replace(false);
    disk.has(2 * OPEN_MAX).await;
}

#[tokio::test]
async fn a_flood_of_refusals_is_a_count() {
    let (disk, log) = log(MINUTE);
    let (anna, ben) = (actor("anna"), actor("ben"));
    let refused = || Entry::of_server(AuditKind::Refused, "no".to_owned());
    for _ in 0..1_000 {
        log.refusal(&anna, refused()).await;
    }
    log.refusal(&ben, refused()).await;
    let written = REFUSALS_A_MINUTE_MAX as usize;
    assert_eq!(disk.told().len(), written + 1, "another actor has a count of their own");
    log.flush().await;
    let last = disk.entries.lock().last().unwrap().clone();
    assert_eq!(
        (last.actor, last.detail.as_str()),
        (Some(anna.clone()), "980 more refused requests within a minute are not recorded one by one")
    );

    // With a disk that stalls, nobody waits long and nothing piles up.
    disk.stalls.send_replace(true);
    let actors: Vec<_> = (0..2 * ACTORS_MAX).map(|at| actor(&at.to_string())).collect();
    futures_util::future::join_all(actors.iter().map(|actor| log.refusal(actor, refused()))).await;
    disk.stalls.send_replace(false);
    disk.has(written + 2 + REFUSALS_WAITING_MAX).await;
    log.flush().await;
    let counted = |entry: &Entry| entry.detail.split(' ').next().unwrap().parse::<usize>().unwrap_or(1);
    let all: usize = disk.entries.lock().iter().skip(written + 2).map(counted).sum();
    assert_eq!(all, actors.len(), "none is lost");
}
