//! Real libraries contend and we watch: kazoo's `Lock` and Curator's `InterProcessMutex`, each client its own process.
//! What we see of names, order and owners must be what the clients themselves say.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::harness::{DEADLINE, Observed, Truth, zookeeper};

const CLIENTS: usize = 3;
const KAZOO: &str = include_str!("recipes/kazoo_lock.py");
const CURATOR: &str = include_str!("recipes/CuratorMutex.java");
const DEBIAN_JARS: &str = "/usr/share/java";

/// A contender in a process of its own. It says `ready <session id>`, contends at once, says `held <znode name>`,
/// holds until it is told `release`, says `released` and ends.
struct Contender {
    child: Child,
    orders: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    session: i64,
}

impl Contender {
    async fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = command.spawn().expect("the contender's process starts");
        let orders = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut contender = Self { child, orders, lines, session: 0 };
        contender.session = contender.says("ready").await.parse().expect("a session id");
        contender
    }

    /// Waits for a line that begins with `word`; gives the rest of it.
    async fn says(&mut self, word: &str) -> String {
        let line = tokio::time::timeout(DEADLINE, self.lines.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("the contender never said {word}")).unwrap().unwrap_or_default();
        let rest = line.strip_prefix(word).unwrap_or_else(|| panic!("the contender said {line:?}, not {word}"));
        rest.trim().to_owned()
    }

    async fn release(mut self) {
        self.orders.write_all(b"release\n").await.unwrap();
        self.says("released").await;
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        assert!(ended.expect("the contender ends").unwrap().success());
    }
}

/// Contenders queue up one after another; then each releases, and what we believe must follow.
async fn contend(directory: &str, server: &server::demo::PrivateZooKeeper, command: impl Fn() -> Command) {
    let truth = Truth::new(&server.address()).await;
    truth.make(directory).await;
    let observed = Observed::start(&server.address(), &[directory]);
    observed.until_live().await;
    let mut contenders = Vec::new();
    for count in 1..=CLIENTS {
        contenders.push(Contender::start(command()).await);
        observed.until("the new contender", |believed| queue(believed, directory).len() == count).await;
    }
    let sessions: Vec<i64> = contenders.iter().map(|contender| contender.session).collect();
    let believed = observed.look(|believed| queue(believed, directory));
    assert_eq!(believed.iter().map(|(_, owner)| *owner).collect::<Vec<_>>(), sessions, "order and owners");
    observed.until_true(&truth).await;
    for (mut contender, (name, owner)) in contenders.into_iter().zip(believed) {
        let held = contender.says("held").await;
        assert_eq!((held, contender.session), (name.clone(), owner), "the head is who holds");
        assert_eq!(observed.look(|believed| queue(believed, directory)[0].0.clone()), name);
        contender.release().await;
        observed.until("the holder leaves", |believed| !believed.tree.contains_key(&format!("{directory}/{name}"))).await;
    }
    observed.until_true(&truth).await;
    observed.stop().await;
}

/// Names and owners of a directory's children in order of their sequence numbers; only complete ones.
fn queue(believed: &crate::harness::Believed, directory: &str) -> Vec<(String, i64)> {
    let inside = |path: &str| path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
    let nodes = believed.tree.iter().filter_map(|(path, node)| Some((inside(path)?, node.facts.as_ref()?.owner?.0)));
    let mut queue: Vec<(String, i64)> = nodes.collect();
    queue.sort_by_key(|(name, _)| name[name.len() - 10..].to_owned());
    queue
}

/// The repository's root.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the server lies in the repository")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_locks() {
    let python = std::env::var_os("LOCKSCOPE_PYTHON").map_or_else(|| repository().join(".tools/venv/bin/python"), PathBuf::from);
    let has_kazoo = std::process::Command::new(&python).args(["-c", "import kazoo"]).output().is_ok_and(|output| output.status.success());
    assert!(
        has_kazoo,
        "{} is no Python with kazoo: run `make test`, or `python3 -m venv .tools/venv && .tools/venv/bin/pip install kazoo`, or set LOCKSCOPE_PYTHON",
        python.display()
    );
    let server = zookeeper().await;
    contend("/locks/kazoo", &server, || {
        let mut command = Command::new(&python);
        command.arg("-c").arg(KAZOO).arg(server.address()).arg("/locks/kazoo");
        command
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_mutexes() {
    let folder = tempfile::tempdir().unwrap();
    let class_path = compile_curator(folder.path());
    let server = zookeeper().await;
    contend("/locks/curator", &server, || {
        let mut command = Command::new("java");
        command.args(["-Xmx64m", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp"]).arg(&class_path);
        command.arg("CuratorMutex").arg(server.address()).arg("/locks/curator");
        command
    })
    .await;
}

/// Compiles the Java contender; gives the class path to run it.
fn compile_curator(folder: &Path) -> String {
    let jars = ["curator-client", "curator-framework", "curator-recipes", "zookeeper", "guava", "slf4j-api", "slf4j-simple"];
    let jars = jars.map(|name| format!("{DEBIAN_JARS}/{name}.jar"));
    if let Some(missing) = jars.iter().find(|jar| !Path::new(jar).exists()) {
        panic!("{missing} is missing: run `apt-get install zookeeper libcurator-recipes-java`");
    }
    let source = folder.join("CuratorMutex.java");
    std::fs::write(&source, CURATOR).unwrap();
    let class_path = format!("{}:{}", folder.display(), jars.join(":"));
    let compiled = std::process::Command::new("javac").args(["-cp", &class_path, "-d"]).arg(folder).arg(&source).output();
    let compiled = compiled.unwrap_or_else(|error| panic!("no Java compiler ({error}): run `apt-get install default-jdk-headless`"));
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    class_path
}
