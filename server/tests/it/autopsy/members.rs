//! Three members of one ensemble, over a change of leader.

use std::fs;

use serde_json::Value;

use super::{autopsy, copy, text};
use crate::harness::{Truth, ensemble};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_are_compared_over_a_change_of_leader() {
    let mut ensemble = ensemble().await;
    let truth = Truth::new(&ensemble.connect_string()).await;
    truth.make("/order").await;
    for _ in 0..5 {
        let path = truth.queue("/order/lock-").await;
        truth.delete(&path).await;
    }
    // Whoever leads is among these; two go on without it.
    let mut leader = 0;
    for (at, member) in ensemble.members().iter().enumerate() {
        if member.four_letter("srvr").await.unwrap().contains("Mode: leader") {
            leader = at;
        }
    }
    ensemble.members_mut()[leader].kill_minus_9().await.unwrap();
    let others: Vec<String> = (0..3).filter(|at| *at != leader).map(|at| ensemble.members()[at].address()).collect();
    let after = Truth::new(&others.join(",")).await;
    for _ in 0..5 {
        let path = after.queue("/order/lock-").await;
        after.delete(&path).await;
    }
    let place = tempfile::tempdir().unwrap();
    let copies: Vec<_> =
        (0..3).map(|at| copy(ensemble.members()[at].folder(), &place.path().join(format!("member-{at}")))).collect();
    let all: Vec<&str> = copies.iter().map(|path| text(path)).collect();
    let (code, report, said) = autopsy(&all).await;
    assert_eq!((code, report["holds"].as_u64()), (0, Some(10)), "{said}{report:#}");
    // The one that was away ends earlier, which is no difference.
    assert_eq!(report["coverage"]["differences"], Value::Array(Vec::new()), "{report:#}");
    let (code, alone, said) = autopsy(&[all[leader]]).await;
    assert_eq!((code, alone["holds"].as_u64()), (0, Some(5)), "{said}");

    // One whose log has a hole is named, and the others fill it.
    let hurt = (leader + 1) % 3;
    let below = copies[hurt].join("version-2");
    let mut logs: Vec<_> = fs::read_dir(&below).unwrap().map(|entry| entry.unwrap().path()).collect();
    logs.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log."));
    logs.sort();
    let bytes = fs::read(&logs[0]).unwrap();
    let name = b"/order/lock-0000000002";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    let mut changed = bytes.clone();
    changed[at] ^= 0xff;
    fs::write(&logs[0], changed).unwrap();
    let (code, report, said) = autopsy(&all).await;
    assert_eq!((code, report["holds"].as_u64()), (65, Some(10)), "{said}{report:#}");
    assert_eq!(report["coverage"]["missing"], Value::Array(Vec::new()), "the others have it: {report:#}");
    let [difference] = &report["coverage"]["differences"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!(difference["directory"], all[hurt]);
}
