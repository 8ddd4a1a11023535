//! Faults among alerts: Lockscope is killed while alerts fire, end, and are on their way to receivers.

use std::time::{Duration, Instant};

use rand::RngExt as _;
use tokio::time::sleep;

use super::Form;
use crate::STEP;
use crate::scene::Scene;

/// How long a request to a receiver is waited for.
const REQUEST_WITHIN: Duration = Duration::from_secs(4);

/// It is killed at some moment, as often as not right when a receiver is notified, and stays away for a while.
pub(super) async fn killed(scene: &mut Scene, form: Form) {
    let rounds = usize::try_from(form.of(12, 4)).unwrap_or(1);
    let mut among = 0;
    for _ in 0..rounds {
        let calm = Duration::from_millis(scene.rng.random_range(200..3_000));
        sleep(calm).await;
        if scene.rng.random_bool(0.7) {
            let before = scene.alarm_requests();
            let begin = Instant::now();
            while scene.alarm_requests() == before && begin.elapsed() < REQUEST_WITHIN {
                sleep(STEP / 5).await;
            }
            among += usize::from(scene.alarm_requests() > before);
            let after = Duration::from_micros(scene.rng.random_range(0..20_000));
            sleep(after).await;
        }
        scene.lockscope.kill_minus_9().await;
        let away = Duration::from_millis(scene.rng.random_range(0..2_000));
        sleep(away).await;
        scene.lockscope.launch().await;
        scene.lockscope.until_ready().await;
    }
    scene.notes.push(format!("{rounds} kills, {among} of them right after a receiver was notified"));
}
