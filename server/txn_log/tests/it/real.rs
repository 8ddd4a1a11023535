//! Files that real servers wrote, of 3.4 to 3.9, with what the tools of the same release print of them: a client's
//! session with znodes of each kind, changes that failed, a multi, and one that failed; then a restart, which takes a
//! snapshot.

use lockscope_txn_log::{
    Acl, Change, Create, End, Lifetime, LogDecoder, LogEntry, LogReader, Multi, SnapshotDecoder, TolerantLogDecoder,
    Transaction,
};

use crate::printed_snapshot;

pub(crate) struct File {
    name: &'static str,
    pub(crate) bytes: &'static [u8],
    printed: &'static str,
}

macro_rules! file {
    ($name:literal, $text:literal) => {
        File {
            name: $name,
            bytes: include_bytes!(concat!("../real/", $name)),
            printed: include_str!(concat!("../real/", $text)),
        }
    };
}

pub(crate) const LOGS: [File; 3] = [
    file!("3.4.6/log.1", "3.4.6/log.1.txt"),
    file!("3.6.3/log.1", "3.6.3/log.1.txt"),
    file!("3.9.3/log.1", "3.9.3/log.1.txt"),
];

pub(crate) const SNAPSHOTS: [File; 4] = [
    file!("3.6.3/snapshot.18", "3.6.3/snapshot.18.txt"),
    file!("3.9.3/snapshot.18", "3.9.3/snapshot.18.txt"),
    file!("3.9.3-gz/snapshot.18.gz", "3.9.3-gz/snapshot.18.gz.txt"),
    file!("3.9.3-snappy/snapshot.18.snappy", "3.9.3-snappy/snapshot.18.snappy.txt"),
];

fn read(file: &File) -> Vec<Transaction> {
    let mut reader = LogReader::new(file.bytes);
    let found: Vec<Transaction> = reader.by_ref().collect::<Result<_, _>>().unwrap();
    assert!(matches!(reader.end(), Some(End::Zeros { .. })), "{}: {:?}", file.name, reader.end());
    found
}

/// Bytes as Java prints them, one after the other.
fn hex(data: &Option<Vec<u8>>) -> String {
    let bytes = data.as_deref().unwrap_or_default();
    let digits: String = bytes.iter().map(|byte| format!("{:x}", i32::from(byte.cast_signed()))).collect();
    if bytes.is_empty() { String::new() } else { format!("#{digits}") }
}

fn acls(acl: &[Acl]) -> String {
    let entries: Vec<String> =
        acl.iter().map(|Acl { permissions, scheme, id }| format!("s{{{permissions},s{{'{scheme},'{id}}}}}")).collect();
    format!("v{{{}}}", entries.join(","))
}

/// In the words of the tools up to 3.6; of a multi only the types of its parts.
fn words(change: &Change) -> String {
    match change {
        Change::Create(Create { path, data, acl, lifetime, parent_cversion }) => {
            let (data, acl) = (hex(data), acls(acl));
            match lifetime {
                Lifetime::Persistent => format!("create '{path},{data},{acl},F,{parent_cversion}"),
                Lifetime::Ephemeral => format!("create '{path},{data},{acl},T,{parent_cversion}"),
                Lifetime::Container => format!("createContainer '{path},{data},{acl},{parent_cversion}"),
                Lifetime::Ttl { ttl_ms } => format!("createTtl '{path},{data},{acl},{parent_cversion},{ttl_ms}"),
            }
        }
        Change::Delete { path, by_server: false } => format!("delete '{path}"),
        Change::Delete { path, by_server: true } => format!("deleteContainer '{path}"),
        Change::SetData { path, data, version } => format!("setData '{path},{},{version}", hex(data)),
        Change::SetAcl { path, acl, version } => format!("setACL '{path},{},{version}", acls(acl)),
        Change::CreateSession { timeout_ms } => format!("createSession {timeout_ms}"),
        Change::CloseSession { paths: None } => "closeSession null".to_owned(),
        Change::CloseSession { paths: Some(paths) } => {
            let paths: Vec<String> = paths.iter().map(|path| format!("'{path}")).collect();
            format!("closeSession v{{{}}}", paths.join(","))
        }
        Change::Error { code } => format!("error {code}"),
        Change::Multi(Multi::Done(_)) => "multi v{s{1,s{13,s{5,s{2,}".to_owned(),
        Change::Multi(Multi::Failed(codes)) => {
            assert_eq!(codes[..], [0, -103, -2]);
            "multi v{s{1,s{-1,s{-1,}".to_owned()
        }
        other @ (Change::Check { .. } | Change::Reconfig { .. } | Change::Unknown { .. }) => panic!("{other:?}"),
    }
}

/// Without the bytes of the parts of a multi.
fn without_parts(line: &str) -> String {
    let mut parts = line.split(",#").map(str::to_owned).collect::<Vec<_>>();
    if !line.starts_with("multi") || parts.len() < 2 {
        return line.to_owned();
    }
    for part in parts.iter_mut().skip(1) {
        *part = part.split_once("},").map_or_else(|| "}".to_owned(), |(_, rest)| rest.to_owned());
    }
    parts.join(",")
}

#[test]
fn each_record_is_what_the_tools_of_its_release_print() {
    for file in &LOGS {
        let found = read(file);
        let printed: Vec<&str> = file.printed.lines().filter(|line| line.contains(" session 0x")).collect();
        assert_eq!(found.len(), printed.len(), "{}", file.name);
        for (Transaction { zxid, time_ms, session, cxid, change }, line) in found.iter().zip(printed) {
            let seconds = time_ms / 1_000;
            let clock = format!("{}:{:02}:{:02} ", (seconds / 3_600 + 11) % 12 + 1, seconds / 60 % 60, seconds % 60);
            let head = format!("session 0x{session:x} cxid 0x{cxid:x} zxid 0x{zxid:x} ");
            let (time, rest) = line.split_once(&head).unwrap_or_else(|| panic!("{head} is not in {line}"));
            assert!(time.contains(&clock), "{clock} is not in {line}");
            let words = words(change);
            if file.name.starts_with("3.9") {
                // Another format, which the server's tests compare in full with 3.8's.
                let kind = |text: &str| text.split(' ').next().unwrap_or_default().to_lowercase();
                assert_eq!(kind(rest), kind(&words));
            } else {
                assert_eq!(without_parts(rest.trim()), words);
            }
        }
    }
}

/// Old servers do not write what falls with a session, and no digests.
#[test]
fn the_end_of_a_session_has_its_paths_since_3_6() {
    for file in &LOGS {
        let ended: Vec<Option<usize>> = read(file)
            .iter()
            .filter_map(|transaction| match &transaction.change {
                Change::CloseSession { paths } => Some(paths.as_ref().map(Vec::len)),
                _ => None,
            })
            .collect();
        let expected: &[Option<usize>] = if file.name.starts_with("3.4") { &[None] } else { &[Some(0), Some(2)] };
        assert_eq!(ended, expected, "{}", file.name);
    }
}

#[test]
fn the_decoders_read_the_same_in_pieces() {
    for file in &LOGS {
        let expected = read(file);
        for piece in [1, 7, 100, 5_000] {
            let (mut strict, mut tolerant) = (LogDecoder::new(), TolerantLogDecoder::new());
            let (mut found, mut entries) = (Vec::new(), Vec::new());
            for piece in file.bytes.chunks(piece) {
                strict.push(piece);
                tolerant.push(piece);
                found.extend(std::iter::from_fn(|| strict.next_transaction().unwrap()));
                entries.extend(std::iter::from_fn(|| tolerant.next_entry()));
            }
            tolerant.finish();
            assert_eq!(tolerant.next_entry(), None);
            assert_eq!(tolerant.end(), strict.end());
            assert_eq!(found, expected);
            assert_eq!(entries, expected.iter().cloned().map(LogEntry::Transaction).collect::<Vec<_>>());
        }
    }
}

#[test]
fn each_znode_is_what_the_formatter_of_its_release_prints() {
    for file in &SNAPSHOTS {
        let mut decoder = SnapshotDecoder::new();
        decoder.push(file.bytes);
        decoder.finish();
        let nodes: Vec<_> = std::iter::from_fn(|| decoder.next_node().unwrap()).collect();
        assert!(decoder.is_whole(), "{}", file.name);
        printed_snapshot::compare(file.printed, &nodes, decoder.sessions());
        let by_path = |path: &str| nodes.iter().find(|node| node.path == path).unwrap();
        assert_eq!(by_path("/long").stat.lifetime(), Lifetime::Ttl { ttl_ms: 3_600_000 });
        let order = decoder.acl(by_path("/locks/order").acl).unwrap();
        assert_eq!(order.iter().map(|entry| entry.scheme.as_str()).collect::<Vec<_>>(), ["world", "ip"]);
        assert_eq!(by_path("/locks").data.as_deref(), Some(b"a lock's directory".as_slice()));
        let digest = decoder.digest().unwrap();
        assert_eq!((digest.zxid, digest.version), (0x18, 2), "{}", file.name);
        let last_zxid = if file.name.starts_with("3.6") { None } else { Some(0x18) };
        assert_eq!(decoder.last_zxid(), last_zxid, "{}", file.name);
    }
}
