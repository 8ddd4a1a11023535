//! What libraries call their znodes. Pure but for the random parts, which may be given.

use zookeeper_client::Client;

/// How a library names the znodes of an exclusive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `lock-0000000001`: the plain recipe.
    Plain,
    /// `x-<session id>-0000000001`: ZooKeeper's own WriteLock.
    WriteLock,
    /// `_c_<uuid>-lock-0000000001`: Apache Curator.
    Curator,
    /// `_c_<uuid>-latch-0000000001`: Apache Curator's LeaderLatch.
    Latch,
    /// `<32 hex>__lock__0000000001`: kazoo.
    Kazoo,
}

impl Style {
    /// The name before the sequence number.
    pub(super) fn prefix(self, client: &Client) -> String {
        self.prefix_of(client.session_id().0, rand::random())
    }

    /// The same of a session, with the random part.
    pub(super) fn prefix_of(self, session: i64, random: u128) -> String {
        match self {
            Self::Plain => "lock-".to_owned(),
            Self::WriteLock => format!("x-{session}-"),
            Self::Curator => protected_by(random, "lock-"),
            Self::Latch => protected_by(random, "latch-"),
            Self::Kazoo => format!("{}__lock__", hex_of(random)),
        }
    }

    /// What a library looks for in a name to recognise its own kind: it does not see others.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Plain | Self::Curator => "lock-",
            Self::WriteLock => "x-",
            Self::Latch => "latch-",
            Self::Kazoo => "__lock__",
        }
    }
}

/// The 32 hexadecimal digits of a random UUID (version 4).
pub(super) fn hex() -> String {
    hex_of(rand::random())
}

pub(super) fn hex_of(random: u128) -> String {
    const VERSION_AND_VARIANT: u128 = (0xf << 76) | (0b11 << 62);
    format!("{:032x}", random & !VERSION_AND_VARIANT | (4 << 76) | (0b10 << 62))
}

/// A name as Curator protects it: a client that lost a reply finds its znode by the random part.
pub(super) fn protected(name: &str) -> String {
    protected_by(rand::random(), name)
}

pub(super) fn protected_by(random: u128, name: &str) -> String {
    let hex = hex_of(random);
    format!("_c_{}-{}-{}-{}-{}-{name}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// The digits at the end of a name; they order a queue whatever comes before them.
pub(super) fn order(name: &str) -> &str {
    let start = name.len().saturating_sub(10);
    name.get(start..).unwrap_or(name)
}

/// The last of those marked ones that came before `own`.
pub(super) fn nearest<'a>(names: &'a [String], own: &str, mark: &str) -> Option<&'a String> {
    names.iter().filter(|name| name.contains(mark) && order(name) < order(own)).max_by_key(|name| order(name))
}

/// The first of all marked ones, when it came before `own`.
pub(super) fn first<'a>(names: &'a [String], own: &str, mark: &str) -> Option<&'a String> {
    names.iter().filter(|name| name.contains(mark) && order(name) < order(own)).min_by_key(|name| order(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_name_is_a_uuid() {
        let hex = hex();
        assert_eq!((hex.len(), &hex[12..13]), (32, "4"));
        assert!(matches!(&hex[16..17], "8" | "9" | "a" | "b"), "{hex}");
    }

    #[test]
    fn one_waits_only_for_marked_ones_in_front() {
        let names = [
            "b-__WRIT__0000000001",
            "a-__READ__0000000002",
            "c-__WRIT__0000000003",
            "d-__READ__0000000004",
            "x-__WRIT__0000000005",
        ];
        let names = names.map(str::to_owned);
        assert_eq!(first(&names, "d-__READ__0000000004", "__WRIT__"), Some(&names[0]));
        assert_eq!(nearest(&names, "d-__READ__0000000004", "__WRIT__"), Some(&names[2]));
        assert_eq!(nearest(&names, "x-__WRIT__0000000005", "__"), Some(&names[3]));
        assert_eq!(nearest(&names, "b-__WRIT__0000000001", "__"), None);
        assert_eq!(nearest(&names, "d-__READ__0000000004", "__lock__"), None);
    }
}
