//! Servers that go on with another history: with a backup of their data, or with none. Names and numbers of transactions
//! come again, and mean something else.

use std::time::{Duration, Instant};

use lockscope_judge::{Fault, FaultSpan};
use rand::RngExt as _;
use serde_json::Value;
use tokio::time::sleep;
use zookeeper_client::Client;

use super::{Form, path, queue};
use crate::STEP;
use crate::capture::now_ms;
use crate::relay::{Flow, Link};
use crate::scene::{Replaced, Scene, make};
use crate::servers::Data;

/// A lock whose contenders have the same names in both histories.
pub(super) const LOCK: &str = "again";
/// How long an answer may be halted on its way.
const HALT: Duration = Duration::from_millis(400);
/// How long Lockscope is given to see who comes and goes.
const KNOWN_WITHIN: Duration = Duration::from_millis(500);
/// How long the gap may take until it is in the history.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

pub(super) async fn restored(scene: &mut Scene, form: Form) {
    // It is known as a lock from here on: an empty directory that never was one need not be LIVE after a restart.
    let contender = same_names(scene).await;
    sleep(KNOWN_WITHIN).await;
    drop(contender);
    sleep(KNOWN_WITHIN).await;
    back_up(scene).await;
    let lasts = scene.rng.random_range(2_000..form.of(8_000, 4_000));
    sleep(Duration::from_millis(lasts)).await;
    replace(scene, form, Data::Backup, Link::OPEN).await;
}

/// While Lockscope compares what it knew with what it finds, answers are halted between others.
pub(super) async fn wiped(scene: &mut Scene, form: Form) {
    replace(scene, form, Data::Nothing, Link { replies: Flow::Halting(HALT), ..Link::OPEN }).await;
}

/// What the servers have now is copied while they are stopped. They start on the same data: that is no other history.
async fn back_up(scene: &mut Scene) {
    stop(scene).await;
    scene.servers.back_up();
    let gone_at_ms = now_ms();
    scene.servers.restart().await;
    scene.mended_since(gone_at_ms).await;
    scene.back_ms = None;
}

async fn stop(scene: &mut Scene) {
    let lost_at_ms = now_ms();
    scene.lost(Fault::LinkLost);
    scene.servers.stop().await;
    scene.spans.push(FaultSpan { fault: Fault::CommitsHeld, lost_at_ms, good_at_ms: Some(now_ms()) });
}

/// A session that holds and waits, under the next two names of the lock.
async fn same_names(scene: &Scene) -> Client {
    let client = scene.direct().await;
    make(&client, &path(LOCK)).await;
    queue(&client, &path(LOCK)).await;
    queue(&client, &path(LOCK)).await;
    client
}

/// The servers start on other data, and one session takes the same names. All others begin anew before Lockscope reaches the servers, or after.
async fn replace(scene: &mut Scene, form: Form, data: Data, link: Link) {
    let [first_rests, then_rests] = [500, 2_000].map(|most| Duration::from_millis(scene.rng.random_range(100..most)));
    let are_applications_first = scene.rng.random_bool(0.5);
    let contender = same_names(scene).await;
    sleep(then_rests).await;
    let newest_before = scene.servers.newest().await;
    scene.set_links(Link::CUT);
    stop(scene).await;
    scene.abandon_workload();
    drop(contender);
    let logs = scene.servers.replace(data);
    sleep(first_rests).await;
    scene.replaced = Some(Replaced { at_ms: now_ms(), logs });
    scene.servers.restart().await;
    // Always before Lockscope is back: an empty directory is no lock that would have to be LIVE again.
    let contender = same_names(scene).await;
    scene.kept.push(contender);
    if are_applications_first {
        scene.resume_workload().await;
        sleep(then_rests).await;
    }
    let is_behind = scene.servers.newest().await < newest_before;
    let halts = link != Link::OPEN;
    if halts {
        // LIVE may be right from now on, and is not owed yet.
        let open = scene.spans.iter_mut().filter(|span| span.good_at_ms.is_none());
        open.for_each(|span| span.good_at_ms = Some(now_ms()));
        scene.lost(Fault::LinkSlow);
    }
    scene.set_links(link);
    if !halts {
        scene.mended().await;
    }
    if !are_applications_first {
        sleep(then_rests).await;
        scene.resume_workload().await;
    }
    if halts {
        sleep(Duration::from_millis(form.of(10_000, 6_000))).await;
        scene.lost(Fault::LinkLost);
        scene.set_links(Link::OPEN);
        scene.mended().await;
    }
    noticed(scene, is_behind).await;
}

/// The history has one gap for it, with the reason. Where the new history outgrew the one before, before Lockscope could
/// look, that need not show: what is LIVE has to be true all the same.
async fn noticed(scene: &mut Scene, is_behind: bool) {
    let begin = Instant::now();
    let mut count = restores(scene).await;
    while count == 0 && is_behind && begin.elapsed() < NOTICED_WITHIN {
        sleep(STEP).await;
        count = restores(scene).await;
    }
    if count > 1 || (count == 0 && is_behind) {
        scene.wrong.push(format!("the history has {count} gaps for one other history of the servers"));
    }
    let words = if is_behind { "behind" } else { "beyond" };
    scene.notes.push(format!("the new history began {words} the first, and has {count} gaps for it"));
}

async fn restores(scene: &Scene) -> usize {
    let asked = scene.lockscope.http.get(format!("{}/api/v1/history", scene.lockscope.url())).send().await;
    let Ok(answer) = asked else { return 0 };
    let body: Value = answer.json().await.unwrap_or_default();
    body["gaps"].as_array().map_or(0, |gaps| gaps.iter().filter(|gap| gap["why"] == "restored").count())
}
