//! House rules that neither the compiler nor Cargo knows: what a module must not name, and what every file looks like.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A module, and what its code lines must not name. What a crate may be built with, Cargo knows (see walls.rs).
const NEVER: &[(&str, &[&str])] = &[
    (
        "app/core/src",
        &[
            "SystemTime",
            "Instant",
            "std::fs",
            "std::io",
            "TcpStream",
            "UdpSocket",
            "ToSocketAddrs",
            "std::thread",
            "std::env",
            "async fn",
        ],
    ),
    ("app/page/src", &["schemars", "tokio"]),
    ("app/page/src/ports.rs", &["leptos"]),
    ("app/view/src/words.rs", &["crate::", "serde"]),
    ("server/access/src", &["axum::Router"]),
    ("server/autopsy/src/translate.rs", &["std::fs", "std::io", "Instant", "SystemTime", "lockscope_history"]),
    ("server/autopsy/src/tree.rs", &["std::fs", "std::io", "Instant", "SystemTime", "lockscope_history"]),
    (
        "server/history/src/codec",
        &["std::fs", "std::io", "std::thread", "std::env", "SystemTime", "Instant", "rusqlite", "crate::store"],
    ),
    ("server/history/src/historian", &["rusqlite", "std::fs"]),
    ("server/history/src/replay.rs", &["rusqlite", "std::fs"]),
    ("server/web/src", &["lockscope_audit::Log", "lockscope_audit::files", "lockscope_live::engine"]),
    (
        "server/web/src/listener",
        &["lockscope_access", "lockscope_core", "lockscope_live", "lockscope_view", "lockscope_zookeeper"],
    ),
    ("e2e/judge/src", &["std::fs", "std::net", "std::io", "tokio", "SystemTime", "Instant::now", "async fn"]),
    ("server/lab/src", &["lockscope_core"]),
    ("server/src/commands/query", &["lockscope_core", "lockscope_zookeeper", "lockscope_web", "lockscope_live"]),
    ("server/src/cli", &["lockscope_core", "lockscope_zookeeper", "lockscope_live"]),
    ("server/src/config", &["lockscope_live::engine", "crate::serve"]),
    // What is served was observed; only the demo makes a past up.
    ("server/src/serve", &["backfill", "demo_past"]),
    ("server/src/serve.rs", &["backfill", "demo_past"]),
    ("server/src/commands/serve.rs", &["backfill", "demo_past"]),
    ("server/src/commands/lab.rs", &["lockscope_core", "lockscope_web", "lockscope_live"]),
    (
        "server/src/sd_notify.rs",
        &[
            "lockscope_core",
            "lockscope_live",
            "lockscope_view",
            "lockscope_web",
            "lockscope_zookeeper",
            "crate::config",
        ],
    ),
    ("server/src/api_client.rs", &["lockscope_core", "lockscope_zookeeper", "lockscope_web", "lockscope_live"]),
    ("server/txn_log/src", &["std::fs", "std::net", "std::io", "tokio", "SystemTime", "Instant::now", "async fn"]),
];

/// Files that know the model and the view: what makes one of the other, and those that put the server together.
const MODEL_AND_VIEW: [&str; 11] = [
    "server/alerts/src/book/news.rs",
    "server/history/src/blame.rs",
    "server/history/src/query",
    "server/live/src/project",
    "server/live/src/projector.rs",
    "server/release/src",
    "server/src/commands/demo.rs",
    "server/src/commands/serve.rs",
    "server/web/src/alerts/backtest.rs",
    // Until all that is asked about the past is in `history::query`.
    "server/web/src/history",
    "server/web/src/metrics",
];

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

/// Every file of ours.
pub(crate) fn all() -> Vec<PathBuf> {
    ["app", "server", "style", "e2e/campaign", "e2e/compare", "e2e/judge"].into_iter().flat_map(under).collect()
}

pub(crate) fn under(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&root().join(folder), &mut found);
    found.sort();
    found
}

/// Code without comments; tests are code as well.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn code_of(path: &Path) -> String {
    code(&fs::read_to_string(path).unwrap())
}

fn names(code: &str, word: &str) -> bool {
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

pub(crate) fn report(broken: Vec<String>) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn a_planted_violation_is_seen() {
    let planted =
        "//! Pure.\nfn now() {}\n#[cfg(test)]\nmod tests {\n    // std::net in a comment\n    use std::fs;\n}\n";
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

/// Elements whose text a browser does not read as markup, and Leptos and `format!` write as it is.
const RAW_TEXT: [&str; 8] = ["iframe", "noembed", "noframes", "noscript", "script", "style", "textarea", "xmp"];

/// Raw-text elements with something inside other than a constant of ours.
fn raw_texts(code: &str) -> Vec<&str> {
    let is_ours = |inside: &str| {
        let name = inside.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or("", |(name, _)| name);
        inside.starts_with("</") || !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    let begins = RAW_TEXT.into_iter().flat_map(|name| code.match_indices(name).map(move |(at, _)| (at, name.len())));
    let opened =
        begins.filter(|(at, bytes)| code[..*at].ends_with('<') && code[at + bytes..].starts_with([' ', '>', '\n']));
    let insides = opened.filter_map(|(at, _)| Some((at, code[at..].find('>')? + at + 1)));
    insides.filter(|(_, end)| !is_ours(&code[*end..])).map(|(at, end)| &code[at..end]).collect()
}

/// Code before its tests.
pub(crate) fn without_tests(code: &str) -> &str {
    code.split("#[cfg(test)]\nmod tests {").next().unwrap().split("#[cfg(all(test, feature").next().unwrap()
}

fn pages_and_handlers() -> impl Iterator<Item = (PathBuf, String)> {
    let files = under("app/page/src").into_iter().chain(under("server/web/src"));
    files
        .filter(|path| !path.ends_with("tests.rs") && !path.components().any(|part| part.as_os_str() == "tests"))
        .map(|path| (path.clone(), code_of(&path)))
}

#[test]
fn raw_text_has_no_children() {
    let planted = "<textarea a=b>{of.text()}</textarea><script\n nonce=n inner_html=A></script><style>{CSS}</style><noscript>x</noscript>";
    assert_eq!(raw_texts(planted), ["noscript>", "textarea a=b>"]);
    let remedy = "give it `inner_html` (`TextArea` for a text in it)";
    let found = |(path, code): (PathBuf, String)| {
        raw_texts(without_tests(&code)).iter().map(|tag| format!("{}: <{tag}…: {remedy}", path.display())).collect()
    };
    report(pages_and_handlers().flat_map::<Vec<String>, _>(found).collect());
}

#[test]
fn each_form_that_acts_has_a_token() {
    let mut broken = Vec::new();
    for (path, code) in pages_and_handlers() {
        for (_, form) in without_tests(&code).split("method=\"post\" action=\"").enumerate().skip(1) {
            let (action, rest) = form.split_once('"').unwrap();
            let inside = rest.split_once('>').unwrap().1.trim_start();
            let has_token = inside.starts_with(&format!("{{form_token(\"{action}\")}}"))
                || inside.starts_with("<input type=\"hidden\" name=\"{FORM_TOKEN}\"");
            if !has_token && !action.starts_with("/sign-in") {
                broken.push(format!(
                    "{}: the form of {action} begins without `form_token(\"{action}\")`",
                    path.display()
                ));
            }
        }
        let posts = code.matches("method=\"post\"").count();
        if posts != code.matches("method=\"post\" action=\"").count() {
            broken.push(format!("{}: write `action` right behind `method=\"post\"`", path.display()));
        }
    }
    report(broken);
}

#[test]
fn few_files_know_model_and_view() {
    let sources = under("server").into_iter().filter(|path| path.components().any(|part| part.as_os_str() == "src"));
    let both = sources.filter(|path| {
        let code = code_of(path);
        names(&code, "lockscope_core") && names(&code, "lockscope_view")
    });
    let may = MODEL_AND_VIEW.map(|file| root().join(file));
    let others = both.filter(|path| !may.iter().any(|place| path.starts_with(place)));
    report(others.map(|path| format!("{} knows both", path.display())).collect());
}

/// Public types of some code, by name.
fn public_types(code: &str) -> impl Iterator<Item = &str> {
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    code.lines().filter_map(move |line| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let named = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
        named.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().filter(|name| !name.is_empty())
    })
}

/// Types of which a crate has two of one name. What a build without a feature has instead of the real thing counts
/// once.
fn namesakes(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut known: BTreeMap<&str, &Path> = BTreeMap::new();
    let mut broken = Vec::new();
    for (path, code) in files.iter().filter(|(path, _)| !path.file_name().unwrap().to_string_lossy().starts_with("no_"))
    {
        for name in public_types(code) {
            if let Some(other) = known.insert(name, path).filter(|other| *other != path.as_path()) {
                broken.push(format!("{} and {} both have a public {name}", other.display(), path.display()));
            }
        }
    }
    broken
}

#[test]
fn a_name_is_of_one_public_type_in_a_crate() {
    let planted = [("a.rs", "pub struct Same;"), ("b.rs", "    pub enum Same {}"), ("no_c.rs", "pub struct Same;")];
    assert_eq!(namesakes(&planted.map(|(path, code)| (path.into(), code.to_owned()))).len(), 1);
    let mut crates: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
    for path in all() {
        let Some(home) = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "src")) else {
            continue;
        };
        crates.entry(home.to_owned()).or_default().push((path.clone(), code_of(&path)));
    }
    report(crates.values().flat_map(|files| namesakes(files)).collect());
}

#[test]
fn every_file_has_a_header() {
    let mut broken = Vec::new();
    for path in all() {
        let text = fs::read_to_string(&path).unwrap();
        if !text.starts_with("//!") {
            broken.push(format!("{}: has no `//!` header", path.display()));
        }
        if text.contains("#[allow(") && !path.ends_with("tidy.rs") {
            broken.push(format!("{}: `#[allow]`; use `#[expect(…, reason = …)]`", path.display()));
        }
    }
    report(broken);
}
