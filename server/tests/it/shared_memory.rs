//! Two real servers, one ZooKeeper and one PostgreSQL: who signs in at one is known at the other, and what people say of
//! alerts holds at both, while servers restart one after the other and the database comes and goes.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lockscope_access::{Grant, Secret, set_user};
use lockscope_demo::PrivateZooKeeper;
use lockscope_private_postgres::PrivatePostgres;
use lockscope_view::Role;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Child;

use crate::access::{PASSWORD, form_token};
use crate::cli::{listening, lockscope};
use crate::harness::{Truth, open, queue, signal, zookeeper};
use crate::served::until;

/// Longer than any page may take while the database does not answer, on a busy machine.
const PAGE_MAX: Duration = Duration::from_secs(7);

/// One server, which keeps its directory over restarts.
struct Server {
    child: Option<Child>,
    url: String,
    place: TempDir,
    database: String,
}

impl Server {
    fn new(zookeeper: &PrivateZooKeeper, postgres: &PrivatePostgres, id: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let text = format!(
            "zk = \"{}\"\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\nroot = [\"/a\"]\nevidence = \"off\"\n\
             session_timeout_ms = 4000\nanonymous = \"none\"\n[cluster]\nroot = \"/lockscope\"\nallow_open_cluster = true\nid = \"{id}\"\n\
             [[alert]]\nname = \"slow\"\nwhen = [\"waiting > 1s\"]\npath = \"/a/*\"\nfor = \"1s\"\n",
            zookeeper.address(),
            place.path().join("data").display().to_string(),
        );
        std::fs::write(place.path().join("lockscope.toml"), text).unwrap();
        std::fs::create_dir(place.path().join("data")).unwrap();
        Self { child: None, url: String::new(), place, database: postgres.url() }
    }

    async fn run(&mut self) {
        let config = self.place.path().join("lockscope.toml").display().to_string();
        let mut child = lockscope(&["serve", "--config", &config])
            .env_remove("LOCKSCOPE_HISTORY")
            .env("LOCKSCOPE_HISTORY_URL", &self.database)
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.url = listening(&mut child).await;
        self.child = Some(child);
    }

    async fn restart(&mut self) {
        let mut child = self.child.take().unwrap();
        signal(child.id().unwrap(), Signal::TERM);
        assert!(child.wait().await.unwrap().success());
        self.run().await;
    }

    async fn ask(&self, method: Method, target: &str, cookie: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = reqwest::Client::new()
            .request(method, format!("{}{target}", self.url))
            .header("cookie", cookie)
            .header("origin", &self.url);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
    }

    async fn get(&self, target: &str, cookie: &str) -> Value {
        self.ask(Method::GET, target, cookie, None).await.1
    }

    /// Signs in by password; the cookie.
    async fn sign_in(&self) -> String {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let request = client
            .post(format!("{}/sign-in", self.url))
            .header("origin", &self.url)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("name=ann&password={}", PASSWORD.replace(' ', "+")));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 303);
        let cookies = answer.headers().get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap());
        let own = cookies.filter(|cookie| !cookie.contains("-device")).collect::<Vec<_>>();
        own[0].split(';').next().unwrap().to_owned()
    }

    async fn sign_out(&self, cookie: &str) {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let page = client.get(format!("{}/sign-in", self.url)).header("cookie", cookie).send().await.unwrap();
        let token = form_token(&page.text().await.unwrap(), "/sign-out");
        let request = client
            .post(format!("{}/sign-out", self.url))
            .header("origin", &self.url)
            .header("cookie", cookie)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("form_token={token}"));
        assert_eq!(request.send().await.unwrap().status().as_u16(), 303);
    }

    async fn knows(&self, cookie: &str) -> bool {
        self.ask(Method::GET, "/api/v1/me", cookie, None).await.0 == 200
    }

    async fn memory(&self, cookie: &str) -> Value {
        self.get("/api/v1/cluster", cookie).await["shared_memory"].clone()
    }

    async fn alert(&self, cookie: &str) -> Value {
        self.get("/api/v1/alerts?state=firing", cookie).await["alerts"][0].clone()
    }

    /// Records of a kind in its audit log.
    fn recorded(&self, kind: &str) -> usize {
        let log = std::fs::read_to_string(self.place.path().join("data/audit.log")).unwrap();
        log.lines().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count()
    }
}

/// Two servers with the same users, which share.
async fn two(zookeeper: &PrivateZooKeeper, postgres: &PrivatePostgres) -> [Server; 2] {
    let mut servers = [Server::new(zookeeper, postgres, "a"), Server::new(zookeeper, postgres, "b")];
    let dir = |server: &Server| server.place.path().join("data");
    let grant = Grant::everywhere(Role::Operator);
    set_user(&dir(&servers[0]), "ann", grant, &Secret::new(PASSWORD.to_owned()), 0).unwrap();
    std::fs::copy(dir(&servers[0]).join("users.json"), dir(&servers[1]).join("users.json")).unwrap();
    for server in &mut servers {
        server.run().await;
    }
    servers
}

async fn within(what: &str, holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    until(holds).await;
    eprintln!("{what} after {:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_ins_and_silences_outlive_a_rolling_restart_under_load() {
    let (zookeeper, postgres) = (zookeeper().await, PrivatePostgres::start().await.unwrap());
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    truth.make("/a/order").await;
    let [mut a, mut b] = two(&zookeeper, &postgres).await;
    let ann = a.sign_in().await;
    // At once: whoever is sent on to the other server is not asked again.
    assert!(b.knows(&ann).await);
    let client = open(&zookeeper.address()).await;
    queue(&client, "/a/order/lock-").await;
    queue(&truth.client, "/a/order/lock-").await;
    for server in [&a, &b] {
        until(async || server.alert(&ann).await["lock"] == "/a/order").await;
    }
    // Locks come and go all the while.
    let (is_over, busy) = (Arc::new(AtomicBool::new(false)), open(&zookeeper.address()).await);
    let load = tokio::spawn({
        let is_over = is_over.clone();
        async move {
            while !is_over.load(Ordering::Relaxed) {
                let node = queue(&busy, "/a/order/busy-").await;
                busy.delete(&node, None).await.unwrap();
            }
        }
    });
    let key = a.alert(&ann).await["key"].as_str().unwrap().to_owned();
    let body = json!({ "key": key, "reason": "on it" });
    assert_eq!(a.ask(Method::POST, "/api/v1/alerts/ack", &ann, Some(body)).await.0, 200);
    within("an acknowledgement holds at the other", async || b.alert(&ann).await["acked_by"]["by"] == "ann").await;
    let body = json!({ "matchers": { "path": "/a/order" }, "for_ms": 3_600_000, "reason": "known" });
    let (status, silence) = a.ask(Method::POST, "/api/v1/alerts/silences", &ann, Some(body)).await;
    assert_eq!(status, 201, "{silence}");
    within("a silence holds at the other", async || b.alert(&ann).await["silenced_by"]["id"] == silence["id"]).await;
    for turn in 0..2 {
        let server = if turn == 0 { &mut a } else { &mut b };
        server.restart().await;
        assert!(server.knows(&ann).await, "nobody has to sign in again");
        for server in [&a, &b] {
            assert!(server.knows(&ann).await);
            until(async || server.alert(&ann).await["silenced_by"]["id"] == silence["id"]).await;
            assert_eq!(server.alert(&ann).await["acked_by"]["by"], "ann");
        }
    }
    let silences = format!("/api/v1/alerts/silences/{}", silence["id"]);
    assert_eq!(b.ask(Method::DELETE, &silences, &ann, None).await.0, 200);
    within("its end holds at the other", async || a.alert(&ann).await["silenced_by"].is_null()).await;
    b.sign_out(&ann).await;
    assert!(!b.knows(&ann).await);
    within("a sign-out holds at the other", async || !a.knows(&ann).await).await;
    is_over.store(true, Ordering::Relaxed);
    load.await.unwrap();
    // Each is recorded once, where it was done.
    let both = |kind: &str| (a.recorded(kind), b.recorded(kind));
    assert_eq!((both("signed_in"), both("signed_out")), ((1, 0), (0, 1)));
    assert_eq!((both("alerts_silenced"), both("silence_ended"), both("alert_acknowledged")), ((1, 0), (0, 1), (1, 0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_database_each_goes_on_with_what_it_knows_and_says_so() {
    let (zookeeper, mut postgres) = (zookeeper().await, PrivatePostgres::start().await.unwrap());
    Truth::new(&zookeeper.address()).await.make("/a").await;
    let [a, b] = two(&zookeeper, &postgres).await;
    let before = a.sign_in().await;
    assert!(b.knows(&before).await);
    for is_killed in [false, true] {
        if is_killed {
            postgres.kill_minus_9().await.unwrap()
        } else {
            postgres.pause().unwrap()
        }
        let begin = Instant::now();
        let during = a.sign_in().await;
        assert!(a.knows(&during).await && a.knows(&before).await && b.knows(&before).await);
        assert!(!b.knows(&during).await, "the other can't know");
        for page in ["/", "/status", "/alerts", "/api/v1/cluster"] {
            let begin = Instant::now();
            assert_eq!(a.ask(Method::GET, page, &during, None).await.0, 200);
            assert!(begin.elapsed() < PAGE_MAX, "{page}: {:?}", begin.elapsed());
        }
        eprintln!("killed {is_killed}: sign-in and pages took {:?}", begin.elapsed());
        until(async || a.memory(&before).await["failing_since_ms"].is_i64()).await;
        assert!(a.memory(&before).await["why"].as_str().unwrap().contains("PostgreSQL"));
        let ended = a.sign_in().await;
        a.sign_out(&ended).await;
        assert!(!a.knows(&ended).await);
        if is_killed {
            postgres.restart().await.unwrap()
        } else {
            postgres.resume().unwrap()
        }
        until(async || b.knows(&during).await).await;
        until(async || a.memory(&before).await["failing_since_ms"].is_null()).await;
        assert!(!a.knows(&ended).await);
        // What was sent before the database hung is done when it goes on, and its end comes a second later.
        until(async || !b.knows(&ended).await).await;
    }
    // What is in the database signs nobody in.
    let id = before.split_once('=').unwrap().1;
    let rows = postgres.sql("SELECT key || body FROM lockscope.shared WHERE kind = 'session'").await.unwrap();
    assert!(rows.contains("ann") && !rows.contains(id) && !rows.contains("argon2"), "{rows}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_was_written_anew_lacks_the_head_that_the_database_has() {
    let (zookeeper, postgres) = (zookeeper().await, PrivatePostgres::start().await.unwrap());
    Truth::new(&zookeeper.address()).await.make("/a").await;
    let [mut a, b] = two(&zookeeper, &postgres).await;
    let ann = a.sign_in().await;
    b.sign_in().await;
    for server in [&a, &b] {
        until(async || server.get("/api/v1/audit", &ann).await["not_shown"][0]["last_id"].is_u64()).await;
    }
    let config = a.place.path().join("lockscope.toml").display().to_string();
    let data = |server: &Server| server.place.path().join("data").display().to_string();
    let verify = async |dirs: &[String]| {
        let mut command = lockscope(&["audit", "verify", "--config", &config, "--shared-heads"]);
        let command = command.args(dirs).env_remove("LOCKSCOPE_HISTORY").env("LOCKSCOPE_HISTORY_URL", postgres.url());
        let done = command.output().await.unwrap();
        let told = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        (
            done.status.code(),
            told.lines().filter(|line| line.contains("the last one that the database has")).count(),
            told,
        )
    };
    let (own, both, other) = (verify(&[]).await, verify(&[data(&a), data(&b)]).await, verify(&[data(&b)]).await);
    assert_eq!((own.0, own.1, both.0, both.1), (Some(0), 1, Some(0), 2), "{own:?} {both:?}");
    assert!(other.0 == Some(1) && other.2.contains("none of the logs has that"), "{other:?}");
    // Whoever owns the disk begins the log of `a` anew.
    let mut child = a.child.take().unwrap();
    signal(child.id().unwrap(), Signal::TERM);
    child.wait().await.unwrap();
    let files = std::fs::read_dir(a.place.path().join("data")).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| file.file_name().unwrap().to_string_lossy().starts_with("audit")) {
        std::fs::remove_file(file).unwrap();
    }
    a.run().await;
    for _ in 0..5 {
        a.sign_in().await;
    }
    let trouble =
        async || a.get("/api/v1/audit", &ann).await["not_shown_trouble"].as_str().unwrap_or_default().to_owned();
    until(async || trouble().await.contains("is not in its log")).await;
    let anew = verify(&[]).await;
    assert!(anew.0 == Some(1) && anew.2.contains("none of the logs has that"), "{anew:?}");
}
