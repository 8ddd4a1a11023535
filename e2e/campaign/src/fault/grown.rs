//! A member joins by a reconfiguration, and sessions that hold locks go to it. No client loses its connection.

use std::time::Duration;

use lockscope_demo::ServerOptions;
use rand::RngExt as _;
use tokio::time::sleep;
use zookeeper_client::{Client, EnsembleUpdate};

use super::{Form, contention, path, queue, server};
use crate::scene::{Scene, make};
use crate::workload::{Who, Workload};

/// Locks whose holders go to the new member.
pub(super) const LOCKS: [&str; 3] = ["moved-0", "moved-1", "moved-2"];
/// A lock whose contenders know only the new member.
pub(super) const NEW_LOCK: &str = "joined";
const SESSION: Duration = Duration::from_secs(30);

/// Servers that anybody may reconfigure.
pub(super) fn options() -> ServerOptions {
    let mut options = server::with(&["-Dzookeeper.skipACL=yes"]);
    options.config.push(("reconfigEnabled".to_owned(), "true".to_owned()));
    options
}

pub(super) async fn grown(scene: &mut Scene, form: Form) {
    let connect = scene.servers.connect_string();
    let waiter = scene.direct().await;
    let mut holders = Vec::new();
    for lock in LOCKS.map(path) {
        make(&waiter, &lock).await;
        let session = Client::connector().with_session_timeout(SESSION).with_detached();
        let holder = session.connect(&connect).await.expect("a session");
        queue(&holder, &lock).await;
        queue(&waiter, &lock).await;
        holders.push(holder);
    }
    let [rests, then_rests] = [5_000, 2_000].map(|most| Duration::from_millis(scene.rng.random_range(0..most)));
    sleep(rests).await;
    let line = scene.servers.add(&options()).await;
    let (joins, leaves): (&[&str], &[&str]) = (&[&line], &[]);
    let update = EnsembleUpdate::Incremental { joinings: joins.iter().copied(), leavings: leaves.iter().copied() };
    waiter.update_ensemble(update, None).await.expect("it joins");
    sleep(then_rests).await;
    let joined = scene.servers.members().last().expect("it joined").address();
    for holder in holders {
        // Its connection to the new member is there before the other one goes, so it is never without one.
        let session = Client::connector().with_session_timeout(SESSION).with_session(holder.session().clone());
        scene.kept.push(session.connect(&joined).await.expect("the session goes on"));
    }
    scene.kept.push(waiter);
    let seed = scene.rng.random();
    let workload = Workload::start(&joined, &[contention(NEW_LOCK, Who::Queue(500))], seed).await;
    sleep(Duration::from_millis(form.of(45_000, 20_000))).await;
    workload.end().await;
    // Else nothing was called dead only because nothing was known.
    for lock in LOCKS.map(path) {
        let holder = scene.lockscope.lock(&lock).await["holders"][0].take();
        if holder["client"]["server"] != joined.as_str() {
            scene.wrong.push(format!("{lock}: its holder is at the new member, and Lockscope says {holder}"));
        }
    }
}
