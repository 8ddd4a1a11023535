//! A contender in a session of its own: what every recipe works with.

use zookeeper_client::Client;

use super::pace::Pace;
use super::scenes::Scene;

#[derive(Clone, Copy)]
pub(super) struct SampleClient<'a> {
    pub(super) client: &'a Client,
    pub(super) scene: &'a Scene,
    pub(super) pace: Pace,
}

impl SampleClient<'_> {
    pub(super) async fn hold(self) {
        self.pace.pause(&self.scene.hold_ms).await;
    }
}
