//! The binary under a service manager: what it tells it, and its configuration read again. No ZooKeeper runs here.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;
use tokio::net::UnixDatagram;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::cli::{check, dead_port, listening, lockscope};
use crate::harness::{self, DEADLINE};
use crate::served::{closed, until};

/// Hears what the manager is told, all the time: nobody waits for a manager that does not listen, so words are lost
/// then.
struct Manager(mpsc::UnboundedReceiver<String>);

impl Manager {
    fn listen(path: &Path) -> Self {
        let socket = UnixDatagram::bind(path).unwrap();
        let (tell, told) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok(length) = socket.recv(&mut buffer).await {
                let _ = tell.send(String::from_utf8_lossy(&buffer[..length]).into_owned());
            }
        });
        Self(told)
    }

    /// Waits for a datagram with this in it; others are passed over.
    async fn hears(&mut self, word: &str) {
        let heard = async { while !self.0.recv().await.expect("the socket is open").contains(word) {} };
        tokio::time::timeout(DEADLINE, heard).await.unwrap_or_else(|_| panic!("the manager never heard {word}"));
    }
}

struct Asker<'a> {
    address: &'a str,
    token: &'a str,
}

impl Asker<'_> {
    async fn config(&self) -> Value {
        let asked = reqwest::Client::new().get(format!("{}/api/v1/status", self.address)).bearer_auth(self.token);
        let status: Value = asked.send().await.unwrap().json().await.unwrap();
        status["config"].clone()
    }

    async fn nobody(&self, path: &str) -> (u16, String) {
        let answer = reqwest::get(format!("{}{path}", self.address)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }
}

fn signal(child: &tokio::process::Child, signal: Signal) {
    harness::signal(child.id().unwrap(), signal);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_file_takes_effect_and_a_bad_one_changes_nothing_and_the_manager_hears_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let (file, socket, data) = (dir.path().join("lockscope.toml"), dir.path().join("notify"), dir.path().join("data"));
    let base = format!(
        "zk = \"127.0.0.1:{}\"\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\n",
        dead_port(),
        data.display().to_string()
    );
    let write = |more: &str| std::fs::write(&file, format!("{base}{more}")).unwrap();
    write("session_timeout_ms = 4000\n");
    let name = file.display().to_string();
    let made =
        lockscope(&["token", "new", "--name", "t", "--role", "viewer", "--config", &name]).output().await.unwrap();
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();

    let mut manager = Manager::listen(&socket);
    let mut command = lockscope(&["serve", "--config", &name]);
    let mut child = command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "300000").spawn().unwrap();
    let address = listening(&mut child).await;
    manager.hears("READY=1\nSTATUS=serving 127.0.0.1:").await;
    manager.hears("WATCHDOG=1").await;
    manager.hears("WATCHDOG=1").await;
    let asker = Asker { address: &address, token: &token };
    let config = asker.config().await;
    assert_eq!(
        (config["path"].as_str(), &config["error"], &config["waits_for_restart"]),
        (Some(name.as_str()), &Value::Null, &serde_json::json!([]))
    );

    write("session_timeout_ms = 4000\nanonymous = \"nobody\"\nlisten = 5\n");
    signal(&child, Signal::HUP);
    manager.hears("RELOADING=1\nMONOTONIC_USEC=").await;
    manager.hears("READY=1").await;
    let error = asker.config().await["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with(&format!("{name}:6: this is not TOML (duplicate key")), "{error}");
    write("session_timeout_ms = 5\nanonymous = \"nobody\"\n");
    signal(&child, Signal::HUP);
    until(async || asker.config().await["error"].as_str().is_some_and(|error| error.contains(":5: `anonymous`"))).await;
    let error = asker.config().await["error"].as_str().unwrap().to_owned();
    assert_eq!(error.lines().count(), 2, "{error}");
    assert!(
        error.contains(&format!(
            "{name}:4: `session_timeout_ms` \"5\" is not a session time-out; write milliseconds from"
        )),
        "{error}"
    );
    let (code, page) = asker.nobody("/status").await;
    assert!(
        code == 200 && page.contains("is not a session time-out"),
        "what was read before stays, and the page says so: {code}"
    );

    let mut request = format!("{}/api/v1/live", address.replacen("http", "ws", 1)).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
    let (mut live, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    write("session_timeout_ms = 5000\nname = \"prod\"\nanonymous = \"none\"\n[lints]\nherd = \"off\"\n");
    signal(&child, Signal::HUP);
    until(async || asker.config().await["error"].is_null()).await;
    assert_eq!(asker.config().await["waits_for_restart"], serde_json::json!(["session_timeout_ms"]));
    assert_eq!(closed(&mut live).await, (1012, "the configuration was read anew; connect again".to_owned()));
    assert_eq!(asker.nobody("/api/v1/status").await.0, 401, "it took effect");

    check(&["healthcheck", "--url", &address], 0, "").await;
    check(&["healthcheck", "--url", &address, "--ready"], 1, "/readyz answers 503: a root is still in its first sync")
        .await;
    signal(&child, Signal::TERM);
    manager.hears("STOPPING=1").await;
    assert_eq!(tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap().code(), Some(0));
    check(&["healthcheck", "--url", &address], 1, "/healthz gave no answer (").await;
    check(&["healthcheck", "--url", "nowhere"], 64, "--url \"nowhere\" is no address").await;
}
