//! Faults of the configuration: a file with mistakes is reloaded, and a good one in its place.

use std::time::{Duration, Instant};

use rand::RngExt as _;
use serde_json::Value;
use tokio::time::sleep;

use super::Form;
use crate::scene::Scene;
use crate::{DEADLINE, STEP};

/// Files that no server may take: broken TOML, an unknown key, a value out of bounds, another type, a pattern that
/// never ends, bytes that are no text, and nothing but a brace.
const BAD: [&[u8]; 7] = [
    b"history_age = \"7d\nroot = [",
    b"no_such_key = 1\n",
    b"history_spans_age = \"never\"\n",
    b"ensemble = \"everything\"\n",
    b"application_pattern = \"(((\"\n",
    b"history_age = \"\xff\xfe\"\n",
    b"{",
];
/// What every server may take; each changes what is recognised or listed.
const GOOD: [&str; 3] = [
    "",
    "[lints]\nforeign_child = \"off\"\nherd = false\n",
    "[[lock]]\npath = \"/elsewhere/*\"\nrecipe = \"sequential_mutex\"\n",
];

/// Bad files change nothing, are reported, and are forgotten with the next good one.
pub(super) async fn bad_reloads(scene: &mut Scene, form: Form) {
    let (file, own) = scene.config.clone();
    let rounds = usize::try_from(form.of(14, 4)).unwrap_or(1);
    for round in 0..rounds {
        let bad = BAD[(round + scene.rng.random_range(0..BAD.len())) % BAD.len()];
        std::fs::write(&file, bad).expect("the file is ours");
        scene.lockscope.reload();
        until_config(scene, "a bad file is reported", |config| !config["error"].is_null()).await;
        let rest = scene.rng.random_range(0..600);
        sleep(Duration::from_millis(rest)).await;
        let good = GOOD[scene.rng.random_range(0..GOOD.len())];
        std::fs::write(&file, format!("{good}{own}")).expect("the file is ours");
        scene.lockscope.reload();
        until_config(scene, "a good file is taken", |config| config["error"].is_null()).await;
    }
    scene.notes.push(format!("{rounds} bad files and as many good ones"));
}

/// Waits until the status says so of the configuration.
async fn until_config(scene: &mut Scene, what: &str, is_so: impl Fn(&Value) -> bool) {
    let begin = Instant::now();
    loop {
        let config = scene.lockscope.status().await.map(|status| status["config"].clone()).unwrap_or_default();
        if !config.is_null() && is_so(&config) {
            return;
        }
        if begin.elapsed() > DEADLINE {
            scene.wrong.push(format!("{what}: the status never said so: {config}"));
            return;
        }
        sleep(STEP).await;
    }
}
