//! AdminServer: what its JSON means. Pure; how it is asked is in `http`. Session ids are numbers above 2^53 there, so
//! they are read as 64-bit integers and never as floats.

use lockscope_core::evidence::{Connection, Expiry, Health, SessionTable, WatchTable};
use lockscope_core::znode::{SessionId, Zxid};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::bounded::{List, Lists};
use super::fault::{CONNECTIONS_MAX, EPHEMERALS_MAX, Malformed, SESSIONS_MAX, WATCHES_MAX, quote};
use super::health::{from_counters, role};
use super::monitor::Monitor;

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Connections {
    connections: List<Connected, CONNECTIONS_MAX>,
    #[serde(default)]
    secure_connections: List<Connected, CONNECTIONS_MAX>,
}

#[derive(Deserialize)]
struct Connected {
    #[serde(default)]
    remote_socket_address: String,
    session_id: Option<i64>,
    session_timeout: Option<i64>,
    established: Option<i64>,
    last_response_time: Option<i64>,
    packets_received: Option<u64>,
    last_operation: Option<String>,
}

#[derive(Deserialize)]
struct Dump {
    expiry_time_to_session_ids: Lists<i64, i64, SESSIONS_MAX>,
    session_id_to_ephemeral_paths: Lists<i64, Box<str>, EPHEMERALS_MAX>,
}

#[derive(Deserialize)]
struct Watches {
    path_to_session_ids: Lists<Box<str>, i64, WATCHES_MAX>,
}

#[derive(Deserialize)]
struct Stats {
    version: Option<String>,
    #[serde(default)]
    read_only: bool,
    server_stats: ServerStats,
}

#[derive(Deserialize)]
struct ServerStats {
    server_state: Option<String>,
    last_processed_zxid: Option<i64>,
    num_alive_client_connections: Option<u64>,
    outstanding_requests: Option<u64>,
    packets_received: Option<u64>,
    packets_sent: Option<u64>,
}

/// Who answers: what distinguishes one member's AdminServer from another's.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub struct Identity {
    /// Port for clients; -1 when it has only a secure one.
    pub client_port: i64,
    /// Its number in the ensemble; 0 when alone.
    pub server_id: i64,
    /// Its tick, ms.
    pub tick_time: Option<i64>,
}

/// An answer of this form, unless it is an error.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Malformed> {
    if body.is_empty() {
        return Err(Malformed::Empty);
    }
    let strange = |error: serde_json::Error| {
        if error.is_eof() {
            return Malformed::CutOff;
        }
        Malformed::strange(&String::from_utf8_lossy(body.get(..body.len().min(256)).unwrap_or(body)))
    };
    match serde_json::from_slice::<Envelope>(body).map_err(strange)?.error {
        Some(said) if said.contains("not currently serving") => Err(Malformed::NotServing),
        Some(said) => Err(Malformed::Refused { said: quote(&said) }),
        None => serde_json::from_slice(body).map_err(strange),
    }
}

/// `connections`: those that have a session.
pub fn connections(body: &[u8]) -> Result<Vec<Connection>, Malformed> {
    let told: Connections = read(body)?;
    let (plain, secure) = (told.connections.whole("connections")?, told.secure_connections.whole("connections")?);
    if plain.len() + secure.len() > CONNECTIONS_MAX {
        return Err(Malformed::TooMany { what: "connections", max: CONNECTIONS_MAX });
    }
    Ok(plain.into_iter().chain(secure).filter_map(connection).collect())
}

fn connection(told: Connected) -> Option<Connection> {
    let session = told.session_id.filter(|id| *id != 0)?;
    Some(Connection {
        session: SessionId(session),
        address: told.remote_socket_address.trim_start_matches('/').into(),
        timeout_ms: told.session_timeout.unwrap_or_default(),
        established_ms: told.established,
        answered_ms: told.last_response_time,
        received: told.packets_received,
        last_operation: told.last_operation.map(Into::into),
    })
}

/// `dump`: when sessions run out (on the leader) and what they own.
pub fn dump(body: &[u8]) -> Result<SessionTable, Malformed> {
    let told: Dump = read(body)?;
    let mut table = SessionTable::default();
    for (at_ms, ids) in told.expiry_time_to_session_ids.whole("sessions")? {
        table.expiries.extend(ids.into_iter().map(|id| (SessionId(id), Expiry::Running(at_ms))));
    }
    let ephemerals = told.session_id_to_ephemeral_paths.whole("ephemerals")?;
    table.ephemerals.extend(ephemerals.into_iter().map(|(id, owned)| (SessionId(id), owned)));
    Ok(table)
}

/// `watches_by_path`.
pub fn watches_by_path(body: &[u8]) -> Result<WatchTable, Malformed> {
    let told: Watches = read(body)?;
    let mut table = WatchTable::default();
    for (path, ids) in told.path_to_session_ids.whole("watches")? {
        let mut sessions: Vec<SessionId> = ids.into_iter().map(SessionId).collect();
        sessions.sort_unstable();
        sessions.dedup();
        table.by_path.insert(path, sessions);
    }
    Ok(table)
}

/// `monitor`: role, version and counters; it does not report the last transaction.
pub fn monitor(body: &[u8]) -> Result<Health, Malformed> {
    let told: Monitor = read(body)?;
    let Some(state) = told.server_state else { return Err(Malformed::strange("no server_state")) };
    let counters =
        from_counters(|name| told.counters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value));
    Ok(Health { role: role(&state), version: told.version.map(Into::into), ..counters })
}

/// `server_stats`: the last transaction, and what else it reports about a member.
pub fn server_stats(body: &[u8]) -> Result<Health, Malformed> {
    let told: Stats = read(body)?;
    let stats = told.server_stats;
    let word = if told.read_only { Some("read-only") } else { stats.server_state.as_deref() };
    Ok(Health {
        role: word.and_then(role),
        version: told.version.map(Into::into),
        zxid: stats.last_processed_zxid.map(Zxid),
        connections: stats.num_alive_client_connections,
        outstanding: stats.outstanding_requests,
        packets: stats.packets_received.zip(stats.packets_sent),
        ..Health::default()
    })
}

/// `monitor`: followers in sync; only a leader reports it.
pub(super) fn synced_followers(body: &[u8]) -> Result<usize, Malformed> {
    #[derive(Deserialize)]
    struct Counters {
        synced_followers: usize,
    }
    read::<Counters>(body).map(|counters| counters.synced_followers)
}

/// `configuration`: which member this is.
pub fn identity(body: &[u8]) -> Result<Identity, Malformed> {
    read(body)
}

#[cfg(test)]
mod tests {
    use lockscope_core::evidence::MemberRole;

    use super::*;

    const SESSION: SessionId = SessionId(72_059_164_892_004_353);

    #[test]
    fn connections_of_a_real_server_are_exact() {
        let body = br#"{"connections":[{"remote_socket_address":"127.0.0.1:58690","interest_ops":1,"outstanding_requests":0,"packets_received":6,"packets_sent":7,"session_id":72059164892004353,"last_operation":"GETC","established":1795250057782,"session_timeout":8000,"last_cxid":5,"last_zxid":4294967300,"last_response_time":24000120,"last_latency":1},{"remote_socket_address":"127.0.0.1:1","packets_received":1}],"secure_connections":[{"remote_socket_address":"10.0.0.1:5","session_id":-71776119061217281,"session_timeout":4000}],"command":"connections","error":null}"#;
        let told = connections(body).unwrap();
        assert_eq!(
            (told.len(), told[0].session, told[0].timeout_ms, told[0].answered_ms),
            (2, SESSION, 8_000, Some(24_000_120))
        );
        assert_eq!(
            (&*told[0].address, told[0].received, told[0].established_ms),
            ("127.0.0.1:58690", Some(6), Some(1_795_250_057_782))
        );
        assert_eq!((told[1].session, &*told[1].address), (SessionId(-71_776_119_061_217_281), "10.0.0.1:5"));
    }

    #[test]
    fn dump_of_a_real_leader() {
        let body = br#"{"expiry_time_to_session_ids":{"24008500":[144116758931505152,72059164892004353]},"session_id_to_ephemeral_paths":{"72059164892004353":["/l/x-0000000000"]},"command":"dump","error":null}"#;
        let table = dump(body).unwrap();
        assert_eq!((table.expiries.len(), table.expiries[&SESSION]), (2, Expiry::Running(24_008_500)));
        assert_eq!(&*table.ephemerals[&SESSION][0], "/l/x-0000000000");
    }

    #[test]
    fn watches_and_health_of_a_real_server() {
        let table = watches_by_path(
            br#"{"path_to_session_ids":{"/l":[72059164892004353]},"command":"watches_by_path","error":null}"#,
        )
        .unwrap();
        assert_eq!(table.by_path["/l"], [SESSION]);
        let health = monitor(br#"{"version":"3.8.0","server_state":"leader","avg_latency":0.0,"max_client_response_size":-1,"watch_count":7,"cnt_node_deleted_watch_count":2,"sum_node_deleted_watch_count":9,"command":"monitor","error":null}"#).unwrap();
        assert_eq!((health.role, health.watches, health.deleted.watches), (Some(MemberRole::Leader), Some(7), 9));
        let stats = server_stats(br#"{"version":"3.8.0","read_only":false,"server_stats":{"packets_sent":7,"packets_received":5,"server_state":"follower","last_processed_zxid":4294967296,"avg_latency":0.0},"command":"server_stats","error":null}"#).unwrap();
        assert_eq!(
            (stats.role, stats.zxid, stats.packets),
            (Some(MemberRole::Follower), Some(Zxid(4_294_967_296)), Some((5, 7)))
        );
        let who =
            identity(br#"{"client_port":30181,"tick_time":500,"server_id":1,"command":"configuration","error":null}"#)
                .unwrap();
        assert_eq!(who, Identity { client_port: 30_181, server_id: 1, tick_time: Some(500) });
    }

    #[test]
    fn errors_and_strangers() {
        let serving = br#"{"command":"dump","error":"This ZooKeeper instance is not currently serving requests"}"#;
        assert_eq!(dump(serving), Err(Malformed::NotServing));
        assert_eq!(
            dump(br#"{"command":"x","error":"Unknown command: x"}"#),
            Err(Malformed::Refused { said: "Unknown command: x".to_owned() })
        );
        assert_eq!(dump(b""), Err(Malformed::Empty));
        assert_eq!(dump(br#"{"expiry_time_to_session_ids":{"1":[1"#), Err(Malformed::CutOff));
        assert!(matches!(dump(b"<html>Jenkins</html>"), Err(Malformed::Strange { .. })));
        assert!(matches!(dump(br#"{"status":"UP"}"#), Err(Malformed::Strange { .. })));
    }
}
