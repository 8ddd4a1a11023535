//! Faults of the link between Lockscope and ZooKeeper, made by the relay.

use std::time::Duration;

use lockscope_judge::Fault;
use rand::RngExt as _;
use tokio::time::sleep;

use super::Form;
use crate::relay::{Flow, Link};
use crate::scene::Scene;

/// How late everything is on a late link, each way.
const LATE: Duration = Duration::from_secs(3);
/// What a slow link carries.
const SLOW_BYTES_PER_S: u32 = 4_096;
/// How late what passes a ragged link may be.
const RAGGED: Duration = Duration::from_millis(250);
/// Times that a flapping link is cut.
const FLAPS: u32 = 10;

/// Which direction is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Requests,
    Replies,
}

pub(super) async fn cut(scene: &mut Scene, form: Form) {
    let lasts = scene.rng.random_range(2_500..form.of(6_000, 3_500));
    scene.lost(Fault::LinkLost);
    scene.set_links(Link::CUT);
    sleep(Duration::from_millis(lasts)).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}

pub(super) async fn flap(scene: &mut Scene) {
    for _ in 1..FLAPS {
        let (down, up) = (scene.rng.random_range(20..400), scene.rng.random_range(20..600));
        scene.set_links(Link::CUT);
        sleep(Duration::from_millis(down)).await;
        scene.set_links(Link::OPEN);
        sleep(Duration::from_millis(up)).await;
    }
    // Only after the last one the link stays good.
    scene.lost(Fault::LinkLost);
    scene.set_links(Link::CUT);
    sleep(Duration::from_millis(200)).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}

pub(super) async fn partition(scene: &mut Scene, form: Form, side: Side) {
    let lasts = scene.rng.random_range(3_500..form.of(9_000, 4_500));
    let link = match side {
        Side::Both => Link::both(Flow::Silent),
        Side::Requests => Link { requests: Flow::Silent, ..Link::OPEN },
        Side::Replies => Link { replies: Flow::Silent, ..Link::OPEN },
    };
    // Where only requests are lost, events come on, and what is shown stays true until Lockscope gives up the
    // connection.
    if side != Side::Requests {
        scene.lost(Fault::LinkLost);
    }
    scene.set_links(link);
    sleep(Duration::from_millis(lasts)).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}

/// What is shown may stay LIVE as long as it is young enough, so nothing is lost as such.
pub(super) async fn slow(scene: &mut Scene, form: Form) {
    scene.set_links(Link::both(Flow::Slow(SLOW_BYTES_PER_S)));
    sleep(Duration::from_millis(form.of(12_000, 6_000))).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}

pub(super) async fn late(scene: &mut Scene, form: Form) {
    scene.lost(Fault::LinkLost);
    scene.set_links(Link::both(Flow::Late(LATE)));
    sleep(Duration::from_millis(form.of(20_000, 10_000))).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}

/// Longer than the sessions last.
pub(super) async fn expired(scene: &mut Scene) {
    scene.lost(Fault::LinkLost);
    scene.set_links(Link::CUT);
    sleep(Duration::from_millis(5_000)).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}

/// Each event arrives twice all the time; here everything is late by chance, and comes in pieces as well.
pub(super) async fn ragged(scene: &mut Scene, form: Form) {
    scene.set_links(Link::both(Flow::Ragged(RAGGED)));
    sleep(Duration::from_millis(form.of(15_000, 5_000))).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}
