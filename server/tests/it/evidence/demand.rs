//! Watches cost a server much: asked only when somebody wants them, and not often.

use lockscope_core::evidence::MemberAnswer;
use lockscope_core::znode::SessionId;
use lockscope_zookeeper::members::{Demand, WATCHES_EVERY};
use zookeeper_client::AddWatchMode;

use super::collected::Collected;
use crate::harness::{Truth, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_are_asked_on_demand_and_rarely() {
    let server = zookeeper().await;
    let name = server.address();
    let truth = Truth::new(&name).await;
    truth.make("/watched").await;
    let _watcher = truth.client.watch("/watched", AddWatchMode::Persistent).await.unwrap();
    let session = SessionId(truth.client.session_id().0);
    let mut collected = Collected::start(&name, &[]);
    for _ in 0..2 {
        let round = collected.round().await;
        assert!(round.reports.iter().all(|report| report.watches == MemberAnswer::NotAsked), "nobody wanted them");
    }
    collected.demand.send(Demand { watches: true, waiters: false }).unwrap();
    let mut asked = Vec::new();
    while asked.len() < 2 {
        for report in collected.round().await.reports {
            if let Some((at, table)) = report.watches.value() {
                assert!(table.by_path["/watched"].contains(&session), "{table:?}");
                asked.push(at.0);
            }
        }
    }
    assert!(i128::from(asked[1] - asked[0]) >= i128::try_from(WATCHES_EVERY.as_millis()).unwrap(), "{asked:?}");
    collected.stop().await;
}
