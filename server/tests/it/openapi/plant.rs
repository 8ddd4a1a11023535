//! A server's process with a lab, an operator and nobody unknown let in; its ZooKeeper; and who contends there.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use lockscope_demo::PrivateZooKeeper;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use zookeeper_client::Client;

use crate::cli::{listening, lockscope};
use crate::harness::{DEADLINE, Truth, open, queue, zookeeper};
use crate::served::until;

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Contenders of each lock.
const RIVALS: usize = 3;
/// Set to anything, the examples of the document are taken anew from what is answered.
const TAKE_EXAMPLES: &str = "LOCKSCOPE_TAKE_EXAMPLES";

pub(super) struct Plant {
    pub(super) address: String,
    pub(super) token: String,
    pub(super) truth: Truth,
    /// Sessions of those who contend.
    rivals: Vec<Client>,
    _process: Child,
    _zookeeper: PrivateZooKeeper,
    place: TempDir,
}

impl Plant {
    pub(super) async fn open() -> Self {
        let (zookeeper, place) = (zookeeper().await, tempfile::tempdir().unwrap());
        let config = place.path().join("lockscope.toml");
        let text = format!(
            "zk = \"{}\"\nlisten = \"127.0.0.1:0\"\ndata_dir = \"{}\"\nadmin_url = \"http://127.0.0.1:{}\"\nanonymous = \"none\"\n\
             [lab]\nensembles = [\"default\"]\nclients_max = 5\nrounds_max = 2\nhold_ms_max = 10\nduration_ms_max = 60000\n",
            zookeeper.address(),
            place.path().display(),
            zookeeper.admin_port()
        );
        std::fs::write(&config, text).unwrap();
        let config = config.display().to_string();
        let made = lockscope(&["token", "new", "--name", "tester", "--role", "operator", "--config", &config])
            .output()
            .await
            .unwrap();
        let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        let mut process = lockscope(&["serve", "--config", &config]).stderr(Stdio::null()).spawn().unwrap();
        let address = listening(&mut process).await;
        until(async || reqwest::get(format!("{address}/readyz")).await.unwrap().status().is_success()).await;
        let truth = Truth::new(&zookeeper.address()).await;
        let mut rivals = Vec::new();
        for _ in 0..RIVALS {
            rivals.push(open(&zookeeper.address()).await);
        }
        Self { address, token, truth, rivals, _process: process, _zookeeper: zookeeper, place }
    }

    /// Locks with three contenders each, once the server shows them.
    pub(super) async fn contend(&self) -> Vec<String> {
        let locks = ["/locks/order", "/locks/stock"].map(str::to_owned).to_vec();
        for lock in &locks {
            self.truth.make(lock).await;
            for rival in &self.rivals {
                queue(rival, &format!("{lock}/lock-")).await;
            }
        }
        until(async || {
            self.json("/api/v1/locks").await["locks"]
                .as_array()
                .is_some_and(|found| found.iter().filter(|lock| lock["waiter_count"] == 2).count() == 2)
        })
        .await;
        // Until the member told who is connected, so that what it tells is among the answers.
        until(async || !self.json(&format!("/api/v1/lock?path={}", locks[0])).await["holders"][0]["client"].is_null())
            .await;
        locks
    }

    pub(super) async fn queue(&self, lock: &str) -> String {
        self.truth.queue(&format!("{lock}/lock-")).await
    }

    pub(super) async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let request = reqwest::Client::new()
            .request(method.parse().unwrap(), format!("{}{path}", self.address))
            .bearer_auth(&self.token);
        let request = if body.is_null() { request } else { request.json(body) };
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// What is answered to a question that must be answered.
    pub(super) async fn json(&self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    pub(super) async fn socket(&self) -> Socket {
        let mut request = format!("{}/api/v1/live", self.address.replace("http", "ws")).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
        request.headers_mut().insert("authorization", format!("Bearer {}", self.token).parse().unwrap());
        tokio_tungstenite::connect_async(request).await.unwrap().0
    }
}

pub(super) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the server lies in the repository")
}

/// The folder of the Python that has what is needed here.
pub(super) fn python_place() -> PathBuf {
    let python =
        std::env::var_os("LOCKSCOPE_PYTHON").map_or_else(|| repository().join(".tools/venv/bin/python"), PathBuf::from);
    python.parent().expect("a path of a file").to_owned()
}

/// Runs Python to its end; gives what it wrote to standard output, or its errors.
pub(super) async fn python(args: &[&str], input: &str) -> String {
    let mut command = Command::new(python_place().join("python"));
    // What it leaves behind goes with the test.
    let place = tempfile::tempdir().unwrap();
    let command = command
        .current_dir(place.path())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().expect("`.ci/need schemathesis` makes this Python");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    tokio::spawn(async move { stdin.write_all(input.as_bytes()).await });
    let done = tokio::time::timeout(4 * DEADLINE, child.wait_with_output()).await.expect("it never ends").unwrap();
    assert!(
        done.status.success(),
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Keeps an answer as the document's example, when that was asked for.
pub(super) fn keep_example(plant: &Plant, document: &Value, verb: &str, path: &str, status: u16, value: &Value) {
    if std::env::var_os(TAKE_EXAMPLES).is_some() {
        let id = document["paths"][path][verb]["operationId"].as_str().unwrap();
        let file = repository().join(format!("server/web/src/openapi/examples/{id}-{status}.json"));
        let text = serde_json::to_string_pretty(value)
            .unwrap()
            .replace(&plant.place.path().display().to_string(), "/var/lib/lockscope");
        if !file.exists() {
            return;
        }
        std::fs::write(file, format!("{text}\n")).unwrap();
    }
}
