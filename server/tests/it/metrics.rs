//! `/metrics` of the real program over a real ZooKeeper: what is told is true and bounded, Prometheus' own tool takes
//! it, and alert rules, dashboard and document name nothing that is not there.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::Truth;
use crate::recipes::lockscope::{Lockscope, shared_zookeeper};
use crate::served::until;

/// Below it are this test's locks.
const ROOT: &str = "/metrics";
/// Locks, and how many contend for each: more than are told apart. Those with most waiting time came first.
const QUEUES: [(&str, usize); 6] = [("d", 5), ("e", 4), ("a", 1), ("b", 2), ("c", 2), ("named", 1)];
const TOP: usize = 2;

/// A scrape: types by name, and values by name and labels as they are written.
struct Scrape {
    text: String,
    types: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

impl Scrape {
    async fn of(lockscope: &Lockscope) -> Self {
        let text = lockscope.text("/metrics").await;
        let heads = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        let types: Vec<(String, String)> = heads.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let samples: BTreeMap<String, f64> = lines
            .iter()
            .map(|line| line.rsplit_once(' ').unwrap())
            .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
            .collect();
        assert_eq!(
            (samples.len(), types.len()),
            (lines.len(), types.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len()),
            "told twice"
        );
        Self { types: types.into_iter().collect(), samples, text }
    }

    fn value(&self, sample: &str) -> f64 {
        *self.samples.get(sample).unwrap_or_else(|| panic!("no {sample} in\n{}", self.text))
    }

    /// The value of something that an ensemble has one of.
    fn whole(&self, name: &str) -> f64 {
        self.value(&format!("{name}{{ensemble=\"default\"}}"))
    }

    /// Values of a metric by the locks that are told apart.
    fn by_path(&self, name: &str) -> BTreeMap<&str, f64> {
        let of = |sample: &str| sample.strip_prefix(name).is_some_and(|rest| rest.starts_with('{'));
        self.samples
            .iter()
            .filter(|(sample, _)| of(sample))
            .map(|(sample, value)| (label(sample, "path"), *value))
            .collect()
    }

    /// Every sample that may only grow.
    fn counters(&self) -> impl Iterator<Item = (&String, f64)> {
        let grows = |sample: &str| {
            let name = sample.split('{').next().unwrap_or_default();
            let family = ["_bucket", "_count", "_sum"].iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
            self.types.get(name).is_some_and(|kind| kind == "counter")
                || self.types.get(family).is_some_and(|kind| kind == "histogram")
        };
        self.samples.iter().filter(move |(sample, _)| grows(sample)).map(|(sample, value)| (sample, *value))
    }

    /// Whether a name that Prometheus knows comes from here.
    fn has(&self, name: &str) -> bool {
        let of_histogram = || {
            let family = ["_bucket", "_count", "_sum"].iter().find_map(|part| name.strip_suffix(part))?;
            self.types.get(family).filter(|kind| *kind == "histogram")
        };
        self.types.contains_key(name) || of_histogram().is_some()
    }
}

fn label<'a>(sample: &'a str, name: &str) -> &'a str {
    let begin = format!("{name}=\"");
    sample.split_once(&begin).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default()
}

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file)
}

/// Names of ours in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("lockscope_")).collect()
}

fn promtool(arguments: &[&str], input: &str) {
    let mut tool = Command::new("promtool");
    let tool = tool
        .args(arguments)
        .current_dir(docs("deploy"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut tool = tool.expect("promtool is there (.ci/need promtool)");
    tool.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let done = tool.wait_with_output().unwrap();
    assert!(
        done.status.success(),
        "promtool {arguments:?}: {}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Everything the dashboard asks, with its variables filled in.
fn questions() -> Vec<String> {
    let text = std::fs::read_to_string(docs("deploy/lockscope-dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    targets
        .map(|target| {
            target["expr"].as_str().unwrap().replace("$ensemble", "default").replace("$__rate_interval", "5m")
        })
        .collect()
}

fn check_files(scrape: &Scrape) {
    promtool(&["check", "metrics"], &scrape.text);
    promtool(&["check", "rules", "lockscope-alerts.yaml"], "");
    promtool(&["test", "rules", "lockscope-alerts.test.yaml"], "");
    let mut asked = tempfile::NamedTempFile::new().unwrap();
    let rules: Vec<serde_json::Value> = questions()
        .into_iter()
        .enumerate()
        .map(|(at, expr)| serde_json::json!({ "record": format!("panel:{at}"), "expr": expr }))
        .collect();
    assert!(rules.len() > 30, "{} questions", rules.len());
    // JSON is YAML.
    write!(asked, "{}", serde_json::json!({ "groups": [{ "name": "dashboard", "rules": rules }] })).unwrap();
    promtool(&["check", "rules", asked.path().to_str().unwrap()], "");
    for file in [
        "metrics.md",
        "deploy/lockscope-alerts.yaml",
        "deploy/lockscope-alerts.test.yaml",
        "deploy/lockscope-dashboard.json",
    ] {
        let text = std::fs::read_to_string(docs(file)).unwrap();
        let unknown: Vec<&str> = names(&text).into_iter().filter(|name| !scrape.has(name)).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}, which no scrape has");
    }
    let document = std::fs::read_to_string(docs("metrics.md")).unwrap();
    let untold: Vec<&String> = scrape.types.keys().filter(|name| !names(&document).contains(name.as_str())).collect();
    assert!(untold.is_empty(), "docs/metrics.md does not name {untold:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_is_true_bounded_and_documented() {
    let zk = shared_zookeeper().await.address();
    let truth = Truth::new(&zk).await;
    let mut held = String::new();
    for (name, contenders) in QUEUES {
        truth.make(&format!("{ROOT}/{name}")).await;
        for at in 0..contenders {
            let node = truth.queue(&format!("{ROOT}/{name}/lock-")).await;
            held = if (name, at) == ("d", 0) { node } else { held };
        }
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "zk = {zk:?}\nroot = [{ROOT:?}]\n[metrics]\ntop_locks = {TOP}\nlocks = [\"{ROOT}/nam*\"]\n").unwrap();
    let data = tempfile::tempdir().unwrap();
    let lockscope =
        Lockscope::run(&["--config", file.path().to_str().unwrap(), "--data-dir", data.path().to_str().unwrap()]).await;

    let first = Scrape::of(&lockscope).await;
    assert_eq!((first.whole("lockscope_holders"), first.whole("lockscope_waiters")), (6.0, 9.0), "{}", first.text);
    assert_eq!((first.whole("lockscope_locks_held"), first.whole("lockscope_locks_contended")), (6.0, 4.0));
    let waiters = first.by_path("lockscope_lock_waiters");
    assert_eq!(
        waiters,
        BTreeMap::from([("/metrics/d", 4.0), ("/metrics/e", 3.0), ("/metrics/named", 0.0), ("_other", 2.0)])
    );
    assert_eq!(first.by_path("lockscope_lock_holders").values().sum::<f64>(), 6.0);
    assert_eq!(first.whole("lockscope_other_locks"), 3.0);
    assert_eq!(first.value("lockscope_root_state{ensemble=\"default\",root=\"/metrics\",state=\"live\"}"), 1.0);
    assert_eq!(first.value("lockscope_ready"), 1.0);
    check_files(&first);

    let (holds, waits) = ("lockscope_hold_duration_seconds_count", "lockscope_wait_duration_seconds_count");
    // Its begin was not seen: its end makes the wait of the next one count, and the end of that one a hold.
    truth.delete(&held).await;
    until(async || Scrape::of(&lockscope).await.whole(waits) == 1.0).await;
    let next = held.replace("0000000000", "0000000001");
    truth.delete(&next).await;
    until(async || Scrape::of(&lockscope).await.whole(waits) == 2.0).await;
    let second = Scrape::of(&lockscope).await;
    assert_eq!((second.whole(holds), second.whole("lockscope_waiters")), (1.0, 7.0), "{}", second.text);
    assert_eq!(second.whole("lockscope_events_total"), first.whole("lockscope_events_total") + 2.0);
    assert!(second.whole("lockscope_event_lag_seconds_count") >= 1.0, "{}", second.text);
    assert!(second.value("lockscope_zookeeper_requests_total{ensemble=\"default\",kind=\"read\"}") >= 1.0);
    for (sample, value) in first.counters() {
        assert!(second.value(sample) >= value, "{sample} fell");
    }
}
