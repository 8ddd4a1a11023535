//! Snapshots: read as written, and refused when anything is missing.

use lockscope_txn_log::{Acl, Lifetime, Problem, ReadError, Session, SnapshotReader};

use crate::encode::Out;

const ENTRY: (i32, &str, &str) = (31, "digest", "ada:x");

fn acl() -> Vec<Acl> {
    vec![Acl { permissions: ENTRY.0, scheme: ENTRY.1.into(), id: ENTRY.2.into() }]
}

fn node(out: &mut Out, path: &str, owner: i64, acl: i64) {
    node_with_data(out, path, path.as_bytes(), owner, acl);
}

fn node_with_data(out: &mut Out, path: &str, data: &[u8], owner: i64, acl: i64) {
    out.string(path).buffer(Some(data)).long(acl);
    out.long(1).long(2).long(3).long(4).int(5).int(6).int(7).long(owner).long(8);
}

const OWNERS: [(i64, Lifetime); 4] = [
    (0, Lifetime::Persistent),
    (0x0100_0014_7fb5_0000, Lifetime::Ephemeral),
    (i64::MIN, Lifetime::Container),
    (0xff00_0000_0000_1388_u64.cast_signed(), Lifetime::Ttl { ttl_ms: 5000 }),
];

pub(crate) fn snapshot() -> Vec<u8> {
    snapshot_with_data(0)
}

/// With a znode of so many bytes of data, if there are any.
pub(crate) fn snapshot_with_data(bytes: usize) -> Vec<u8> {
    let mut out = Out::default();
    out.int(0x5a4b_534e).int(2).long(-1);
    out.count(2).long(11).int(4000).long(12).int(6000);
    out.count(1).long(1).acl(&acl());
    node(&mut out, "", 0, -1);
    for (owner, _) in OWNERS {
        node(&mut out, &format!("/n{owner}"), owner, 1);
    }
    if bytes > 0 {
        let data: Vec<u8> = (0..bytes).map(|at| ((at * at) >> 7) as u8).collect();
        node_with_data(&mut out, "/data", &data, 0, -1);
    }
    out.string("/");
    let sum = i64::from(adler2::adler32_slice(&out.0));
    out.long(sum).string("/");
    out.0
}

/// Everything, or the first error.
fn read(bytes: &[u8]) -> Result<usize, ReadError> {
    let mut count = 0;
    for node in SnapshotReader::new(bytes)? {
        node?;
        count += 1;
    }
    Ok(count)
}

#[test]
fn sessions_access_lists_and_znodes_are_read() {
    let bytes = snapshot();
    let mut reader = SnapshotReader::new(&bytes).unwrap();
    assert_eq!(reader.sessions(), [Session { id: 11, timeout_ms: 4000 }, Session { id: 12, timeout_ms: 6000 }]);
    let root = reader.next().unwrap().unwrap();
    assert_eq!((root.path.as_str(), root.acl.is_open(), reader.acl(root.acl)), ("/", true, None));
    for (owner, lifetime) in OWNERS {
        let node = reader.next().unwrap().unwrap();
        assert_eq!((node.path.clone(), node.data), (format!("/n{owner}"), Some(node.path.into_bytes())));
        assert_eq!(
            (node.stat.lifetime(), node.stat.session()),
            (lifetime, (lifetime == Lifetime::Ephemeral).then_some(owner))
        );
        let stat = node.stat;
        assert_eq!([stat.czxid, stat.mzxid, stat.ctime_ms, stat.mtime_ms, stat.pzxid], [1, 2, 3, 4, 8]);
        assert_eq!([stat.version, stat.cversion, stat.aversion], [5, 6, 7]);
        assert_eq!(reader.acl(node.acl), Some(acl().as_slice()));
    }
    assert!(reader.next().is_none() && reader.next().is_none());
}

#[test]
fn whatever_is_missing_or_flipped_is_seen() {
    let bytes = snapshot();
    // Behind the checksum there is only the seal's own end.
    let checksum_end = bytes.len() - 5;
    assert_eq!(read(&bytes), Ok(5));
    for length in 0..checksum_end {
        assert!(matches!(read(&bytes[..length]), Err(ReadError { problem: Problem::Short { .. }, .. })), "{length}");
    }
    for place in 0..checksum_end {
        let mut bytes = bytes.clone();
        bytes[place] ^= 0x10;
        assert!(read(&bytes).is_err(), "{place}");
    }
}

#[test]
fn other_files_are_named() {
    let problem = |bytes: &[u8]| read(bytes).unwrap_err().problem;
    assert_eq!(problem(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), Problem::Compressed);
    assert_eq!(problem(b"ZKLG\0\0\0\x02"), Problem::NotASnapshot { found: 0x5a4b_4c47 });
    assert_eq!(problem(b"ZKSN\0\0\0\x03"), Problem::UnknownVersion { found: 3 });
}
