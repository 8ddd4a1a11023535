//! Faults of Lockscope's process and its clock.

use std::time::Duration;

use lockscope_judge::Fault;
use rand::RngExt as _;
use tokio::time::sleep;

use super::Form;
use crate::capture::now_ms;
use crate::relay::{Flow, Link};
use crate::scene::Scene;

pub(super) async fn stopped(scene: &mut Scene, form: Form) {
    let lasts = scene.rng.random_range(3_500..form.of(12_000, 4_500));
    scene.lost(Fault::Silent);
    scene.lockscope.freeze();
    sleep(Duration::from_millis(lasts)).await;
    scene.lockscope.thaw();
    scene.mended().await;
}

/// It is ended as a service manager does, and started again, at some moment of a storm.
pub(super) async fn ended_under_load(scene: &mut Scene, form: Form) {
    for _ in 0..form.of(4, 2) {
        let sessions = super::load::storm_for(scene, Duration::from_millis(5_000)).await;
        let after = scene.rng.random_range(500..3_000);
        sleep(Duration::from_millis(after)).await;
        let begin_ms = now_ms();
        scene.lockscope.end().await;
        scene.notes.push(format!("it ended within {} ms", now_ms() - begin_ms));
        scene.lockscope.launch().await;
        scene.lockscope.until_ready().await;
        let ready_at_ms = now_ms();
        scene.until_live("it was started again", ready_at_ms).await;
        scene.back_ms = scene.back_ms.max(Some(now_ms() - ready_at_ms));
        sessions.join_all().await;
    }
}

/// The clock of Lockscope's machine is set forth and back by up to an hour, with the link good and with the link cut.
pub(super) async fn clock_steps(scene: &mut Scene, form: Form) {
    let clock = scene.clock.clone().expect("its clock may be set");
    for steps in [6, 0, -6, 1, -1, 0].into_iter().take(usize::try_from(form.of(6, 4)).unwrap_or(1)) {
        let set_at_ms = now_ms();
        clock.set(steps);
        pause(scene, 1_500).await;
        scene.until_live("the clock was set", set_at_ms).await;
        scene.back_ms = scene.back_ms.max(Some(now_ms() - set_at_ms));
        // Nothing that the clock says may keep a state LIVE whose link is lost, or hold it back when it is good.
        scene.lost(Fault::LinkLost);
        scene.set_links(Link::both(Flow::Silent));
        sleep(Duration::from_millis(500)).await;
        clock.set(-steps);
        sleep(Duration::from_millis(3_000)).await;
        scene.set_links(Link::OPEN);
        scene.mended().await;
    }
    clock.set(0);
}

async fn pause(scene: &mut Scene, up_to_ms: u64) {
    let ms = scene.rng.random_range(0..up_to_ms);
    sleep(Duration::from_millis(ms)).await;
}
