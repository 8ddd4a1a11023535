//! Faults of what znodes are called and hold: replies beyond `jute.maxbuffer`, hostile text, malformed numbers.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rand::RngExt as _;
use tokio::time::sleep;
use zookeeper_client::{Acls, CreateMode, CreateOptions};

use super::Form;
use crate::scene::{Scene, make, open};

/// What ZooKeeper calls a packet that is too large, unless it is configured otherwise.
const JUTE_MAX: usize = 0xf_ffff;
/// Contenders whose names make a list of more than that.
const LONG_NAMES: usize = 12_000;
/// The length of each name.
const NAME_LENGTH: usize = 100;
/// Requests under way at once.
const AT_ONCE: usize = 500;
/// What one znode holds beyond `jute.maxbuffer`.
const HUGE_BYTES: usize = 3 * JUTE_MAX;
/// A server takes this only when it is told to.
pub(super) const HUGE_MAX: &str = "-Djute.maxbuffer=16777216";
/// Locks with huge replies.
pub(super) const HUGE_NAMES: [&str; 2] = ["huge-list", "huge-data"];

/// Names that other programs take for markup, paths, numbers, queries or another direction of writing. A slash and
/// control characters are not allowed in a name.
pub(super) const HOSTILE_NAMES: [&str; 8] = [
    "<img src=x onerror=alert(document.domain)>",
    "\"><script>alert(1)<script>",
    "\u{202e}tnemyap\u{202c}\u{2066}x",
    "%2e%2e%2fetc%00",
    "?at=1&path=%2F#top",
    "{{7*7}}${7*7}'; DROP TABLE spans;--",
    "鎖\u{feff}e\u{301}\u{200b}\u{200d}\u{2028}",
    " \\u0000\\ ",
];
/// What a znode may hold by ZooKeeper's own limit, less what else is in the request.
const FULL_BYTES: usize = JUTE_MAX - 1_024;

/// Locks whose numbers run over. Nobody stands there when the first negative number comes: who stood there would hold
/// beside the newcomer, each by its own sorting, and the log can't say who is right.
pub(super) const OVERFLOW_NAMES: [&str; 2] = ["overflow-dash", "overflow-underscore"];
/// A queue with children that are no contenders.
pub(super) const MALFORMED_NAME: &str = "malformed";
/// Names that look like a contender's and are none.
const MALFORMED: [&str; 7] =
    ["lock-", "lock-12", "lock-00000000x1", "__lock__", "lock-٠٠٠٠٠٠٠٠٠١", "0x7fffffff", "readme.txt"];
/// A line of contenders is no longer than this.
const DEPTH: usize = 4;

fn ephemeral() -> CreateOptions<'static> {
    CreateMode::Ephemeral.with_acls(Acls::anyone_all())
}

fn sequential() -> CreateOptions<'static> {
    CreateMode::EphemeralSequential.with_acls(Acls::anyone_all())
}

/// A list of children, and data, that are longer than what a client takes by default.
pub(super) async fn huge_replies(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let [list, data] = HUGE_NAMES.map(super::path);
    for path in [&list, &data] {
        make(&client, path).await;
    }
    let owner = open(&scene.servers.connect_string()).await;
    let prefix = format!("{list}/{}-lock-", "n".repeat(NAME_LENGTH));
    let numbers: Vec<usize> = (0..LONG_NAMES).collect();
    let mode = sequential();
    for chunk in numbers.chunks(AT_ONCE) {
        join_all(chunk.iter().map(|_| owner.create(&prefix, b"host", &mode))).await;
    }
    let bytes = noise(scene, HUGE_BYTES);
    let mut line = VecDeque::new();
    let end = Instant::now() + Duration::from_millis(form.of(12_000, 5_000));
    while Instant::now() < end {
        let prefix = format!("{data}/0123456789abcdef0123456789abcdef__lock__");
        let (_, number) = client.create(&prefix, &bytes, &sequential()).await.expect("create");
        line.push_back(format!("{prefix}{number}"));
        pause(scene, 250).await;
        if let Some(holder) = line.front() {
            client.set_data(holder, &bytes[1..], None).await.expect("setData");
        }
        if line.len() > 2
            && let Some(holder) = line.pop_front()
        {
            client.delete(&holder, None).await.expect("delete");
        }
        pause(scene, 250).await;
    }
    // The list is asked for anew after a reconnect.
    super::link::cut(scene, Form::Short).await;
    // Many thousands go in one transaction.
    drop(owner);
    sleep(Duration::from_millis(1_500)).await;
    scene.kept.push(client);
}

/// Locks with hostile names whose contenders have hostile names and data.
pub(super) async fn hostile_text(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    for name in HOSTILE_NAMES {
        make(&client, &super::path(name)).await;
    }
    let full = noise(scene, FULL_BYTES);
    let data: [&[u8]; 6] = [
        b"<script>alert(1)</script>",
        &[0xff, 0xfe, 0x00, 0xc0, 0xaf, 0xed, 0xa0, 0x80],
        "\u{202e}drowssap\u{2067}".as_bytes(),
        b"{\"holder\":null}\r\nSet-Cookie: a=b",
        b"",
        &full,
    ];
    let mut lines: Vec<VecDeque<String>> = vec![VecDeque::new(); HOSTILE_NAMES.len()];
    let end = Instant::now() + Duration::from_millis(form.of(15_000, 5_000));
    while Instant::now() < end {
        let at = scene.rng.random_range(0..HOSTILE_NAMES.len());
        let (lock, inner) = (HOSTILE_NAMES[at], HOSTILE_NAMES[scene.rng.random_range(0..HOSTILE_NAMES.len())]);
        let bytes = data[scene.rng.random_range(0..data.len())];
        let prefix = format!("{}/{inner}-lock-", super::path(lock));
        let (_, number) = client.create(&prefix, bytes, &sequential()).await.expect("create");
        lines[at].push_back(format!("{prefix}{number}"));
        if lines[at].len() > DEPTH
            && let Some(holder) = lines[at].pop_front()
        {
            client.delete(&holder, None).await.expect("delete");
        }
        if let Some(holder) = lines[at].front() {
            let bytes = data[scene.rng.random_range(0..data.len())];
            client.set_data(holder, bytes, None).await.expect("setData");
        }
        pause(scene, 60).await;
    }
    scene.kept.push(client);
}

/// Numbers that run over from 2147483647 to -2147483648, as the server prints them, and names that are none.
pub(super) async fn sequences(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let [dash, underscore] = OVERFLOW_NAMES.map(super::path);
    let malformed = super::path(MALFORMED_NAME);
    for path in [&dash, &underscore, &malformed] {
        make(&client, path).await;
    }
    let mut lines: [VecDeque<String>; 3] = std::array::from_fn(|_| VecDeque::new());
    let mut number = i32::MAX - 20;
    let end = Instant::now() + Duration::from_millis(form.of(15_000, 6_000));
    while Instant::now() < end {
        let guid = scene.rng.random::<u128>();
        let names = [format!("{dash}/lock-{number:010}"), format!("{underscore}/contender_{number:010}")];
        for (line, name) in lines.iter_mut().zip(names) {
            if number == i32::MIN {
                for contender in line.drain(..) {
                    client.delete(&contender, None).await.expect("delete");
                }
            }
            client.create(&name, b"host", &ephemeral()).await.expect("create");
            line.push_back(name);
        }
        let prefix = format!("{malformed}/{guid:032x}__lock__");
        let (_, usual) = client.create(&prefix, b"host", &sequential()).await.expect("create");
        lines[2].push_back(format!("{prefix}{usual}"));
        for line in &mut lines {
            while line.len() > DEPTH || (line.len() > 1 && scene.rng.random_bool(0.3)) {
                let Some(holder) = line.pop_front() else { break };
                client.delete(&holder, None).await.expect("delete");
            }
        }
        let stranger = format!("{malformed}/{}", MALFORMED[scene.rng.random_range(0..MALFORMED.len())]);
        if client.create(&stranger, b"", &ephemeral()).await.is_err() {
            client.delete(&stranger, None).await.expect("delete");
        }
        number = number.wrapping_add(1);
        pause(scene, 120).await;
    }
    scene.notes.push(format!("the last number was {}", number.wrapping_sub(1)));
    scene.kept.push(client);
}

/// Bytes of every value.
fn noise(scene: &mut Scene, count: usize) -> Vec<u8> {
    (0..count).map(|_| scene.rng.random()).collect()
}

async fn pause(scene: &mut Scene, up_to_ms: u64) {
    let ms = scene.rng.random_range(0..up_to_ms);
    sleep(Duration::from_millis(ms)).await;
}
