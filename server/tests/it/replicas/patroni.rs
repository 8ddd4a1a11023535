//! The history in a PostgreSQL that Patroni keeps, which elects its leader on the very ZooKeeper that is watched. The
//! primary is killed: the board goes on, the history does at the new primary, and what is missing is told.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::process::{Child, Command};

use super::log::{Asked, assert_whole, judged, summary};
use super::traffic::{RATE, Traffic};
use super::{recorder, replicas, turn};
use crate::harness::{DEADLINE, STEP, Truth, open, signal, zookeeper};
use crate::recipes::patroni::command;
use crate::served::until;

/// PostgreSQL runs as nobody's root.
const USER: &str = "postgres";
/// The least that Patroni takes: its session, which must end before another one leads.
const TTL: Duration = Duration::from_secs(20);

/// A member with its PostgreSQL; both end with this.
struct Member {
    patroni: Child,
    rest: String,
    port: u16,
    place: tempfile::TempDir,
}

impl Member {
    fn start(zk: &str, name: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let (rest, port) = (format!("127.0.0.1:{}", free_port()), free_port());
        let (at, bin) = (place.path().display(), bin_dir());
        let config = format!(
            "scope: orders-db\nnamespace: /service\nname: {name}
restapi: {{listen: '{rest}', connect_address: '{rest}'}}
zookeeper: {{hosts: ['{zk}']}}
bootstrap:
  dcs: {{ttl: {ttl}, loop_wait: 1, retry_timeout: 3, postgresql: {{parameters: {{max_connections: 60}}}}}}
  initdb: [{{auth-local: trust}}, {{auth-host: trust}}, {{encoding: UTF8}}]
postgresql:
  listen: '127.0.0.1:{port}'
  connect_address: '127.0.0.1:{port}'
  data_dir: {at}/data
  pgpass: {at}/pgpass
  bin_dir: {bin}
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
  authentication:
    superuser: {{username: postgres, password: unused}}
    replication: {{username: replicator, password: unused}}
  parameters: {{unix_socket_directories: {at}, fsync: 'off', shared_buffers: 16MB, max_wal_size: 256MB}}\n",
            bin = bin.display(),
            ttl = TTL.as_secs()
        );
        let file = place.path().join("patroni.yml");
        std::fs::write(&file, config).unwrap();
        let patroni = command(place.path(), &file).spawn().expect("patroni is there: .ci/need patroni");
        Self { patroni, rest, port, place }
    }

    /// Whether Patroni says so of it: `primary`, or `replica`, which follows it.
    async fn is(&self, role: &str) -> bool {
        let answer = reqwest::get(format!("http://{}/{role}", self.rest)).await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    fn postmaster(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.place.path().join("data/postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    /// As a machine that loses power.
    async fn kill(&mut self) {
        let postmaster = self.postmaster().unwrap();
        signal(self.patroni.id().unwrap(), Signal::KILL);
        signal(postmaster, Signal::KILL);
        self.patroni.wait().await.unwrap();
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // Patroni goes with its handle; PostgreSQL is no child of ours.
        if let Some(postmaster) = self.postmaster().filter(|pid| Path::new(&format!("/proc/{pid}")).exists()) {
            signal(postmaster, Signal::QUIT);
        }
    }
}

impl Asked for Member {
    async fn ask(&self, sql: &str) -> String {
        let mut psql = Command::new(bin_dir().join("psql"));
        psql.args(["--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", USER, "-d", USER]);
        let output = psql.args(["-p", &self.port.to_string(), "-c", sql]).output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The newest PostgreSQL of Debian's folder of all versions.
fn bin_dir() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is there: .ci/need patroni");
    let dirs = versions.map(|one| one.unwrap().path().join("bin")).filter(|dir| dir.join("initdb").exists());
    dirs.max().expect("PostgreSQL is there: .ci/need patroni")
}

/// One that was free a moment ago.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Whether the ZooKeeper that is watched answers quickly, apart from any Lockscope: where the machine has no time for it,
/// nothing can be shown as live.
struct Probe(Arc<Mutex<Instant>>);

impl Probe {
    const SLOW: Duration = Duration::from_millis(500);
    /// For how long a slow answer excuses a view: it is stale after a second, and live again after an answer.
    const EXCUSES: Duration = Duration::from_secs(3);

    async fn start(zk: &str) -> Self {
        let client = open(zk).await;
        let slow_at = Arc::new(Mutex::new(Instant::now() - Self::EXCUSES));
        let note = Arc::clone(&slow_at);
        tokio::spawn(async move {
            loop {
                let asked = Instant::now();
                let answered = client.check_stat("/a").await;
                if answered.is_err() || asked.elapsed() > Self::SLOW {
                    *note.lock().unwrap() = Instant::now();
                }
                tokio::time::sleep(STEP).await;
            }
        });
        Self(slow_at)
    }

    fn was_slow(&self) -> bool {
        self.0.lock().unwrap().elapsed() < Self::EXCUSES
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_goes_on_at_the_new_primary_and_the_board_all_the_while() {
    let _turn = turn().await;
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    let mut first = Member::start(&zookeeper.address(), "pg-one");
    until(async || first.is("primary").await).await;
    let second = Member::start(&zookeeper.address(), "pg-two");
    until(async || second.is("replica").await).await;
    // The standby is named first: it is passed over.
    let url = format!(
        "postgres://postgres:unused@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        second.port, first.port
    );
    let all = replicas(&zookeeper.address(), 2, &format!("history_url = \"{url}\"\n")).await;
    until(async || recorder(&all).await.is_some()).await;
    let (traffic, begin) = (Traffic::start(&zookeeper, &truth).await, Instant::now());
    let wanted = 2 * RATE;
    until(async || traffic.changes() >= wanted).await;

    let probe = Probe::start(&zookeeper.address()).await;
    first.kill().await;
    let (killed, mut looks, mut slowest, mut is_told) = (Instant::now(), 0_u64, Duration::ZERO, false);
    // Live, on each server, at each look, until none of them records any more, and one does at the new primary.
    let (mut has_ceased, mut excused) = (false, 0_u64);
    while !(is_told && has_ceased && recorder(&all).await.is_some()) {
        has_ceased |= recorder(&all).await.is_none();
        assert!(killed.elapsed() < DEADLINE, "nobody records");
        for replica in &all {
            let asked = Instant::now();
            let lock = replica.json("/api/v1/lock?path=/a/queue0").await;
            slowest = slowest.max(asked.elapsed());
            let is_live = lock["as_of"]["state"] == "live";
            assert!(is_live || probe.was_slow(), "{:?} after the kill: {lock:#}", killed.elapsed());
            looks += 1;
            excused += u64::from(!is_live);
            is_told |=
                replica.json("/api/v1/history").await["why"].as_str().is_some_and(|why| why.contains("PostgreSQL"));
        }
        tokio::time::sleep(STEP * 10).await;
    }
    let after = killed.elapsed();
    assert!(excused * 10 <= looks, "{excused} of {looks} looks were not live, while ZooKeeper was slow");
    assert!(second.is("primary").await);
    let wanted = traffic.changes() + 2 * RATE;
    until(async || traffic.changes() >= wanted).await;
    let (changes, took) = (traffic.changes(), begin.elapsed());
    let verdict = judged(&zookeeper, &second, traffic).await;
    eprintln!(
        "recorded again {after:?} after the kill (Patroni's session is {TTL:?}); {looks} looks, {excused} of them not live while ZooKeeper was slow, the slowest {slowest:?}"
    );
    eprintln!("{}", summary("a failover of Patroni", &verdict, changes, took));
    assert_whole(&verdict);
    assert!(!verdict.gaps.is_empty(), "what is missing is told");
}
