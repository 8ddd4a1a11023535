//! What ZooKeeper's `SnapshotFormatter` prints of a snapshot, against what was read of it. Shared with the server's
//! tests, which run it.

use std::collections::BTreeMap;

use lockscope_txn_log::{Node, Session};

/// Names and values of one znode, in the formatter's words.
type Fields = BTreeMap<String, String>;

fn number(text: &str) -> i64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap().cast_signed(),
        None => text.parse().unwrap(),
    }
}

/// Znodes by path, and sessions with their time-outs.
fn parse(text: &str) -> (BTreeMap<String, Fields>, BTreeMap<i64, i64>) {
    let (nodes, sessions) = text.split_once("Session Details").expect("the formatter lists sessions last");
    let mut found = BTreeMap::new();
    for block in nodes.split("----\n").skip(1) {
        let Some((path, rest)) = block.split_once('\n') else { continue };
        let fields = rest.lines().filter_map(|line| line.trim().split_once(" = "));
        found.insert(path.to_owned(), fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
    }
    let session = |line: &str| {
        let mut parts = line.split(", ");
        Some((number(parts.next().filter(|id| id.starts_with("0x"))?), number(parts.next()?)))
    };
    (found, sessions.lines().filter_map(session).collect())
}

/// Nothing more and nothing less.
pub(crate) fn compare(text: &str, nodes: &[Node], sessions: &[Session]) {
    let (printed, printed_sessions) = parse(text);
    let found: BTreeMap<i64, i64> =
        sessions.iter().map(|session| (session.id, i64::from(session.timeout_ms))).collect();
    assert_eq!(found, printed_sessions);
    let paths: Vec<&String> = nodes.iter().map(|node| &node.path).collect();
    assert_eq!(nodes.len(), printed.len(), "{paths:?}");
    for node in nodes {
        let fields = printed.get(&node.path).unwrap_or_else(|| panic!("{} is not printed", node.path));
        let stat = node.stat;
        let length = node.data.as_ref().map_or(0, Vec::len) as i64;
        for (name, value) in [
            ("cZxid", stat.czxid),
            ("mZxid", stat.mzxid),
            ("pZxid", stat.pzxid),
            ("cversion", stat.cversion.into()),
            ("dataVersion", stat.version.into()),
            ("aclVersion", stat.aversion.into()),
            ("ephemeralOwner", stat.ephemeral_owner),
            ("dataLength", length),
        ] {
            let printed = fields.get(name).map_or(0, |text| number(text));
            assert_eq!(value, printed, "{name} of {}", node.path);
        }
    }
}
