//! A run of the lab by a whole server: ordered, followed by polling and by socket, read as a table, stopped, recorded.

use std::io::Write as _;
use std::process::Stdio;

use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_demo::PrivateZooKeeper;
use lockscope_view::LabRun;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Child;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::cli::{listening, lockscope};
use crate::harness::{DEADLINE, Truth, zookeeper};
use crate::served::until;

const RUNS: &str = "/api/v1/lab/runs";

/// A server's process with a lab, and its ZooKeeper.
struct Plant {
    zookeeper: PrivateZooKeeper,
    process: Child,
    address: String,
    token: String,
    place: TempDir,
}

impl Plant {
    async fn open() -> Self {
        let (zookeeper, place) = (zookeeper().await, tempfile::tempdir().unwrap());
        let config = place.path().join("lockscope.toml");
        let mut file = std::fs::File::create(&config).unwrap();
        writeln!(
            file,
            "zk = \"{}\"\nlisten = \"127.0.0.1:0\"\ndata_dir = \"{}\"",
            zookeeper.address(),
            place.path().display()
        )
        .unwrap();
        writeln!(
            file,
            "admin_url = \"http://127.0.0.1:{}\"\n[lab]\nensembles = [\"default\"]\nclients_max = 60",
            zookeeper.admin_port()
        )
        .unwrap();
        let config = config.display().to_string();
        let made = lockscope(&["token", "new", "--name", "lab", "--role", "operator", "--config", &config])
            .output()
            .await
            .unwrap();
        let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        let mut process = lockscope(&["serve", "--config", &config]).stderr(Stdio::null()).spawn().unwrap();
        let address = listening(&mut process).await;
        let plant = Self { zookeeper, process, address, token, place };
        until(async || reqwest::get(format!("{}/readyz", plant.address)).await.unwrap().status().is_success()).await;
        plant
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> reqwest::Response {
        let request = reqwest::Client::new()
            .request(method.parse().unwrap(), format!("{}{path}", self.address))
            .bearer_auth(&self.token);
        let request = if body.is_null() { request } else { request.json(body) };
        request.send().await.unwrap()
    }

    async fn order(&self, body: Value) -> String {
        let answer = self.ask("POST", RUNS, &body).await;
        let (status, at) =
            (answer.status().as_u16(), answer.headers().get("location").map(|at| at.to_str().unwrap().to_owned()));
        let started: Value = answer.json().await.unwrap();
        assert_eq!(status, 201, "{started}");
        assert_eq!(at, Some(format!("{RUNS}/{}", started["id"].as_str().unwrap())));
        started["id"].as_str().unwrap().to_owned()
    }

    async fn run(&self, id: &str) -> LabRun {
        self.ask("GET", &format!("{RUNS}/{id}"), &Value::Null).await.json().await.unwrap()
    }

    /// The records of runs, oldest first: kind and how it ended.
    async fn records(&self) -> Vec<(String, Option<String>)> {
        let page: Value = self.ask("GET", "/api/v1/audit?limit=50", &Value::Null).await.json().await.unwrap();
        let records = page["records"].as_array().unwrap().iter().rev();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all = records.map(|record| (record["kind"].as_str().unwrap().to_owned(), text(&record["outcome"])));
        all.filter(|(kind, _)| kind.starts_with("lab_")).collect()
    }

    /// What is left of runs in ZooKeeper.
    async fn left(&self) -> Vec<String> {
        Truth::new(&self.zookeeper.address()).await.client.list_children("/lockscope-lab").await.unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_from_the_order_to_the_record() {
    let plant = Plant::open().await;
    let id = plant.order(json!({"strategies": ["predecessor", "herd_exists"], "clients": 20})).await;
    let mut request = format!("{}/api/v1/live", plant.address.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
    request.headers_mut().insert("authorization", format!("Bearer {}", plant.token).parse().unwrap());
    let mut socket = tokio_tungstenite::connect_async(request).await.unwrap().0;
    let view = json!({"type": "subscribe", "id": 1, "view": {"kind": "lab", "run": id}});
    socket.send(Message::text(view.to_string())).await.unwrap();
    // A snapshot, then whole runs, each newer than the one before, until the end.
    let mut revisions = Vec::new();
    let followed = async {
        loop {
            let frame = socket.next().await.unwrap().unwrap();
            let Ok(text) = frame.to_text() else { continue };
            let Ok(frame) = serde_json::from_str::<Value>(text) else { continue };
            let body = if frame["body"]["kind"] == "whole" { &frame["body"]["body"] } else { &frame["body"] };
            if body["kind"] != "lab" {
                continue;
            }
            revisions.push(body["revision"].as_u64().unwrap());
            if body["state"] == "finished" {
                break;
            }
        }
    };
    tokio::time::timeout(DEADLINE, followed).await.unwrap();
    assert!(revisions.is_sorted() && !revisions.is_empty(), "{revisions:?}");
    let run = plant.run(&id).await;
    assert_eq!(run.strategies.iter().map(|lane| lane.watch_events).collect::<Vec<_>>(), [19, 190], "{run:?}");
    assert_eq!(run.by, "lab");
    for path in [format!("{RUNS}/{id}?format=csv"), format!("{RUNS}/{id}.csv")] {
        let answer = plant.ask("GET", &path, &Value::Null).await;
        assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("text/csv"), "{path}");
        let text = answer.text().await.unwrap();
        assert!(
            text.starts_with("run,strategy,state,")
                && text.lines().count() == 3
                && text.contains(&format!("{id},herd_exists,finished,20,")),
            "{text}"
        );
    }
    let runs: Value = plant.ask("GET", RUNS, &Value::Null).await.json().await.unwrap();
    assert_eq!((&runs["runs"][0]["id"], &runs["ensembles"][0]), (&id.as_str().into(), &"default".into()));
    assert_eq!(plant.ask("DELETE", &format!("{RUNS}/{id}"), &Value::Null).await.status().as_u16(), 200, "it is over");
    let expected = [("lab_started".to_owned(), None), ("lab_ended".to_owned(), Some("finished".to_owned()))];
    until(async || plant.records().await == expected).await;
    assert_eq!(plant.left().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_clears_its_run_first() {
    let mut plant = Plant::open().await;
    let slow = json!({"strategies": ["herd_lowest"], "clients": 5, "hold_ms": 50_000});
    let id = plant.order(slow.clone()).await;
    until(async || !plant.left().await.is_empty()).await;
    let stopped = plant.ask("DELETE", &format!("{RUNS}/{id}"), &Value::Null).await;
    assert!(stopped.status().is_success(), "{stopped:?}");
    until(async || plant.records().await.len() == 2).await;
    assert_eq!(plant.records().await[1].1.as_deref(), Some("stopped"));
    assert_eq!(plant.left().await, Vec::<String>::new());
    plant.order(slow).await;
    until(async || !plant.left().await.is_empty()).await;
    crate::harness::signal(plant.process.id().unwrap(), rustix::process::Signal::TERM);
    let status = tokio::time::timeout(DEADLINE, plant.process.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(plant.left().await, Vec::<String>::new());
    let dir = plant.place.path().display().to_string();
    let exported = lockscope(&["audit", "export", "--data-dir", &dir]).output().await.unwrap();
    let text = String::from_utf8(exported.stdout).unwrap();
    assert_eq!((text.matches("\"lab_started\"").count(), text.matches("\"lab_ended\"").count()), (2, 2), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_orders_from_a_server() {
    let plant = Plant::open().await;
    let file = plant.place.path().join("token");
    std::fs::write(&file, format!("{}\n", plant.token)).unwrap();
    let file = file.display().to_string();
    let args = ["lab", "--server", &plant.address, "--token-file", &file, "--clients", "10", "--in-turn", "--json"];
    let done = tokio::time::timeout(DEADLINE * 2, lockscope(&args).output()).await.unwrap().unwrap();
    let run: LabRun = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&done.stderr)));
    assert_eq!(run.strategies.iter().map(|lane| lane.watch_events).collect::<Vec<_>>(), [9, 45]);
    crate::cli::check(&["lab", "--server", &plant.address], 69, "the server refuses (401)").await;
    crate::cli::check(
        &["lab", "--server", &plant.address, "--token-file", &file, "--clients", "61"],
        69,
        "the server refuses (422)",
    )
    .await;
}
