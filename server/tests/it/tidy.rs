//! House rules that the compiler does not know: who may import whom, and what every file looks like. The table
//! is the one in ARCHITECTURE.md.

use std::fs;
use std::path::{Path, PathBuf};

/// A module, and what its code lines must not name.
const NEVER: &[(&str, &[&str])] = &[
    (
        "app/core/src",
        &["SystemTime", "Instant", "std::fs", "std::io", "TcpStream", "UdpSocket", "ToSocketAddrs", "std::thread", "std::env", "async fn"],
    ),
    ("app/page/src", &["schemars", "tokio"]),
    ("app/page/src/ports.rs", &["leptos"]),
    ("app/wire/src/words.rs", &["crate::", "serde"]),
    ("server/txn_log/src", &["std::fs", "std::net", "std::io", "tokio", "SystemTime", "Instant::now", "async fn"]),
    ("server/campaign/src", &["lockscope_", "feed", "http", "feed::engine", "zookeeper", "release"]),
    ("server/judge/src", &["std::fs", "std::net", "std::io", "tokio", "SystemTime", "Instant::now", "async fn", "lockscope_", "server::"]),
    ("server/src/zookeeper", &["lockscope_wire", "lockscope_page", "crate::feed", "crate::http", "feed::engine", "axum", "leptos"]),
    ("server/src/evidence", &["lockscope_wire", "lockscope_page", "crate::feed", "crate::http", "feed::engine", "crate::demo", "axum", "leptos"]),
    ("server/src/engine", &["lockscope_wire", "zookeeper_client", "crate::zookeeper", "crate::http", "axum", "leptos"]),
    ("server/src/audit", &["lockscope_page", "zookeeper_client", "feed::engine", "crate::feed", "crate::http", "crate::demo", "axum", "leptos"]),
    ("server/src/feed", &["axum", "leptos", "zookeeper_client", "crate::zookeeper", "crate::http"]),
    ("server/src/config.rs", &["leptos", "feed::engine", "crate::feed", "crate::serve"]),
    ("server/src/config", &["leptos", "feed::engine", "crate::feed", "crate::serve"]),
    ("server/src/notify.rs", &["lockscope_", "axum", "leptos", "crate::http", "feed::engine", "crate::feed", "crate::config", "crate::zookeeper"]),
    ("server/src/metrics", &["axum", "leptos", "zookeeper_client", "crate::http", "feed::engine", "crate::demo", "lockscope_page"]),
    ("server/src/release", &["axum", "leptos", "zookeeper_client", "crate::http", "crate::demo", "lockscope_page"]),
    (
        "server/src/lab_desk.rs",
        &["lockscope_core", "lockscope_page", "zookeeper_client", "crate::zookeeper", "crate::http", "feed::engine", "axum", "leptos"],
    ),
    (
        "server/src/lab_command",
        &["lockscope_core", "lockscope_page", "zookeeper_client", "crate::http", "crate::feed", "feed::engine", "axum", "leptos"],
    ),
    (
        "server/src/ask_command",
        &["lockscope_core", "lockscope_page", "zookeeper_client", "crate::zookeeper", "crate::http", "crate::feed", "feed::engine", "axum"],
    ),
    (
        "server/src/remote.rs",
        &["lockscope_core", "lockscope_page", "zookeeper_client", "crate::zookeeper", "crate::http", "crate::feed", "feed::engine", "axum"],
    ),
    (
        "server/src/cli",
        &["lockscope_core", "lockscope_page", "zookeeper_client", "crate::zookeeper", "crate::http", "crate::feed", "feed::engine", "axum"],
    ),
    (
        "server/src/access",
        &[
            "lockscope_core",
            "lockscope_page",
            "zookeeper_client",
            "crate::zookeeper",
            "crate::http",
            "crate::feed",
            "feed::engine",
            "leptos",
            "axum::Router",
        ],
    ),
    (
        "server/src/transport",
        &[
            "lockscope_core",
            "lockscope_wire",
            "lockscope_page",
            "crate::feed",
            "crate::http",
            "feed::engine",
            "crate::zookeeper",
            "crate::access",
            "leptos",
        ],
    ),
    (
        "server/src/lab",
        &["lockscope_core", "lockscope_page", "crate::feed", "crate::http", "feed::engine", "crate::demo", "crate::release", "axum", "leptos"],
    ),
    (
        "server/src/http",
        &["lockscope_core", "zookeeper_client", "crate::zookeeper", "feed::engine", "crate::demo", "crate::audit::Log", "crate::audit::files"],
    ),
];

/// Every folder with code of ours.
const SOURCES: [&str; 15] = [
    "app/core/src",
    "app/core/tests",
    "app/core/benches",
    "app/page/src",
    "app/wire/src",
    "app/wire/tests",
    "app/wire/benches",
    "server/src",
    "server/tests",
    "server/campaign/src",
    "server/judge/src",
    "server/judge/tests",
    "server/txn_log/src",
    "server/txn_log/tests",
    "style/src",
];

/// Lines of a file; more than one concern usually lives in a longer one.
const LINES_MAX: usize = 420;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.is_file() {
        found.push(folder.to_owned());
        return;
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn under(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&root().join(folder), &mut found);
    found.sort();
    found
}

/// Code without comments; tests are code as well.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn code_of(path: &Path) -> String {
    code(&fs::read_to_string(path).unwrap())
}

fn names(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

fn report(broken: Vec<String>) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn a_planted_violation_is_seen() {
    let planted = "//! Pure.\nfn now() {}\n#[cfg(test)]\nmod tests {\n    // std::net in a comment\n    use std::fs;\n}\n";
    let code = code(planted);
    assert_eq!(["std::fs", "std::net", "fs"].map(|word| names(&code, word)), [true, false, true]);
    assert!(!names("use my_std::fs;", "std::fs"));
}

#[test]
fn modules_import_only_what_they_may() {
    let mut broken = Vec::new();
    for (module, never) in NEVER {
        for path in under(module) {
            let code = code_of(&path);
            let found = never.iter().filter(|word| names(&code, word));
            broken.extend(found.map(|word| format!("{}: names `{word}`; {module} must not", path.display())));
        }
    }
    report(broken);
}

#[test]
fn the_projection_is_the_only_file_that_knows_model_and_wire() {
    let files = under("server/src").into_iter().filter(|path| {
        let code = code_of(path);
        names(&code, "lockscope_core") && names(&code, "lockscope_wire")
    });
    let may = ["server/src/projector.rs", "server/src/feed/project", "server/src/command.rs"].map(|file| root().join(file));
    let others = files.filter(|path| !may.iter().any(|place| path.starts_with(place)));
    report(others.map(|path| format!("{} knows both", path.display())).collect());
}

#[test]
fn every_file_says_what_it_is_for_and_keeps_to_one_concern() {
    let mut broken = Vec::new();
    for path in SOURCES.into_iter().flat_map(under) {
        let text = fs::read_to_string(&path).unwrap();
        if !text.starts_with("//!") {
            broken.push(format!("{}: has no `//!` header", path.display()));
        }
        let lines = text.lines().count();
        if lines > LINES_MAX {
            broken.push(format!("{}: {lines} lines; split it by concern", path.display()));
        }
        if text.contains("#[allow(") && !path.ends_with("tidy.rs") {
            broken.push(format!("{}: `#[allow]`; use `#[expect(…, reason = …)]`", path.display()));
        }
    }
    report(broken);
}
