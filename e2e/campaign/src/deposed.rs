//! What the log says of members that were parted, and what may be asked of a client of the leader that was deposed.

use std::collections::BTreeMap;

use lockscope_judge::{Capture, Fault, FaultSpan, Limits, Shown};
use lockscope_txn_log::Transaction;

/// The counter of a transaction's number.
const COUNTER_BITS: u32 = 32;

/// From the first transaction of the new leader on, the link to the old one is as good as lost, until something is shown
/// that includes a transaction of the new one:
///
/// * What the old one had proposed when its followers went came true with that transaction at the latest, if ever.
/// * LIVE may be as old as the limit then, and its `as_of.at_ms` too new by as much: it rests on `sync`, which the old
///   leader answers.
pub(crate) fn depose(
    captured: &mut [Capture],
    spans: &mut Vec<FaultSpan>,
    transactions: &[Transaction],
    limits: &Limits,
) {
    let Some(at) = spans.iter().position(|span| span.fault == Fault::LinkLost) else { return };
    let parted_at_ms = spans[at].lost_at_ms;
    let epoch = |transaction: &Transaction| transaction.zxid >> COUNTER_BITS;
    let before = transactions.iter().filter(|transaction| transaction.time_ms < parted_at_ms).map(epoch).max();
    let of_new = transactions.iter().filter(|transaction| Some(epoch(transaction)) > before);
    let Some(first) = of_new.min_by_key(|transaction| transaction.zxid) else {
        // They found each other again.
        spans[at].fault = Fault::CommitsHeld;
        return;
    };
    let is_of_new = |shown: &Shown| shown.is_live && shown.zxid >= first.zxid;
    let of_new = captured.iter().filter_map(|capture| match capture {
        Capture::Shown(shown) if is_of_new(shown) => Some(shown.arrived_at_ms),
        _ => None,
    });
    let good_at_ms = of_new.chain(spans[at].good_at_ms).min();
    (spans[at].lost_at_ms, spans[at].good_at_ms) = (first.time_ms, good_at_ms);
    spans.push(FaultSpan { fault: Fault::CommitsHeld, lost_at_ms: parted_at_ms, good_at_ms: Some(first.time_ms) });
    let unproved = first.time_ms..=first.time_ms + limits.not_live_max_ms + limits.clock_tolerance_ms;
    for capture in captured {
        if let Capture::Shown(shown) = capture
            && unproved.contains(&shown.arrived_at_ms)
        {
            shown.true_at_ms = 0;
        }
    }
}

/// What a leader wrote alone and nobody had when another one was elected was never committed; it may stay in its log.
pub(crate) fn committed(logs: Vec<Vec<Transaction>>) -> Vec<Transaction> {
    let mut written = BTreeMap::<i64, (usize, Transaction)>::new();
    for transaction in logs.into_iter().flatten() {
        written.entry(transaction.zxid).or_insert((0, transaction)).0 += 1;
    }
    let newest = written.keys().last().map_or(0, |zxid| zxid >> COUNTER_BITS);
    let is_committed =
        |(count, transaction): &(usize, Transaction)| *count > 1 || transaction.zxid >> COUNTER_BITS == newest;
    written.into_values().filter(is_committed).map(|(_, transaction)| transaction).collect()
}
