//! Faults of ZooKeeper's servers, made by signals.

use std::time::{Duration, Instant};

use lockscope_demo::ServerOptions;
use lockscope_judge::Fault;
use rand::RngExt as _;
use tokio::time::sleep;

use super::Form;
use crate::capture::now_ms;
use crate::relay::Link;
use crate::scene::Scene;
use crate::servers::options;
use crate::{DEADLINE, STEP};

/// A server with this refuses `addWatch`.
pub(super) const NO_PERSISTENT_WATCHES: &str =
    "-Dzookeeper.watchManagerName=org.apache.zookeeper.server.watch.WatchManagerOptimized";
/// A member with this serves whoever only reads, while it has no quorum.
pub(super) const READ_ONLY: &str = "-Dreadonlymode.enabled=true";

/// The usual servers with more options of Java's.
pub(super) fn with(java: &[&str]) -> ServerOptions {
    let mut options = options();
    options.java.extend(java.iter().map(|&option| option.to_owned()));
    options
}

/// Which of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Ours,
    Leader,
    OtherFollower,
}

pub(super) async fn restart(scene: &mut Scene) {
    scene.lost(Fault::LinkLost);
    scene.lost(Fault::CommitsHeld);
    scene.servers.members_mut()[0].stop().await.expect("it stops");
    begin_again(scene, 0).await;
}

pub(super) async fn kill_minus_9(scene: &mut Scene) {
    scene.lost(Fault::LinkLost);
    scene.lost(Fault::CommitsHeld);
    scene.servers.members_mut()[0].kill_minus_9().await.expect("it is killed");
    begin_again(scene, 0).await;
}

async fn begin_again(scene: &mut Scene, at: usize) {
    let gone_at_ms = now_ms();
    let down = scene.rng.random_range(0..2_500);
    sleep(Duration::from_millis(down)).await;
    scene.servers.members_mut()[at].restart().await.unwrap_or_else(|error| panic!("{error}"));
    let up_at_ms = now_ms();
    scene.mended_since(gone_at_ms).await;
    // From when it served, not from when it went.
    scene.back_ms = Some(now_ms() - up_at_ms);
}

pub(super) async fn stopped(scene: &mut Scene, form: Form) {
    let lasts = scene.rng.random_range(3_000..form.of(9_000, 4_000));
    scene.lost(Fault::LinkLost);
    scene.lost(Fault::CommitsHeld);
    scene.servers.members_mut()[0].pause().expect("it is frozen");
    sleep(Duration::from_millis(lasts)).await;
    scene.servers.members_mut()[0].resume().expect("it is thawed");
    scene.mended().await;
}

/// A member, and what it is.
struct Found {
    at: usize,
    is_leader: bool,
    /// Lockscope's link goes there.
    is_ours: bool,
}

async fn find(scene: &Scene, which: Which) -> Found {
    let leader = scene.servers.leader().await;
    let session = scene.lockscope.session().await.expect("Lockscope has a session");
    let ours = scene.servers.member_of(session).await.unwrap_or(leader);
    let at = match which {
        Which::Ours => ours,
        Which::Leader => leader,
        Which::OtherFollower => {
            (0..scene.servers.members().len()).find(|at| *at != leader && *at != ours).expect("there are three")
        }
    };
    Found { at, is_leader: at == leader, is_ours: at == ours }
}

pub(super) async fn lost(scene: &mut Scene, which: Which) {
    let Found { at, is_leader, is_ours } = find(scene, which).await;
    let lost_at_ms = now_ms();
    // Followers let go of everybody while there is no leader.
    let is_felt = is_leader || is_ours;
    if is_felt {
        scene.lost(Fault::LinkLost);
    }
    if is_leader {
        scene.lost(Fault::CommitsHeld);
    }
    scene.servers.members_mut()[at].kill_minus_9().await.expect("it is killed");
    if is_felt {
        scene.mended_since(lost_at_ms + 1).await;
    }
    sleep(Duration::from_millis(2_000)).await;
    scene.servers.members_mut()[at].restart().await.unwrap_or_else(|error| panic!("{error}"));
}

pub(super) async fn frozen(scene: &mut Scene, form: Form, which: Which) {
    let Found { at, is_leader, is_ours } = find(scene, which).await;
    let lasts = Duration::from_millis(scene.rng.random_range(4_000..form.of(9_000, 5_000)));
    if is_leader {
        scene.lost(Fault::CommitsHeld);
    }
    if is_ours {
        scene.lost(Fault::LinkLost);
    }
    let frozen_at_ms = now_ms();
    scene.servers.members_mut()[at].pause().expect("it is frozen");
    sleep(lasts).await;
    scene.servers.members_mut()[at].resume().expect("it is thawed");
    // Without a leader nobody grants a session.
    let since_ms = if is_ours && !is_leader { frozen_at_ms } else { now_ms() };
    scene.mended_since(since_ms).await;
}

/// Two of three are killed, and the third serves what it has to whoever may read only: nothing there is known to be
/// true.
pub(super) async fn read_only(scene: &mut Scene, form: Form) {
    let ours = find(scene, Which::Ours).await.at;
    let others: Vec<usize> = (0..scene.servers.members().len()).filter(|at| *at != ours).collect();
    scene.lost(Fault::LinkLost);
    scene.lost(Fault::CommitsHeld);
    for at in &others {
        scene.servers.members_mut()[*at].kill_minus_9().await.expect("it is killed");
    }
    let begin = Instant::now();
    while !serves_read_only(scene, ours).await {
        assert!(begin.elapsed() < DEADLINE, "the last member does not serve read-only");
        sleep(STEP).await;
    }
    let lasts = scene.rng.random_range(3_000..form.of(9_000, 4_000));
    sleep(Duration::from_millis(lasts)).await;
    let since_ms = now_ms();
    for at in &others {
        scene.servers.members_mut()[*at].restart().await.unwrap_or_else(|error| panic!("{error}"));
    }
    scene.mended_since(since_ms).await;
}

async fn serves_read_only(scene: &Scene, at: usize) -> bool {
    let mode = scene.servers.members()[at].four_letter("isro").await;
    mode.is_ok_and(|mode| mode.trim() == "ro")
}

/// The server refuses persistent watches all the time, so Lockscope reads at intervals and nothing needs to be LIVE; here
/// the link is cut as well.
pub(super) async fn watches_refused(scene: &mut Scene, form: Form) {
    for _ in 0..form.of(4, 2) {
        sleep(Duration::from_millis(form.of(4_000, 3_000))).await;
        scene.set_links(Link::CUT);
        let lasts = scene.rng.random_range(200..2_000);
        sleep(Duration::from_millis(lasts)).await;
        scene.set_links(Link::OPEN);
    }
    sleep(Duration::from_millis(form.of(8_000, 4_000))).await;
    scene.notes.push(format!("{} frames", scene.capture.frames()));
}

/// The server comes back with a certificate that ran out yesterday, then with a good one. Meanwhile nothing is LIVE, and
/// Lockscope says why.
pub(super) async fn expired_certificate(scene: &mut Scene, form: Form) {
    for _ in 0..form.of(3, 1) {
        scene.lost(Fault::LinkLost);
        scene.lost(Fault::CommitsHeld);
        renew(scene, -1).await;
        let begin = Instant::now();
        while !scene.lockscope.status().await.is_some_and(|status| names_certificate(&status)) {
            assert!(begin.elapsed() < DEADLINE, "nothing was said of a certificate that ran out");
            sleep(STEP).await;
        }
        let lasts = scene.rng.random_range(2_000..form.of(6_000, 3_000));
        sleep(Duration::from_millis(lasts)).await;
        renew(scene, 365).await;
        // Nobody but the two ends knows when a session was granted: all counts from when the server served.
        scene.mended_since(now_ms()).await;
    }
}

async fn renew(scene: &mut Scene, days: i64) {
    scene.servers.members_mut()[0].stop().await.expect("it stops");
    scene.certificate.as_ref().expect("it has one").renew(days);
    scene.servers.members_mut()[0].restart().await.unwrap_or_else(|error| panic!("{error}"));
}

fn names_certificate(status: &serde_json::Value) -> bool {
    status["ensembles"][0].to_string().contains("certificate has run out")
}
