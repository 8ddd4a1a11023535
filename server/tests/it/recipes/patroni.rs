//! Real Patroni, which elects the leader of a PostgreSQL cluster through ZooKeeper: recognised by name, and who leads is who
//! Patroni says it is.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::lockscope::Scene;
use crate::harness::{self, DEADLINE};
use crate::served::until;

const SCOPE: &str = "orders-db";
const MEMBER: &str = "pg-one";
/// PostgreSQL runs as nobody's root.
const USER: &str = "postgres";

/// A member of a cluster; it ends with this.
struct Patroni {
    process: Child,
    rest: String,
    /// Data, sockets and logs.
    _dir: tempfile::TempDir,
}

impl Patroni {
    /// The newest PostgreSQL of Debian's folder of all versions.
    fn bin_dir() -> PathBuf {
        let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is there: .ci/need patroni");
        let dirs = versions.map(|one| one.unwrap().path().join("bin")).filter(|dir| dir.join("initdb").exists());
        dirs.max().expect("PostgreSQL is there: .ci/need patroni")
    }

    fn start(zk: &str, namespace: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let [rest, postgres] = [free_port(), free_port()].map(|port| format!("127.0.0.1:{port}"));
        let (at, bin) = (dir.path().display(), Self::bin_dir());
        let config = format!(
            "scope: {SCOPE}\nnamespace: {namespace}\nname: {MEMBER}
restapi: {{listen: '{rest}', connect_address: '{rest}'}}
zookeeper: {{hosts: ['{zk}']}}
bootstrap:
  dcs: {{ttl: 30, loop_wait: 1, retry_timeout: 3}}
  initdb: [{{auth-local: trust}}, {{auth-host: trust}}, {{encoding: UTF8}}]
postgresql:
  listen: '{postgres}'
  connect_address: '{postgres}'
  data_dir: {at}/data
  pgpass: {at}/pgpass
  bin_dir: {bin}
  authentication:
    superuser: {{username: postgres, password: unused}}
    replication: {{username: replicator, password: unused}}
  parameters: {{unix_socket_directories: {at}, fsync: 'off', shared_buffers: 16MB}}\n",
            bin = bin.display()
        );
        let file = dir.path().join("patroni.yml");
        std::fs::write(&file, config).unwrap();
        let process = command(dir.path(), &file).spawn().expect("patroni is there: .ci/need patroni");
        Self { process, rest, _dir: dir }
    }

    /// Whether it says that it leads.
    async fn leads(&self) -> bool {
        let answer = reqwest::get(format!("http://{}/leader", self.rest)).await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    async fn stop(mut self) {
        harness::signal(self.process.id().unwrap(), rustix::process::Signal::TERM);
        tokio::time::timeout(DEADLINE, self.process.wait()).await.expect("patroni ends").unwrap();
    }
}

/// Patroni with a file of settings, as somebody whom PostgreSQL takes.
pub(crate) fn command(dir: &Path, file: &Path) -> Command {
    let mut command = Command::new("patroni");
    command.arg(file).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.kill_on_drop(true);
    if rustix::process::getuid().is_root() {
        let (uid, gid) = (id("-u"), id("-g"));
        for path in [dir, file] {
            chown(path, Some(uid), Some(gid)).unwrap();
        }
        command.uid(uid).gid(gid);
    }
    command
}

/// One that was free a moment ago.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn id(of: &str) -> u32 {
    let told = std::process::Command::new("id").args([of, USER]).output().unwrap();
    String::from_utf8(told.stdout).unwrap().trim().parse().expect("there is a user postgres: .ci/need patroni")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patronis_leader_is_named_and_who_leads_is_who_says_so() {
    let scene = Scene::new("patroni").await;
    let patroni = Patroni::start(&scene.zk, &scene.root);
    until(async || patroni.leads().await).await;
    let target = format!("/api/v1/lock?path={}/{SCOPE}/leader", scene.root);
    until(async || scene.lockscope.ask(&target).await.1["holder_count"] == 1).await;
    let (_, lock) = scene.lockscope.ask(&target).await;
    assert_eq!((&lock["recipe"], &lock["recipe_label"]), (&"election".into(), &"Patroni leader".into()), "{lock}");
    assert_eq!(lock["holders"][0]["label"], MEMBER, "{lock}");
    assert_eq!(lock["holders"][0]["ephemeral"], true);
    let (_, all) = scene.lockscope.ask("/api/v1/locks").await;
    assert_eq!(all["total"], 1, "members, config and history are no locks: {all}");
    // It gives the leadership up before it ends.
    patroni.stop().await;
    until(async || scene.lockscope.ask(&target).await.1["holder_count"] != 1).await;
}
