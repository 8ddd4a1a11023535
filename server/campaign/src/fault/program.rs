//! Faults of Lockscope's process, and viewers that do not read as they should.

use std::time::Duration;

use futures_util::SinkExt as _;
use judge::Fault;
use rand::RngExt as _;
use tokio::time::sleep;

use super::Form;
use crate::capture::{Capture, Pace, open, subscribe};
use crate::scene::Scene;

/// What a slow script rests after each frame.
const REST: Duration = Duration::from_millis(100);
/// The number of the slow script's first socket.
const SLOW_SOCKET: u32 = 100;
/// Sockets that are never read.
const DEAF: usize = 200;
/// How often memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

pub(super) async fn stopped(scene: &mut Scene, form: Form) {
    let lasts = scene.rng.random_range(3_500..form.of(12_000, 4_500));
    scene.lost(Fault::Silent);
    scene.lockscope.freeze();
    sleep(Duration::from_millis(lasts)).await;
    scene.lockscope.thaw();
    scene.mended().await;
}

pub(super) async fn slow_reader(scene: &mut Scene, form: Form) {
    let slow = Capture::start(scene.lockscope.address(), SLOW_SOCKET, scene.views.clone(), Pace::Resting(REST));
    sleep(Duration::from_millis(form.of(40_000, 12_000))).await;
    let heard = slow.end();
    scene.notes.push(format!(
        "{} frames for the slow one, {} for the other, {} closings",
        heard.frames,
        scene.capture.frames(),
        heard.closings.len()
    ));
    scene.wrong.extend(heard.broken);
    scene.captured.extend(heard.captured);
}

pub(super) async fn deaf_readers(scene: &mut Scene, form: Form) {
    let before_kb = resident_kb(scene);
    let mut deaf = Vec::new();
    for _ in 0..DEAF {
        let Some(mut socket) = open(scene.lockscope.address()).await else {
            scene.wrong.push("a socket was refused".to_owned());
            continue;
        };
        for (id, view) in scene.views.iter().enumerate() {
            let _ = socket.send(subscribe(id, view)).await;
        }
        deaf.push(socket);
    }
    let frames = scene.capture.frames();
    let looks = form.of(30_000, 8_000) / 250;
    let (mut kernel, mut resident) = (0, before_kb);
    for _ in 0..looks {
        sleep(LOOK_EVERY).await;
        kernel = kernel.max(unread_bytes(scene));
        resident = resident.max(resident_kb(scene));
    }
    let seconds = looks / 4;
    scene.notes.push(format!(
        "{} sockets: {} KB in the kernel, +{} KB in Lockscope; the other viewer {} frames/s",
        deaf.len(),
        kernel / 1_024,
        resident.saturating_sub(before_kb),
        (scene.capture.frames() - frames) / seconds.max(1)
    ));
}

fn resident_kb(scene: &Scene) -> u64 {
    let status = scene
        .lockscope
        .pid()
        .and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/status")).ok())
        .unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// What waits in the kernel on both sides of Lockscope's connections.
fn unread_bytes(scene: &Scene) -> u64 {
    let port = scene.lockscope.address().rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).unwrap_or(0);
    let port = format!(":{port:04X}");
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let queued = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [local, remote, queues] = [fields.get(1)?, fields.get(2)?, fields.get(4)?];
        let (sent, received) = queues.split_once(':')?;
        let bytes = |digits: &str| u64::from_str_radix(digits, 16).ok();
        (local.ends_with(&port) || remote.ends_with(&port))
            .then(|| bytes(sent).zip(bytes(received)).map(|(sent, received)| sent + received))?
    });
    queued.sum()
}
