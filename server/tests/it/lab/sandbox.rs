//! The directory of a run: made whole, removed whole, and swept when its server died.

use lockscope_lab::sandbox::{Sandbox, sweep};
use lockscope_view::Strategy;
use zookeeper_client::{Acls, CreateMode};

use super::place;
use crate::harness::{Truth, zookeeper};

const ID: &str = "0123456789abcdef";

async fn children(truth: &Truth, path: &str) -> Vec<String> {
    let mut names = truth.client.list_children(path).await.unwrap();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_leaves_nothing() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let before = children(&truth, "/").await;
    let strategies = [Strategy::Predecessor, Strategy::HerdChildren];
    let sandbox = Sandbox::create(&place(&server), ID, &strategies).await.unwrap();
    assert_eq!(sandbox.root(), format!("/lockscope-lab/run-{ID}"));
    assert_eq!(
        children(&truth, sandbox.root()).await,
        ["fence-herd_children", "fence-predecessor", "herd_children", "owner", "predecessor"]
    );
    let again = Sandbox::create(&place(&server), ID, &strategies).await.unwrap_err();
    assert!(again.contains(ID) && again.contains("exists"), "{again}");
    let lane = sandbox.lane(Strategy::Predecessor);
    for _ in 0..1_200 {
        truth.queue(&format!("{lane}/lock-")).await;
    }
    truth.make(&format!("{lane}/lock-0000009999/below/more")).await;
    sandbox.remove().await.unwrap();
    assert_eq!(children(&truth, "/").await, before);
    sandbox.remove().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_that_somebody_made_stays() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/lockscope-lab").await;
    let sandbox = Sandbox::create(&place(&server), ID, &[Strategy::HerdExists]).await.unwrap();
    sandbox.remove().await.unwrap();
    assert!(children(&truth, "/lockscope-lab").await.is_empty());
    assert_eq!(sweep(&place(&server)).await, Ok(0));
    assert!(truth.client.check_stat("/lockscope-lab").await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_removes_dead_runs_and_nothing_else() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let place = place(&server);
    assert_eq!(sweep(&place).await, Ok(0), "there is no lab");
    let dead = format!("/lockscope-lab/run-{ID}");
    for path in [
        "/lockscope-lab/mine/a",
        "/lockscope-lab/run-0123",
        "/lockscope-lab/run-0123456789ABCDEF",
        "/lockscope-lab/run-0123456789abcdef0",
    ] {
        truth.make(path).await;
    }
    truth.make(&format!("{dead}/predecessor/lock-0000000000")).await;
    truth.make(&format!("{dead}/fence-predecessor")).await;
    assert_eq!(sweep(&place).await, Ok(1));
    assert_eq!(
        children(&truth, "/lockscope-lab").await,
        ["mine", "run-0123", "run-0123456789ABCDEF", "run-0123456789abcdef0"]
    );
    assert_eq!(children(&truth, "/lockscope-lab/mine").await, ["a"]);

    // The session of a server that died a moment ago runs out while the sweep waits.
    let other = crate::harness::open(&server.address()).await;
    truth.make(&format!("{dead}/predecessor")).await;
    other.create(&format!("{dead}/owner"), b"", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await.unwrap();
    let sweeping = tokio::spawn(async move { sweep(&place).await });
    assert!(truth.client.check_stat(&dead).await.unwrap().is_some());
    drop(other);
    assert_eq!(sweeping.await.unwrap(), Ok(1));
    assert!(truth.client.check_stat(&dead).await.unwrap().is_none());
}
