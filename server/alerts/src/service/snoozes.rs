//! Warnings of lock orders that are silenced, of all ensembles: stored before anybody is told of them.

use std::sync::Arc;

use lockscope_view::OrderSnooze;
use tokio::sync::watch;

use super::snooze_notes::{ORDER_SNOOZES_MAX, SnoozeNotes, is_over};
use super::{Alerts, NO_ANSWER, STORE_WITHIN, Saving};
use crate::store::Store;

/// Snoozes of one person at once: nobody takes them all.
const ORDER_SNOOZES_A_PERSON_MAX: usize = ORDER_SNOOZES_MAX / 4;

/// Warnings that are silenced, of all ensembles.
pub type OrderSnoozes = Arc<[OrderSnooze]>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnoozeError {
    #[error("there is no snooze {0}; /api/v1/orders lists those that have not ended")]
    Unknown(u64),
    #[error("{ORDER_SNOOZES_MAX} warnings are snoozed already; end one of those first")]
    TooMany,
    #[error(
        "you have snoozed {ORDER_SNOOZES_A_PERSON_MAX} warnings already, the most that one person may; end one of yours first"
    )]
    TooManyOfPerson,
    /// Somebody silenced the same warning before.
    #[error("this warning is snoozed already, as number {0}; end that first")]
    Already(u64),
    #[error("it can't be stored, so nothing was done: {0}")]
    Disk(String),
    /// The disk hangs.
    #[error("{NO_ANSWER}, so it is not known whether this will be done; /api/v1/orders lists what is snoozed")]
    NoAnswer,
}

impl Alerts {
    /// Which warnings are silenced, and when that changes. Some of them may be over.
    pub fn order_snoozes(&self) -> watch::Receiver<OrderSnoozes> {
        self.0.snoozes.subscribe()
    }

    /// One that is not over.
    pub fn order_snooze(&self, id: u64) -> Option<OrderSnooze> {
        let now_ms = self.now_ms();
        self.0.snoozes.borrow().iter().find(|snooze| snooze.id == id && !is_over(snooze, now_ms)).cloned()
    }

    /// Whether one person could make one more, as things stand.
    ///
    /// # Errors
    /// The warning is silenced already, or there are too many.
    pub fn check_order_snooze(&self, by: &str, ensemble: &str, classes: &[String]) -> Result<(), SnoozeError> {
        check(&self.0.snoozes.borrow(), by, (ensemble, classes), self.now_ms())
    }

    /// Silences a warning; its number is given here. It is on the disk when this returns, where there is a disk.
    ///
    /// # Errors
    /// It is silenced already, there are too many, or it can't be stored: then it is not silenced.
    pub async fn snooze_order(&self, snooze: OrderSnooze) -> Result<OrderSnooze, SnoozeError> {
        let (now_ms, inner) = (self.now_ms(), Arc::clone(&self.0));
        let make = move |all: &[OrderSnooze]| {
            check(all, &snooze.by, (&snooze.ensemble, &snooze.classes), now_ms)?;
            // A number may come again after a restart, and never while somebody could mean the one before by it.
            let last = all.iter().map(|one| one.id).max().unwrap_or(0);
            let made = OrderSnooze { id: inner.snooze_notes.lock().next_id(last, now_ms), ..snooze };
            let rest = all.iter().filter(|one| !is_over(one, now_ms)).cloned();
            Ok((Some(rest.chain([made.clone()]).collect()), made))
        };
        let made = self.replace_snoozes(make, |notes, made| notes.made(made.id)).await?;
        self.share_now().await;
        Ok(made)
    }

    /// Ends a snooze before its time.
    ///
    /// # Errors
    /// There is none of that number, or that can't be stored: then it goes on.
    pub async fn end_order_snooze(&self, id: u64) -> Result<OrderSnooze, SnoozeError> {
        let now_ms = self.now_ms();
        let end = move |all: &[OrderSnooze]| {
            let ended = all.iter().find(|one| one.id == id && !is_over(one, now_ms)).cloned();
            let ended = ended.ok_or(SnoozeError::Unknown(id))?;
            Ok((Some(all.iter().filter(|one| one.id != id && !is_over(one, now_ms)).cloned().collect()), ended))
        };
        let ended = self.replace_snoozes(end, |notes, ended| notes.ended(ended.clone())).await?;
        self.share_now().await;
        Ok(ended)
    }

    /// Stores what is silenced from now on, where that changes, before anybody is told. `note`: what other servers are to
    /// be told of it, once it is stored and before anything of theirs is taken in.
    pub(super) async fn replace_snoozes<T: Send + 'static>(
        &self,
        change: impl FnOnce(&[OrderSnooze]) -> Result<(Option<Vec<OrderSnooze>>, T), SnoozeError> + Send + 'static,
        note: impl FnOnce(&mut SnoozeNotes, &T) + Send + 'static,
    ) -> Result<T, SnoozeError> {
        let done = async {
            // One after the other, and after whoever stores alerts.
            let turn = Arc::clone(&self.0.turn).lock_owned().await;
            let saving = Saving::begin(Arc::clone(&self.0), turn);
            // It ends even where nobody waits for it any longer: what is stored takes effect.
            let stored = tokio::task::spawn_blocking(move || {
                let before = Arc::clone(&saving.0.snoozes.borrow());
                let (next, meant) = change(&before)?;
                if let Some(next) = next {
                    saving.0.store_snoozes(&before, &next)?;
                    saving.0.snoozes.send_replace(next.into());
                }
                note(&mut saving.0.snooze_notes.lock(), &meant);
                Ok(meant)
            });
            stored.await.unwrap_or_else(|error| Err(SnoozeError::Disk(error.to_string())))
        };
        tokio::time::timeout(STORE_WITHIN, done).await.unwrap_or(Err(SnoozeError::NoAnswer))
    }
}

impl super::Inner {
    /// Blocking. Without a directory nothing outlives the process.
    fn store_snoozes(&self, before: &[OrderSnooze], next: &[OrderSnooze]) -> Result<(), SnoozeError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let mut store = self.store.lock();
        if store.is_none() {
            *store = Store::open(dir).ok().map(|(store, _)| store);
        }
        let store = store.as_mut().ok_or_else(|| SnoozeError::Disk(self.trouble.lock().clone()))?;
        // What could not be read at the start is not known, and stays.
        let new = next.iter().filter(|one| !before.contains(one));
        let over = before.iter().filter(|one| !next.contains(one)).map(|one| one.id);
        store.save_snoozes(new, over).map_err(|error| SnoozeError::Disk(error.to_string()))
    }
}

fn check(
    all: &[OrderSnooze],
    by: &str,
    (ensemble, classes): (&str, &[String]),
    now_ms: i64,
) -> Result<(), SnoozeError> {
    let there = all.iter().filter(|one| !is_over(one, now_ms));
    if let Some(same) = there.clone().find(|one| one.ensemble == ensemble && one.classes == classes) {
        return Err(SnoozeError::Already(same.id));
    }
    if there.clone().count() >= ORDER_SNOOZES_MAX {
        return Err(SnoozeError::TooMany);
    }
    let of_person = there.filter(|one| one.by == by).count();
    if of_person >= ORDER_SNOOZES_A_PERSON_MAX { Err(SnoozeError::TooManyOfPerson) } else { Ok(()) }
}
