//! Faults of Lockscope's process.

use std::time::Duration;

use judge::Fault;
use rand::RngExt as _;
use tokio::time::sleep;

use super::Form;
use crate::scene::Scene;

pub(super) async fn stopped(scene: &mut Scene, form: Form) {
    let lasts = scene.rng.random_range(3_500..form.of(12_000, 4_500));
    scene.lost(Fault::Silent);
    scene.lockscope.freeze();
    sleep(Duration::from_millis(lasts)).await;
    scene.lockscope.thaw();
    scene.mended().await;
}
