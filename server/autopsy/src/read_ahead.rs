//! Reads and decodes on a thread of its own, some transactions ahead of the model. Only where all of the records are wanted:
//! what is damaged behind the end of a window is nobody's business.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use lockscope_txn_log::{Change, Multi, Transaction};

use crate::AutopsyError;
use crate::merge::Merged;

/// Transactions that are handed over at once, and bytes of data after which fewer are.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 256 << 10;
/// Batches that wait. Overflow policy: the reader waits.
const BATCHES_MAX: usize = 4;

/// The transactions of all members, in order.
#[derive(Debug)]
pub(crate) enum Reading {
    /// Each is read when it is asked for.
    Here(Merged),
    /// By a thread, which hands back what it knows in the end.
    Ahead { batches: Receiver<Vec<Transaction>>, batch: std::vec::IntoIter<Transaction>, thread: JoinHandle<Merged> },
}

impl Reading {
    pub(crate) fn begin(mut merged: Merged, is_whole: bool) -> Result<Self, AutopsyError> {
        if !is_whole {
            return Ok(Self::Here(merged));
        }
        let (sender, batches) = sync_channel(BATCHES_MAX);
        let read = move || {
            loop {
                let batch = next_batch(&mut merged);
                // Nobody wants more where it can't be sent.
                if batch.is_empty() || sender.send(batch).is_err() {
                    return merged;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("log reader".to_owned())
            .spawn(read)
            .map_err(|error| AutopsyError::Store(format!("no thread to read the logs: {error}")))?;
        Ok(Self::Ahead { batches, batch: Vec::new().into_iter(), thread })
    }

    pub(crate) fn next_transaction(&mut self) -> Option<Transaction> {
        match self {
            Self::Here(merged) => merged.next_transaction(),
            Self::Ahead { batches, batch, .. } => loop {
                if let Some(next) = batch.next() {
                    return Some(next);
                }
                *batch = batches.recv().ok()?.into_iter();
            },
        }
    }

    /// What is known of the members.
    ///
    /// # Errors
    /// The thread failed.
    pub(crate) fn finish(self) -> Result<Merged, AutopsyError> {
        match self {
            Self::Here(merged) => Ok(merged),
            Self::Ahead { batches, thread, .. } => {
                drop(batches);
                thread.join().map_err(|_| AutopsyError::Store("reading the logs failed".to_owned()))
            }
        }
    }
}

fn next_batch(merged: &mut Merged) -> Vec<Transaction> {
    let (mut batch, mut bytes) = (Vec::with_capacity(BATCH), 0);
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        let Some(transaction) = merged.next_transaction() else { break };
        bytes += data_bytes(&transaction.change);
        batch.push(transaction);
    }
    batch
}

fn data_bytes(change: &Change) -> usize {
    match change {
        Change::Create(create) => create.data.as_ref().map_or(0, Vec::len),
        Change::SetData { data, .. } => data.as_ref().map_or(0, Vec::len),
        Change::CloseSession { paths } => paths.iter().flatten().map(String::len).sum(),
        Change::Multi(Multi::Done(parts)) => parts.iter().map(data_bytes).sum(),
        Change::Multi(_)
        | Change::Delete { .. }
        | Change::SetAcl { .. }
        | Change::Check { .. }
        | Change::CreateSession { .. }
        | Change::Error { .. }
        | Change::Reconfig { .. }
        | Change::Unknown { .. } => 0,
    }
}
