//! Run files of earlier versions.

use super::*;
use crate::{Lab, Limits};
use lockscope_runtime::clock::Clock;

const ID: &str = "897bea301a20434a";

/// A run that replayed an incident, written while the lab did so: `script` and `replay` are read no more.
const REPLAYED: &str = r#"{"id":"897bea301a20434a","revision":11,"ensemble":"default",
"root":"/lockscope-lab/run-897bea301a20434a","state":"finished","why":"",
"order":{"ensemble":"default","strategies":["predecessor"],"clients":3,"rounds":1,"hold_ms":0,"think_ms":0,
"duration_ms":null,"in_turn":true,"seed":1},
"by":"ada","ordered_at_ms":1795295021460,"ended_at_ms":1795295022049,
"strategies":[{"name":"predecessor","path":"/lockscope-lab/run-897bea301a20434a/predecessor","state":"finished",
"seats":"dxd","took_ms":571.745,"acquisitions":3,"acquisitions_wanted":3,"releases":3,"watch_events":2,
"watch_events_expected":null,"woken":0,"wasted":0,"reads":5,
"requests":{"create":3,"delete":2,"children":3,"exists":2,"data":0,"ping":0,"other":3},
"bytes":1432,"bytes_in":655,"bytes_out":777,
"handoff_ms":{"count":2,"p50":15.343,"p90":18.335,"p99":18.335,"max":18.335},"handoff_us":[[17090,1],[20508,1]],
"wait_ms":{"count":3,"p50":155.855,"p90":310.735,"p99":310.735,"max":310.735},"inversions":0,
"per_release":[[2,1],[1,1],[0,0]],"broken":0,"server_packets":28,"own_packets":28,"server_events":2}],
"faults":[],"loop_lag_ms":{"count":23,"p50":1.178,"p90":3.105,"p99":6.103,"max":6.103},
"server":[{"member":"127.0.0.1:2181","name":"zk_packets_received","grew":15}],
"script":"2 recorded locks are replayed 10 times as fast as they were: 4 contenders by 3 sessions",
"conclusion":"Recorded, divided by the speed of 10: 4 held. With 3 clients predecessor woke 2 clients for 2 hand-offs.",
"notes":["All 4 contenders of the range are played."],
"replay":{"source":{"ensemble":"default","path":"/orders","recipe":"sequential_mutex",
"further_locks":[{"path":"/other","recipe":"sequential_mutex"}],"from_ms":1795295000000,"to_ms":1795295005000,
"recorded_part":1.0,"cut":{"before":1,"after":0,"unsure":0}},
"speed":10,"clients":3,"turns":4,
"recorded":{"held":4,"left_waiting":0,"wait_p50_ms":1500,"wait_p95_ms":3100,"hand_off_p50_ms":100},
"locks":[{"path":"/orders","turns":3,
"recorded":{"held":3,"left_waiting":0,"wait_p50_ms":1500,"wait_p95_ms":3100,"hand_off_p50_ms":100}},
{"path":"/other","turns":1,
"recorded":{"held":1,"left_waiting":0,"wait_p50_ms":0,"wait_p95_ms":0,"hand_off_p50_ms":null}}],
"strategies":[{"name":"predecessor","played":4,
"figures":{"held":4,"left_waiting":0,"wait_p50_ms":155,"wait_p95_ms":310,"hand_off_p50_ms":15},
"locks":[{"held":3,"left_waiting":0,"wait_p50_ms":155,"wait_p95_ms":310,"hand_off_p50_ms":15},
{"held":1,"left_waiting":0,"wait_p50_ms":0,"wait_p95_ms":0,"hand_off_p50_ms":null}]}],
"sentence":"Recorded, divided by the speed of 10: 4 held."}}"#;

#[test]
fn replayed_run_is_still_listed_and_shown() {
    let data_dir = tempfile::tempdir().unwrap();
    fs::create_dir(data_dir.path().join("lab")).unwrap();
    fs::write(data_dir.path().join(format!("lab/{ID}.json")), REPLAYED).unwrap();
    let lab = Lab::new(Vec::new(), Limits::default(), Some(data_dir.path().to_owned()), Clock::system());
    let listed = lab.runs().runs;
    let [brief] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((brief.id.as_str(), brief.by.as_str(), brief.clients), (ID, "ada", 3));
    let run = lab.run(ID).unwrap();
    assert_eq!((run.revision, run.strategies[0].handoff_ms.p50, run.strategies[0].releases), (11, 15.343, 3));
    assert!(run.conclusion.starts_with("Recorded, divided by the speed of 10") && run.conclusion == brief.conclusion);
}
