//! Who may depend on whom, as Cargo has it: the edges between our crates, and all that `core` and `view` stand on. Crates are
//! named without their prefix `lockscope-`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate and those of ours that it may be built with; tests and benchmarks apart.
pub(crate) const OURS: &[(&str, &[&str])] = &[
    ("access", &["audit", "runtime", "view"]),
    ("alerts", &["core", "history", "runtime", "view"]),
    ("audit", &["core", "runtime", "view"]),
    ("autopsy", &["core", "history", "runtime", "txn-log"]),
    ("campaign", &["demo", "judge", "txn-log"]),
    ("cluster", &["(postgres)", "runtime", "view", "zookeeper"]),
    ("compare", &["campaign", "demo", "runtime", "view"]),
    ("core", &[]),
    ("demo", &["core"]),
    ("history", &["(postgres)", "core", "runtime", "view"]),
    ("judge", &["txn-log"]),
    ("lab", &["audit", "live", "runtime", "view", "zookeeper"]),
    ("live", &["core", "runtime", "view"]),
    (
        "lockscope",
        &[
            "(demo)",
            "(lab)",
            "(postgres)",
            "access",
            "alerts",
            "audit",
            "autopsy",
            "cluster",
            "core",
            "history",
            "live",
            "release",
            "runtime",
            "view",
            "web",
            "zookeeper",
        ],
    ),
    ("page", &["view"]),
    ("postgres", &["runtime"]),
    ("private-postgres", &["demo"]),
    ("release", &["access", "audit", "core", "live", "runtime", "view", "zookeeper"]),
    ("runtime", &[]),
    ("style", &[]),
    ("txn-log", &[]),
    ("view", &[]),
    (
        "web",
        &[
            "(lab)",
            "access",
            "alerts",
            "audit",
            "cluster",
            "core",
            "history",
            "live",
            "page",
            "release",
            "runtime",
            "view",
            "zookeeper",
        ],
    ),
    ("zookeeper", &["core", "runtime"]),
];
/// Crates that may be built with nothing else of others, either; what is behind a feature in brackets.
const OTHERS: &[(&str, &[&str])] = &[("core", &[]), ("view", &["postcard", "(schemars)", "serde"])];

/// The name of one of ours without its prefix.
pub(crate) fn short(name: &str) -> &str {
    name.strip_prefix("lockscope-").unwrap_or(name)
}

/// Names of what a package is built with; those that are optional in brackets.
fn built_with<'a>(package: &'a Value, is_ours: &'a dyn Fn(&Value) -> bool) -> impl Iterator<Item = String> + 'a {
    let all = package["dependencies"].as_array().unwrap().iter();
    all.filter(|one| one["kind"].is_null() && is_ours(one)).map(|one| {
        let name = short(one["name"].as_str().unwrap());
        if one["optional"] == true { format!("({name})") } else { name.to_owned() }
    })
}

fn list(table: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
    table
        .iter()
        .map(|(name, with)| ((*name).to_owned(), with.iter().map(|with| (*with).to_owned()).collect()))
        .collect()
}

#[test]
fn crates_depend_on_what_is_listed_only() {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--no-deps", "--format-version", "1"])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&told.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |package: &Value| short(package["name"].as_str().unwrap()).to_owned();
    let ours = |one: &Value| !one["path"].is_null();
    let found: BTreeMap<_, BTreeSet<_>> =
        packages.iter().map(|package| (name(package), built_with(package, &ours).collect())).collect();
    assert_eq!(found, list(OURS));
    let others = |one: &Value| one["path"].is_null();
    for (wanted, with) in list(OTHERS) {
        let package = packages.iter().find(|package| name(package) == wanted).unwrap();
        assert_eq!(built_with(package, &others).collect::<BTreeSet<_>>(), with, "{wanted}");
    }
}

#[test]
fn a_hardened_build_has_neither_lab_nor_demo() {
    let asked = [
        "tree",
        "--offline",
        "--locked",
        "--package",
        "lockscope",
        "--no-default-features",
        "--edges",
        "normal",
        "--prefix",
        "none",
    ];
    let told = Command::new(env!("CARGO")).args(asked).output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told = String::from_utf8(told.stdout).unwrap();
    let built: BTreeSet<&str> = told.lines().filter_map(|line| line.split(' ').next()).map(short).collect();
    assert!(built.contains("release") && !built.contains("lab") && !built.contains("demo"), "{built:?}");
}
