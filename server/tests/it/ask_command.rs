//! `lockscope locks`, `lock` and `who` as people and scripts use them, beside a real server and real clients;
//! completions, the manual and the document about them.

use std::process::Output;
use std::time::Instant;

use lockscope_access::{Grant, ListenScope, Settings};
use serde_json::Value;

use crate::access::House;
use crate::cli::{check, dead_port, lockscope};
use crate::harness::{DEADLINE, Truth};
use crate::recipes::lockscope::{Lockscope, shared_zookeeper};
use crate::served::until;

const ROOT: &str = "/clients/asked";

/// What came of a command.
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Done {
    fn new(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn expect(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self.out
    }

    /// The one sentence of a failure.
    #[track_caller]
    fn refused(self, code: i32, sentence: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.lines().count()), (code, "", 1), "{}", self.err);
        assert!(self.err.starts_with("lockscope: ") && self.err.contains(sentence), "{}", self.err);
    }
}

async fn ask_with(args: &[&str], vars: &[(&str, &str)]) -> Done {
    let mut command = lockscope(args);
    command.envs(vars.iter().copied());
    Done::new(&tokio::time::timeout(DEADLINE, command.output()).await.unwrap().unwrap())
}

/// Asks a server that the environment names.
async fn ask(server: &str, args: &[&str]) -> Done {
    ask_with(args, &[("LOCKSCOPE_SERVER", server)]).await
}

/// An answer without what moves from one answer to the next.
fn still(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let moves = |name: &str| {
                name.ends_with("_ms") || matches!(name, "seq" | "zxid" | "trust" | "stats" | "last_operation")
            };
            fields.iter().filter(|(name, _)| !moves(name)).map(|(name, value)| (name.clone(), still(value))).collect()
        }
        Value::Array(items) => items.iter().map(still).collect(),
        other => other.clone(),
    }
}

async fn holds_and_waits(server: &Lockscope, path: &str, holders: u64, waiters: u64) {
    let target = format!("/api/v1/lock?path={path}");
    let is_so = async || {
        let lock = server.ask(&target).await.1;
        lock["holder_count"] == holders
            && lock["waiter_count"] == waiters
            && lock["holders"].as_array().unwrap().iter().all(|one| !one["session_id"].is_null())
    };
    until(is_so).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lock_and_locks_say_the_truth() {
    let zookeeper = shared_zookeeper().await.address();
    let (one, two) = (Truth::new(&zookeeper).await, Truth::new(&zookeeper).await);
    let session = |truth: &Truth| format!("0x{:x}", truth.client.session_id().0);
    let (order, stock) = (format!("{ROOT}/order"), format!("{ROOT}/订单-{}", "x".repeat(40)));
    for path in [&order, &stock] {
        one.make(path).await;
    }
    let first = one.queue(&format!("{order}/lock-")).await;
    let second = two.queue(&format!("{order}/lock-")).await;
    two.queue(&format!("{stock}/lock-")).await;
    let lockscope = Lockscope::run(&["--zk", &zookeeper, "--root", ROOT]).await;
    let server = lockscope.address();
    holds_and_waits(&lockscope, &order, 1, 1).await;

    let line = ask(server, &["who", &order]).await.expect(0);
    assert!(
        line.starts_with(&format!("{order} is held by {}", session(&one)))
            && line.contains("; 1 waits, the longest for "),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(
        ask(server, &["who", &first]).await.expect(0).starts_with(&format!("{order} is held by {}", session(&one))),
        "by a znode of it"
    );
    let told: Value = serde_json::from_str(&ask(server, &["who", &order, "--json"]).await.expect(0)).unwrap();
    assert_eq!(
        (&told["held"], &told["holders"][0]["session_id"], &told["waiter_count"]),
        (&true.into(), &session(&one).into(), &1.into())
    );

    let page = ask(server, &["lock", &format!("{order}/")]).await.expect(0);
    let (holders, queue) = page.split_once("\nQueue (1)\n").unwrap_or_else(|| panic!("{page}"));
    assert!(
        holders.starts_with(&format!("{order}  "))
            && holders.contains("\nHolders (1)\n")
            && holders.contains(&session(&one)),
        "{page}"
    );
    assert!(queue.contains(&session(&two)) && queue.contains(first.rsplit('/').next().unwrap()), "{page}");
    let page = ask(server, &["lock", &order, "--limit", "1"]).await.expect(0);
    assert!(page.contains("  … and 1 more: --offset 1 goes on") && !page.contains("Queue"), "{page}");

    let list = ask(server, &["locks", "asked", "!订单"]).await.expect(0);
    assert!(list.contains(&order) && !list.contains(&stock) && list.contains("\n1 lock, as of "), "{list}");
    let list = ask(server, &["locks", "--sort", "path", "--verdict", "healthy,free,slow,unknown"]).await.expect(0);
    assert!(list.contains(&stock) && list.contains("\n2 locks, as of "), "piped, nothing is cut: {list}");
    assert!(ask(server, &["locks", "--recipe", "barrier"]).await.expect(0).starts_with("no lock matches, as of "));

    tells_what_the_api_says(&lockscope, &order).await;
    is_colored_where_wanted(server).await;
    ask(server, &["who", &format!("{ROOT}/oder")])
        .await
        .refused(66, &format!("no lock is known at {ROOT}/oder; did you mean {order}?"));
    ask(server, &["lock", "/nothing/like/it"]).await.refused(66, "; `lockscope locks` lists those that there are");
    ask(server, &["who", "order"]).await.refused(64, "\"order\" does not start with a slash; write /order");
    ask(server, &["locks", "--ensemble", "prod"])
        .await
        .refused(64, "--ensemble \"prod\" is not watched there; use one of default");

    one.delete(&first).await;
    holds_and_waits(&lockscope, &order, 1, 0).await;
    assert!(
        ask(server, &["who", &order]).await.expect(0).starts_with(&format!("{order} is held by {}", session(&two)))
    );
    one.delete(&second).await;
    holds_and_waits(&lockscope, &order, 0, 0).await;
    assert_eq!(ask(server, &["who", &order]).await.expect(1), format!("{order} is free\n"));
}

async fn tells_what_the_api_says(lockscope: &Lockscope, path: &str) {
    for (args, target) in [
        (vec!["locks", "--sort", "path", "--json"], "/api/v1/locks?sort=path&limit=100".to_owned()),
        (vec!["lock", path, "--json"], format!("/api/v1/lock?path={path}&limit=20")),
    ] {
        let begin = Instant::now();
        loop {
            let told: Value = serde_json::from_str(&ask(lockscope.address(), &args).await.expect(0)).unwrap();
            let (told, answered) = (still(&told), still(&lockscope.ask(&target).await.1));
            if told == answered {
                break;
            }
            // What the members tell comes every few seconds, and may come between the two.
            assert!(begin.elapsed() < DEADLINE, "{target}: {told:#} instead of {answered:#}");
        }
    }
}

async fn is_colored_where_wanted(server: &str) {
    let colored = async |args: &[&str], var: (&str, &str)| {
        ask_with(args, &[("LOCKSCOPE_SERVER", server), var]).await.expect(0).contains('\u{1b}')
    };
    assert!(!colored(&["locks"], ("TERM", "xterm")).await, "no terminal");
    assert!(colored(&["locks"], ("CLICOLOR_FORCE", "1")).await);
    assert!(!colored(&["locks", "--color", "never"], ("CLICOLOR_FORCE", "1")).await);
    assert!(colored(&["locks", "--color", "always"], ("NO_COLOR", "1")).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_wants_to_know_says_how() {
    let house = House::new(Settings { anonymous: Some(false), ..Settings::default() }, ListenScope::LOOPBACK).await;
    house.served.fake.set(&["/order".to_owned()]);
    let server = format!("http://{}", house.served.address);
    ask(&server, &["locks"]).await.refused(
        77,
        "requires authentication; make a token there with `lockscope token new --name NAME --role viewer`",
    );
    let token = house.token("ci", Grant::everywhere(lockscope_view::Role::Viewer), None);
    let file = house.path().join("token");
    std::fs::write(&file, format!("{token}\n")).unwrap();
    let file = file.display().to_string();
    assert!(ask(&server, &["locks", "--token-file", &file]).await.expect(0).contains("/order"));
    let with =
        async |token: &str| ask_with(&["locks"], &[("LOCKSCOPE_SERVER", &server), ("LOCKSCOPE_TOKEN", token)]).await;
    with(&token).await.expect(0);
    let wrong = with("lks_wrong").await;
    assert!(!wrong.err.contains("lks_wrong"), "{}", wrong.err);
    wrong.refused(77, "rejects the token (");
    with("two words").await.refused(64, "LOCKSCOPE_TOKEN is no token");
    // What is shown was true at another time; that is said, and is no yes.
    let old = ask(&server, &["who", "/order", "--token-file", &file]).await.expect(75);
    assert!(old.contains("STALE since 1970-01-01 00:00:00 UTC (silent): it was so then"), "{old}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_can_not_know_says_so() {
    let nowhere = format!("http://127.0.0.1:{}", dead_port());
    ask(&nowhere, &["who", "/order"]).await.refused(69, &format!("--server {nowhere} can't be asked ("));
    let zk = format!("127.0.0.1:{}", dead_port());
    let mut process = lockscope(&["serve", "--zk", &zk, "--listen", "127.0.0.1:0"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let server = crate::cli::listening(&mut process).await;
    ask(&server, &["who", "/order"])
        .await
        .refused(75, "no lock is known at /order, but not all is known: LOST: ZooKeeper since ");
    let none = ask(&server, &["locks"]).await;
    assert!(none.err.starts_with("lockscope: LOST: ZooKeeper since "), "{}", none.err);
    assert!(none.expect(0).starts_with("no lock matches, as of "));
}

#[tokio::test]
async fn a_command_line_that_is_wrong_is_64_and_help_is_0() {
    check(&["locks", "--verdict", "stuk"], 64, "a similar value exists: 'stuck'").await;
    check(&["locks", "--limit", "0"], 64, "0 is not in 1..=500").await;
    check(&["who"], 64, "<PATH>").await;
    check(&["audti"], 64, "a similar subcommand exists: 'audit'").await;
    check(&["man", "audit", "verfy"], 64, "`lockscope audit` has no command \"verfy\"; use one of verify, export")
        .await;
    check(&["locks", "--server", "lockscope.example"], 64, "is no address; write it like").await;
    // Without anything it says what one can do.
    check(&[], 64, "lockscope serve --zk HOST:PORT").await;
    let help = ask_with(&["help"], &[]).await.expect(0);
    assert!(help.contains("Try it") && help.contains("lockscope demo") && !help.contains('\u{1b}'), "{help}");
    let help = ask_with(&["who", "--help"], &[]).await.expect(0);
    for part in [
        "Examples:\n  lockscope who /shop/order\n",
        "Exit codes:\n    0  somebody holds it\n    1  nobody holds it\n",
        "  NO_COLOR ",
    ] {
        assert!(help.contains(part), "{help}");
    }
}

/// Runs a program over a text; None where it is not installed.
fn over(program: &str, args: &[&str], text: &str) -> Option<(bool, String)> {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.ok()?;
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    Some((done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned()))
}

/// Every command, by its words.
fn commands() -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for one in lockscope::cli::command().get_subcommands() {
        all.push(vec![one.get_name().to_owned()]);
        all.extend(one.get_subcommands().map(|part| vec![one.get_name().to_owned(), part.get_name().to_owned()]));
    }
    all
}

#[tokio::test]
async fn completions_and_the_manual_are_good() {
    for (shell, args) in [("bash", &["-n"][..]), ("zsh", &["-n"]), ("fish", &["--no-execute"])] {
        let text = ask_with(&["completions", shell], &[]).await.expect(0);
        assert!(text.contains("completions") && text.contains("double_owner"), "{shell}");
        let done = over(shell, args, &text);
        assert!(done.is_none() || done == Some((true, String::new())), "{shell}: {done:?}");
    }
    let mut pages = String::new();
    for words in commands() {
        let args: Vec<&str> = std::iter::once("man").chain(words.iter().map(String::as_str)).collect();
        let text = ask_with(&args, &[]).await.expect(0);
        let name = std::iter::once("lockscope").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
        let title = format!(".TH {} 1", name.to_uppercase());
        assert!(text.contains(&title) && text.contains("\n.SH EXAMPLES\n") && !text.contains('\u{1b}'), "{text}");
        pages.push_str(&text);
    }
    let done = over("groff", &["-man", "-Tutf8", "-ww"], &pages);
    assert!(done.is_none() || done == Some((true, String::new())), "{done:?}");
}

#[test]
fn the_document_has_every_command_and_only_what_is_understood() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/command-line.md");
    let text = std::fs::read_to_string(path).unwrap();
    for words in commands() {
        let name = std::iter::once("lockscope").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let rows = text.lines().filter(|line| line.starts_with(&format!("| `{name}` |"))).count();
        assert!(rows == 1 || words.is_empty(), "{name} stands in {rows} rows of {path}");
    }
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `lockscope ")?.split('`').next()).map(str::to_owned);
    let typed = text
        .lines()
        .filter_map(|line| line.strip_prefix("$ lockscope "))
        .map(|line| line.split(" |").next().unwrap().to_owned());
    let known: Vec<String> = commands().into_iter().map(|words| words.join(" ")).collect();
    for row in rows {
        assert!(known.contains(&row), "`lockscope {row}` is no command, but stands in {path}");
    }
    for line in typed {
        let words = std::iter::once("lockscope").chain(line.split_whitespace());
        lockscope::cli::command().try_get_matches_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}
