//! `srvr`: the one word that every server answers unless configured otherwise: role, last transaction, version.

use std::collections::BTreeMap;

use lockscope_core::evidence::Health;
use lockscope_core::znode::Zxid;

use super::super::fault::Malformed;
use super::super::health::role;
use super::opening;

/// How ClickHouse Keeper begins its answer.
const CLICKHOUSE: &str = "ClickHouse Keeper version";

pub fn is_clickhouse(text: &str) -> bool {
    text.starts_with(CLICKHOUSE)
}

/// What it reports about a member.
pub fn parse(text: &str) -> Result<Health, Malformed> {
    opening(text)?;
    let told: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once(": ")).map(|(key, value)| (key.trim(), value.trim())).collect();
    let clickhouse = told.get(CLICKHOUSE).map(|version| format!("ClickHouse Keeper {version}").into_boxed_str());
    let version = told.get("Zookeeper version").map(|version| Box::from(*version)).or(clickhouse);
    let Some(version) = version else { return Err(Malformed::strange(text)) };
    let Some(mode) = told.get("Mode") else { return Err(Malformed::CutOff) };
    let number = |key: &str| told.get(key).and_then(|value| value.parse::<u64>().ok());
    let zxid = told.get("Zxid").and_then(|zxid| u64::from_str_radix(zxid.strip_prefix("0x")?, 16).ok());
    Ok(Health {
        role: role(mode),
        version: Some(version),
        zxid: zxid.map(|zxid| Zxid(zxid.cast_signed())),
        connections: number("Connections"),
        outstanding: number("Outstanding"),
        packets: number("Received").zip(number("Sent")),
        ..Health::default()
    })
}

#[cfg(test)]
mod tests {
    use lockscope_core::evidence::MemberRole;

    use super::*;

    /// From a real leader, 3.8.0.
    const REAL: &str = "Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC\nLatency min/avg/max: 0/0.0/0\nReceived: 4\nSent: 5\nConnections: 1\nOutstanding: 0\nZxid: 0x100000008\nMode: leader\nNode count: 5\nProposal sizes last/min/max: -1/-1/-1\n";

    #[test]
    fn a_real_answer() {
        let health = parse(REAL).unwrap();
        assert_eq!(
            (health.role, health.zxid, health.packets),
            (Some(MemberRole::Leader), Some(Zxid(4_294_967_304)), Some((4, 5)))
        );
        assert_eq!((health.connections, health.outstanding, health.watches), (Some(1), Some(0), None));
    }

    /// As its documentation shows it.
    #[test]
    fn clickhouse_keeper() {
        let text = "ClickHouse Keeper version: v23.3.1.2823-testing-46e85357ce2da2a99f56ee83a079e892d7ec3726\nLatency min/avg/max: 0/0/0\nReceived: 4\nSent : 5\nConnections: 1\nOutstanding: 0\nZxid: 36\nMode: leader\nNode count: 4\n";
        let health = parse(text).unwrap();
        assert!(is_clickhouse(text) && !is_clickhouse(REAL));
        assert!(health.version.unwrap().starts_with("ClickHouse Keeper v23.3.1"));
        assert_eq!((health.role, health.connections, health.zxid), (Some(MemberRole::Leader), Some(1), None));
    }

    #[test]
    fn half_an_answer_is_none() {
        assert_eq!(parse(&REAL[..120]), Err(Malformed::CutOff));
        assert!(matches!(parse("hello"), Err(Malformed::Strange { .. })));
    }
}
