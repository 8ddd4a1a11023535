//! Whatever the bytes are: no panic, an end, and no more memory than they hold.

use lockscope_txn_log::{Change, LogDecoder, LogReader, Multi, SnapshotReader, Transaction};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::encode::{Out, header, record};
use crate::snapshot::snapshot;

/// Elements that were made of the bytes: each takes at least one.
fn weight(transaction: &Transaction) -> usize {
    let acl = |change: &Change| match change {
        Change::Create(create) => create.acl.len() + create.data.as_ref().map_or(0, Vec::len) + create.path.len() / 3,
        Change::SetAcl { acl, .. } => acl.len(),
        _ => 1,
    };
    match &transaction.change {
        Change::Multi(Multi::Done(parts)) => parts.iter().map(acl).sum(),
        Change::Multi(Multi::Failed(codes)) => codes.len(),
        Change::CloseSession { paths } => paths.as_ref().map_or(0, Vec::len),
        change => acl(change),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A payload with a right checksum and nothing else right.
    #[test]
    fn payloads(kind in prop_oneof![-12i32..30, any::<i32>()], body in vec(prop_oneof![4 => Just(0u8), 1 => any::<u8>()], 0..120)) {
        let mut out = Out::default();
        out.long(1).int(2).long(3).long(4).int(kind);
        out.0.extend(body);
        let bytes = [header(), record(&out.0)].concat();
        for transaction in LogReader::new(&bytes).flatten() {
            prop_assert!(weight(&transaction) <= bytes.len());
        }
    }

    #[test]
    fn logs(bytes in vec(any::<u8>(), 0..300), piece in 1usize..50) {
        for bytes in [bytes.clone(), [header(), bytes].concat()] {
            prop_assert!(LogReader::new(&bytes).count() <= bytes.len());
            let mut decoder = LogDecoder::new();
            for piece in bytes.chunks(piece) {
                decoder.push(piece);
                while let Ok(Some(_)) = decoder.next_transaction() {}
            }
        }
    }

    #[test]
    fn snapshots(bytes in vec(prop_oneof![4 => Just(0u8), 1 => any::<u8>()], 0..300), place in any::<prop::sample::Index>()) {
        let mut broken = snapshot();
        let begin = place.index(broken.len());
        let end = (begin + bytes.len()).min(broken.len());
        broken[begin..end].copy_from_slice(&bytes[..end - begin]);
        for bytes in [broken, bytes] {
            if let Ok(reader) = SnapshotReader::new(&bytes) {
                prop_assert!(reader.sessions().len() <= bytes.len());
                prop_assert!(reader.count() <= bytes.len());
            }
        }
    }
}

#[test]
fn a_count_of_two_milliards_takes_no_memory() {
    for kind in [14, -11] {
        let mut out = Out::default();
        out.long(1).int(2).long(3).long(4).int(kind).int(i32::MAX).long(0).long(0);
        let bytes = [header(), record(&out.0)].concat();
        assert!(LogReader::new(&bytes).next().unwrap().is_err());
    }
}
