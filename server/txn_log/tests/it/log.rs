//! What was written is read; every end is told from damage.

use lockscope_txn_log::{Change, End, LogDecoder, LogReader, Problem, ReadError, Transaction};
use proptest::prelude::*;

use crate::encode::{Out, header, log, payload, record, transactions};

fn read(bytes: &[u8]) -> (Vec<Transaction>, Result<End, ReadError>) {
    let mut reader = LogReader::new(bytes);
    let mut found = Vec::new();
    for next in reader.by_ref() {
        match next {
            Ok(transaction) => found.push(transaction),
            Err(error) => {
                assert_eq!(reader.end(), None);
                assert!(reader.next().is_none(), "an error is the last");
                return (found, Err(error));
            }
        }
    }
    let end = reader.end().expect("an end without an error");
    (found, Ok(end))
}

fn read_in_pieces(bytes: &[u8], piece: usize) -> (Vec<Transaction>, Result<End, ReadError>) {
    let mut decoder = LogDecoder::new();
    let mut found = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        loop {
            match decoder.next_transaction() {
                Ok(Some(transaction)) => found.push(transaction),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(decoder.end(), None);
                    return (found, Err(error));
                }
            }
        }
    }
    (found, Ok(decoder.end().unwrap()))
}

fn at(error: Result<End, ReadError>) -> (u64, Problem) {
    let error = error.unwrap_err();
    (error.offset, error.problem)
}

proptest! {
    #[test]
    fn what_was_written_is_read(written in transactions(20), has_digest: bool, zeros in 0usize..100, piece in 1usize..200) {
        let (mut bytes, _) = log(&written, has_digest);
        let end = if zeros == 0 { End::Whole } else { End::Zeros { offset: bytes.len() as u64 } };
        bytes.resize(bytes.len() + zeros, 0);
        prop_assert_eq!(read(&bytes), (written.clone(), Ok(end)));
        prop_assert_eq!(read_in_pieces(&bytes, piece), (written, Ok(end)));
    }

    #[test]
    fn a_log_that_ends_anywhere_gives_what_is_whole(written in transactions(6), cut in any::<prop::sample::Index>(), zeros in 0usize..3000, piece in 1usize..200) {
        let (mut bytes, begins) = log(&written, true);
        let bytes_whole = bytes.len();
        // The header is flushed before zeros are written behind it.
        let length = 16 + cut.index(bytes.len() - 15);
        // What of the tail is zeros already can't be told from zeros written ahead, so nothing is torn there.
        bytes.truncate(length);
        bytes.resize(length + zeros, 0);
        let whole = begins.iter().skip(1).chain([&usize::MAX]).filter(|next| **next <= length).count();
        let (found, end) = read(&bytes);
        prop_assert!(found == written[..found.len()] && (found.len() == whole || found.len() == whole + 1), "{} of {}", found.len(), whole);
        let end = end.unwrap();
        prop_assert!(zeros > 0 || matches!(end, End::Whole) == (length == bytes_whole || begins.contains(&length)), "{:?}", end);
        prop_assert_eq!(read_in_pieces(&bytes, piece), (found, Ok(end)));
    }

    #[test]
    fn a_flipped_bit_is_never_believed(written in transactions(6), place in any::<prop::sample::Index>(), bit in 0u8..8) {
        let (mut bytes, _) = log(&written, true);
        *place.get_mut(&mut bytes) ^= 1 << bit;
        let (found, end) = read(&bytes);
        prop_assert!(found == written[..found.len()]);
        // The database id is not covered by anything, and a longer length looks like a torn end.
        let is_seen = end.is_err() || matches!(end, Ok(End::Torn { .. }));
        prop_assert!(is_seen || (8..16).contains(&place.index(bytes.len())), "{:?}", end);
    }
}

fn check(zxid: i64) -> Transaction {
    Transaction { zxid, time_ms: 1, session: 2, cxid: 3, change: Change::Check { path: "/a".into(), version: 4 } }
}

#[test]
fn an_empty_file_is_a_torn_one() {
    assert_eq!(read(&[]), (Vec::new(), Ok(End::Torn { offset: 0 })));
    assert_eq!(read(&header()), (Vec::new(), Ok(End::Whole)));
}

#[test]
fn each_damage_is_named_with_its_place() {
    let (bytes, begins) = log(&[check(1), check(2), check(3)], true);
    let second = begins[1];
    let damaged = |place: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[place] = byte;
        at(read(&bytes).1)
    };
    assert_eq!(damaged(0, b'X'), (0, Problem::NotALog { found: 0x584b_4c47 }));
    assert_eq!(damaged(7, 9), (4, Problem::UnknownVersion { found: 9 }));
    assert!(matches!(damaged(second + 20, 0x77), (place, Problem::Checksum { .. }) if place == second as u64));
    assert_eq!(
        damaged(second + 8, 0xff).1,
        Problem::BadLength { found: i32::from_be_bytes([0xff, 0, 0, bytes[second + 11]]) }
    );
    // The end mark of the second is the byte before the third.
    assert_eq!(damaged(begins[2] - 1, 0).1, Problem::NoEndMark);
    let mut holed = bytes.clone();
    holed[second..begins[2]].fill(0);
    assert!(matches!(at(read(&holed).1), (place, Problem::DataBehindZeros) if place >= begins[2] as u64));
}

#[test]
fn errors_are_sentences() {
    let (mut bytes, _) = log(&[check(1)], true);
    bytes[3] = b'X';
    assert_eq!(
        read(&bytes).1.unwrap_err().to_string(),
        "at byte 0: not a transaction log: it begins with 0x5a4b4c58 instead of \"ZKLG\""
    );
}

#[test]
fn a_session_that_ended_without_its_paths_on_record() {
    let closed = |paths: Option<&[&str]>, has_digest| {
        let paths = paths.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
        let written = Transaction { zxid: 1, time_ms: 2, session: 3, cxid: 4, change: Change::CloseSession { paths } };
        let (bytes, _) = log(std::slice::from_ref(&written), has_digest);
        assert_eq!(read(&bytes), (vec![written], Ok(End::Whole)));
    };
    for has_digest in [true, false] {
        closed(None, has_digest);
        closed(Some(&[]), has_digest);
        // As long as a digest.
        closed(Some(&["/abc"]), has_digest);
        closed(Some(&["/a", "/b"]), has_digest);
    }
}

#[test]
fn a_multi_in_a_multi_is_refused() {
    let mut inner = Out::default();
    inner.int(14).count(0);
    let mut bytes = payload(&check(1), false);
    bytes.truncate(32);
    let kind = bytes.len() - 4;
    bytes[kind..].copy_from_slice(&14i32.to_be_bytes());
    let mut parts = Out::default();
    parts.count(1).int(14).buffer(Some(&inner.0));
    bytes.extend(parts.0);
    let log = [header(), record(&bytes)].concat();
    assert_eq!(at(read(&log).1).1, Problem::NestedMulti);
}
