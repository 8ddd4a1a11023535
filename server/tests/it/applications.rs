//! What an application is, said by the operator and said anew while the server runs.

use rustix::process::Signal;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use zookeeper_client::{Acls, CreateMode};

use crate::cli::{listening, lockscope};
use crate::harness::{self, Truth};
use crate::recipes::lockscope::shared_zookeeper;
use crate::served::{hear, say, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pattern_is_taken_on_by_a_reload_and_open_pages_follow() {
    let zk = shared_zookeeper().await.address();
    let truth = Truth::new(&zk).await;
    truth.make("/applications/order").await;
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    truth.client.create("/applications/order/lock-", b"eu/report-9@app-1", &options).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lockscope.toml");
    let write = |more: &str| {
        let text = format!("zk = \"{zk}\"\nroot = \"/applications\"\nlisten = \"127.0.0.1:0\"\n{more}");
        std::fs::write(&file, text).unwrap();
    };
    write("");
    let mut child = lockscope(&["serve", "--config", file.to_str().unwrap()]).spawn().unwrap();
    let address = listening(&mut child).await;
    let ask = async |target: &str| -> serde_json::Value {
        reqwest::get(format!("{address}{target}")).await.unwrap().json().await.unwrap()
    };
    let is_group = async |name: &str| ask("/api/v1/sessions?group=application").await["groups"][0]["name"] == name;
    until(async || is_group("eu/report").await).await;

    let mut request = format!("{}/api/v1/live", address.replacen("http", "ws", 1)).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
    let (mut live, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    say(&mut live, r#"{"type":"subscribe","id":1,"view":{"kind":"sessions","group":"application"}}"#).await;
    let snapshot = hear(&mut live, "snapshot").await.to_string();
    assert!(snapshot.contains(r#""name":"eu/report""#), "{snapshot}");

    write("application_pattern = '^eu/([a-z]+)'\n");
    harness::signal(child.id().unwrap(), Signal::HUP);
    while !hear(&mut live, "delta").await.to_string().contains(r#""name":"report""#) {}
    assert!(is_group("report").await);
    assert_eq!(ask("/api/v1/sessions?application=report").await["total"], 1);
    assert_eq!(ask("/api/v1/sessions?application=eu/report").await["total"], 0);

    write("application_pattern = 'eu'\n");
    harness::signal(child.id().unwrap(), Signal::HUP);
    until(async || {
        ask("/api/v1/status").await["config"]["error"].as_str().is_some_and(|error| {
            error.contains(":4: `application_pattern` \"eu\" has no group in brackets; write one with the application")
        })
    })
    .await;
    assert!(is_group("report").await, "what was read before stays in force");
}
