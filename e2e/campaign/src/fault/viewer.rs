//! Viewers that do not read as they should: slow ones, deaf ones, and those that sleep.

use std::time::Duration;

use futures_util::SinkExt as _;
use tokio::time::sleep;

use super::Form;
use crate::capture::{Capture, Pace, open, subscribe};
use crate::scene::Scene;

/// What a slow script rests after each frame.
const REST: Duration = Duration::from_millis(100);
/// The number of the slow script's first socket.
const SLOW_SOCKET: u32 = 100;
/// The number of the first sleeper's first socket.
const SLEEPER_SOCKET: u32 = 200;
/// Sockets between two sleepers.
const SLEEPER_SOCKETS: u32 = 100;
/// Sockets that are never read.
const DEAF: usize = 200;
/// How often memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

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

/// Viewers that read, read nothing for a long time, and read on: of what waited for them nothing may be old and LIVE.
pub(super) async fn sleepers(scene: &mut Scene, form: Form) {
    let awake = Duration::from_millis(1_500);
    let asleep_s = [form.of(5, 3), form.of(20, 7), form.of(45, 11)];
    let sleepers: Vec<Capture> = (0..)
        .zip(asleep_s)
        .map(|(number, asleep_s)| {
            let pace = Pace::Sleeping { awake, asleep: Duration::from_secs(asleep_s) };
            let first_socket = SLEEPER_SOCKET + number * SLEEPER_SOCKETS;
            Capture::start(scene.lockscope.address(), first_socket, scene.views.clone(), pace)
        })
        .collect();
    sleep(Duration::from_millis(form.of(100_000, 26_000))).await;
    for (sleeper, asleep_s) in sleepers.into_iter().zip(asleep_s) {
        let heard = sleeper.end();
        scene.notes.push(format!(
            "asleep for {asleep_s} s: {} frames, {} closings",
            heard.frames,
            heard.closings.len()
        ));
        scene.wrong.extend(heard.broken);
        scene.captured.extend(heard.captured);
    }
}

pub(super) async fn deaf_readers(scene: &mut Scene, form: Form) {
    let before_kb = scene.lockscope.memory_kb("VmRSS:");
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
        resident = resident.max(scene.lockscope.memory_kb("VmRSS:"));
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
