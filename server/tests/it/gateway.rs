//! Three real servers of which two watch one real ZooKeeper: what the third shows, whether it is live, and how soon it says
//! that it is not.

mod acts;
mod alerts;
mod chats;
mod files;
mod fleet;
mod lab;
mod lying_replica;
mod moments;
mod past;
mod routes;
mod settled;
mod slow_readers;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use demo::PrivateZooKeeper;
use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::cli::{listening, lockscope};
use crate::harness::{DEADLINE, Truth, open, queue, signal, zookeeper};
use crate::served::until;

/// Whoever looks must be told within this time, and whatever a busy machine adds to it is in here too.
const TOLD_WITHIN: Duration = Duration::from_secs(2);

/// In the settings of a server that records.
const RECORDED: &str = "# recorded\n";

struct Server {
    child: Child,
    url: String,
    id: &'static str,
    place: TempDir,
}

impl Server {
    /// `first` and `more`: settings at the beginning and at the end of the file.
    async fn start(id: &'static str, secret: &Path, (first, more): (&str, &str)) -> Self {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("lockscope.toml");
        let history = if more.contains(RECORDED) { "on" } else { "off" };
        let text = format!(
            "{first}\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\n\
             session_timeout_ms = 6000\nhistory = \"{history}\"\n[cluster]\nroot = \"/lockscope\"\nallow_open_cluster = true\nid = \"{id}\"\n\
             watch = \"owned\"\nsecret_file = {:?}\n{more}",
            place.path().join("data").display().to_string(),
            secret.display().to_string()
        );
        std::fs::write(&file, text).unwrap();
        let (child, url) = Self::run(&file).await;
        Self { child, url, id, place }
    }

    async fn run(file: &Path) -> (Child, String) {
        let mut child = lockscope(&["serve", "--config", &file.display().to_string()])
            .env_remove("LOCKSCOPE_HISTORY")
            .stderr(std::env::var_os("GATEWAY_LOGS").map_or_else(Stdio::null, |_| Stdio::inherit()))
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = listening(&mut child).await;
        (child, url)
    }

    /// Starts it again on the same files, at another port.
    async fn start_again(&mut self) {
        let file = self.place.path().join("lockscope.toml");
        (self.child, self.url) = Self::run(&file).await;
    }

    async fn get(&self, target: &str) -> (u16, String) {
        let answer = reqwest::get(format!("{}{target}", self.url)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn json(&self, target: &str) -> Value {
        serde_json::from_str(&self.get(target).await.1).unwrap()
    }

    /// Who owns the only ensemble, as this replica sees it.
    async fn owners(&self) -> Vec<String> {
        let view = self.json("/api/v1/cluster").await;
        let owners = view["assignments"][0]["owners"].as_array().cloned().unwrap_or_default();
        owners.iter().map(|owner| owner.as_str().unwrap().to_owned()).collect()
    }

    fn signal(&self, which: Signal) {
        signal(self.child.id().unwrap(), which);
    }

    async fn token(&self, role: &str, more: &[&str]) -> String {
        let config = self.place.path().join("lockscope.toml").display().to_string();
        let args = [&["token", "new", "--name", role, "--role", role, "--config", &config], more].concat();
        let told = lockscope(&args).output().await.unwrap();
        let token = String::from_utf8(told.stdout).unwrap().trim().to_owned();
        assert!(!token.is_empty(), "{}", String::from_utf8_lossy(&told.stderr));
        let asked = || reqwest::Client::new().get(format!("{}/api/v1/me", self.url)).bearer_auth(&token).send();
        until(async || asked().await.unwrap().status() == 200).await;
        token
    }
}

/// A live socket for scripts, and the state that it was told: as a script would keep it.
struct Viewer {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    body: Value,
    known_at_ms: i64,
    server_time_ms: i64,
}

impl Viewer {
    async fn open(server: &Server, view: &Value) -> Self {
        let url = format!("{}/api/v1/live", server.url.replace("http", "ws"));
        let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
        let subscribe = json!({ "type": "subscribe", "id": 1, "view": view });
        socket.send(Message::text(subscribe.to_string())).await.unwrap();
        Self { socket, body: Value::Null, known_at_ms: 0, server_time_ms: 0 }
    }

    /// Reads one frame.
    async fn read(&mut self) {
        let frame = loop {
            let message = tokio::time::timeout(DEADLINE, self.socket.next()).await.unwrap().unwrap().unwrap();
            if let Message::Text(text) = message {
                break serde_json::from_str::<Value>(&text).unwrap();
            }
        };
        self.server_time_ms = frame["server_time_ms"].as_i64().unwrap_or(self.server_time_ms);
        match frame["type"].as_str().unwrap() {
            "snapshot" => {
                self.body = frame["body"].clone();
                self.known_at_ms = frame["known_at_ms"].as_i64().unwrap();
            }
            "delta" => {
                self.known_at_ms = frame["known_at_ms"].as_i64().unwrap();
                if let Some(head) = frame["body"].get("head").filter(|head| !head.is_null()) {
                    self.body["head"] = head.clone();
                }
            }
            "heartbeat" => {
                if let Some(known) = frame["views"].as_array().and_then(|views| views.first()) {
                    self.known_at_ms = known["known_at_ms"].as_i64().unwrap();
                }
            }
            "error" => panic!("{frame:#}"),
            _ => {}
        }
    }

    fn as_of(&self) -> &Value {
        &self.body["head"]["as_of"]
    }

    /// What a page would call live: it says so, and is young enough by the clock of the frames.
    fn is_live(&self) -> bool {
        self.as_of()["state"] == "live" && self.server_time_ms - self.known_at_ms <= 2_000
    }

    async fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) -> Duration {
        let begin = Instant::now();
        while !is_so(self) {
            assert!(begin.elapsed() < DEADLINE, "not {what}: {:#}", self.body["head"]);
            self.read().await;
        }
        begin.elapsed()
    }
}

/// Three servers that agree on two owners; the owners come first, in their order, and last who owns nothing.
async fn three(zookeeper: &PrivateZooKeeper, secret: &Path, more: &str) -> [Server; 3] {
    let first = format!("zk = \"{}\"\nroot = [\"/a\"]\nevidence = \"off\"", zookeeper.address());
    let mut servers = three_that_agree(secret, (&first, more)).await;
    let owners = servers[0].owners().await;
    servers.sort_by_key(|server| owners.iter().position(|owner| owner == server.id).unwrap_or(usize::MAX));
    servers
}

/// Three servers that agree on two owners of each ensemble.
async fn three_that_agree(secret: &Path, settings: (&str, &str)) -> [Server; 3] {
    let a = Server::start("a", secret, settings).await;
    let b = Server::start("b", secret, settings).await;
    let c = Server::start("c", secret, settings).await;
    that_agree([a, b, c]).await
}

/// The same, once they agree.
async fn that_agree([a, b, c]: [Server; 3]) -> [Server; 3] {
    let mut owners = Value::Null;
    // Who is new counts after ten seconds.
    let agree = async |owners: &mut Value| {
        let view = a.json("/api/v1/cluster").await;
        *owners = view["assignments"].clone();
        let all = owners.as_array().cloned().unwrap_or_default();
        let have_two = all.iter().all(|one| one["owners"].as_array().is_some_and(|owners| owners.len() == 2));
        !all.is_empty() && have_two && view["replicas"].as_array().is_some_and(|all| all.len() == 3) && {
            let others = [b.json("/api/v1/cluster").await, c.json("/api/v1/cluster").await];
            others.iter().all(|other| other["assignments"] == *owners)
        }
    };
    let begin = Instant::now();
    let mut settled: Option<Instant> = None;
    while settled.is_none_or(|since| since.elapsed() < Duration::from_secs(12)) {
        assert!(begin.elapsed() < DEADLINE, "no two owners: {owners:#}");
        settled = if agree(&mut owners).await { settled.or(Some(Instant::now())) } else { None };
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    [a, b, c]
}

fn secret(place: &TempDir) -> std::path::PathBuf {
    let file = place.path().join("secret");
    std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_owns_nothing_shows_what_owners_see_and_says_so_when_they_are_lost() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    truth.make("/a/order").await;
    let client = open(&zookeeper.address()).await;
    let _first = queue(&client, "/a/order/lock-").await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), "").await;

    // The same board, live, and nothing of it is watched here.
    let board = json!({ "kind": "board" });
    let mut viewer = Viewer::open(&gateway, &board).await;
    viewer.until("live", Viewer::is_live).await;
    assert_eq!(viewer.body["head"]["totals"]["locks"], 1);
    let mut direct = Viewer::open(&one, &board).await;
    direct.until("live", Viewer::is_live).await;
    for part in ["totals", "roots", "problems"] {
        assert_eq!(viewer.body["head"][part], direct.body["head"][part], "{part}");
    }
    assert_eq!(viewer.as_of()["zxid"], direct.as_of()["zxid"]);
    assert!(gateway.get("/metrics").await.1.contains("lockscope_cluster_replicas 3"));
    // A change arrives, and it is live.
    let _second = queue(&client, "/a/order/lock-").await;
    viewer.until("of two", |viewer| viewer.body["head"]["totals"]["waiters"] == 1).await;
    assert!(viewer.is_live());
    // Pages and the API are of the same.
    let (status, lock) = gateway.get("/api/v1/lock?path=/a/order").await;
    assert!(status == 200 && lock.contains("\"waiter_count\":1") && lock.contains("\"state\":\"live\""), "{lock}");
    assert_eq!(gateway.get("/api/v1/lock?path=/a/none").await.0, 404, "that there is none is known as well");
    assert!(gateway.get("/lock?path=/a/order").await.1.contains("/a/order"));

    // The first owner hangs: no connection closes, and nothing comes any more.
    one.signal(Signal::STOP);
    let told = viewer.until("told of the one that hangs", |viewer| !viewer.is_live()).await;
    let why = viewer.as_of()["why"].as_str().unwrap_or_default().to_owned();
    let back = viewer.until("live of the other", Viewer::is_live).await;
    eprintln!("SIGSTOP of the owner: not live after {told:?} ({why}), live of the other {back:?} later");
    assert!(told <= TOLD_WITHIN, "{told:?}");
    let third = queue(&client, "/a/order/lock-").await;
    viewer.until("of three", |viewer| viewer.body["head"]["totals"]["waiters"] == 2).await;

    // The second is killed, while the first still hangs: nobody is left.
    two.signal(Signal::KILL);
    let told = viewer.until("told of the one that was killed", |viewer| !viewer.is_live()).await;
    eprintln!("kill -9 of the other owner: not live after {told:?}");
    assert!(told <= TOLD_WITHIN, "{told:?}");
    viewer
        .until("told why", |viewer| viewer.as_of()["why"].as_str().is_some_and(|why| why.contains("can't be reached")))
        .await;
    assert_eq!(viewer.as_of()["state"], "stale");
    let (status, told) = gateway.get("/api/v1/lock?path=/a/other").await;
    assert!(status == 503 && told.contains("ensemble_owner_unreachable"), "{status} {told}");
    let page = gateway.get("/lock?path=/a/other").await;
    assert!(page.0 == 503 && page.1.contains("be reached"), "{} {}", page.0, page.1);

    // It goes on with the truth: once the first goes on, or once this one owns what nobody is left to own.
    one.signal(Signal::CONT);
    truth.client.delete(&third, None).await.unwrap();
    viewer.until("live again", |viewer| viewer.is_live() && viewer.body["head"]["totals"]["waiters"] == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_sees_more_through_another_replica_and_nobody_else_comes_in() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/mine", "/a/mine/order", "/a/theirs", "/a/theirs/order"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let _held = (queue(&client, "/a/mine/order/lock-").await, queue(&client, "/a/theirs/order/lock-").await);
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), "").await;
    let mine = gateway.token("viewer", &["--path", "/a/mine"]).await;
    let all = gateway.token("operator", &[]).await;
    let owners_own = one.token("operator", &[]).await;
    let asked = async |server: &Server, token: &str, target: &str| {
        let asked = reqwest::Client::new().get(format!("{}{target}", server.url)).bearer_auth(token).send();
        let answer = asked.await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    until(async || asked(&gateway, &all, "/api/v1/locks").await.1.contains("/a/theirs/order")).await;
    let (status, locks) = asked(&gateway, &mine, "/api/v1/locks").await;
    assert!(status == 200 && locks.contains("/a/mine/order") && !locks.contains("theirs"), "{locks}");
    assert_eq!(asked(&gateway, &mine, "/api/v1/lock?path=/a/theirs/order").await.0, 404);
    assert_eq!(asked(&gateway, &all, "/api/v1/lock?path=/a/theirs/order").await.0, 200);

    // Reads that only an owner can answer are forwarded to one; what is too large is refused with its address.
    let _more = (queue(&client, "/a/mine/order/lock-").await, queue(&client, "/a/theirs/order/lock-").await);
    until(async || asked(&gateway, &all, "/api/v1/events?ensemble=default").await.1.contains("/a/theirs/order")).await;
    until(async || asked(&gateway, &mine, "/api/v1/events?ensemble=default").await.1.contains("/a/mine/order")).await;
    let (status, told) = asked(&gateway, &mine, "/api/v1/events?ensemble=default").await;
    assert!(status == 200 && told.contains("/a/mine/order") && !told.contains("theirs"), "{status} {told}");
    let (status, page) = asked(&gateway, &mine, "/events?ensemble=default").await;
    assert!(status == 200 && page.contains("/a/mine/order") && !page.contains("theirs"), "{status} {page}");
    for target in ["/api/v1/history", "/api/v1/locks?at=1000"] {
        let (there, here) = (asked(&one, &owners_own, target).await, asked(&gateway, &all, target).await);
        assert_eq!(there, here, "{target}");
    }
    // Files and pages of the past come from an owner, which says that it keeps none.
    for target in ["/api/v1/history/export?ensemble=default", "/lock?path=/a/mine/order&at=1000"] {
        let (there, here) = (asked(&one, &owners_own, target).await, asked(&gateway, &all, target).await);
        assert!(here.0 == there.0 && here.0 == 404, "{target}: {here:?} {there:?}");
    }
    assert_eq!(asked(&gateway, &all, "/lock/time-to-lock?path=/a/mine/order").await.0, 200);

    // All audit logs are one list, each record with its replica, for those who may read them.
    let list = async || asked(&gateway, &all, "/api/v1/audit?replica=all").await;
    until(async || {
        let (status, told) = list().await;
        assert_eq!(status, 200, "{told}");
        told.matches("\"state\":\"checked\"").count() == 2
    })
    .await;
    let told: Value = serde_json::from_str(&list().await.1).unwrap();
    let of = |id: &str| told["records"].as_array().unwrap().iter().filter(|record| record["replica"] == id).count();
    assert!([one.id, two.id, gateway.id].iter().all(|id| of(id) > 0), "{told:#}");
    let (status, page) = asked(&gateway, &all, "/audit").await;
    assert!(status == 200 && page.contains("audit-logs") && page.contains("follow each other"), "{status} {page}");
    assert_eq!(asked(&gateway, &mine, "/api/v1/audit?replica=all").await.0, 403);
    let (status, told) = asked(&gateway, &all, &format!("/api/v1/audit?replica={}", one.id)).await;
    assert!(status == 200 && told.contains(&format!("\"replica\":\"{}\"", one.id)), "{status} {told}");
    // One that hangs is named, and waited for within bounds.
    two.signal(Signal::STOP);
    let begin = Instant::now();
    let (status, told) = list().await;
    eprintln!("one of three logs hangs: {:?}", begin.elapsed());
    assert!(status == 200 && told.contains("\"state\":\"missing\"") && told.contains(&two.url), "{status} {told}");
    two.signal(Signal::CONT);
    let ask = "/api/v1/cluster/ask";
    let body = json!({ "target": "/api/v1/audit", "name": "evil", "role": "admin", "by": "token", "ensembles": [], "paths": [], "payloads": true });
    let forged = format!("Lockscope-Replica evil {} 1 00 {}", one.id, "0".repeat(64));
    let forged = reqwest::Client::new().post(format!("{}{ask}", one.url)).header("authorization", forged);
    assert_eq!(forged.json(&body).send().await.unwrap().status().as_u16(), 403);
    let handed_on = "/api/v1/cluster/hand-on";
    let forged = format!("Lockscope-Replica evil {} 1 00 {}", one.id, "0".repeat(64));
    let forged = reqwest::Client::new().post(format!("{}{handed_on}", one.url)).header("authorization", forged);
    assert_eq!(forged.json(&body).send().await.unwrap().status().as_u16(), 403);
    let bare = reqwest::Client::new().post(format!("{}{handed_on}", one.url)).bearer_auth(&owners_own);
    assert_eq!(bare.json(&body).send().await.unwrap().status().as_u16(), 404);
    let bare = reqwest::Client::new().post(format!("{}{ask}", one.url)).bearer_auth(&owners_own);
    assert_eq!(bare.json(&body).send().await.unwrap().status().as_u16(), 404);

    // The door of replicas opens to nobody else: not to a token, and not to a guess.
    let door = "/api/v1/cluster/live";
    assert_eq!(asked(&one, &all, door).await.0, 404);
    let forged = format!("Lockscope-Replica evil {} 1 00 {}", one.id, "0".repeat(64));
    let forged = reqwest::Client::new().get(format!("{}{door}", one.url)).header("authorization", forged);
    assert_eq!(forged.send().await.unwrap().status().as_u16(), 403);
}
