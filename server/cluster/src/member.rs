//! What a member says of itself in its znode, and what is believed of it: the znode may hold anything. Pure.

use serde::{Deserialize, Serialize};

/// Bytes of a member's znode that are read; ours have a few hundred.
pub const BYTES_MAX: usize = 4_096;
/// Members that are read. Overflow policy: those that come last in the order of ids are left out, and that is said.
pub const MEMBERS_MAX: usize = 64;
/// Characters of an address or a version that are believed.
const TEXT_CHARS_MAX: usize = 256;

/// A member, as its znode has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRecord {
    pub address: String,
    pub version: String,
    /// Since when its process runs, ms since the epoch.
    pub since_ms: i64,
    /// Always 1; former versions read nothing without it.
    #[serde(default)]
    pub capacity: u8,
    /// Which process it is: a new one at each start.
    pub process: String,
    pub session_timeout_ms: u64,
    /// What stands for the list of ensembles that it watches: other lists, another text.
    #[serde(default)]
    pub watches: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its id: the name of its znode.
    pub id: String,
    pub record: MemberRecord,
}

impl MemberRecord {
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// As it was written by a member of this or of another version; None where it is not a member's.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(bytes.get(..BYTES_MAX.min(bytes.len()))?).ok()?;
        let is_text = |text: &str| text.chars().count() <= TEXT_CHARS_MAX && !text.contains(char::is_control);
        let is_whole = is_text(&record.address) && is_text(&record.version) && is_text(&record.process);
        is_whole.then_some(record)
    }
}

/// Whether a text can be a replica's id: the name of a znode that people read.
pub fn is_id(id: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    (1..=64).contains(&id.len()) && id.chars().all(is_good) && id != "." && id != ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> MemberRecord {
        MemberRecord {
            address: "https://a.example".to_owned(),
            version: "0.1.0".to_owned(),
            since_ms: 7,
            capacity: 1,
            process: "p".to_owned(),
            session_timeout_ms: 10_000,
            watches: "x".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(MemberRecord::parse(&record().to_bytes()), Some(record()));
        let newer = String::from_utf8(record().to_bytes()).unwrap().replacen('{', "{\"colour\":\"red\",", 1);
        assert_eq!(MemberRecord::parse(newer.as_bytes()), Some(record()), "a newer version says more");
    }

    #[test]
    fn nothing_hostile_is_believed() {
        assert_eq!(MemberRecord::parse(b""), None);
        assert_eq!(MemberRecord::parse(&[b'['; 100_000]), None);
        let long = MemberRecord { address: "x".repeat(257), ..record() };
        assert_eq!(MemberRecord::parse(&long.to_bytes()), None);
        let odd = MemberRecord { version: "1\u{0}2".to_owned(), ..record() };
        assert_eq!(MemberRecord::parse(&odd.to_bytes()), None);
    }

    #[test]
    fn ids_are_names_of_znodes() {
        for good in ["a", "host.example:3000", "[::1]:3000", "lockscope-0"] {
            assert!(is_id(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(!is_id(bad), "{bad}");
        }
    }
}
