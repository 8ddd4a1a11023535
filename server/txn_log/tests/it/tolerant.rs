//! Damage is named with its place, and the rest is still read.

use lockscope_txn_log::{
    Change, Create, Damage, End, Lifetime, LogEntry, LogReader, Multi, Problem, TolerantLogDecoder, Transaction,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::encode::{Out, header, log, payload, record, transactions};
use crate::packed::gzip;

const FIRST_ZXID: i64 = 0x5_0000_0001;

struct Read {
    found: Vec<Transaction>,
    damaged: Vec<Damage>,
    end: Option<End>,
    unknown: u64,
}

fn read(bytes: &[u8], piece: usize) -> Read {
    let mut decoder = TolerantLogDecoder::new();
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    let mut pieces = bytes.chunks(piece);
    loop {
        while let Some(entry) = decoder.next_entry() {
            match entry {
                LogEntry::Transaction(transaction) => found.push(transaction),
                LogEntry::Damage(damage) => damaged.push(damage),
            }
        }
        match pieces.next() {
            Some(piece) => decoder.push(piece),
            None if decoder.end().is_some()
                || damaged.last().is_some_and(|last: &Damage| last.resumed_at.is_none()) =>
            {
                break;
            }
            None => decoder.finish(),
        }
    }
    assert_eq!(decoder.damaged(), damaged.len() as u64);
    Read { found, damaged, end: decoder.end(), unknown: decoder.unknown() }
}

/// One number after the other, as leaders give them.
fn numbered(mut transactions: Vec<Transaction>) -> Vec<Transaction> {
    for (transaction, zxid) in transactions.iter_mut().zip(FIRST_ZXID..) {
        transaction.zxid = zxid;
    }
    transactions
}

fn node(zxid: i64, data: &[u8]) -> Transaction {
    let create = Create {
        path: "/a".into(),
        data: Some(data.to_vec()),
        acl: Vec::new(),
        lifetime: Lifetime::Persistent,
        parent_cversion: 1,
    };
    Transaction { zxid, time_ms: 1, session: 2, cxid: 3, change: Change::Create(create) }
}

fn nodes(count: i64) -> Vec<Transaction> {
    (0..count).map(|at| node(FIRST_ZXID + at, b"some data")).collect()
}

fn without(all: &[Transaction], lost: std::ops::Range<usize>) -> Vec<Transaction> {
    [&all[..lost.start], &all[lost.end..]].concat()
}

proptest! {
    #[test]
    fn what_is_not_damaged_is_read_as_by_the_strict_one(written in transactions(12), zeros in 0usize..60, cut in any::<prop::sample::Index>(), piece in 1usize..200) {
        let (mut bytes, _) = log(&written, true);
        bytes.resize(bytes.len() + zeros, 0);
        // A file that ends in the midst of its header is torn; one with half a header and zeros is no log.
        for length in [bytes.len(), 16 + cut.index(bytes.len() - 15)] {
            let mut strict = LogReader::new(&bytes[..length]);
            let found: Vec<_> = strict.by_ref().map(Result::unwrap).collect();
            let read = read(&bytes[..length], piece);
            prop_assert_eq!(read.found, found);
            prop_assert!(read.damaged.is_empty());
            prop_assert_eq!(read.end, strict.end());
        }
    }

    #[test]
    fn one_flipped_byte_costs_one_record(written in transactions(8), place in any::<prop::sample::Index>(), bits in 1u8.., zeros in 0usize..60, piece in 1usize..200) {
        let written = numbered(written);
        let (mut bytes, begins) = log(&written, true);
        prop_assume!(begins.len() > 1);
        let place = 16 + place.index(bytes.len() - 16);
        bytes[place] ^= bits;
        bytes.resize(bytes.len() + zeros, 0);
        let hit = begins.iter().rposition(|begin| *begin <= place).unwrap();
        let read = read(&bytes, piece);
        prop_assert_eq!(&read.found, &without(&written, hit..hit + 1));
        let is_last = hit + 1 == written.len();
        match read.damaged[..] {
            [damage] => {
                prop_assert_eq!(damage.offset, begins[hit] as u64);
                prop_assert!(is_last || damage.resumed_at == Some(begins[hit + 1] as u64), "{:?}", damage);
            }
            // A last record that is not framed as one may be torn.
            _ => {
                prop_assert!(is_last);
                prop_assert_eq!(read.end, Some(End::Torn { offset: begins[hit] as u64 }));
            }
        }
    }

    #[test]
    fn holes_cost_what_was_in_them(fill in prop_oneof![Just(None::<Vec<u8>>), vec(any::<u8>(), 1..40).prop_map(Some)], first in 1usize..8, length in 1usize..300, piece in 1usize..200) {
        let written = nodes(12);
        let (mut bytes, begins) = log(&written, true);
        let begin = begins[first] + 3;
        let end = (begin + length).min(begins[10]);
        for (at, byte) in bytes[begin..end].iter_mut().enumerate() {
            *byte = fill.as_ref().map_or(0, |fill| fill[at % fill.len()]);
        }
        // What is overwritten with the zeros that were there is not damaged.
        let behind = begins.iter().position(|begin| *begin >= end).unwrap();
        let read = read(&bytes, piece);
        let lost = written.len() - read.found.len();
        prop_assert!(lost <= behind - first, "{} of {}", lost, behind - first);
        prop_assert_eq!(&read.found[read.found.len() - (12 - behind)..], &written[behind..]);
        prop_assert!(read.found.iter().all(|found| written.contains(found)));
        prop_assert!(lost == 0 || read.damaged[0].offset >= begins[first] as u64);
    }
}

#[test]
fn a_damaged_header_does_not_hide_the_records() {
    let written = nodes(5);
    let (mut bytes, _) = log(&written, true);
    bytes[2] = b'X';
    let read = read(&bytes, 50);
    assert_eq!(read.found, written);
    assert_eq!(
        read.damaged,
        [Damage { offset: 0, resumed_at: Some(16), problem: Problem::NotALog { found: 0x5a4b_5847 } }]
    );
    assert_eq!(read.end, Some(End::Whole));
}

#[test]
fn another_file_has_one_damage_and_no_records() {
    let text = "not a log at all. ".repeat(1000);
    let read = read(text.as_bytes(), 100);
    assert_eq!((read.found.len(), read.damaged.len(), read.end), (0, 1, None));
    assert_eq!(read.damaged[0].resumed_at, None);
    let mut newer = log(&nodes(2), true).0;
    newer[7] = 3;
    let read = self::read(&newer, 100);
    assert_eq!(read.damaged, [Damage { offset: 4, resumed_at: None, problem: Problem::UnknownVersion { found: 3 } }]);
    assert!(read.found.is_empty());
}

#[test]
fn a_torn_record_is_no_damage_and_data_behind_it_is() {
    let written = nodes(4);
    let (bytes, begins) = log(&written, true);
    let torn_at = begins[2] as u64;
    for length in begins[2] + 1..begins[3] {
        for zeros in [0, 1, 5_000] {
            let mut torn = bytes[..length].to_vec();
            torn.resize(length + zeros, 0);
            let read = read(&torn, 64);
            let end = read.end.unwrap();
            assert_eq!((read.found.len(), &read.damaged[..]), (2, &[][..]), "{length} + {zeros}");
            assert!(end == End::Torn { offset: torn_at } || end == End::Zeros { offset: torn_at }, "{end:?}");
        }
    }
    // The server went on behind it, as no server does: the fourth is still read.
    let mut gone_on = bytes[..begins[3] - 10].to_vec();
    gone_on.extend([0; 100]);
    gone_on.extend(record(&payload(&written[3], true)));
    let read = read(&gone_on, 64);
    assert_eq!(read.found, without(&written, 2..3));
    let resumed_at = Some((begins[3] - 10 + 100) as u64);
    assert!(matches!(read.damaged[..], [damage] if damage.offset == torn_at && damage.resumed_at == resumed_at));
}

/// What a client stored is data, whatever it looks like.
#[test]
fn records_inside_of_data_are_not_believed() {
    let inner = record(&payload(&node(FIRST_ZXID + 1, b"inner"), true));
    let far = record(&payload(&node(FIRST_ZXID + 1000, b"inner"), true));
    let written =
        vec![node(FIRST_ZXID, b"x"), node(FIRST_ZXID + 1, &[inner, far.clone()].concat()), node(FIRST_ZXID + 2, b"y")];
    let (bytes, begins) = log(&written, true);
    // The checksum is wrong, the length is right: the record is passed over as a whole.
    let mut damaged = bytes.clone();
    damaged[begins[1] + 7] ^= 1;
    assert_eq!(read(&damaged, 64).found, without(&written, 1..2));
    // The length is wrong: what is inside is looked at, and its number does not fit.
    let written = vec![node(FIRST_ZXID, b"x"), node(FIRST_ZXID + 1, &far), node(FIRST_ZXID + 2, b"y")];
    let (mut bytes, begins) = log(&written, true);
    bytes[begins[1] + 8] = 1;
    assert_eq!(read(&bytes, 64).found, without(&written, 1..2));
}

/// The first of a new epoch is found as well.
#[test]
fn a_new_epoch_may_follow_damage() {
    let mut written = nodes(3);
    written.extend((0..3).map(|at| node(0x6_0000_0001 + at, b"later")));
    let (mut bytes, begins) = log(&written, true);
    bytes[begins[2] + 8] = 0x7f;
    assert_eq!(read(&bytes, 64).found, without(&written, 2..3));
}

#[test]
fn neighbours_that_are_both_damaged_are_both_named() {
    let written = nodes(6);
    let (mut bytes, begins) = log(&written, true);
    for hit in [2, 3] {
        bytes[begins[hit] + 30] ^= 4;
    }
    let read = read(&bytes, 64);
    assert_eq!(read.found, without(&written, 2..4));
    assert_eq!(read.damaged[0].offset, begins[2] as u64);
    assert_eq!(read.damaged.last().unwrap().resumed_at, Some(begins[4] as u64));
}

#[test]
fn contents_that_are_not_understood_cost_one_record() {
    let written = nodes(3);
    let mut nested = Out(payload(&written[1], false)[..28].to_vec());
    nested.int(14).count(1).int(14).buffer(Some(&[0; 4]));
    let bytes = [header(), record(&payload(&written[0], true)), record(&nested.0), record(&payload(&written[2], true))]
        .concat();
    let read = read(&bytes, 64);
    assert_eq!(read.found, without(&written, 1..2));
    assert!(matches!(read.damaged[..], [Damage { problem: Problem::NestedMulti, resumed_at: Some(_), .. }]));
    assert_eq!(read.end, Some(End::Whole));
}

#[test]
fn types_that_are_not_known_are_counted() {
    let unknown = |zxid, change| Transaction { change, ..node(zxid, b"") };
    let part = Change::Unknown { kind: 99 };
    let written = vec![
        node(FIRST_ZXID, b"x"),
        unknown(FIRST_ZXID + 1, part.clone()),
        unknown(FIRST_ZXID + 2, Change::Multi(Multi::Done(vec![part]))),
        node(FIRST_ZXID + 3, b"y"),
    ];
    let read = read(&log(&written, true).0, 64);
    assert_eq!((read.found, read.unknown), (written, 2));
}

#[test]
fn a_damaged_archive_is_read_up_to_there() {
    let written = numbered((0..3000).map(|at| node(FIRST_ZXID, format!("{}", at * at).as_bytes())).collect());
    let packed = gzip(&log(&written, true).0);
    let whole = read(&packed, 1000);
    assert_eq!((whole.found.len(), whole.end), (3000, Some(End::Whole)));
    let mut damaged = packed.clone();
    let place = damaged.len() / 2;
    damaged[place..place + 8].fill(0xff);
    let read = read(&damaged, 1000);
    // What is compressed refers to what was before, so records may be read again behind the damage.
    let is_written = |found: &Transaction| written[usize::try_from(found.zxid - FIRST_ZXID).unwrap()] == *found;
    assert!(read.found.iter().all(is_written) && read.found.len() < 3000 && read.found.len() > 500);
    assert_ne!(read.end, Some(End::Whole));
    let cut = self::read(&packed[..place], 1000);
    assert!(matches!(cut.end, Some(End::Torn { .. })) && cut.damaged.is_empty() && cut.found.len() > 500);
}
