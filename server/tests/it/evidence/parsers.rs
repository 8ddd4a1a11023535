//! Whatever a server sends, reading it ends in a value or an error: arbitrary bytes, and real answers with damage.

use lockscope_zookeeper::members::four_letter::{cons, dump, mntr, srvr, wchp};
use lockscope_zookeeper::members::{connections, monitor, server_stats, watches_by_path};
use proptest::prelude::*;

/// Real answers of 3.8.0.
const REAL: [&str; 8] = [
    " /127.0.0.1:58690[1](queued=0,recved=6,sent=7,sid=0x100016dbe330001,lop=GETC,est=1795250057782,to=8000,lcxid=0x5,lzxid=0x100000004,lresp=24000120,llat=1,minlat=0,avglat=5,maxlat=12)\n /127.0.0.1:53648[0](queued=0,recved=1,sent=0)\n\n",
    "SessionTracker dump:\nSession Sets (1)/(2):\n2 expire at Sat Nov 21 08:34:26 UTC 2026:\n\t0x300016dbe330000\n\t0x100016dbe330001\nephemeral nodes dump:\nSessions with Ephemerals (1):\n0x100016dbe330001:\n\t/l/x-0000000000\nConnections dump:\nConnections Sets (1)/(1):\n1 expire at Sat Nov 21 08:34:27 UTC 2026:\n\tip: /127.0.0.1:43638 sessionId: 0x200016dbe4b0000\n",
    "/l\n\t0x100016dbe330001\n\t0x2\n\n",
    "zk_version\t3.8.0\nzk_server_state\tleader\nzk_watch_count\t7\nzk_avg_latency\t0.0\n",
    "Zookeeper version: 3.8.0, built on 2024-12-29 17:54 UTC\nReceived: 4\nSent: 5\nZxid: 0x100000008\nMode: leader\nNode count: 5\n",
    r#"{"connections":[{"remote_socket_address":"127.0.0.1:58690","session_id":72059164892004353,"session_timeout":8000}],"secure_connections":[],"error":null}"#,
    r#"{"expiry_time_to_session_ids":{"24008500":[144116758931505152]},"session_id_to_ephemeral_paths":{"72059164892004353":["/l/x"]},"error":null}"#,
    r#"{"version":"3.8.0","server_state":"leader","watch_count":7,"read_only":false,"server_stats":{"last_processed_zxid":4294967296},"path_to_session_ids":{"/l":[1]}}"#,
];

fn read_all(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (cons::parse(&text), dump::parse(&text), wchp::parse(&text), mntr::parse(&text), srvr::parse(&text));
    let _ = (
        connections(bytes),
        lockscope_zookeeper::members::dump(bytes),
        watches_by_path(bytes),
        monitor(bytes),
        server_stats(bytes),
    );
    let _ = lockscope_zookeeper::members::identity(bytes);
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
    }

    #[test]
    fn real_answers_with_damage(
        which in 0..REAL.len(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 0..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = REAL[which].as_bytes().to_vec();
        for (at, byte, how) in damage {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => { bytes.remove(at); }
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        read_all(&bytes);
    }

    #[test]
    fn ids_are_exact_both_ways(id in any::<i64>().prop_filter("no session", |id| *id != 0)) {
        let text = format!(" /127.0.0.1:1[1](sid=0x{id:x},to=1)\n\n");
        prop_assert_eq!(cons::parse(&text).unwrap()[0].session.0, id);
        let json = format!(r#"{{"connections":[{{"session_id":{id}}}]}}"#);
        prop_assert_eq!(connections(json.as_bytes()).unwrap()[0].session.0, id);
        let json = format!(r#"{{"expiry_time_to_session_ids":{{"1":[{id}]}},"session_id_to_ephemeral_paths":{{"{id}":["/a"]}}}}"#);
        let table = lockscope_zookeeper::members::dump(json.as_bytes()).unwrap();
        prop_assert!(table.expiries.keys().chain(table.ephemerals.keys()).all(|session| session.0 == id));
    }
}

#[test]
fn real_answers_are_read() {
    assert!(cons::parse(REAL[0]).is_ok() && dump::parse(REAL[1]).is_ok() && wchp::parse(REAL[2]).is_ok());
    assert!(mntr::parse(REAL[3]).is_ok() && srvr::parse(REAL[4]).is_ok());
    assert!(connections(REAL[5].as_bytes()).is_ok() && lockscope_zookeeper::members::dump(REAL[6].as_bytes()).is_ok());
}
