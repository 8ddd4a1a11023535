//! The commands that start the clients' processes: finds Python and Debian's jars, compiles Java once.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const KAZOO: &str = include_str!("kazoo_client.py");
const CURATOR: &str = include_str!("CuratorClient.java");
const DEBIAN_JARS: &str = "/usr/share/java";
const JARS: [&str; 10] = [
    "curator-client",
    "curator-framework",
    "curator-recipes",
    "zookeeper",
    "zookeeper-recipes-lock",
    "zookeeper-recipes-election",
    "zookeeper-recipes-queue",
    "guava",
    "slf4j-api",
    "slf4j-simple",
];

/// The Python of the tests' own environment.
pub fn python() -> PathBuf {
    let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    std::env::var_os("LOCKSCOPE_PYTHON").map_or_else(|| repository.join(".tools/venv/bin/python"), PathBuf::from)
}

/// Clients of kazoo.
pub(super) fn kazoo(timeout_s: u32) -> Command {
    let python = python();
    let has_kazoo =
        Command::new(&python).args(["-c", "import kazoo"]).output().is_ok_and(|output| output.status.success());
    assert!(
        has_kazoo,
        "{} is no Python with kazoo: run `make test`, or `python3 -m venv .tools/venv && .tools/venv/bin/pip install kazoo`, or set LOCKSCOPE_PYTHON",
        python.display()
    );
    let mut command = Command::new(python);
    command.arg("-c").arg(KAZOO).arg(timeout_s.to_string());
    command
}

/// Clients of kazoo 2.8, whose readers watch a later writer (kazoo issue 649).
pub(super) fn kazoo_2_8(timeout_s: u32) -> Command {
    let place = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(".tools/kazoo-2.8");
    assert!(
        place.join("kazoo").exists(),
        "{0} has no kazoo: run `make test`, or `.tools/venv/bin/pip install --target {0} kazoo==2.8.0`",
        place.display()
    );
    let mut command = kazoo(timeout_s);
    command.env("PYTHONPATH", place);
    command
}

/// Clients of Curator and of ZooKeeper's own recipes.
pub(super) fn curator(timeout_s: u32) -> Command {
    static CLASS_PATH: OnceLock<String> = OnceLock::new();
    let mut command = java(CLASS_PATH.get_or_init(|| compile("CuratorClient", CURATOR)));
    command.args(["-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]);
    command.arg("CuratorClient").arg(timeout_s.to_string());
    command
}

/// A Java program of one class that uses Curator, compiled unless that was done before. Arguments of the program
/// follow.
pub fn curator_program(class: &str, source: &str) -> Command {
    let mut command = java(&compile(class, source));
    command.arg(class);
    command
}

fn java(class_path: &str) -> Command {
    let mut command = Command::new("java");
    command.args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", class_path]);
    command
}

/// Compiles a Java program unless that was done before; gives the class path to run it.
fn compile(class: &str, source: &str) -> String {
    let jars = JARS.map(|name| format!("{DEBIAN_JARS}/{name}.jar"));
    if let Some(missing) = jars.iter().find(|jar| !Path::new(jar).exists()) {
        panic!("{missing} is missing: run `apt-get install zookeeper libcurator-recipes-java`");
    }
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    // Beside our own program: `cargo clean` takes it away.
    let program = std::env::current_exe().expect("we are a file");
    let place = program.parent().expect("a file lies in a folder");
    let folder = place.join(format!("{class}-{:x}", hasher.finish()));
    let class_path = format!("{}:{}", folder.display(), jars.join(":"));
    if !folder.exists() {
        // Renamed when complete, so that an interrupted compiler leaves nothing that looks compiled.
        let partial = tempfile::tempdir_in(place).unwrap();
        let file = partial.path().join(format!("{class}.java"));
        std::fs::write(&file, source).unwrap();
        let compiled = Command::new("javac").args(["-cp", &class_path, "-d"]).arg(partial.path()).arg(&file).output();
        let compiled = compiled
            .unwrap_or_else(|error| panic!("no Java compiler ({error}): run `apt-get install default-jdk-headless`"));
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        // Somebody else's run may have been faster.
        assert!(
            std::fs::rename(partial.keep(), &folder).is_ok() || folder.exists(),
            "could not make {}",
            folder.display()
        );
    }
    class_path
}
