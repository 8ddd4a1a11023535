//! What a member tells may be anything: reading it takes no more memory than the largest answer that is understood.

use lockscope_zookeeper::members::{
    BODY_BYTES_MAX, Malformed, connections, dump, identity, monitor, server_stats, watches_by_path,
};

use super::{alone, memory_mib};

/// More than this must not be taken to read an answer that is not understood.
const TAKEN_MIB_MAX: u64 = 96;

/// An answer as long as any that is taken: `opening`, then `piece` again and again, then `closing`.
fn long(opening: &str, piece: impl Fn(usize) -> String, closing: &str) -> Vec<u8> {
    let mut text = opening.to_owned();
    for at in 0.. {
        let piece = piece(at);
        if text.len() + piece.len() + closing.len() >= BODY_BYTES_MAX {
            break;
        }
        text.push_str(&piece);
    }
    text.pop();
    text.push_str(closing);
    text.into_bytes()
}

/// Reads an answer, and tells how many MiB that took at most beside what was in use before.
fn taken_mib(body: &[u8], read: impl Fn(&[u8]) -> Result<(), Malformed>, expected: &str) -> u64 {
    // Asks the system to measure the most from here on.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before_mib = memory_mib("VmRSS");
    let said = read(body).unwrap_err().to_string();
    assert!(said.contains(expected), "{said}");
    memory_mib("VmHWM").saturating_sub(before_mib)
}

#[test]
fn endless_lists_of_a_member_take_little_memory() {
    alone("budgets::member_answers::endless_lists_of_a_member_take_little_memory", || async {
        let nothings = long("{\"connections\":[", |_| "{},".to_owned(), "]}");
        let expiries = long(
            "{\"session_id_to_ephemeral_paths\":{},\"expiry_time_to_session_ids\":{",
            |at| format!("\"{at}\":[],"),
            "}}",
        );
        let paths = long(
            "{\"expiry_time_to_session_ids\":{},\"session_id_to_ephemeral_paths\":{\"1\":[",
            |_| "\"\",".to_owned(),
            "]}}",
        );
        let watches = long("{\"path_to_session_ids\":{\"/\":[", |_| "1,".to_owned(), "]}}");
        let counters = long("{", |at| format!("\"{at:x}\":[],"), "}");
        let figures = [
            ("connections", taken_mib(&nothings, |body| connections(body).map(drop), "more than 100000 connections")),
            ("sessions", taken_mib(&expiries, |body| dump(body).map(drop), "more than 200000 sessions")),
            ("ephemerals", taken_mib(&paths, |body| dump(body).map(drop), "more than 200000 ephemerals")),
            ("watches", taken_mib(&watches, |body| watches_by_path(body).map(drop), "more than 400000 watches")),
            ("counters", taken_mib(&counters, |body| monitor(body).map(drop), "no server_state")),
            ("statistics", taken_mib(&counters, |body| server_stats(body).map(drop), "was not understood")),
            ("identity", taken_mib(&nothings, |body| identity(body).map(drop), "was not understood")),
        ];
        eprintln!("figure: MiB taken to read 16 MiB of a member: {figures:?}");
        assert!(figures.iter().all(|(_, taken_mib)| *taken_mib <= TAKEN_MIB_MAX), "{figures:?}");
    });
}
