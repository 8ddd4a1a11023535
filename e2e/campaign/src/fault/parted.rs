//! Members that lose each other, with Lockscope at the leader: the others have another one and commit, and the first does
//! not know it yet.

use std::time::{Duration, Instant};

use lockscope_judge::Fault;
use rand::RngExt as _;
use tokio::time::sleep;

use super::Form;
use crate::capture::now_ms;
use crate::relay::{Flow, Link};
use crate::scene::Scene;
use crate::{DEADLINE, STEP};

/// So few ticks of silence, and a follower or a leader gives up.
pub(super) const SYNC_LIMIT: (&str, &str) = ("syncLimit", "4");
/// How long a leader that wakes is left alone with Lockscope.
const AWAKE: Duration = Duration::from_millis(2_500);

/// Lets Lockscope reach the leader alone, and waits until it is there.
async fn hold_at_leader(scene: &mut Scene) -> usize {
    let leader = scene.servers.leader().await;
    for (at, relay) in scene.relays.iter().enumerate() {
        relay.set(if at == leader { Link::OPEN } else { Link::CUT });
    }
    let (begin, since_ms) = (Instant::now(), now_ms());
    loop {
        let session = scene.lockscope.session().await;
        if let Some(session) = session
            && scene.servers.member_of(session).await == Some(leader)
        {
            break;
        }
        assert!(begin.elapsed() < DEADLINE, "Lockscope does not come to the leader");
        sleep(STEP).await;
    }
    scene.until_live("the move to the leader", since_ms).await;
    leader
}

/// The followers' links to the leader are closed on their side and silent on its own, or silent on both.
pub(super) async fn parted(scene: &mut Scene, form: Form, link: Link) {
    let leader = hold_at_leader(scene).await;
    let lasts = scene.rng.random_range(5_000..form.of(9_000, 6_000));
    scene.lost(Fault::LinkLost);
    scene.servers.part(leader, link);
    sleep(Duration::from_millis(lasts)).await;
    scene.servers.part(leader, Link::OPEN);
    scene.set_links(Link::OPEN);
    scene.mended().await;
}

/// What [`parted`] does to the links.
pub(super) const SILENT: Link = Link::both(Flow::Silent);

/// The leader is frozen until the others have another one, and thawed.
pub(super) async fn paused_leader_wakes(scene: &mut Scene, form: Form) {
    let leader = hold_at_leader(scene).await;
    let lasts = scene.rng.random_range(5_000..form.of(9_000, 6_000));
    scene.lost(Fault::LinkLost);
    scene.servers.members_mut()[leader].pause().expect("it is frozen");
    sleep(Duration::from_millis(lasts)).await;
    scene.servers.members_mut()[leader].resume().expect("it is thawed");
    sleep(AWAKE).await;
    scene.set_links(Link::OPEN);
    scene.mended().await;
}
