//! Files through a replica that watches nothing, and people who take little of one, stop taking, or are killed in the middle:
//! neither process grows by them, others are served meanwhile, each transfer ends by itself, and nothing is left of it.
//! `GATEWAY_LIVES` makes the file larger: each life is some sixteen thousand bytes of it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use demo::PrivateZooKeeper;
use futures_util::future::join_all;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, Command};

use super::acts::same_token;
use super::slow_readers::resident_kib;
use super::{RECORDED, Server, secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

/// Lives that are recorded, and letters in the name of each, so that few of them make a large file.
const LIVES: usize = 1_024;
const LETTERS: usize = 16_000;
/// Locks, and how many queue at each at once.
const LOCKS: usize = 32;
const QUEUE: usize = 4;
/// What the replica that hands a file on may grow by, however large the file is, in KiB.
const GATEWAY_GROWTH_KIB_MAX: u64 = 10 * 1024;
/// What an owner may grow by beside the text of each file that it sends, in KiB.
const OWNER_GROWTH_KIB_MAX: u64 = 24 * 1024;
/// Making one takes as much as so many of them: what is read of the store, and a text that grows.
const MAKING: u64 = 2;
/// What the kernel keeps for a reader of ours.
const TAKEN: u32 = 16 * 1024;
/// A transfer of which nothing is taken ends after 20 s; one whose reader is gone ends at once, and not by that time-out.
const GONE_WITHIN: Duration = Duration::from_secs(18);

struct Scene {
    servers: [Server; 3],
    http: reqwest::Client,
    token: String,
    _zookeeper: PrivateZooKeeper,
    _place: TempDir,
}

impl Scene {
    /// Two owners that recorded many lives with long names, and one that watches nothing.
    async fn set() -> Self {
        let lives = std::env::var("GATEWAY_LIVES").ok().and_then(|text| text.parse().ok()).unwrap_or(LIVES);
        let zookeeper = zookeeper().await;
        let truth = Truth::new(&zookeeper.address()).await;
        let locks: Vec<String> = (0..LOCKS).map(|number| format!("/a/order{number}")).collect();
        for lock in &locks {
            truth.make(lock).await;
        }
        let client = open(&zookeeper.address()).await;
        let place = tempfile::tempdir().unwrap();
        let servers = three(&zookeeper, &secret(&place), RECORDED).await;
        let [one, two, gateway] = &servers;
        let token = same_token(&[one, two, gateway], "operator", "ops").await;
        let scene = Self { servers, http: reqwest::Client::new(), token, _zookeeper: zookeeper, _place: place };
        let name = "x".repeat(LETTERS);
        for _ in 0..lives.div_ceil(LOCKS * QUEUE) {
            let names = locks.iter().flat_map(|lock| [lock; QUEUE]).map(|lock| format!("{lock}/{name}-lock-"));
            let line = join_all(names.map(async |name| queue(&client, &name).await)).await;
            // Who is gone before it was read has no life.
            for lock in &locks {
                let target = format!("/api/v1/lock?ensemble=default&path={lock}");
                let is_read = |text: &str| {
                    let waits = format!("\"waiter_count\":{}", QUEUE - 1);
                    text.contains(&waits) && !text.contains("\"session_id\":null")
                };
                for owner in &scene.servers[..2] {
                    until(async || is_read(&scene.get(owner, &scene.token, &target).await.1)).await;
                }
            }
            let gone = join_all(line.iter().map(|node| truth.client.delete(node, None))).await;
            gone.into_iter().for_each(|gone| gone.unwrap());
            // Nor has what is recorded while more waits to be written than may.
            let until_ms = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
            for owner in &scene.servers[..2] {
                until(async || scene.kept_to(owner).await > until_ms).await;
            }
        }
        // Of many in a minute not each is kept.
        for owner in &scene.servers[..2] {
            let lines = async || scene.get(owner, &scene.token, &export("csv")).await.1.lines().count();
            until(async || lines().await > lives * 8 / 10).await;
        }
        scene
    }

    /// The newest moment that a server has stored; there is no gap before it.
    async fn kept_to(&self, server: &Server) -> i64 {
        let told = self.get(server, &self.token, "/api/v1/history?ensemble=default").await.1;
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["gaps"], json!([]), "{told:#}");
        told["to_at_ms"].as_i64().unwrap_or(0)
    }

    async fn person(&self, name: &str) -> String {
        let [one, two, gateway] = &self.servers;
        same_token(&[one, two, gateway], "operator", name).await
    }

    async fn asked(&self, server: &Server, token: &str, target: &str) -> reqwest::Response {
        self.http.get(format!("{}{target}", server.url)).bearer_auth(token).send().await.unwrap()
    }

    async fn get(&self, server: &Server, token: &str, target: &str) -> (u16, String) {
        let answer = self.asked(server, token, target).await;
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// The status of a file that is asked for, of which nothing more is taken.
    async fn status(&self, server: &Server, token: &str, format: &str) -> u16 {
        self.asked(server, token, &export(format)).await.status().as_u16()
    }
}

fn export(format: &str) -> String {
    format!("/api/v1/history/export?ensemble=default&format={format}")
}

/// Whoever looks at something else is answered, by whom it is asked.
async fn others_are_served(scene: &Scene) {
    for server in [&scene.servers[2], &scene.servers[0]] {
        for target in ["/api/v1/locks", "/api/v1/history?ensemble=default", "/"] {
            assert_eq!(scene.get(server, &scene.token, target).await.0, 200, "{target} of {}", server.id);
        }
    }
}

fn request(server: &Server, token: &str, format: &str) -> (String, String) {
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let target = export(format);
    let text = format!(
        "GET {target} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    );
    (address, text)
}

/// Somebody who takes a file, little at a time.
struct Reader {
    stream: TcpStream,
    /// Bytes of the head and of the file.
    read: usize,
    /// How many those are when it is whole.
    whole: usize,
}

impl Reader {
    /// Asks for a file, and takes its beginning. What was asked for before, and nobody takes, may be in the way still.
    async fn open(server: &Server, token: &str, format: &str) -> Self {
        let mut found = None;
        until(async || {
            found = Self::ask(server, token, format).await;
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    async fn ask(server: &Server, token: &str, format: &str) -> Option<Self> {
        let (address, text) = request(server, token, format);
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(TAKEN).unwrap();
        let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut piece = vec![0; TAKEN as usize];
        let read = stream.read(&mut piece).await.unwrap();
        let head = String::from_utf8_lossy(&piece[..read]).to_lowercase();
        if ["http/1.1 503", "http/1.1 429"].iter().any(|full| head.starts_with(full)) {
            return None;
        }
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let whole = length.unwrap() + head.find("\r\n\r\n").unwrap() + 4;
        Some(Self { stream, read, whole })
    }

    /// Takes a little; false at the end, whether it is whole or cut.
    async fn take(&mut self) -> bool {
        let count = self.stream.read(&mut [0; TAKEN as usize]).await.unwrap_or(0);
        self.read += count;
        count > 0
    }

    /// Takes the rest; whether the file was whole.
    async fn comes_whole(mut self) -> bool {
        while self.take().await {}
        self.read == self.whole
    }
}

/// A process of its own that asks for a file, takes its beginning, and then no more.
async fn reading_process(server: &Server, token: &str, format: &str) -> Child {
    let (address, text) = request(server, token, format);
    let (host, port) = address.split_once(':').unwrap();
    let script = "exec 3<>\"/dev/tcp/$1/$2\"; printf '%s' \"$3\" >&3; head -c 15 <&3; exec sleep 600";
    let mut child = Command::new("bash")
        .args(["-c", script, "reader", host, port, &text])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut begun = [0; 15];
    child.stdout.as_mut().unwrap().read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200 OK");
    child
}

/// Sockets of a process, and files that it has open and nobody else can find.
fn held(server: &Server) -> usize {
    let all = std::fs::read_dir(format!("/proc/{}/fd", server.child.id().unwrap())).unwrap().flatten();
    let names = all.filter_map(|file| Some(std::fs::read_link(file.path()).ok()?.to_string_lossy().into_owned()));
    names.filter(|name| name.starts_with("socket:") || name.ends_with("(deleted)")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_taken_slowly_or_no_more_are_kept_by_nobody_and_hold_nobody_back() {
    let scene = Scene::set().await;
    let [one, _two, gateway] = &scene.servers;
    // Once at the owner itself: what its allocator keeps of making one is no growth.
    let (made, text) = scene.get(one, &scene.token, &export("csv")).await;
    assert_eq!(made, 200);
    let file_kib = text.len() as u64 / 1024;
    drop(text);
    for _ in 0..5 {
        others_are_served(&scene).await;
    }
    let before = [gateway, one].map(resident_kib);
    let mut most = before;
    let mut look = || {
        for (most, server) in most.iter_mut().zip([gateway, one]) {
            *most = (*most).max(resident_kib(server));
        }
        [most[0] - before[0], most[1] - before[1]]
    };

    // Little at a time, and whoever asks for something else in between is answered: that is what makes it slow.
    let (mut reader, begin) = (Reader::open(gateway, &scene.token, "csv").await, Instant::now());
    let mut looked = 0;
    while reader.take().await {
        if reader.read - looked > 1024 * 1024 {
            looked = reader.read;
            others_are_served(&scene).await;
            look();
        }
    }
    assert!(
        reader.read == reader.whole && reader.read as u64 / 1024 >= file_kib * 9 / 10,
        "{} of it came",
        reader.read
    );
    let grown = look();
    eprintln!("a file of {file_kib} KiB in {:?}: the gateway and the owner grew by {grown:?} KiB", begin.elapsed());
    assert!(grown[0] <= GATEWAY_GROWTH_KIB_MAX, "the gateway grew by {grown:?} KiB");
    assert!(grown[1] <= (1 + MAKING) * file_kib + OWNER_GROWTH_KIB_MAX, "the owner grew by {grown:?} KiB");

    // Two people with two files each stop, and have all the room there is for files. Nobody else is in their way.
    let (other, third) = (scene.person("other").await, scene.person("third").await);
    let begin = Instant::now();
    let mut stopped = Vec::new();
    for person in [&scene.token, &other, &scene.token, &other] {
        stopped.push(Reader::open(gateway, person, "csv").await);
        look();
    }
    for person in [&other, &third] {
        let (status, why) = scene.get(gateway, person, &export("csv")).await;
        assert!(status == 429 && why.contains("handed on"), "{status} {why}");
    }
    others_are_served(&scene).await;
    assert_eq!(scene.status(one, &third, "csv").await, 200, "the owner has room for its own");
    // They end by themselves, at the gateway and at the owner: there is room again.
    until(async || {
        look();
        scene.status(gateway, &third, "csv").await == 200
    })
    .await;
    let (ended, grown, csv) = (begin.elapsed(), look(), export("csv"));
    eprintln!("four that stop: ended after {ended:?}; the gateway and the owner grew by {grown:?} KiB");
    assert!(grown[0] <= GATEWAY_GROWTH_KIB_MAX, "the gateway grew by {grown:?} KiB");
    // Besides the four, the owner's own and one that asks whether there is room; each may still be made.
    assert!(grown[1] <= 6 * (1 + MAKING) * file_kib + OWNER_GROWTH_KIB_MAX, "the owner grew by {grown:?} KiB");
    let all = [&third, &third, &other, &other];
    until(async || {
        let asked = join_all(all.map(|person| scene.asked(gateway, person, &csv))).await;
        asked.iter().all(|answer| answer.status() == 200)
    })
    .await;
    for reader in stopped {
        assert!(!reader.comes_whole().await, "nobody takes what was cut off for a file");
    }
    assert!(Reader::open(gateway, &third, "csv").await.comes_whole().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_readers_and_of_replicas_that_are_killed_or_stand_still() {
    let scene = Scene::set().await;
    let [one, _two, gateway] = &scene.servers;
    others_are_served(&scene).await;
    assert!(Reader::open(gateway, &scene.token, "csv").await.comes_whole().await);
    let before = [gateway, one].map(held);

    // Readers are killed in the middle: their places are free at once, also at the owner, which makes one such file at a time.
    for format in ["csv", "sqlite"] {
        let mut reader = reading_process(gateway, &scene.token, format).await;
        let mut second = reading_process(gateway, &scene.token, "csv").await;
        assert_eq!(scene.status(gateway, &scene.token, "csv").await, 429, "two of one person");
        if format == "sqlite" {
            assert_eq!(scene.status(one, &scene.token, format).await, 503, "one at a time");
        }
        let begin = Instant::now();
        for reader in [&mut reader, &mut second] {
            reader.kill().await.unwrap();
        }
        until(async || scene.status(gateway, &scene.token, format).await == 200).await;
        if format == "sqlite" {
            until(async || scene.status(one, &scene.token, format).await == 200).await;
        }
        eprintln!("{format}: free {:?} after kill -9 of two readers", begin.elapsed());
        assert!(begin.elapsed() < GONE_WITHIN, "{format}: {:?}", begin.elapsed());
    }
    until(async || held(gateway) <= before[0] && held(one) <= before[1]).await;

    // The replica in between stands still: the owner ends it by its own time-out, and serves others meanwhile.
    let reader = Reader::open(gateway, &scene.token, "sqlite").await;
    let begin = Instant::now();
    gateway.signal(Signal::STOP);
    assert_eq!(scene.status(one, &scene.token, "sqlite").await, 503, "one at a time");
    for target in ["/api/v1/locks", "/", &export("csv")] {
        assert_eq!(scene.get(one, &scene.token, target).await.0, 200, "{target}");
    }
    until(async || scene.status(one, &scene.token, "sqlite").await == 200).await;
    let ended = begin.elapsed();
    eprintln!("a gateway that stands still: the owner ended its file after {ended:?}");
    gateway.signal(Signal::CONT);
    assert!(!reader.comes_whole().await, "it was cut off");

    // And it is killed, once it has found its way back.
    until(async || scene.status(gateway, &scene.token, "csv").await == 200).await;
    let reader = Reader::open(gateway, &scene.token, "sqlite").await;
    let begin = Instant::now();
    gateway.signal(Signal::KILL);
    until(async || scene.status(one, &scene.token, "sqlite").await == 200).await;
    eprintln!("a gateway that is killed: the owner was free after {:?}", begin.elapsed());
    assert!(begin.elapsed() < GONE_WITHIN, "{:?}", begin.elapsed());
    assert!(!reader.comes_whole().await, "it was cut off");
    until(async || held(one) <= before[1]).await;
}
