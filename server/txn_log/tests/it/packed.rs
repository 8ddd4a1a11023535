//! Files as ZooKeeper compresses them, in pieces of any size.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use lockscope_txn_log::{
    End, LogDecoder, Node, Problem, ReadError, Session, SnapshotDecoder, SnapshotReader, Transaction, TreeDigest,
};
use proptest::prelude::*;

use crate::encode::{Out, log, transactions};
use crate::snapshot::{snapshot, snapshot_with_data};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// As Java's `SnappyOutputStream` does, with blocks of this size.
pub(crate) fn snappy(bytes: &[u8], block: usize) -> Vec<u8> {
    let mut out = Out(b"\x82SNAPPY\0".to_vec());
    out.int(1).int(1);
    for block in bytes.chunks(block) {
        out.buffer(Some(&snap::raw::Encoder::new().compress_vec(block).unwrap()));
    }
    out.0
}

type Read = (Vec<Node>, Vec<Session>, Option<TreeDigest>, Option<i64>);

fn whole(bytes: &[u8]) -> Result<Read, ReadError> {
    let mut reader = SnapshotReader::new(bytes)?;
    let nodes = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((nodes, reader.sessions().to_vec(), reader.digest(), reader.last_zxid()))
}

fn in_pieces(bytes: &[u8], piece: usize) -> Result<Read, ReadError> {
    let mut decoder = SnapshotDecoder::new();
    let mut nodes = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        while let Some(node) = decoder.next_node()? {
            nodes.push(node);
        }
        assert!(!decoder.is_whole(), "whatever is behind the last byte is not known yet");
    }
    decoder.finish();
    while let Some(node) = decoder.next_node()? {
        nodes.push(node);
    }
    assert!(decoder.is_whole());
    Ok((nodes, decoder.sessions().to_vec(), decoder.digest(), decoder.last_zxid()))
}

fn read_log(bytes: &[u8], piece: usize) -> Result<(Vec<Transaction>, End), ReadError> {
    let mut decoder = LogDecoder::new();
    let mut found = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        while let Some(transaction) = decoder.next_transaction()? {
            found.push(transaction);
        }
    }
    Ok((found, decoder.end().unwrap()))
}

fn problem<T: std::fmt::Debug>(read: Result<T, ReadError>) -> Problem {
    read.unwrap_err().problem
}

fn seal(out: &mut Out) {
    let sum = i64::from(adler2::adler32_slice(&out.0));
    out.long(sum).string("/");
}

/// What 3.6 and 3.9 write behind the first checksum.
fn tailed(digest: Option<TreeDigest>, last_zxid: Option<i64>) -> Vec<u8> {
    let mut out = Out(snapshot());
    if let Some(TreeDigest { zxid, version, digest }) = digest {
        out.long(zxid).int(version);
        if version >= 2 {
            out.long(digest)
        } else {
            out.string(&format!("{digest:x}"))
        };
        seal(&mut out);
    }
    if let Some(zxid) = last_zxid {
        out.long(zxid);
        seal(&mut out);
    }
    out.0
}

const DIGESTS: [Option<TreeDigest>; 3] = [
    None,
    Some(TreeDigest { zxid: 77, version: 2, digest: -5 }),
    Some(TreeDigest { zxid: 78, version: 1, digest: 0x1234_5678_9abc }),
];

#[test]
fn every_compression_in_pieces_of_every_size() {
    let large = snapshot_with_data(200_000);
    for (plain, pieces) in [(snapshot(), 1..60), (large, 4_000..4_010)] {
        let read = whole(&plain).unwrap();
        let members = [gzip(&plain[..40]), gzip(&plain[40..]), vec![0; 500]].concat();
        let streams = [snappy(&plain[..40], 32 << 10), snappy(&plain[40..], 999)].concat();
        for piece in pieces {
            for packed in [plain.clone(), gzip(&plain), snappy(&plain, 32 << 10), members.clone(), streams.clone()] {
                assert_eq!(in_pieces(&packed, piece).unwrap(), read);
                assert_eq!(in_pieces(&packed, packed.len()).unwrap(), read);
            }
        }
    }
}

#[test]
fn digests_and_the_last_transaction_stand_behind_the_checksum() {
    for digest in DIGESTS {
        for last_zxid in [None, Some(0x1_0000_0007)] {
            let bytes = tailed(digest, last_zxid);
            let read = whole(&bytes).unwrap();
            assert_eq!((read.2, read.3), (digest, last_zxid));
            assert_eq!(in_pieces(&bytes, 7).unwrap(), read);
            for place in snapshot().len()..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[place] ^= 0x10;
                assert!(whole(&bytes).is_err() && in_pieces(&bytes, 9).is_err(), "{place}");
                let cut = &bytes[..place];
                let is_a_part = place == snapshot().len() || place == tailed(digest, None).len();
                assert!(is_a_part || (whole(cut).is_err() && in_pieces(cut, 9).is_err()), "{place}");
            }
        }
    }
    let longer = [tailed(DIGESTS[1], Some(7)), b"more".to_vec()].concat();
    assert_eq!(problem(whole(&longer)), Problem::DataBehindSnapshot { left: 25 });
    let much_longer = [snapshot(), vec![0; 4096]].concat();
    assert!(matches!(problem(in_pieces(&much_longer, 100)), Problem::DataBehindSnapshot { .. }));
}

#[test]
fn what_is_cut_short_or_flipped_is_seen() {
    let plain = snapshot();
    for packed in [plain.clone(), gzip(&plain), snappy(&plain, 50)] {
        for length in 0..packed.len() {
            let read = in_pieces(&packed[..length], 33);
            assert!(read.is_err(), "{length} of {}", packed.len());
        }
        for place in 0..packed.len() {
            let mut flipped = packed.clone();
            flipped[place] ^= 0x40;
            // gzip's header says when and where it was written; that is not covered by anything.
            let is_open = packed[0] == 0x1f && (4..10).contains(&place);
            // What fills up the last byte of what is deflated is not, either.
            let is_open = is_open || (packed[0] == 0x1f && place == packed.len() - 9);
            // Neither is the version of the writer, in snappy's.
            let is_open = is_open || (packed[0] == 0x82 && (8..12).contains(&place));
            let read = in_pieces(&flipped, 33);
            // A bit of gzip's tables may mean nothing: then all is read as it was.
            let is_same = packed[0] == 0x1f && format!("{read:?}") == format!("{:?}", in_pieces(&packed, 33));
            assert!(is_open || is_same || read.is_err(), "{place} of {}", packed.len());
        }
    }
}

#[test]
fn damaged_compression_is_named() {
    let plain = snapshot();
    let gzipped = gzip(&plain);
    let bad = |bytes: &[u8]| problem(in_pieces(bytes, 10));
    let mut sum = gzipped.clone();
    let place = sum.len() - 8;
    sum[place] ^= 1;
    assert_eq!(bad(&sum), Problem::BadGzip { reason: "the checksum does not match" });
    assert_eq!(bad(&gzipped[..gzipped.len() - 1]), Problem::BadGzip { reason: "the file ends in the midst of it" });
    assert_eq!(bad(&[&gzipped[..], b"x"].concat()), Problem::BadGzip { reason: "it does not begin as gzip does" });
    assert_eq!(bad(b"\x1f\x8b\x07\0"), Problem::BadGzip { reason: "the method is not known" });
    let endless = [b"\x1f\x8b\x08\x08\0\0\0\0\0\0".as_slice(), &[b'n'; 200_000]].concat();
    assert_eq!(problem(in_pieces(&endless, 50_000)), Problem::BadGzip { reason: "the header has no end" });
    let mut framed = Out(snappy(&[], 1));
    framed.int(i32::MAX);
    assert_eq!(bad(&framed.0), Problem::BadSnappy { reason: "the length of a block is not possible" });
    // A block of a few bytes that claims to become 2 GiB.
    let mut bomb = Out(snappy(&[], 1));
    bomb.buffer(Some(b"\xff\xff\xff\xff\x07\0x"));
    assert_eq!(bad(&bomb.0), Problem::BadSnappy { reason: "a block is too long" });
    let offset = in_pieces(&bomb.0, 10).unwrap_err().offset;
    assert_eq!(offset, 16, "where the block is in the file");
}

#[test]
fn a_header_with_everything_in_it() {
    let plain = gzip(&snapshot());
    let flags = 2 | 4 | 8 | 16;
    let header =
        [b"\x1f\x8b\x08".as_slice(), &[flags], &[0; 6], &[3, 0], b"xtr", b"name\0", b"comment\0", &[0; 2]].concat();
    let packed = [&header, &plain[10..]].concat();
    for piece in 1..40 {
        assert_eq!(in_pieces(&packed, piece), whole(&snapshot()));
    }
}

#[test]
fn a_length_that_is_not_possible_is_refused_before_it_is_waited_for() {
    let mut out = Out::default();
    out.int(0x5a4b_534e).int(2).long(-1).count(0).count(0).string("").int(i32::MAX);
    let mut decoder = SnapshotDecoder::new();
    decoder.push(&out.0);
    assert!(matches!(problem(decoder.next_node()), Problem::TooMany { .. }));
    assert_eq!(decoder.next_node(), Ok(None), "an error is the last");
    assert!(!decoder.is_whole());
}

proptest! {
    #[test]
    fn archived_logs(written in transactions(20), piece in 1usize..300, zeros in 0usize..200) {
        let (mut bytes, _) = log(&written, true);
        let end = if zeros == 0 { End::Whole } else { End::Zeros { offset: bytes.len() as u64 } };
        bytes.resize(bytes.len() + zeros, 0);
        for packed in [gzip(&bytes), snappy(&bytes, 300)] {
            prop_assert_eq!(read_log(&packed, piece), Ok((written.clone(), end)));
        }
    }

    /// An archive that is not all there is a log that ends early.
    #[test]
    fn archived_logs_that_are_cut_short(written in transactions(20), cut in any::<prop::sample::Index>(), piece in 1usize..300) {
        let packed = gzip(&log(&written, true).0);
        let (found, end) = read_log(&packed[..cut.index(packed.len())], piece).unwrap();
        prop_assert_eq!(&found[..], &written[..found.len()]);
        prop_assert!(matches!(end, End::Torn { .. }), "{:?}", end);
    }
}
