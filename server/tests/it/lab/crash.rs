//! A server that dies in the midst of a run: what it left is removed at the next start.

use lockscope_lab::{Lab, Limits};
use lockscope_runtime::clock::Clock;
use lockscope_view::{LabState, Strategy};

use super::place;
use super::scene::{is_clean, order, sessions};
use crate::harness::{DEADLINE, Truth, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_a_dead_server_is_swept() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let before = sessions(&server).await;
    let lab = || Lab::new(vec![place(&server)], Limits::default(), None, Clock::system());

    // A runtime that is dropped closes its sockets and says no good-byes, as a killed process does.
    let doomed = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let its_lab = lab();
    let running = doomed.spawn(async move {
        let id = its_lab.start(order(Strategy::Predecessor, 5, 60_000), "anna").unwrap();
        let mut changes = its_lab.changes();
        while its_lab.run(&id).unwrap().strategies[0].state != LabState::Running {
            changes.changed().await.unwrap();
        }
        id
    });
    let id = tokio::time::timeout(DEADLINE, running).await.unwrap().unwrap();
    doomed.shutdown_background();
    let run = format!("/lockscope-lab/run-{id}");
    assert!(truth.client.check_stat(&run).await.unwrap().is_some(), "it is left behind");

    lab().sweep().await;
    assert!(truth.client.check_stat(&run).await.unwrap().is_none(), "it is swept");
    is_clean(&server, &truth, &before).await;
}
