//! Answers of members that no server gave: real ones, mutated and mixed. No word makes a parser panic, and what is read
//! is never more than what was said.

use std::hint::black_box;

use lockscope_zookeeper::members::four_letter::{cons, dump, mntr, srvr, wchp};
use lockscope_zookeeper::members::{connections, identity, monitor, server_stats, watches_by_path};

/// Answers that are read; more by the environment.
fn answers() -> usize {
    std::env::var("FOUR_LETTER_FUZZ_ANSWERS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// Parsers that everything is given to, by their place in what [`read`] says.
const PARSERS: usize = 13;
/// Whose each real answer is.
const OWN: [usize; REAL.len()] = [0, 1, 1, 5, 6, 2, 7, 9, 10, 8, 11];

/// Of ZooKeeper 3.8.0, and of its AdminServer.
const REAL: [&str; 11] = [
    " /127.0.0.1:58690[1](queued=0,recved=6,sent=7,sid=0x100016dbe330001,lop=GETC,est=1795250057782,to=8000,lcxid=0x5,lzxid=0x100000004,lresp=24000120,llat=1,minlat=0,avglat=5,maxlat=12)\n /[0:0:0:0:0:0:0:1]:53648[0](queued=0,recved=1,sent=0)\n\n",
    "SessionTracker dump:\nSession Sets (3)/(2):\n0 expire at Sat Nov 21 08:34:25 UTC 2026:\n1 expire at Sat Nov 21 08:34:27 UTC 2026:\n\t0x200016dbe4b0000\n1 expire at Sat Nov 21 08:34:31 UTC 2026:\n\t0x100016dbe330001\nephemeral nodes dump:\nSessions with Ephemerals (2):\n0x200016dbe4b0000:\n\t/l/x-0000000001\n0x100016dbe330001:\n\t/l/x-0000000000\n\t/l/a b expire at:\nConnections dump:\nConnections Sets (2)/(2):\n1 expire at Sat Nov 21 08:34:27 UTC 2026:\n\tip: /127.0.0.1:43638 sessionId: 0x200016dbe4b0000\n",
    "SessionTracker dump:\nGlobal Sessions(1):\n0x100016dbe330001\t8000ms\nephemeral nodes dump:\nSessions with Ephemerals (0):\nConnections dump:\nConnections Sets (0)/(0):\n",
    "zk_version\t3.8.0-1, built on 2024-12-29 17:54 UTC\nzk_server_state\tleader\nzk_outstanding_requests\t0\nzk_znode_count\t5\nzk_avg_latency\t0.5\nzk_synced_followers\t2\nzk_packets_received\t9223372036854775807\n",
    "Zookeeper version: 3.8.0-1, built on 2024-12-29 17:54 UTC\nLatency min/avg/max: 0/0.0/0\nReceived: 4\nSent: 5\nConnections: 1\nOutstanding: 0\nZxid: 0x100000008\nMode: leader\nNode count: 5\n",
    "/l\n\t0x100016dbe330001\n\t0x2\n/l/a b\n\t0x2\n\n",
    r#"{"connections":[{"remote_socket_address":"127.0.0.1:1","interest_ops":1,"outstanding_requests":0,"packets_received":6,"packets_sent":7,"session_id":72059164892004353,"last_operation":"GETC","established":1795250057782,"session_timeout":8000,"last_cxid":5,"last_zxid":4294967300,"last_response_time":24000120,"last_latency":1,"min_latency":0,"avg_latency":5,"max_latency":12}],"secure_connections":[],"command":"connections","error":null}"#,
    r#"{"path_to_session_ids":{"/l":[72059164892004353,2],"/l/a b":[2]},"command":"watches_by_path","error":null}"#,
    r#"{"version":"3.8.0","server_state":"leader","outstanding_requests":0,"znode_count":5,"last_zxid":4294967304,"command":"monitor","error":null}"#,
    r#"{"expiry_time_to_session_ids":{"1795250067000":[72059164892004353]},"session_id_to_ephemeral_paths":{"72059164892004353":["/l/x-0000000000"]},"command":"dump","error":null}"#,
    r#"{"version":"3.8.0","read_only":false,"server_stats":{"packets_sent":5,"packets_received":4,"outstanding_requests":0,"server_state":"leader","last_processed_zxid":4294967304},"node_count":5,"command":"server_stats","error":null}"#,
];

/// What breaks parsers: numbers at the edges, half a line, other alphabets, brackets that do not close.
const PIECES: [&str; 24] = [
    "\n",
    "\n\n",
    "\t",
    "0x",
    "0xffffffffffffffff",
    "0x10000000000000000",
    "-1",
    "9223372036854775808",
    "](",
    ")",
    "[",
    "/",
    "sid=",
    "est=-9223372036854775808",
    " expire at ",
    ":",
    "=",
    "鎖",
    "\u{202e}",
    "\0",
    "{\"a\":",
    "[[[[[[[[[[",
    "\\ud800",
    "null",
];

/// A small generator of our own: the same answers in each run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % end.max(1)
    }

    /// Bytes, made text as what arrives from a socket is.
    fn mutate(&mut self, text: &str, other: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.below(256) as u8),
                1 => bytes.truncate(at),
                2 => drop(bytes.drain(at..(at + self.below(20)).min(bytes.len()))),
                3 => {
                    let piece = PIECES[self.below(PIECES.len())];
                    drop(bytes.splice(at..at, piece.bytes()));
                }
                4 => {
                    let end = (at + self.below(80)).min(bytes.len());
                    let again = bytes[at..end].to_vec();
                    drop(bytes.splice(at..at, again));
                }
                _ => {
                    let from = self.below(other.len());
                    let end = (from + self.below(80)).min(other.len());
                    drop(bytes.splice(at..at, other.as_bytes()[from..end].iter().copied()));
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Reads it as everything, and says in which ways that succeeded.
fn read(text: &str) -> [bool; PARSERS] {
    let lines = text.lines().count();
    let (clients, table, watches) = (cons::parse(text), dump::parse(text), wchp::parse(text));
    assert!(clients.as_ref().is_ok_and(|clients| clients.len() <= lines) || clients.is_err());
    assert!(watches.as_ref().is_ok_and(|watches| watches.by_path.len() <= lines) || watches.is_err());
    let packets = cons::packets(text);
    assert!(packets.as_ref().is_ok_and(|packets| packets.len() <= lines) || packets.is_err());
    let counters = mntr::counters(text, &["zk_packets_received", "zk_outstanding_requests"]);
    let body = text.as_bytes();
    [
        black_box(clients).is_ok(),
        black_box(table).is_ok(),
        black_box(watches).is_ok(),
        black_box(packets).is_ok(),
        black_box(counters).is_ok(),
        black_box(mntr::parse(text)).is_ok(),
        black_box(srvr::parse(text)).is_ok(),
        black_box(connections(body)).is_ok(),
        black_box(lockscope_zookeeper::members::dump(body)).is_ok(),
        black_box(watches_by_path(body)).is_ok(),
        black_box(monitor(body)).is_ok(),
        black_box(server_stats(body)).is_ok(),
        black_box(identity(body)).is_ok(),
    ]
}

#[test]
fn no_answer_makes_a_parser_panic() {
    for (text, own) in REAL.iter().zip(OWN) {
        assert!(read(text)[own], "a real answer is not read as what it is: {text}");
    }
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..answers() {
        let (at, other) = (noise.below(REAL.len()), noise.below(REAL.len()));
        let mutated = noise.mutate(REAL[at], REAL[other]);
        *(if read(&mutated)[OWN[at]] { &mut taken } else { &mut refused }) += 1;
    }
    assert!(
        taken > answers() / 20 && refused > answers() / 20,
        "{taken} taken, {refused} refused: too few or too many mutations"
    );
}

/// Half an answer is never read as all of it, wherever it was cut.
#[test]
fn an_answer_that_is_cut_off_is_not_taken_for_a_whole_one() {
    for (text, parse) in [
        (REAL[0], (|text: &str| cons::parse(text).map(|clients| clients.len())) as fn(&str) -> Result<usize, _>),
        (REAL[5], |text| wchp::parse(text).map(|watches| watches.by_path.values().map(Vec::len).sum())),
    ] {
        let all = parse(text).unwrap();
        for end in (1..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(parse(&text[..end]).is_err() || parse(&text[..end]) == Ok(all), "{:?}", &text[..end]);
        }
    }
}
