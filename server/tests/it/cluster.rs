//! Several real servers that watch one real ZooKeeper, and find each other.

use std::process::Stdio;
use std::time::{Duration, Instant};

use lockscope_demo::PrivateZooKeeper;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Child;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Permission};

use crate::cli::{listening, lockscope};
use crate::harness::{DEADLINE, STEP, Truth, open, queue, signal, zookeeper};
use crate::served::until;

/// The sessions of the servers.
const TIMEOUT: Duration = Duration::from_secs(4);

/// One server.
struct Server {
    child: Child,
    url: String,
    place: TempDir,
}

impl Server {
    async fn start(zookeeper: &PrivateZooKeeper, id: &str, more: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("lockscope.toml");
        let text = format!(
            "zk = \"{}\"\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\nroot = [\"/a\", \"/lockscope\"]\nevidence = \"off\"\n\
             session_timeout_ms = {}\nhistory = \"off\"\n{more}[cluster]\nroot = \"/lockscope\"\nallow_open_cluster = true\nid = \"{id}\"\n",
            zookeeper.address(),
            place.path().join("data").display().to_string(),
            TIMEOUT.as_millis()
        );
        std::fs::write(&file, text).unwrap();
        let mut child = lockscope(&["serve", "--config", &file.display().to_string()])
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = listening(&mut child).await;
        Self { child, url, place }
    }

    async fn get(&self, target: &str) -> (u16, String) {
        let answer = reqwest::get(format!("{}{target}", self.url)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn cluster(&self) -> Value {
        serde_json::from_str(&self.get("/api/v1/cluster").await.1).unwrap()
    }

    async fn token(&self) -> String {
        let config = self.place.path().join("lockscope.toml").display().to_string();
        let args = ["token", "new", "--name", "ops", "--role", "operator", "--config", &config];
        let token = String::from_utf8(lockscope(&args).output().await.unwrap().stdout).unwrap().trim().to_owned();
        until(async || self.as_somebody(&token).await == 200).await;
        token
    }

    async fn as_somebody(&self, token: &str) -> u16 {
        let asked = reqwest::Client::new().get(format!("{}/api/v1/me", self.url)).bearer_auth(token);
        asked.send().await.unwrap().status().as_u16()
    }

    async fn post(&self, token: &str, target: &str, body: &Value) -> (u16, Value) {
        let request = reqwest::Client::new().post(format!("{}{target}", self.url)).bearer_auth(token).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    }

    async fn audit(&self, token: &str) -> Value {
        let asked = reqwest::Client::new().get(format!("{}/api/v1/audit", self.url)).bearer_auth(token).send();
        serde_json::from_str(&asked.await.unwrap().text().await.unwrap()).unwrap()
    }

    async fn holds(&self, lock: &str, path: &str) {
        until(async || {
            self.get(&format!("/api/v1/lock?path={lock}")).await.1.contains(&format!("\"path\":\"{path}\""))
        })
        .await;
    }

    fn kill(&self) {
        signal(self.child.id().unwrap(), Signal::KILL);
    }
}

fn ids(cluster: &Value) -> Vec<String> {
    let replicas = cluster["replicas"].as_array().unwrap().iter();
    replicas.map(|replica| replica["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_servers_find_each_other_and_one_that_is_killed_is_replaced() {
    let zookeeper = zookeeper().await;
    Truth::new(&zookeeper.address()).await.make("/a").await;
    let a = Server::start(&zookeeper, "a", "").await;
    until(async || a.cluster().await["is_leader"] == true).await;
    let (b, c) = (Server::start(&zookeeper, "b", "").await, Server::start(&zookeeper, "c", "").await);
    for server in [&a, &b, &c] {
        until(async || ids(&server.cluster().await) == ["a", "b", "c"]).await;
    }
    let told = b.cluster().await;
    assert_eq!((&told["leader"], &told["is_leader"], &told["state"]), (&json!("a"), &json!(false), &json!("member")));
    // Lockscope sees its own latch as any other lock.
    until(async || b.get("/api/v1/lock?path=/lockscope/leader").await.1.contains("\"holder_count\":1")).await;
    let (status, section) = b.get("/status/cluster").await;
    assert!(status == 200 && section.contains("3 replicas watch the same. a leads."), "{section}");
    assert!(b.get("/metrics").await.1.contains("lockscope_cluster_replicas 3\n"));

    let begin = Instant::now();
    a.kill();
    let mut leads = false;
    while !leads {
        assert!(begin.elapsed() < DEADLINE);
        for server in [&b, &c] {
            leads |= server.cluster().await["is_leader"] == true;
        }
        tokio::time::sleep(STEP).await;
    }
    eprintln!("another led {:?} after kill -9, sessions of {TIMEOUT:?}", begin.elapsed());
    until(async || ids(&c.cluster().await) == ["b", "c"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_release_the_same_znode_and_it_goes_once() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    truth.make("/a/order").await;
    let (a, b) = (Server::start(&zookeeper, "a", "").await, Server::start(&zookeeper, "b", "").await);
    for server in [&a, &b] {
        until(async || ids(&server.cluster().await) == ["a", "b"] && server.get("/readyz").await.0 == 200).await;
    }
    let client = open(&zookeeper.address()).await;
    let (first, second) = (queue(&client, "/a/order/lock-").await, queue(&client, "/a/order/lock-").await);
    let mut orders = Vec::new();
    for server in [&a, &b] {
        server.holds("/a/order", &first).await;
        let token = server.token().await;
        let (status, plan) = server.post(&token, "/api/v1/release/plan", &json!({ "path": first })).await;
        assert_eq!(status, 200, "{plan:#}");
        let order = json!({ "plan_id": plan["plan_id"], "confirm": "/a/order", "reason": "it hangs" });
        orders.push((server, token, order));
    }
    let ((one, token, order), (other, other_token, other_order)) = (&orders[0], &orders[1]);
    let execute = "/api/v1/release/execute";
    let (a_told, b_told) = tokio::join!(one.post(token, execute, order), other.post(other_token, execute, other_order));
    // The limit of one a lock in ten seconds holds for both together: the second is refused before anything is sent.
    let mut told = [a_told.0, b_told.0];
    told.sort_unstable();
    assert_eq!(told, [200, 429], "{a_told:?} {b_told:?}");
    assert!(truth.client.check_stat(&first).await.unwrap().is_none());
    assert!(truth.client.check_stat(&second).await.unwrap().is_some());
    // Each shows its own log, and says that there is another; how far that goes is not known without a database.
    for ((server, token, _), own, other) in [(&orders[0], "a", "b"), (&orders[1], "b", "a")] {
        let page = server.audit(token).await;
        let not_shown = page["not_shown"].as_array().unwrap();
        assert_eq!((&page["replica"], not_shown.len()), (&json!(own), 1), "{page:#}");
        assert_eq!((&not_shown[0]["replica"], &not_shown[0]["is_there"]), (&json!(other), &json!(true)));
        assert_eq!(not_shown[0]["last_id"], Value::Null);
        assert_eq!(page["not_shown_trouble"], "the replicas share no database");
    }
    let data = |server: &Server| server.place.path().join("data").display().to_string();
    let both = lockscope(&["audit", "verify", &data(&a), &data(&b)]).output().await.unwrap();
    let told = String::from_utf8_lossy(&both.stdout).into_owned();
    assert!(both.status.success() && told.lines().filter(|line| line.contains("chain whole")).count() == 2, "{both:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_table_nothing_is_written() {
    let recorded = crate::history::Recorded::start("").await;
    let told = recorded.json("/api/v1/cluster").await.1;
    assert_eq!((&told["state"], &told["replicas"]), (&json!("off"), &json!([])));
    let section = reqwest::get(recorded.url("/status/cluster")).await.unwrap();
    assert_eq!((section.status().as_u16(), section.text().await.unwrap()), (200, String::new()));
    let children = recorded.truth.client.list_children("/").await.unwrap();
    assert!(!children.contains(&"lockscope".to_owned()), "{children:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_of_a_stranger_is_named_and_never_joined() {
    let zookeeper = zookeeper().await;
    let stranger = Client::connector().with_auth("digest", b"x:y").connect(&zookeeper.address()).await.unwrap();
    let theirs = [Acl::new(Permission::ALL, AuthId::authed()), Acl::new(Permission::READ, AuthId::anyone())];
    let make = async |path: &str, mode: CreateMode, acl: &[Acl]| {
        stranger.create(path, b"", &mode.with_acls(Acls::new(acl))).await.unwrap();
    };
    make("/lockscope", CreateMode::Persistent, &theirs).await;
    let secrets = tempfile::tempdir().unwrap();
    let file = secrets.path().join("zk-act-auth");
    std::fs::write(&file, "ops:secret\n").unwrap();
    let a = Server::start(&zookeeper, "a", &format!("act_auth_file = {:?}\n", file.display().to_string())).await;
    let config = a.place.path().join("lockscope.toml").display().to_string();
    let checked = async || {
        let done = lockscope(&["check-config", "--config", &config]).output().await.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let why = "the ACL of /lockscope is not ours to change";
    until(async || a.cluster().await["why"].as_str().unwrap().starts_with(why)).await;
    assert_eq!(a.cluster().await["state"], "refused");
    let told = checked().await;
    assert!(told.contains(&format!("  cluster znodes     can't be joined now: {why}")), "{told}");
    // Once it is everybody's it is made ours, and whoever stands there makes way.
    let all = [Acl::new(Permission::ALL, AuthId::anyone())];
    make("/lockscope/leader", CreateMode::Persistent, &all).await;
    make("/lockscope/leader/_c_0-latch-", CreateMode::EphemeralSequential, &all).await;
    stranger.set_acl("/lockscope", &all, None).await.unwrap();
    until(async || a.cluster().await["is_leader"] == true).await;
    assert!(checked().await.contains("  cluster znodes     can be joined\n"));
    assert!(
        stranger.create("/lockscope/limits", b"", &CreateMode::Persistent.with_acls(Acls::new(&all))).await.is_err()
    );
}
