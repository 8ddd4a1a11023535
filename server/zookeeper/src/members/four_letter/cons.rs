//! `cons`: who is connected.

use std::collections::BTreeMap;

use lockscope_core::evidence::Connection;
use lockscope_core::znode::SessionId;

use super::super::fault::{CONNECTIONS_MAX, Malformed, count};
use super::{ending, opening, session};

/// The connections that have a session; the others (our own question is one) are nobody's.
pub fn parse(text: &str) -> Result<Vec<Connection>, Malformed> {
    opening(text)?;
    let mut connections = Vec::new();
    let mut lines = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        count(&mut lines, "connections", CONNECTIONS_MAX)?;
        connections.extend(connection(line).ok_or_else(|| Malformed::strange(line))?);
    }
    ending(text)?;
    Ok(connections)
}

/// ` /ip:port[ops](key=value,…)`; the inner None is a line without a session.
fn connection(line: &str) -> Option<Option<Connection>> {
    let (head, rest) = line.split_once("](")?;
    // Newer Javas put brackets around IPv6 addresses: the last one opens the operations.
    let (address, _) = head.rsplit_once('[')?;
    let (_, address) = address.split_once('/')?;
    let (fields, _) = rest.rsplit_once(')')?;
    let mut told = Connection {
        session: SessionId(0),
        address: address.into(),
        timeout_ms: 0,
        established_ms: None,
        answered_ms: None,
        received: None,
        last_operation: None,
    };
    for (key, value) in fields.split(',').filter_map(|field| field.split_once('=')) {
        match key {
            "sid" => told.session = session(value)?,
            "to" => told.timeout_ms = value.parse().ok()?,
            "est" => told.established_ms = value.parse().ok(),
            "lresp" => told.answered_ms = value.parse().ok(),
            "recved" => told.received = value.parse().ok(),
            "lop" => told.last_operation = Some(value.into()),
            _ => {}
        }
    }
    Some((told.session.0 != 0).then_some(told))
}

/// Packets that the member counted of one session's connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// From the client.
    pub received: u64,
    /// To the client.
    pub sent: u64,
}

impl Packets {
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self { received: self.received.saturating_sub(before.received), sent: self.sent.saturating_sub(before.sent) }
    }
}

/// Both counts of packets, by session.
pub fn packets(text: &str) -> Result<BTreeMap<SessionId, Packets>, Malformed> {
    opening(text)?;
    ending(text)?;
    let mut packets = BTreeMap::new();
    let mut lines = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        count(&mut lines, "connections", CONNECTIONS_MAX)?;
        let fields = line
            .split_once("](")
            .and_then(|(_, rest)| rest.rsplit_once(')'))
            .ok_or_else(|| Malformed::strange(line))?
            .0;
        let told = |key: &str| fields.split(',').find_map(|field| field.strip_prefix(key)?.strip_prefix('='));
        let Some(id) = told("sid").and_then(session) else { continue };
        let number = |key: &str| told(key).and_then(|value| value.parse().ok()).ok_or_else(|| Malformed::strange(line));
        packets.insert(id, Packets { received: number("recved")?, sent: number("sent")? });
    }
    Ok(packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a real 3.8.0.
    const REAL: &str = " /127.0.0.1:58690[1](queued=0,recved=6,sent=7,sid=0x100016dbe330001,lop=GETC,est=1795250057782,to=8000,lcxid=0x5,lzxid=0x100000004,lresp=24000120,llat=1,minlat=0,avglat=5,maxlat=12)\n /127.0.0.1:53648[0](queued=0,recved=1,sent=0)\n\n";

    #[test]
    fn a_real_answer() {
        let expected = Connection {
            session: SessionId(0x0100_016d_be33_0001),
            address: "127.0.0.1:58690".into(),
            timeout_ms: 8_000,
            established_ms: Some(1_795_250_057_782),
            answered_ms: Some(24_000_120),
            received: Some(6),
            last_operation: Some("GETC".into()),
        };
        assert_eq!(parse(REAL), Ok(vec![expected]));
    }

    #[test]
    fn packets_of_sessions() {
        let told = packets(REAL).unwrap();
        assert_eq!(
            told.into_iter().collect::<Vec<_>>(),
            [(SessionId(0x0100_016d_be33_0001), Packets { received: 6, sent: 7 })]
        );
        assert_eq!(packets(REAL.trim_end()), Err(Malformed::CutOff));
    }

    #[test]
    fn addresses_of_version_six() {
        for address in ["0:0:0:0:0:0:0:1:50070", "[0:0:0:0:0:0:0:1]:50070"] {
            let told = parse(&format!(" /{address}[1](sid=0x1,new=?,to=4000)\n\n")).unwrap();
            assert_eq!((&*told[0].address, told[0].timeout_ms), (address, 4_000));
        }
    }

    #[test]
    fn half_an_answer_is_none() {
        let whole = REAL.trim_end();
        assert_eq!(parse(whole), Err(Malformed::CutOff));
        assert!(matches!(parse(&whole[..80]), Err(Malformed::Strange { .. })));
        assert!(matches!(parse("HTTP/1.1 400 Bad Request\r\n\r\n"), Err(Malformed::Strange { .. })));
    }
}
