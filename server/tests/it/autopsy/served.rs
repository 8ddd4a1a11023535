//! The dashboard on an autopsy.

use std::process::Stdio;
use std::time::Duration;

use lockscope_view::words::duration;
use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use zookeeper_client::{Acls, Client, CreateMode};

use super::{program, text};
use crate::harness::{DEADLINE, Truth, open, queue, signal, zookeeper};

/// Two clients each hold a lock and wait for that of the other.
async fn deadlock(address: &str, truth: &Truth) -> [Client; 2] {
    let locks = ["/ledger/first", "/ledger/second"];
    for lock in locks {
        truth.make(lock).await;
    }
    let clients = [open(address).await, open(address).await];
    let enter = async |client: &Client, lock: &str| {
        let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        client.create(&format!("{lock}/lock-"), b"", &options).await.unwrap();
    };
    for (client, lock) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
        enter(&clients[client], locks[lock]).await;
    }
    clients
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_moment_is_shown_and_nothing_is_live() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/order").await;
    let first = truth.queue("/order/lock-").await;
    let second = truth.queue("/order/lock-").await;
    truth.delete(&first).await;
    let crossed = deadlock(&server.address(), &truth).await;
    // What is asked for, and what the server grants: not more than twenty ticks.
    truth.make("/tenants").await;
    let mut owners = Vec::new();
    for asked_ms in [3_000, 600_000] {
        let connector = Client::connector().with_session_timeout(Duration::from_millis(asked_ms));
        let client = connector.connect(&server.address()).await.unwrap();
        queue(&client, "/tenants/lock-").await;
        owners.push(client);
    }
    let temporary = tempfile::tempdir().unwrap();
    let mut child = program()
        .args(["autopsy", text(server.folder()), "--serve", "--listen", "127.0.0.1:0"])
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = tokio::time::timeout(DEADLINE, async {
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            if let Some(address) = line.strip_prefix("lockscope listening on ") {
                return address.to_owned();
            }
        }
    })
    .await
    .unwrap();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let get = async |target: &str| client.get(format!("{address}{target}")).send().await.unwrap();
    let json = async |target: &str| {
        let answer = get(target).await;
        let status = answer.status().as_u16();
        (status, serde_json::from_str::<Value>(&answer.text().await.unwrap()).unwrap_or_default())
    };

    let (_, kept) = json("/api/v1/history").await;
    let (from, to) = (kept["from_at_ms"].as_i64().unwrap(), kept["to_at_ms"].as_i64().unwrap());
    let newest = get("/").await;
    assert!(newest.status().is_redirection());
    assert_eq!(newest.headers()["location"], format!("/?at={to}"));
    // As of the end, without saying so; and at any moment.
    for target in ["/api/v1/lock?path=/order".to_owned(), format!("/api/v1/lock?path=/order&at={to}")] {
        let (status, lock) = json(&target).await;
        assert_eq!((status, lock["as_of"]["state"].as_str()), (200, Some("past")), "{lock}");
        assert_eq!(lock["holders"][0]["path"], second.as_str(), "{lock}");
        assert_eq!((&lock["holders"][0]["liveness"], lock["waiter_count"].as_i64()), (&"unknown".into(), Some(0)));
        assert!(lock["holders"][0]["client"].is_null(), "nobody says where from: {lock}");
    }
    let (_, status) = json("/api/v1/status").await;
    assert_eq!(status["ensembles"][0]["link"], "lost", "nothing is live: {status}");
    let (_, holds) = json("/api/v1/history/holds?path=/order").await;
    let of_first =
        holds["holds"].as_array().unwrap().iter().find(|hold| first.ends_with(hold["node"].as_str().unwrap()));
    let held_ms = of_first.unwrap()["held_at_ms"].as_i64().unwrap();
    let (_, then) = json(&format!("/api/v1/lock?path=/order&at={held_ms}")).await;
    assert_eq!(then["holders"][0]["path"], first.as_str(), "{then}");
    for target in ["/api/v1/locks", "/api/v1/waits", "/api/v1/sessions"] {
        let (status, body) = json(&format!("{target}?at={to}")).await;
        assert_eq!(status, 200, "{target}: {body}");
    }
    for page in ["/", "/lock?path=/order", "/waits", "/sessions"] {
        let sign = if page.contains('?') { '&' } else { '?' };
        let answer = get(&format!("{page}{sign}at={to}")).await;
        assert_eq!(answer.status(), 200, "{page}");
        let html = answer.text().await.unwrap();
        assert!(html.contains("data-testid=\"past-band\""), "{page}");
    }
    // The log says which time-out was negotiated, and nothing of whether it suits.
    let negotiated: Vec<u64> = owners.iter().map(|client| client.session_timeout().as_millis() as u64).collect();
    assert!(negotiated[0] == 3_000 && (3_000..600_000).contains(&negotiated[1]), "{negotiated:?}");
    for (client, timeout_ms) in owners.iter().zip(negotiated) {
        let section = get(&format!("/session/timeout?id={}&at={to}", client.session_id())).await.text().await.unwrap();
        let timeout = duration(i64::try_from(timeout_ms).unwrap());
        assert!(section.contains(&format!(">{timeout}<")) && section.contains("the transaction log has"), "{section}");
    }
    // What was wrong is found, and goes on where the records end.
    let (_, found) = json("/api/v1/incidents").await;
    let incident = &found["incidents"][0];
    assert_eq!((&incident["worst"], &incident["ended_by"]), (&"deadlocked".into(), &"still".into()), "{found}");
    assert_eq!(incident["locks"].as_array().unwrap().len(), crossed.len(), "{incident}");
    assert!(incident["sentence"].as_str().unwrap().ends_with("It went on when ZooKeeper was seen last."), "{incident}");
    let id = incident["id"].as_str().unwrap();
    assert!(get("/incidents").await.text().await.unwrap().contains(&format!("/incident?id={id}")));
    let page = get(&format!("/incident?id={id}")).await;
    assert_eq!(page.status(), 200);
    assert!(page.text().await.unwrap().contains("have been deadlocked for"));
    // A rule would have fired, once for the deadlock; that it would have been over is not known.
    let test = format!("{{\"rule\":{{\"when\":\"deadlocked\"}},\"from\":{from},\"to\":{}}}", to + 1);
    let request = client.post(format!("{address}/api/v1/alerts/test")).header("content-type", "application/json");
    let tested: Value = serde_json::from_str(&request.body(test).send().await.unwrap().text().await.unwrap()).unwrap();
    let firings = tested["firings"].as_array().unwrap_or_else(|| panic!("{tested}"));
    assert_eq!((firings.len(), &firings[0]["to_at_ms"]), (1, &Value::Null), "{tested}");
    assert_eq!(get("/alerts/test").await.status(), 200);
    // Beyond what was read nothing is known, and what is of the present alone is not there.
    let (status, beyond) = json(&format!("/api/v1/locks?at={}", to + 1)).await;
    assert_eq!((status, beyond["nearest"]["before_at_ms"].as_i64()), (404, Some(to)), "{beyond}");
    assert_eq!(json(&format!("/api/v1/locks?at={}", from - 1)).await.0, 404);
    for target in ["/wall", "/status", "/lab", "/sign-in", "/api/v1/lab/runs", "/alerts", "/api/v1/alerts"] {
        let (status, problem) = json(target).await;
        assert_eq!(status, 404, "{target}");
        assert!(problem["detail"].as_str().unwrap().contains("an autopsy is of the past"), "{problem}");
    }
    let plan = client.post(format!("{address}/api/v1/release/plan")).body("{}").send().await.unwrap();
    assert!(plan.status().is_client_error());

    signal(child.id().unwrap(), Signal::TERM);
    let ended = tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "nothing is left behind");
}
