//! A server that is killed among releases: the next one tells what became of each, and claims nothing.

use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use lockscope_audit::verify_dir;
use lockscope_view::AuditRecord;
use serde_json::{Value, json};
use tokio::process::Child;

use super::tap::{DELETE, Fate, Hook, Tap};
use crate::cli::{check, listening, lockscope};
use crate::harness::{DEADLINE, Truth, zookeeper};
use crate::served::until;

/// What becomes of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plot {
    /// They go on.
    Pass,
    /// From the next deletion on nothing does; that one arrives, or not.
    Freeze { arrives: bool },
    /// Nothing goes on.
    Frozen,
}

fn hook(plot: &Arc<Mutex<Plot>>) -> Hook {
    let plot = plot.clone();
    Arc::new(move |kind, _| {
        let mut plot = plot.lock().unwrap();
        let was = *plot;
        match was {
            Plot::Freeze { arrives } if kind == DELETE => {
                *plot = Plot::Frozen;
                if arrives { async { Fate::Mute }.boxed() } else { std::future::pending().boxed() }
            }
            Plot::Pass | Plot::Freeze { .. } => async { Fate::Pass }.boxed(),
            Plot::Frozen => std::future::pending().boxed(),
        }
    })
}

struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    async fn start(zk: &str, dir: &Path, token: &str) -> Self {
        let dir = dir.to_str().unwrap();
        let mut child =
            lockscope(&["serve", "--zk", zk, "--root", "/locks", "--listen", "127.0.0.1:0", "--data-dir", dir])
                .spawn()
                .unwrap();
        let address = listening(&mut child).await;
        Self { child, address, token: token.to_owned() }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<(u16, Value), reqwest::Error> {
        let asked = reqwest::Client::new()
            .post(format!("{}{path}", self.address))
            .bearer_auth(&self.token)
            .json(body)
            .send()
            .await?;
        Ok((asked.status().as_u16(), asked.json().await?))
    }

    /// SIGKILL.
    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    async fn audit(&self) -> Value {
        let asked = reqwest::Client::new().get(format!("{}/api/v1/audit", self.address)).bearer_auth(&self.token);
        asked.send().await.unwrap().json().await.unwrap()
    }

    async fn plan(&self, path: &str) -> Value {
        let mut plan = Value::Null;
        until(async || {
            let (status, answer) = self.post("/api/v1/release/plan", &json!({ "path": path })).await.unwrap();
            plan = answer;
            status == 200
        })
        .await;
        plan
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_under_way_has_an_outcome_after_the_next_start() {
    let zk = zookeeper().await;
    let truth = Truth::new(&zk.address()).await;
    let place = tempfile::tempdir().unwrap();
    let dir = place.path();
    let made = lockscope(&["token", "new", "--name", "anna", "--role", "admin", "--data-dir", dir.to_str().unwrap()])
        .output()
        .await
        .unwrap();
    let token = String::from_utf8(made.stdout).unwrap().lines().last().unwrap().to_owned();
    let plot = Arc::new(Mutex::new(Plot::Pass));
    let tap = Tap::start(zk.address(), hook(&plot)).await;
    for (name, arrives, expected) in
        [("a", true, "is gone, by this request or otherwise"), ("b", false, "is still there")]
    {
        *plot.lock().unwrap() = Plot::Pass;
        truth.make(&format!("/locks/{name}")).await;
        let path = truth.queue(&format!("/locks/{name}/lock-")).await;
        let server = Server::start(&tap.address(), dir, &token).await;
        let plan = server.plan(&path).await;
        let order = json!({ "plan_id": plan["plan_id"], "confirm": plan["lock"], "reason": "to see what is told" });
        *plot.lock().unwrap() = Plot::Freeze { arrives };
        let asked = server.post("/api/v1/release/execute", &order);
        let reached = until(async || {
            let is_gone = truth.client.check_stat(&path).await.unwrap().is_none();
            *plot.lock().unwrap() == Plot::Frozen && is_gone == arrives
        });
        tokio::select! {
            answer = asked => panic!("{answer:?}"),
            () = reached => {}
        }
        server.kill().await;
        assert_eq!(verify_dir(dir, None).unwrap().requests.open_count(), 1);
        let told = lockscope(&["audit", "verify", "--data-dir", dir.to_str().unwrap()]).output().await.unwrap();
        assert!(String::from_utf8(told.stdout).unwrap().contains("1 request has no outcome on record (records "));

        let server = Server::start(&zk.address(), dir, &token).await;
        // Asked again at once, it is told as soon as it is known.
        let again =
            tokio::time::timeout(DEADLINE, server.post("/api/v1/release/execute", &order)).await.unwrap().unwrap();
        assert_eq!((again.0, &again.1["outcome"]), (202, &json!("unknown")), "{again:?}");
        let sentence = again.1["sentence"].as_str().unwrap();
        assert!(sentence.contains(expected), "{sentence}");
        let page = server.audit().await;
        assert_eq!(page["open_requests"], 0);
        let outcome: AuditRecord = serde_json::from_value(page["records"][0].clone()).unwrap();
        assert_eq!((Some(outcome.id), outcome.actor.as_str()), (again.1["audit_id"].as_u64(), "lockscope"));
        assert_eq!((outcome.path.as_deref(), outcome.outcome.as_deref()), (Some(path.as_str()), Some("unknown")));
        check(&["audit", "verify", "--data-dir", dir.to_str().unwrap()], 0, "").await;
        server.kill().await;
    }
    // What ended before a restart is told after it.
    truth.make("/locks/c").await;
    let path = truth.queue("/locks/c/lock-").await;
    let server = Server::start(&zk.address(), dir, &token).await;
    let plan = server.plan(&path).await;
    let order = json!({ "plan_id": plan["plan_id"], "confirm": plan["lock"], "reason": "to see what is told" });
    let (status, told) = server.post("/api/v1/release/execute", &order).await.unwrap();
    assert_eq!((status, &told["outcome"]), (200, &json!("released")), "{told}");
    server.kill().await;
    let server = Server::start(&zk.address(), dir, &token).await;
    let (status, again) = server.post("/api/v1/release/execute", &order).await.unwrap();
    assert_eq!(
        (status, &again["outcome"], &again["verified"], &again["audit_id"]),
        (200, &told["outcome"], &json!(true), &told["audit_id"])
    );
    let records = verify_dir(dir, None).unwrap().requests;
    assert_eq!((records.open_count(), records.completed().count()), (0, 3), "one outcome each");
}
